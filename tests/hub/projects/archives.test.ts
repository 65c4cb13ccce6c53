import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestHub } from '../support/hub.ts'
import { startLicensedHub } from '../support/licensed.ts'
import { fileOf, folderOf, tarOf } from '../support/tar.ts'

let hub: TestHub
let archives: string
beforeAll(async () => {
  hub = await startLicensedHub([])
  archives = join(hub.paths.data_dir, 'archive')
  await mkdir(archives)
})
afterAll(() => hub.close())

const ARCHIVE = 'lost-20260102030405.tar.gz'
const PROJECT = { id: '0f8fad5b-d9cb-469f-a165-70867728950e', slug: 'lost', name: 'Lost' }
const line = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** Writes an archive with a document and these rows by table. */
async function craft(rows: Record<string, string>) {
  const members = [
    ...['lost', 'lost/.rows', 'lost/docs'].map((path) => folderOf(path)),
    fileOf('lost/docs/plan.md', '# Plan\n'),
    // What is not of the project itself is left out.
    fileOf('other/docs/plan.md', 'Stray'),
    fileOf('lost.md', 'Stray'),
    { ...fileOf('lost/docs/link.md'), type: '2', link: '/etc/passwd' },
    ...Object.entries(rows).map(([table, text]) => fileOf(`lost/.rows/${table}.jsonl`, text)),
  ]
  await writeFile(join(archives, ARCHIVE), tarOf(members))
}
const restore = async () => {
  const answer = await hub.call('POST', 'projects/restore', { archive: ARCHIVE })
  return { status: answer.status, body: await answer.json() }
}

test('before the first project is deleted there is no archive', async () => {
  await rm(archives, { recursive: true })
  expect(await (await hub.call('GET', 'projects/archives')).json()).toEqual({ archives: [] })
  expect(await restore()).toMatchObject({ status: 404 })
  await mkdir(archives)
})

test('archives are listed newest first, and nothing else that lies there', async () => {
  const names = ['a1-20260101000000.tar.gz', 'b2-20260301123456.tar.gz', ARCHIVE]
  for (const name of [...names, 'notes.txt', 'b2-2026.tar.gz', 'B-20260101000000.tar.gz']) {
    await writeFile(join(archives, name), 'abc')
  }
  const { archives: listed } = await (await hub.call('GET', 'projects/archives')).json()
  expect(listed).toEqual([
    { archive: names[1], slug: 'b2', archived_at: '2026-03-01T12:34:56.000Z', bytes: 3 },
    { archive: ARCHIVE, slug: 'lost', archived_at: '2026-01-02T03:04:05.000Z', bytes: 3 },
    { archive: names[0], slug: 'a1', archived_at: '2026-01-01T00:00:00.000Z', bytes: 3 },
  ])
})

test.each<[string, Record<string, string> | string]>([
  ['that is no archive', 'no archive'],
  ['without rows', {}],
  ['without its project', { leads: line({ id: PROJECT.id, project_id: PROJECT.id, name: 'Ada' }) }],
  ['whose rows are no JSON', { projects: '{' }],
  ['whose rows are no objects', { projects: 'null' }],
  ['whose project is another one', { projects: line({ ...PROJECT, slug: 'other' }) }],
  ['with two projects', { projects: line(PROJECT, { ...PROJECT, slug: 'other' }) }],
  ['whose project has no id', { projects: line({ ...PROJECT, id: 1 }) }],
])('one %s is refused, and nothing of it stays', async (_, rows) => {
  if (typeof rows === 'string') await writeFile(join(archives, ARCHIVE), rows)
  else await craft(rows)
  expect(await restore()).toMatchObject({
    status: 409,
    body: { code: 'conflict', detail: expect.stringContaining('The archive is damaged') },
  })
  expect(await hub.query('select from hub.projects')).toEqual([])
  expect((await readdir(archives)).filter((name) => name.startsWith('.'))).toEqual([])
  expect(await readdir(join(hub.paths.data_dir, 'projects'))).not.toContain('lost')
})

test('one of an earlier release, with fewer tables and columns, is restored with its files', async () => {
  const folder = join(hub.paths.data_dir, 'projects')
  await mkdir(join(folder, 'lost/left'), { recursive: true })
  await craft({
    projects: line(PROJECT),
    // Not of a project.
    api_keys: line({ name: 'Theirs', scope: 'admin', key_hash: 'a'.repeat(64), hint: 'abcd' }),
    leads: line(
      { id: PROJECT.id, project_id: PROJECT.id, name: 'Ada' },
      { id: '0f8fad5b-d9cb-469f-a165-70867728950f', project_id: PROJECT.id, name: 'Bo' },
    ),
    // It was running; its file is gone.
    imports: line({
      ...{
        id: PROJECT.id,
        project_id: PROJECT.id,
        file: 'a.csv',
        options: {},
        status: 'processing',
      },
      ...{
        total: 3,
        handled: 1,
        created: 1,
        merged: 0,
        skipped: 0,
        refused: 0,
        cut: 0,
        removed: 0,
      },
      created_at: '2026-01-02T03:04:05Z',
    }),
  })
  expect(await restore()).toMatchObject({
    status: 201,
    body: { project: { slug: 'lost', leads: 2 } },
  })
  const read = await hub.call('GET', 'documents/get?project=lost&path=docs/plan.md')
  expect((await read.json()).document.text).toBe('# Plan\n')
  expect(await hub.query('select from hub.api_keys')).toEqual([])
  const ended = await hub.call('GET', `leads/imports/${PROJECT.id}`)
  expect((await ended.json()).import).toMatchObject({
    ...{ status: 'failed', reason: expect.stringContaining('Import it again') },
  })
  expect(await readdir(folder)).toEqual(['lost'])
  expect(await readdir(join(folder, 'lost'))).toEqual(['docs'])
  expect(await readdir(join(folder, 'lost/docs'))).toEqual(['plan.md'])
  expect(await restore()).toMatchObject({
    status: 409,
    body: { detail: expect.not.stringContaining('damaged') },
  })
})
