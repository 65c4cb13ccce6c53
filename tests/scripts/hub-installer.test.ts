import { execFileSync, spawnSync } from 'node:child_process'
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

test.each([
  ['--name=localhost', 'is not a DNS name'],
  ['--name=192.0.2.1', 'is not a DNS name'],
  ['--name=hub.example.com;id', 'is not a DNS name'],
  ['--name=-o.example.com', 'is not a DNS name'],
  ['--name=*.example.com', 'is not a DNS name'],
  ['--acme=http://ca.example', 'must be none or the https address'],
  ['--acme=https://ca.example/$(id)', 'is not the address'],
  ['--acme-email=--dry-run', 'is not an e-mail address'],
  ['--acme-email=ops', 'is not an e-mail address'],
])('the installer refuses %s before it does anything', async (option, message) => {
  const args = ['-s', '--', '--version=1.0.0', option]
  const { status, stderr } = spawnSync('sh', args, { input: await assembleInstaller() })
  expect(status).toBe(2)
  expect(String(stderr)).toContain(message)
})

test('no loop of the installer overwrites what an option says', async () => {
  const script = await assembleInstaller()
  const options = [...script.matchAll(/^ {2}(\w+)=\$\{WATCHPOST_/gm)].map(([, name]) => name)
  expect(options.length).toBeGreaterThan(10)
  const loops = [...script.matchAll(/\bfor (\w+) in\b|\bread -r (\w+)/g)].map(([, a, b]) => a ?? b)
  expect(loops.filter((name) => options.includes(name))).toEqual([])
})
