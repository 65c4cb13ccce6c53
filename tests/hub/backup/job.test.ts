import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, uptime } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readJob } from '../../../hub/backup/backup.ts'
import { backupsIn } from '../../../hub/backup/make.ts'
import { pathsIn } from '../../../hub/config.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-job-'))
  await mkdir(backupsIn(pathsIn(folder)), { recursive: true })
})
afterAll(() => rm(folder, { recursive: true }))

const JOB = {
  id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  kind: 'restore',
  status: 'running',
  step: 'files',
  progress: 0.5,
  name: null,
  reason: null,
  started_at: new Date().toISOString(),
  finished_at: null,
}
const FAILED = {
  ...JOB,
  status: 'failed',
  reason: { en: expect.stringMatching(/\S/), tr: expect.stringMatching(/\S/) },
}
/** The job that is read of what a process has stored. */
async function read(stored: object | string) {
  const text = typeof stored === 'string' ? stored : JSON.stringify(stored)
  await writeFile(join(backupsIn(pathsIn(folder)), '.job.json'), text)
  return readJob(pathsIn(folder))
}
/** A process that is there, is another user's, or is gone. */
const answers = (code: string | null) =>
  vi.spyOn(process, 'kill').mockImplementation((_, signal) => {
    expect(signal).toBe(0)
    if (code) throw Object.assign(new Error(code), { code })
    return true
  })

test('without a backup or restore so far there is no job, nor in a file of another form', async () => {
  expect(await readJob(pathsIn(join(folder, 'nothing')))).toBeNull()
  expect(await read({ ...JOB, pid: 'x' })).toBeNull()
  await expect(read('{')).rejects.toThrow('is not valid JSON')
})

test.each([
  ['done', null],
  ['failed', { en: 'Full.', tr: 'Dolu.' }],
] as const)('one that is %s is told as it was stored, whoever made it', async (status, reason) => {
  expect(await read({ ...JOB, status, reason, pid: 1 })).toEqual({ ...JOB, status, reason })
})

test.each([
  ['is there', 12_345, null, true],
  ['is another user’s', 12_345, 'EPERM', true],
  ['is gone', 12_345, 'ESRCH', false],
  // The number of a process that died can be this one’s after a restart.
  ['is this one, which runs no such job', process.pid, null, false],
] as const)('one whose process %s runs or has failed', async (_, pid, code, runs) => {
  const kill = answers(code)
  const job = await read({ ...JOB, pid })
  kill.mockRestore()
  expect(job).toEqual(runs ? JOB : FAILED)
})

test('one from before the machine was started has failed, whoever has its process number now', async () => {
  const kill = answers(null)
  const since = (ms: number) => new Date(Date.now() - uptime() * 1000 + ms).toISOString()
  const [before, after] = [since(-60_000), since(60_000)]
  expect(await read({ ...JOB, started_at: before, pid: 12_345 })).toEqual({
    ...FAILED,
    started_at: before,
  })
  expect(await read({ ...JOB, started_at: after, pid: 12_345 })).toMatchObject({
    status: 'running',
  })
  kill.mockRestore()
})
