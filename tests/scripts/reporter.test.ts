import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
let folder: string

beforeEach(async () => {
  // Inside the clone, so that the files find vitest, and where git does not look.
  await mkdir(join(ROOT, '.data'), { recursive: true })
  folder = await mkdtemp(join(ROOT, '.data/reporter-test-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const CONFIG = `export default {
  test: { pool: 'forks', reporters: ['default', ${JSON.stringify(join(ROOT, 'tests/reporter.ts'))}] },
}`

async function runOf(files: Record<string, string>, given: NodeJS.ProcessEnv = {}) {
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), `import { expect, test, beforeAll } from 'vitest'\n${text}`)
  }
  await writeFile(join(folder, 'vitest.config.ts'), CONFIG)
  const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder]
  return new Promise<{ code: number; lastLine: string | undefined; errors: string }>((done) => {
    const env = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))
    const options = { cwd: folder, env: { ...Object.fromEntries(env), ...given } }
    const child = execFile(process.execPath, args, options, (_, stdout, errors) => {
      done({ code: child.exitCode ?? -1, lastLine: stdout.trimEnd().split('\n').at(-1), errors })
    })
  })
}

test('the last line counts what passed, failed and was skipped', async () => {
  const run = await runOf({
    'a.test.ts': `test('a', () => {}); test('b', () => {}); test.skip('c', () => {})`,
    'b.test.ts': `test('d', () => { expect(1).toBe(2) }); test.todo('e')`,
  })
  expect(run).toMatchObject({ code: 1, lastLine: '2 passed, 1 failed, 2 skipped' })
})

test('a run in which all passed answers 0', async () => {
  const run = await runOf({ 'a.test.ts': `test('a', () => {})` })
  expect(run).toMatchObject({ code: 0, lastLine: '1 passed, 0 failed, 0 skipped' })
})

test('a file that does not load counts as failed', async () => {
  const run = await runOf({
    'a.test.ts': `test('a', () => {})`,
    'b.test.ts': `throw new Error('does not load')`,
  })
  expect(run).toMatchObject({ code: 1, lastLine: '1 passed, 1 failed, 0 skipped' })
})

test('a hook that fails does not hide among the skipped', async () => {
  const run = await runOf({
    'a.test.ts': `beforeAll(() => { throw new Error('no') }); test('a', () => {})`,
  })
  expect(run).toMatchObject({ code: 1, lastLine: '0 passed, 1 failed, 1 skipped' })
})

test('an error that nobody caught counts as failed', async () => {
  const run = await runOf({
    'a.test.ts': `test('a', () => { Promise.reject(new Error('lost')) })`,
  })
  expect(run).toMatchObject({ code: 1, lastLine: '1 passed, 1 failed, 0 skipped' })
})

test('a process that dies in the middle counts as failed', async () => {
  const run = await runOf({
    'a.test.ts': `test('a', () => {}); test('b', () => process.kill(process.pid, 'SIGKILL'))`,
  })
  expect(run.code).toBe(1)
  expect(run.lastLine).toMatch(/^\d+ passed, [1-9]\d* failed, 0 skipped$/)
})

test('a file that blocks its process is named, stopped and counted as failed', async () => {
  const run = await runOf(
    {
      'a.test.ts': `test('a', () => {})`,
      'b.test.ts': `test('b', () => { for (;;) {} })`,
    },
    { TEST_STALL_MS: '3000' },
  )
  expect(run.errors).toContain('No test file has ended for 3 s. Stopping: b.test.ts')
  expect(run.code).toBe(1)
  expect(run.lastLine).toMatch(/^1 passed, [1-9]\d* failed, 0 skipped$/)
})
