import { afterAll, beforeAll, expect, test } from 'vitest'
import { medianOf, partsOf } from '../../../hub/projects/numbers.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'

let hub: TestHub
const { get, post, add } = leadCalls(() => hub)
beforeAll(async () => {
  hub = await startHub()
  await post('projects/create', { slug: 'demir', name: 'Demir' })
  await post('projects/select', { slug: 'demir' })
})
afterAll(() => hub.close())

test('the median and the parts of the distribution are right at their edges', () => {
  expect([medianOf([]), medianOf([3]), medianOf([1, 2]), medianOf([1, 2, 9])]).toEqual([
    null,
    3,
    1.5,
    2,
  ])
  expect(partsOf([0, 1, 1.01, 24, 168, 169]).map(({ count }) => count)).toEqual([2, 1, 1, 0, 1, 1])
})

test('weeks count what happened in them, decided deals by currency, and reopened ones no more', async () => {
  const deal = (name: string, amount: number, currency: string) =>
    add({ name, amount, currency, stage: 'proposal' })
  const won = [await deal('A', 10, 'EUR'), await deal('B', 5.5, 'EUR'), await deal('C', 7, 'TRY')]
  const reopened = await deal('D', 100, 'EUR')
  const contacted = await add({ name: 'E' })
  const stage = (lead: { id: string }, to: string) =>
    post('lead/update', { lead_id: lead.id, stage: to })
  for (const lead of [...won, reopened]) await stage(lead, 'won')
  await stage(reopened, 'meeting')
  // Twice in a stage is once.
  for (const to of ['contacted', 'new', 'contacted']) await stage(contacted, to)
  await hub.query("update hub.leads set created_at = now() - interval '14 days' where name = 'A'")
  await hub.query("update hub.leads set created_at = now() - interval '400 days' where name = 'B'")
  const { weeks } = (await get('projects/numbers?project=demir&weeks=4')).body
  expect(weeks).toHaveLength(4)
  expect(new Date(weeks[0].week).getUTCDay()).toBe(1)
  expect(weeks.map((week: { new: number }) => week.new)).toEqual([0, 1, 0, 3])
  expect(weeks[3]).toMatchObject({
    contacted: 1,
    replied: 0,
    won: 3,
    lost: 0,
    won_sums: [
      { currency: 'EUR', amount: 15.5 },
      { currency: 'TRY', amount: 7 },
    ],
    lost_sums: [],
  })
})

test('time to reply and the agents’ share count each mail once, and each sequence once', async () => {
  const [project] = await hub.query<{ id: string }>('select id from hub.projects')
  const mail = async (agent: string | null, state: string, edited = false) => {
    const [made] = await hub.query<{ id: string }>(
      `insert into hub.drafts (project_id, audience, agent, state, edited_at)
       values ($1, '{"kind": "list", "filter": {}}', $2, $3, case when $4 then now() end) returning id`,
      [project?.id, agent, state, edited],
    )
    return made?.id
  }
  const draft = await mail('marketing', 'sent')
  await mail('marketing', 'approved', true)
  await mail('marketing', 'rejected', true)
  await mail('marketing', 'rendered')
  await mail(null, 'sent')
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, email, state, sent_at, replied_at)
     select $1, $2, hours || '@x.example', 'sent', now(), now() + make_interval(hours => hours)
     from unnest(array[2, 30, 200]) as hours`,
    [draft, project?.id],
  )
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, email, state, sent_at)
     values ($1, $2, 'silent@x.example', 'sent', now())`,
    [draft, project?.id],
  )
  const { reply_time, agents } = (await get('projects/numbers?project=demir')).body
  expect(reply_time).toMatchObject({ replies: 3, median_hours: 30 })
  expect(reply_time.parts.map(({ count }: { count: number }) => count)).toEqual([0, 1, 0, 1, 0, 1])
  expect(agents.mails).toEqual({
    all: 5,
    by_agents: 4,
    as_written: 1,
    edited: 1,
    rejected: 1,
    undecided: 1,
  })
  // Two steps each: one approved as its agent wrote it, one edited, one not decided, one of a person.
  await hub.query(
    `with made as (
       insert into hub.sequences (project_id, name, agent, state, send_window, edited_at)
       select $1, state, agent, state, '{}', case when is_edited then now() end
       from (values ('marketing', 'running', false), ('marketing', 'done', true),
         ('marketing', 'draft', true), (null, 'draft', false)) as one (agent, state, is_edited)
       returning id
     )
     insert into hub.drafts (project_id, audience, state, sequence_id, step, wait_days)
     select $1, '{"kind": "list", "filter": {}}', 'draft', id, step, step - 1
     from made, generate_series(1, 2) as step`,
    [project?.id],
  )
  expect((await get('projects/numbers?project=demir')).body.agents.mails).toEqual({
    all: 9,
    by_agents: 7,
    as_written: 2,
    edited: 2,
    rejected: 1,
    undecided: 2,
  })
})
