import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assembleInstaller } from '../../scripts/build/hub-bundle.ts'

const FOLDER = join(import.meta.dirname, '../../hub/install')

test('the installer that is shipped is one script, with each of its parts once', async () => {
  const script = await assembleInstaller()
  expect(script).not.toMatch(/^# @/m)
  const source = readFileSync(join(FOLDER, 'install.sh'), 'utf8')
  const parts = [...source.matchAll(/^# @(.+)@$/gm)].map(([, name = '']) => name)
  expect(parts.toSorted()).toEqual(readdirSync(join(FOLDER, 'script')).sort())
  for (const name of parts) {
    const text = readFileSync(join(FOLDER, 'script', name), 'utf8')
    expect(script.split(text.trimEnd()), name).toHaveLength(2)
  }
  execFileSync('sh', ['-n'], { input: script })
  const functions = [...script.matchAll(/^(\w+)\(\) \{/gm)].map(([, name]) => name)
  expect(new Set(functions).size).toBe(functions.length)
})
