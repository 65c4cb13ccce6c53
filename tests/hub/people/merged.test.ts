import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'
import { ask } from './people-help.ts'

let hub: TestHub
const { post, add } = leadCalls(() => hub)
beforeAll(async () => {
  hub = await startHub()
  await post('projects/create', { slug: 'demir', name: 'Demir' })
  await hub.query(
    `insert into hub.lead_fields (project_id, key, label, kind)
     select id, 'nick', 'Nickname', 'text' from hub.projects
     union all select id, 'size', 'Size', 'number' from hub.projects`,
  )
})
afterAll(() => hub.close())

/** Two leads that are merged; the one that goes has a note, a letter and a mail that was sent. */
async function merged(name: string, choices = {}) {
  const kept = await add({
    name: `Kept ${name}`,
    email: `kept@${name}.example`,
    title: 'CTO',
    custom: { size: 4 },
  })
  const gone = await add({
    name: `Gone ${name}`,
    email: `gone@${name}.example`,
    phone: `555 ${name}`,
    language: 'de',
    title: 'CEO',
    custom: { nick: `Nick ${name}`, size: 5 },
  })
  await post('lead/note', { lead_id: kept.id, text: `Tea for kept ${name}` })
  await post('lead/note', { lead_id: gone.id, text: `Tea for gone ${name}` })
  const [draft] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, subject, text, state)
     select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id), 'Dear', $2, 'draft'
     from hub.leads where id = $1 returning id`,
    [gone.id, `Only for gone ${name}`],
  )
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, lead_id, email, state, sent_at)
     select $2, project_id, id, email, 'sent', now() from hub.leads where id = $1`,
    [gone.id, draft?.id],
  )
  const { body } = await post('lead/merge', { kept_id: kept.id, gone_id: gone.id, choices })
  return { kept, gone, merge_id: body.merge.id as string } // safe: the tests below fail otherwise
}

/** Every row of every table with these words. */
async function search(words: RegExp): Promise<string[]> {
  const places: string[] = []
  const tables = await hub.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'hub' and table_type = 'BASE TABLE'`,
  )
  for (const { name } of tables) {
    const rows = await hub.query<{ row: string }>(
      `select to_jsonb(t)::text as row from hub.${name} as t`,
    )
    places.push(...rows.flatMap(({ row }) => (words.test(row) ? [`${name}: ${row}`] : [])))
  }
  return places
}

test('a lead that went into another one is found and copied by its own address', async () => {
  const { merge_id } = await merged('copy')
  const { body: found } = await ask(hub, 'find', { email: 'gone@copy.example' })
  expect(found.names).toEqual(['Gone copy'])
  expect(found.rows.map(({ table }) => table)).toContain('merges')
  const { body } = await ask(hub, 'export', { email: 'gone@copy.example' })
  expect(body.records.merges).toMatchObject([{ id: merge_id, gone: { phone: '555 copy' } }])
})

test('whoever is erased is nowhere afterwards, and the merge has no way back', async () => {
  const { kept, merge_id } = await merged('erase', { title: 'gone', 'custom.size': 'gone' })
  const backup = await (await startBackup(hub.config, 'manual')).done
  const email = 'gone@erase.example'
  const given = { email, confirm: email, replace_in_texts: true }
  expect((await search(/gone@erase\.example|gone erase/i)).length).toBeGreaterThan(2)
  expect((await ask(hub, 'erase', given)).body.remaining).toEqual({ rows: [], files: [] })
  const gone = /gone@erase\.example|gone erase|555 erase|nick erase/i
  expect(await search(gone)).toEqual([])
  expect(
    await hub.query('select name, title, language, custom from hub.leads where id = $1', [kept.id]),
  ).toEqual([{ name: 'Kept erase', title: 'CTO', language: null, custom: { size: 4 } }])
  expect(await hub.query('select text from hub.notes where lead_id = $1', [kept.id])).toEqual([
    { text: 'Tea for kept erase' },
  ])
  const refused = await post(`leads/merges/${merge_id}/undo`, {})
  expect([refused.status, refused.body.detail]).toEqual([
    404,
    expect.stringContaining('one of its people was erased'),
  ])
  await (await startRestore(hub.config, backup, { secret: {} })).done
  expect(await search(gone)).toEqual([])
  expect(await hub.query('select from hub.merges where id = $1', [merge_id])).toEqual([])
})

test('without texts, what came with them and the record go all the same', async () => {
  const { kept } = await merged('plain')
  const email = 'gone@plain.example'
  await ask(hub, 'erase', { email, confirm: email, replace_in_texts: false })
  expect(await search(/gone@plain\.example|(Tea|Only) for gone plain/)).toEqual([])
  expect(await hub.query('select email from hub.leads where id = $1', [kept.id])).toEqual([
    { email: 'kept@plain.example' },
  ])
})

test('a lead that a merge gave another address is erased by the one that it had', async () => {
  const { kept } = await merged('moved', { email: 'gone' })
  const email = 'kept@moved.example'
  const { body } = await ask(hub, 'erase', { email, confirm: email, replace_in_texts: true })
  expect(body.erased.leads).toBe(1)
  expect(await hub.query('select from hub.leads where id = $1', [kept.id])).toEqual([])
  expect(await search(/kept@moved\.example|kept moved/i)).toEqual([])
})
