import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['baltic'])
})
afterAll(() => hub.close())

type Action = {
  kind: string
  title: string
  name: string | null
  count: number
  ref: unknown
  is_rest: boolean
}
const actions = async (query: string): Promise<Action[]> =>
  (await (await hub.call('GET', `today_summary${query}`)).json()).next_actions

test('of a kind there are at most ten, those that wait longest first', async () => {
  const id = hub.ids.baltic
  await hub.query('delete from hub.leads')
  await hub.query('delete from hub.drafts')
  await hub.query('delete from hub.missions')
  const told = async (kind: string) =>
    (await actions('?project=baltic'))
      .filter((one) => one.kind === kind && !one.is_rest)
      .map(({ name }) => name)
  const rest = async (kind: string) =>
    (await actions('?project=baltic'))
      .filter((one) => one.kind === kind && one.is_rest)
      .map(({ title, count, ref }) => ({ title, count, ref }))
  const numbers = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => String(from + n))
  await hub.query(
    `insert into hub.drafts (project_id, audience, state, subject, updated_at)
     select $1, '{"kind": "list"}', 'rendered', n::text, now() - interval '1 day' + n * interval '1 hour'
     from generate_series(11, 1, -1) as n`,
    [id],
  )
  expect(await told('approve_draft')).toEqual(numbers(1, 10))
  expect(await rest('approve_draft')).toEqual([
    { title: 'And 1 more of this kind', count: 1, ref: null },
  ])
  // A reply is waited for five days, and asked after with the longest silence first.
  await hub.query(
    `with lead as (
       insert into hub.leads (project_id, name, company, stage)
       select $1, case when n <> 7 then n::text end, 'Company of 7', 'contacted'
       from generate_series(1, 12) as n
       returning id, coalesce(name, '7')::int as n
     )
     insert into hub.activities (project_id, lead_id, kind, at)
     select $1, id, 'note', now() - interval '5 days' - interval '1 minute' + (11 - n) * interval '1 hour'
     from lead`,
    [id],
  )
  expect(await told('follow_up')).toEqual(['12', '11'])
  await hub.query(`update hub.activities set at = at - interval '1 day'`)
  const quiet = ['12', '11', '10', '9', '8', 'Company of 7', '6', '5', '4', '3']
  expect(await told('follow_up')).toEqual(quiet)
  expect(await rest('follow_up')).toMatchObject([{ count: 2 }])
  const tasks = (count: number) =>
    hub.query(
      `insert into hub.tasks (project_id, title, due_on)
       select $1, n::text, current_date - 1 from generate_series(1, $2::int) as n`,
      [id, count],
    )
  await tasks(10)
  expect(await rest('task_due')).toEqual([])
  await tasks(25)
  expect(await rest('task_due')).toMatchObject([{ count: 25 }])
  const all = await actions('?project=baltic')
  const due = all.flatMap(({ kind, is_rest }, at) => (kind === 'task_due' ? [[at, is_rest]] : []))
  expect(due.map(([at]) => Number(at) - Number(due[0]?.[0]))).toEqual(due.map((_, at) => at))
  expect(due.at(-1)?.[1]).toBe(true)
  await hub.query('delete from hub.tasks')
  // A mission that failed is one of two days, until it is tried again.
  const mission = async (task: string, hours: number, retry_of: string | null = null) => {
    const [made] = await hub.query<{ id: string }>(
      `insert into hub.missions (project_id, department, task, status, finished_at, retry_of)
       values ($1, 'docs', $2, 'failed', now() - make_interval(hours => $3::int), $4) returning id`,
      [id, task, hours, retry_of],
    )
    return made?.id ?? ''
  }
  await mission('old', 49)
  await mission('earlier', 47)
  const retried = await mission('first', 3)
  await mission(`again ${'x'.repeat(80)}`, 1, retried)
  expect(await told('look_at_failed_mission')).toEqual([`again ${'x'.repeat(74)}`, 'earlier'])
  await hub.query('delete from hub.missions')
  await hub.query('delete from hub.drafts')
})

test('new leads with an address are written to, unless a draft or a sequence is there', async () => {
  const id = hub.ids.baltic
  await hub.query('delete from hub.leads')
  const told = async () =>
    (await actions('?project=baltic')).find(({ kind }) => kind === 'write_to_leads')?.title
  await hub.query(
    `insert into hub.leads (project_id, name, email, stage) values
       ($1, 'a', 'a@x.example', 'new'), ($1, 'b', 'b@x.example', 'new'), ($1, 'c', null, 'new'),
       ($1, 'd', 'd@x.example', 'contacted')`,
    [id],
  )
  expect(await told()).toBe('Write to 2 new leads with an e-mail')
  for (const [state, isThere] of [
    ['draft', true],
    ['rendered', true],
    ['approved', false],
    ['sent', false],
  ] as const) {
    await hub.query(
      `insert into hub.drafts (project_id, audience, state, subject)
       values ($1, '{"kind": "list"}', $2, 'x')`,
      [id, state],
    )
    expect([state, await told()]).toEqual([
      state,
      isThere ? undefined : 'Write to 2 new leads with an e-mail',
    ])
    await hub.query('delete from hub.drafts')
  }
  await hub.query('delete from hub.leads')
})
