import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const AGENTS = join(import.meta.dirname, '../../../hub/agents')
/** A field of a form, as agents write them. */
const FIELD = /^ {2,}(?!schema:)(\w+): (?:z\.|text\(|line\b|amount\b)/gm
/** Asked for so that the model looks for evidence before it writes; the judge looks for itself. */
const FOR_ITSELF = ['mails/write.ts: cites']

/** The fields of the forms in a source, with how often each is named in it. */
function fieldsOf(source: string): { field: string; times: number }[] {
  // A list of names may name it; what is said to the model does not.
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'(?!\w+')(?:[^'\\\n]|\\.)*'/g, '')
  const fields = new Set([...code.matchAll(FIELD)].map(([, field = '']) => field))
  return [...fields].map((field) => ({
    field,
    times: code.match(new RegExp(`\\b${field}\\b`, 'g'))?.length ?? 0,
  }))
}

test('agents ask the model for nothing that their code does not look at', () => {
  const found = globSync('**/*.ts', { cwd: AGENTS })
    .filter((file) => /complete\(/.test(readFileSync(join(AGENTS, file), 'utf8')))
    .flatMap((file) =>
      fieldsOf(readFileSync(join(AGENTS, file), 'utf8')).map((one) => ({ file, ...one })),
    )
  expect(found.length).toBeGreaterThan(40)
  const idle = found.filter(({ times }) => times < 2).map(({ file, field }) => `${file}: ${field}`)
  expect(idle).toEqual(FOR_ITSELF)
})

test('a field that is only asked for is noticed', () => {
  const source =
    "const Form = z.object({\n  kind: z.enum(['a']),\n  title: z.string(),\n})\nuse(form.title)\n"
  expect(fieldsOf(source)).toEqual([
    { field: 'kind', times: 1 },
    { field: 'title', times: 2 },
  ])
})
