import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { forgedCursors } from '../../support/attacks/cursors.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'

let hub: TestHub
/** What a list needs to be asked at all. */
let needed: Record<string, string>
let sequence_id = ''
const { post, add } = leadCalls(() => hub)

beforeAll(async () => {
  hub = await startHub()
  await post('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  const leads = []
  for (const at of [1, 2, 3, 4]) {
    // Two pairs of the same company, so that there are two pages of duplicates.
    const company = `company${at % 2}.example`
    leads.push(await add({ name: `Lead ${at}`, email: `lead${at}@${company}` }))
  }
  const lead_id = leads[0]?.id ?? ''
  for (const at of [1, 2]) {
    await post('lead/note', { lead_id, text: `Note ${at}` })
    await post('lead/task', { lead_id, title: `Task ${at}` })
    await post('mission/compose', { department: 'docs', task: `Task ${at}`, project: 'demir' })
  }
  const [draft] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience)
    select id, jsonb_build_object('kind', 'lead', 'lead_id', $1::text)
    from hub.projects cross join generate_series(1, 2) returning id`,
    [lead_id],
  )
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, email)
    select draft.id, draft.project_id, 'r' || n || '@demir.example'
    from hub.drafts draft cross join generate_series(1, 2) n where draft.id = $1`,
    [draft?.id],
  )
  await hub.query(
    `insert into hub.suppression (email_hash, reason, erased_at)
     select repeat(n::text, 64), 'manual', now() from generate_series(1, 2) n`,
  )
  await hub.query(
    `insert into hub.inbox_mails (project_id, our_email, from_email, kind, matched_by)
     select project.id, 'us@demir.example', 'r1@demir.example', 'reply', 'address'
     from hub.projects as project cross join generate_series(1, 2)`,
  )
  for (const name of ['First', 'Second']) {
    await post('sequence/create', {
      project: 'demir',
      name,
      steps: [{ wait_days: 0, subject: 'Hello', text: 'Hello' }],
    })
  }
  const [sequence] = await hub.query<{ id: string }>(
    `insert into hub.sequence_recipients (sequence_id, project_id, email, time_zones)
    select sequence.id, sequence.project_id, 's' || n || '@demir.example', '{UTC}'
    from (select * from hub.sequences limit 1) sequence cross join generate_series(1, 2) n
    returning sequence_id as id`,
  )
  sequence_id = sequence?.id ?? ''
  const [webhook] = await hub.query<{ id: string }>(
    `with webhook as (
       insert into hub.webhooks (label, url, events, secret)
       values ('Scene', 'https://demir.example/', '{mission.done}', 'sealed') returning id
     )
     insert into hub.webhook_deliveries (webhook_id, event, data, state)
     select id, 'mission.done', '{}', 'succeeded' from webhook cross join generate_series(1, 2)
     returning webhook_id as id`,
  )
  needed = { project: 'demir', lead_id, id: draft?.id ?? '', webhook_id: webhook?.id ?? '' }
})
afterAll(() => hub?.close())

const Spec = z.object({
  paths: z.record(
    z.string(),
    z.object({
      get: z
        .object({
          parameters: z
            .array(z.object({ name: z.string(), required: z.boolean().optional() }))
            .default([]),
        })
        .optional(),
    }),
  ),
})

async function ask(path: string, query: Record<string, string>) {
  const before = hub.lines.length
  const answer = await hub.call('GET', `${path}?${new URLSearchParams(query)}`)
  const text = await answer.text()
  return { status: answer.status, text, lines: hub.lines.slice(before) }
}

test('a forged cursor is refused with its reason, field by field, on every list', async () => {
  const { paths } = Spec.parse(await (await hub.call('GET', 'spec')).json())
  const lists = Object.entries(paths).flatMap(([path, { get }]) =>
    get?.parameters.some(({ name }) => name === 'cursor')
      ? [{ path: path.replace('/api/cockpit/', ''), parameters: get.parameters }]
      : [],
  )
  expect(lists.length).toBeGreaterThanOrEqual(8)
  const faults: string[] = []
  let forged = 0
  for (const { path, parameters } of lists) {
    const query: Record<string, string> = { limit: '1' }
    for (const { name, required } of parameters) {
      if (required || name === 'project') query[name] = needed[name] ?? ''
      if (name === 'id' && path.startsWith('sequences/')) query.id = sequence_id
    }
    const first = await ask(path, query)
    const { next_cursor } = z.object({ next_cursor: z.string() }).parse(JSON.parse(first.text))
    for (const cursor of forgedCursors(next_cursor)) {
      forged += 1
      const { status, text, lines } = await ask(path, { ...query, cursor })
      const isRefused = status === 400 && text.includes('"path":"cursor"')
      // A cursor of a few letters stands in many a line by chance.
      const isLogged = lines.some(
        (line) => 'error' in line || (cursor.length > 8 && JSON.stringify(line).includes(cursor)),
      )
      if ((status !== 200 && !isRefused) || isLogged) {
        const shown = Buffer.from(cursor, 'base64url').toString().slice(0, 120)
        faults.push(`${path} ${shown}: ${status} ${text} ${JSON.stringify(lines)}`)
      }
    }
  }
  expect(faults).toEqual([])
  expect(forged).toBeGreaterThan(1000)
}, 120_000)

test('a day that no calendar of ours has is refused where it stands', async () => {
  const { id: lead_id } = await add({ name: 'Somebody' })
  const asked = (due_on: string) => post('lead/task', { lead_id, title: 'Call', due_on })
  for (const day of ['0000-01-01', '0999-12-31', '10000-01-01', '2026-02-30']) {
    const { status, body } = await asked(day)
    expect([day, status]).toEqual([day, 422])
    expect(body.errors).toMatchObject([{ path: 'due_on' }])
  }
  expect((await asked('9999-12-31')).status).toBe(201)
  expect(hub.lines.filter((line) => 'error' in line)).toEqual([])
})
