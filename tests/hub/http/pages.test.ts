import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject } from '../support/mission-help.ts'

let hub: TestHub
const ids: Record<string, string> = {}
/** Seven rows: the newest alone, then three of one moment, then three of another. */
const AT = `now() - make_interval(days => array_position('{1,2,5}', (
  case when n < 2 then 1 when n < 5 then 2 else 5 end)))`
const ROWS = `generate_series(1, 7) as n`
const WINDOW = '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "Europe/Istanbul"}'

beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  const [project] = await hub.query<{ id: string }>('select id from hub.projects')
  Object.assign(ids, { project: project?.id, lead: randomUUID(), draft: randomUUID() })
  const insert = (text: string, ...more: string[]) => hub.query(text, [ids.project, ...more])
  await insert(
    `insert into hub.leads (id, project_id, name, created_at)
     values ($2, $1, 'Ada', now() - interval '1 year')`,
    ids.lead ?? '',
  )
  await insert(
    `insert into hub.drafts (id, project_id, audience, created_at)
     values ($2, $1, '{"kind": "list", "filter": {}}', now() - interval '1 year')`,
    ids.draft ?? '',
  )
  await insert(
    `insert into hub.recipients (draft_id, project_id, email, state)
     select $2, $1, n || '@x.example', case when n = 7 then 'failed' else 'sent' end from ${ROWS}`,
    ids.draft ?? '',
  )
  await insert(
    `insert into hub.activities (project_id, lead_id, kind, details, at)
     select $1, $2, 'edited', '{}', ${AT} from ${ROWS}`,
    ids.lead ?? '',
  )
  await insert(
    `insert into hub.sequences (project_id, name, send_window, created_at)
     select $1, n, '${WINDOW}', ${AT} from ${ROWS}`,
  )
  await insert(
    `insert into hub.drafts (project_id, audience, state, created_at)
     select $1, '{"kind": "list", "filter": {}}', 'rejected', ${AT} from ${ROWS}`,
  )
  await insert(
    `insert into hub.missions (project_id, department, task, status, finished_at, created_at)
     select $1, 'sales', n, 'cancelled', now(), ${AT} from ${ROWS}`,
  )
  await hub.query(
    `insert into hub.suppression (email_hash, reason, created_at, erased_at)
     select md5(n::text), 'erased', ${AT}, ${AT} from ${ROWS}`,
  )
})
afterAll(() => hub.close())

const list = async (path: string) => {
  const answer = await hub.call('GET', path)
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  return JSON.parse(text)
}

test.each<[path: string, rows: string, key: string]>([
  ['suppression', 'suppression', 'email_hash'],
  ['suppression?reason=erased', 'suppression', 'email_hash'],
  ['people/erasures', 'erasures', 'email_hash'],
  ['sequences/list?project=rota', 'sequences', 'id'],
  ['sequences/list?project=rota&state=draft', 'sequences', 'id'],
  ['drafts/list?project=rota&state=rejected', 'drafts', 'id'],
  ['missions/list?project=rota', 'missions', 'id'],
  ['lead/timeline?lead_id={lead}', 'activities', 'id'],
])('%s has every row once, newest first, however long its pages are', async (path, rows, key) => {
  const address = path.replace('{lead}', ids.lead ?? '')
  const more = (query: string) => `${address}${address.includes('?') ? '&' : '?'}${query}`
  const whole = (await list(more('limit=50')))[rows]
  expect(whole).toHaveLength(7)
  const keys = whole.map((row: Record<string, string>) => row[key])
  // Of one moment, the key decides.
  for (const [from, to] of [
    [1, 4],
    [4, 7],
  ] as const) {
    expect(keys.slice(from, to)).toEqual(keys.slice(from, to).toSorted().reverse())
  }
  const times = whole.map(
    (row: Record<string, string>) => row.created_at ?? row.at ?? row.erased_at,
  )
  expect(times).toEqual(times.toSorted().reverse())
  for (const [limit, pages] of [
    [3, 3],
    [7, 1],
  ] as const) {
    const seen: string[] = []
    let count = 0
    for (let cursor: string | null = ''; cursor !== null; count += 1) {
      const page = await list(more(`limit=${limit}${cursor && `&cursor=${cursor}`}`))
      seen.push(...page[rows].map((row: Record<string, string>) => row[key]))
      cursor = page.next_cursor
    }
    expect(seen).toEqual(keys)
    expect(count).toBe(pages)
  }
})

test('the recipients of a draft come by their addresses, and by state', async () => {
  const emails = async (more: string) => {
    const page = await list(`drafts/recipients?id=${ids.draft}&project=rota${more}`)
    return [page.recipients.map(({ email }: { email: string }) => email[0]).join(''), page]
  }
  expect((await emails(''))[0]).toBe('1234567')
  const [first, { next_cursor }] = await emails('&limit=4')
  expect([first, (await emails(`&limit=4&cursor=${next_cursor}`))[0]]).toEqual(['1234', '567'])
  expect((await emails('&state=failed'))[0]).toBe('7')
  expect((await emails('&state=sent&limit=6'))[1].next_cursor).toBeNull()
  const none = await hub.call('GET', `drafts/recipients?id=${randomUUID()}&project=rota`)
  expect(none.status).toBe(404)
})

test('a lead is read with its newest 200 notes and facts, and the open tasks due first', async () => {
  const lead = randomUUID()
  const values = [ids.project, lead]
  await hub.query(`insert into hub.leads (id, project_id, name) values ($2, $1, 'Full')`, values)
  await hub.query(
    `insert into hub.notes (project_id, lead_id, text, created_at)
     select $1, $2, n, now() - make_interval(secs => n) from generate_series(1, 201) as n`,
    values,
  )
  await hub.query(
    `insert into hub.evidence (project_id, lead_id, fact, source, created_at)
     select $1, $2, n, 'x', now() - make_interval(secs => n) from generate_series(1, 201) as n`,
    values,
  )
  await hub.query(
    `insert into hub.tasks (project_id, lead_id, title, due_on, done_at, created_at)
     select $1, $2, title, due_on::date, case when is_done then now() end, now() + make_interval(secs => n)
     from (values ('done', '2030-01-01', true, 1), ('whenever', null, false, 2),
       ('whenever, too', null, false, 3), ('late', '2030-03-01', false, 4),
       ('soon', '2030-02-01', false, 5)) as task (title, due_on, is_done, n)`,
    values,
  )
  const found = (await list(`lead/get?lead_id=${lead}`)).lead
  const newest = Array.from({ length: 200 }, (_, at) => `${at + 1}`)
  expect(found.notes.map(({ text }: { text: string }) => text)).toEqual(newest)
  expect(found.evidence.map(({ fact }: { fact: string }) => fact)).toEqual(newest)
  const titles = ['soon', 'late', 'whenever', 'whenever, too', 'done']
  expect(found.tasks.map(({ title }: { title: string }) => title)).toEqual(titles)
})
