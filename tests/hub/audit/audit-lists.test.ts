import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { keyWith } from '../support/members.ts'

const MEMBER = '00000000-0000-4000-8000-0000000000a1'
const KEY = '00000000-0000-4000-8000-0000000000a2'
const none = { id: null, name: null }
const NOON = '2020-03-01T12:00:00.000001Z'
/** Entries from the oldest to the newest; two have one time. */
const ENTRIES = [
  ['first', '2020-03-01T10:00:00Z', { kind: 'admin', ...none }, 'setup', 'Access', null],
  [
    'edit',
    '2020-03-01T11:00:00Z',
    { kind: 'member', id: MEMBER, name: 'Ece' },
    'editDraft',
    'Drafts',
    'rota',
  ],
  ['note', NOON, { kind: 'api', id: KEY, name: 'Import' }, 'addNote', 'Leads', 'rota'],
  ['lead', NOON, { kind: 'api', ...none }, 'quickAddLead', 'Leads', 'demir'],
  ['renamed', '2020-03-01T13:00:00Z', { kind: 'hub', ...none }, 'oldName', 'Drafts', 'demir'],
  ['refused', '2020-03-01T14:00:00Z', { kind: 'unknown', ...none }, 'login', 'Access', null],
] as const

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  for (const [nth, [target, at, actor, action, area, project]] of ENTRIES.entries()) {
    const isRefused = target === 'refused'
    await hub.query(
      `insert into hub.audit
         (id, at, actor, action, area, project, target, fields, outcome, count, address)
       values ($1, $2, $3, $4, $5, $6, $7, '{text,tags}', $8, $9, '203.0.113.9')`,
      [
        `00000000-0000-4000-8000-00000000000${nth}`,
        ...[at, actor, action, area, project, target],
        ...(isRefused ? ['refused', 3] : ['done', 1]),
      ],
    )
  }
})
afterAll(() => hub.close())

const page = async (filter: Record<string, string>) => {
  const answer = await hub.call('GET', `settings/audit?${new URLSearchParams(filter)}`)
  return { status: answer.status, body: await answer.json() }
}
const exported = async (filter: Record<string, string>, headers = {}) => {
  const query = new URLSearchParams({ to: '2021-01-01T00:00:00Z', ...filter })
  const answer = await hub.call('GET', `settings/audit/export?${query}`, undefined, headers)
  expect(answer.status).toBe(200)
  const bytes = await answer.arrayBuffer()
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const { headers: told } = answer
  return { text, type: told.get('content-type'), disposition: told.get('content-disposition') }
}
const targets = (entries: { target: string | null }[]) => entries.map(({ target }) => target)

test.each([
  [{}, ['refused', 'renamed', 'lead', 'note', 'edit', 'first']],
  [{ area: 'Leads' }, ['lead', 'note']],
  [{ action: 'editDraft' }, ['edit']],
  [{ project: 'demir' }, ['renamed', 'lead']],
  [{ outcome: 'refused' }, ['refused']],
  [{ outcome: 'done', area: 'Access' }, ['first']],
  [{ who: MEMBER }, ['edit']],
  [{ who: KEY }, ['note']],
  [{ who: 'api' }, ['lead']],
  [{ who: 'admin' }, ['first']],
  [{ who: 'hub' }, ['renamed']],
  [{ who: 'unknown' }, ['refused']],
  [{ who: 'member' }, []],
  [{ who: 'Ece' }, []],
  [{ from: NOON }, ['refused', 'renamed', 'lead', 'note']],
  [{ to: NOON }, ['edit', 'first']],
  [{ from: '2020-03-01T11:00:00Z', to: '2020-03-01T13:00:00Z' }, ['lead', 'note', 'edit']],
])('%j lists and exports these entries alone, newest first', async (filter, expected) => {
  const { body } = await page({ to: '2021-01-01T00:00:00Z', ...filter })
  expect(targets(body.audit)).toEqual(expected)
  expect(body.next_cursor).toBeNull()
  const { text } = await exported({ ...filter, format: 'json' })
  const lines = text.split('\n').filter((line) => line !== '')
  expect(targets(lines.map((line) => JSON.parse(line)))).toEqual(expected)
})

test('pages follow one another without a gap or a repetition, and only for the same filter', async () => {
  const filter = { to: '2021-01-01T00:00:00Z' }
  const seen: (string | null)[] = []
  let cursor: string | null = null
  do {
    const { body } = await page({ ...filter, limit: '1', ...(cursor ? { cursor } : {}) })
    expect(body.audit).toHaveLength(1)
    seen.push(...targets(body.audit))
    const before = cursor
    cursor = body.next_cursor
    if (before && cursor) expect(cursor).not.toBe(before)
  } while (cursor && seen.length < 10)
  expect(seen).toEqual(ENTRIES.map(([target]) => target).toReversed())
  const first = await page({ ...filter, limit: '1' })
  const other = await page({ area: 'Leads', cursor: first.body.next_cursor })
  expect(other.status).toBe(400)
  expect(other.body.errors).toMatchObject([{ code: 'invalid_cursor' }])
})

test('the file says the same as the list, in the language of whoever takes it', async () => {
  const day = /filename="audit-\d{4}-\d\d-\d\d\.(csv|jsonl)"/
  const note = { action: 'addNote' }
  const csv = await exported(note)
  expect(day.exec(csv.disposition ?? '')?.[1]).toBe('csv')
  expect(csv.type).toBe('text/csv; charset=utf-8; header=present')
  expect(csv.text).toBe(
    '\uFEFF"at","by","actor_kind","actor_id","action","what","area","project","target","fields","outcome","count","address"\r\n' +
      `"2020-03-01T12:00:00.000Z","Import","api","${KEY}","addNote","Added a note","Leads","rota","note","text tags","done","1","203.0.113.9"\r\n`,
  )
  const turkish = await exported({ action: 'setup' }, { 'accept-language': 'tr' })
  expect(turkish.text).toContain('"İlk yönetici","admin",,"setup","Hub’ı kurdu","Access",,"first"')
  const json = await exported({ ...note, format: 'json' }, { 'accept-language': 'tr' })
  expect(day.exec(json.disposition ?? '')?.[1]).toBe('jsonl')
  expect(json.type).toBe('application/x-ndjson')
  expect(JSON.parse(json.text)).toMatchObject({ by: 'Import', what: 'Not ekledi', count: 1 })
  const renamed = await exported({ action: 'oldName', format: 'json' })
  expect(JSON.parse(renamed.text)).toMatchObject({ by: 'The hub', what: 'oldName' })
})

test('the file has every entry, however many there are', async () => {
  await hub.query(`
    insert into hub.audit (at, actor, action, area)
    select '2019-01-01Z', '{"kind": "hub", "id": null, "name": null}', 'many', 'Many'
    from generate_series(1, 2001)`)
  const { text } = await exported({ action: 'many', format: 'json' })
  const ids = text.split('\n').flatMap((line) => (line ? [JSON.parse(line).id] : []))
  expect([ids.length, new Set(ids).size]).toEqual([2001, 2001])
})

test('the file has the refusals that were only counted so far', async () => {
  const authorization = `Bearer ${await keyWith(hub, 'read')}`
  await hub.call('GET', 'settings/models', undefined, { authorization })
  const { text } = await exported({ action: 'role', to: '2100-01-01T00:00:00Z', format: 'json' })
  expect(JSON.parse(text)).toMatchObject({ target: 'GET settings/models', outcome: 'refused' })
})
