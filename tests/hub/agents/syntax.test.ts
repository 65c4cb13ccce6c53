import { expect, test } from 'vitest'
import { syntaxOf } from '../../../hub/agents/engineering/syntax.ts'

test.each([
  ['src/a.js', 'import x from "y"\nexport const a = 1\n'],
  ['src/a.js', 'const x = require("y")\nwith (x) {}\n'],
  ['src/a.ts', 'export const a: number = 1\n'],
])('%s is parsed: %j', async (path, text) => {
  expect(await syntaxOf(path, text)).toEqual({ is_checked: true, error: null })
})

test('what cannot be parsed is said with its place, and nothing of it runs', async () => {
  const broken = await syntaxOf('src/a.js', 'process.exit(0)\nconst = 1\n')
  expect(broken).toEqual({
    is_checked: true,
    error: "src/a.js:2: SyntaxError: Unexpected token '='",
  })
})

test('other languages are not checked', async () => {
  expect(await syntaxOf('a.py', 'def')).toEqual({ is_checked: false })
})
