import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere } from '../../../hub/db/db.ts'
import { GROUPS, mergedFields } from '../../../hub/leads/merge.ts'
import { keepOptOut } from '../../../hub/mail/opt-outs.ts'
import { emailHash, readSalt, suppress } from '../../../hub/mail/suppression.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'

type Fields = Parameters<typeof mergedFields>[0]
const FIELDS =
  'name email company title phone website country language source score next_step close_on amount currency stage outcome_reason outcome_note lawful_basis basis_note basis_source basis_on'.split(
    ' ',
  )
/** A lead whose every field names it; `more` is laid over. */
const leadOf = (side: string | null, more: object = {}) =>
  // safe: the values are only moved
  ({
    ...Object.fromEntries(FIELDS.map((field) => [field, side && `${field} of ${side}`])),
    tags: [],
    custom: {},
    ...more,
  }) as unknown as Fields
const fromGone = (change: object) =>
  Object.entries(change).flatMap(([field, value]) => (/ of gone$/.test(value) ? [field] : []))

describe('of two leads', () => {
  test.each([
    ...GROUPS.filter((group) => !['amount', 'stage', 'lawful_basis'].includes(group)).map(
      (group): [string, string[]] => [group, [group]],
    ),
    ['amount', ['amount', 'currency']],
    ['stage', ['stage', 'outcome_reason', 'outcome_note']],
    ['lawful_basis', ['lawful_basis', 'basis_note', 'basis_source', 'basis_on']],
  ])('the choice of %s takes %j together, and nothing else', (group, fields) => {
    const change = mergedFields(leadOf('kept'), leadOf('gone'), { [group]: 'gone' })
    expect(fromGone(change)).toEqual(fields)
    // What the kept lead has not comes from the other one, whole.
    const empty = leadOf('kept', { [fields[0] ?? '']: null })
    expect(fromGone(mergedFields(empty, leadOf('gone'), {}))).toEqual(fields)
  })

  test('without a choice the kept one’s fields stay, and an empty one stays only if chosen', () => {
    expect(fromGone(mergedFields(leadOf('kept'), leadOf('gone'), {}))).toEqual([])
    const all = Object.fromEntries(GROUPS.map((group) => [group, 'gone' as const]))
    const cleared = mergedFields(leadOf('kept'), leadOf(null), all)
    expect(Object.entries(cleared).filter(([, value]) => / of kept$/.test(String(value)))).toEqual([
      ['lawful_basis', 'lawful_basis of kept'],
      ['basis_note', 'basis_note of kept'],
      ['basis_source', 'basis_source of kept'],
      ['basis_on', 'basis_on of kept'],
    ])
    expect(
      mergedFields(leadOf(null), leadOf('gone'), { lawful_basis: 'kept', name: 'kept' }),
    ).toMatchObject({ lawful_basis: 'lawful_basis of gone', name: null })
  })

  test('tags are those of both, and each own field is chosen by itself', () => {
    const kept = leadOf('kept', {
      tags: ['a', 'b'],
      custom: { fleet: 1, tier: 'Gold', vip: false },
    })
    const gone = leadOf('gone', {
      tags: ['b', 'c'],
      custom: { fleet: 2, tier: 'Tin', since: 'May' },
    })
    const choices = { 'custom.tier': 'gone', 'custom.vip': 'gone' } as const
    expect(mergedFields(kept, gone, choices)).toMatchObject({
      tags: ['a', 'b', 'c'],
      custom: { fleet: 1, tier: 'Tin', vip: null, since: 'May' },
    })
  })
})

let hub: TestHub
let project_id: string
const { get, post, add } = leadCalls(() => hub)
beforeAll(async () => {
  hub = await startHub()
  await post('projects/create', { slug: 'demir', name: 'Demir' })
  const [project] = await hub.query<{ id: string }>('select id from hub.projects')
  project_id = project?.id ?? ''
})
afterAll(() => hub.close())

const merge = (kept: { id: string }, gone: { id: string }, choices = {}) =>
  post('lead/merge', { kept_id: kept.id, gone_id: gone.id, choices })
const letter = async (lead_id: string, state: string) => {
  const [row] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, subject, text, html, state)
     values ($1, $2, 'Hello', 'Text', '<p>', $3) returning id`,
    [project_id, { kind: 'lead', lead_id }, state],
  )
  await hub.query(
    `insert into hub.stands (draft_id, basis, project_id, sentence, verdict, stood_by)
     values ($1, 'x', $2, 'We are big.', 'unsure', 'token')`,
    [row?.id, project_id],
  )
  return row?.id ?? ''
}

test.each(['approved', 'pushed', 'sending', 'unclear'])(
  'a merge waits for a mail to either of them that is %s',
  async (state) => {
    const [one, other] = [await add({ name: 'One' }), await add({ name: 'Other' })]
    const id = await letter(one.id, state)
    expect((await merge(one, other)).status).toBe(409)
    expect((await merge(other, one)).status).toBe(409)
    await hub.query("update hub.drafts set state = 'sent' where id = $1", [id])
    expect((await merge(other, one)).status).toBe(200)
  },
)

test('the stage of the other lead comes with the time at which its deal was decided', async () => {
  const closed_at = '2026-02-03T04:05:06.789Z'
  const decided = async (name: string, stage: string) => {
    const lead = await add({ name, stage })
    await hub.query('update hub.leads set closed_at = $2 where id = $1', [lead.id, closed_at])
    return lead
  }
  for (const stage of ['proposal', 'lost', 'won']) {
    const [kept, gone] = [await add({ name: 'Deal', stage }), await decided('Same', 'won')]
    const { body } = await merge(kept, gone, { stage: 'gone' })
    expect(body.lead).toMatchObject({ stage: 'won', closed_at })
  }
  const [open, won] = [await add({ name: 'Open' }), await decided('Deal', 'won')]
  expect((await merge(won, open, { stage: 'gone' })).body.lead).toMatchObject({ closed_at: null })
})

test('leads with more tags together than one may have stay two, and lose none', async () => {
  const tags = (from: number) => Array.from({ length: 30 }, (_, nth) => `tag ${from + nth}`)
  const [one, other] = [
    await add({ name: 'One', tags: tags(0) }),
    await add({ name: 'Other', tags: tags(21) }),
  ]
  expect(await merge(one, other)).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('Together the two leads have 51 tags') },
  })
  const { lead } = (await get(`lead/get?lead_id=${other.id}`)).body
  expect(lead.tags).toHaveLength(30)
})

test('what a person stood for is asked again in mails that are not sent, and stays in others', async () => {
  const [kept, gone] = [await add({ name: 'Stands' }), await add({ name: 'Stands too' })]
  const states = ['draft', 'rendered', 'rejected', 'sent']
  const ids = await Promise.all(states.map((state) => letter(gone.id, state)))
  expect((await merge(kept, gone)).status).toBe(200)
  const rows = await hub.query(
    `select state, html is not null as is_rendered, audience ->> 'lead_id' as lead_id,
       exists (select from hub.stands where draft_id = id) as stands
     from hub.drafts where id = any($1) order by array_position($1, id)`,
    [ids],
  )
  const open = { state: 'draft', is_rendered: false, lead_id: kept.id, stands: false }
  const closed = { is_rendered: true, lead_id: kept.id, stands: true }
  expect(rows).toEqual([open, open, { ...closed, state: 'rejected' }, { ...closed, state: 'sent' }])
})

describe('an opt-out', () => {
  const suppressed = async (email: string) => {
    const hash = emailHash(await readSalt(hub.paths), email)
    const [row] = await hub.query<{ reason: string }>(
      'select reason from hub.suppression where email_hash = $1 and released_at is null',
      [hash],
    )
    return row?.reason ?? null
  }
  const put = async (email: string, reason: 'manual' | 'complained' | 'imported') => {
    const salt = await readSalt(hub.paths)
    await everywhere(hub.deps.db, (sql) => suppress(sql, salt, { emails: [email], reason }))
  }
  const pair = async (name: string) => {
    const emails = { kept: `${name}@kept.example`, gone: `${name}@gone.example` }
    const kept = await add({ name, email: emails.kept })
    return { emails, kept, gone: await add({ name, email: emails.gone }) }
  }

  test('of the kept one holds for the address that is chosen', async () => {
    const { emails, kept, gone } = await pair('chosen')
    await put(emails.kept, 'manual')
    expect((await merge(kept, gone, { email: 'gone' })).body.lead.email).toBe(emails.gone)
    expect(await suppressed(emails.gone)).toBe('manual')
  })

  test('is the gravest of both', async () => {
    const { emails, kept, gone } = await pair('grave')
    await put(emails.kept, 'imported')
    await put(emails.gone, 'complained')
    await merge(kept, gone)
    expect(await suppressed(emails.kept)).toBe('complained')
  })

  test('that was released is none', async () => {
    const { emails, kept, gone } = await pair('released')
    await put(emails.gone, 'manual')
    await hub.query("update hub.suppression set released_at = now() where reason = 'manual'")
    await merge(kept, gone)
    expect(await suppressed(emails.kept)).toBeNull()
  })

  test('that is not on the list yet holds as well, and a complaint stays one', async () => {
    const salt = await readSalt(hub.paths)
    const one = await pair('queued')
    await keepOptOut(hub.paths, emailHash(salt, one.emails.gone), 'token')
    await merge(one.kept, one.gone)
    expect(await suppressed(one.emails.kept)).toBe('unsubscribed')
    const two = await pair('both')
    await put(two.emails.gone, 'complained')
    await keepOptOut(hub.paths, emailHash(salt, two.emails.gone), 'token')
    await merge(two.kept, two.gone)
    expect(await suppressed(two.emails.kept)).toBe('complained')
  })
})

test('the sequences of the one that goes end, those of the kept one go on', async () => {
  const kept = await add({ name: 'Runs', email: 'runs@kept.example' })
  const gone = await add({ name: 'Runs', email: 'runs@gone.example' })
  const [sequence] = await hub.query<{ id: string }>(
    `insert into hub.sequences (project_id, name, send_window, state)
     values ($1, 'Three mails', '{}', 'running') returning id`,
    [project_id],
  )
  for (const { id, email } of [kept, gone]) {
    await hub.query(
      `insert into hub.sequence_recipients (sequence_id, project_id, lead_id, email, time_zones)
       values ($1, $2, $3, $4, '{UTC}')`,
      [sequence?.id, project_id, id, email],
    )
  }
  expect((await merge(kept, gone)).status).toBe(200)
  const rows = await hub.query(
    'select email, state, stop_reason, lead_id from hub.sequence_recipients order by email',
  )
  expect(rows).toEqual([
    { email: gone.email, state: 'stopped', stop_reason: 'lead_deleted', lead_id: kept.id },
    { email: kept.email, state: 'active', stop_reason: null, lead_id: kept.id },
  ])
})

test('copies in other projects stay copies, and the timeline and the list of merges tell of both', async () => {
  const linked = '00000000-0000-4000-8000-0000000000c1'
  const own = '00000000-0000-4000-8000-0000000000c2'
  const leads = []
  for (const name of ['Kept', 'Copied', 'Copied elsewhere']) leads.push(await add({ name }))
  const [kept, copied, other] = leads
  if (!kept || !copied || !other) throw new Error('No leads.')
  await hub.query('update hub.leads set linked = $2 where id = $1', [copied.id, linked])
  await hub.query('update hub.leads set linked = $2 where id = $1', [other.id, own])
  const link = async () =>
    (await hub.query('select linked from hub.leads where id = $1', [kept.id]))[0]?.linked
  const first = (await merge(kept, copied)).body.merge.id
  expect(await link()).toBe(linked)
  const second = (await merge(kept, other)).body.merge.id
  expect(await link()).toBe(linked)
  const { activities } = (await get(`lead/timeline?lead_id=${kept.id}`)).body
  expect(activities[0]).toMatchObject({
    kind: 'merged',
    details: { merge_id: second, lead: 'Copied elsewhere' },
  })
  const { merges } = (await get('leads/merges?project=demir')).body
  expect(merges.slice(0, 2)).toMatchObject([
    { id: second, gone: { name: 'Copied elsewhere' }, kept: { name: 'Kept' } },
    { id: first, gone: { name: 'Copied' }, kept: { name: 'Kept' } },
  ])
})

test('a sequence that waits for its approval keeps the person, and a merge that is undone both', async () => {
  const [kept, gone] = [await add({ name: 'Chosen' }), await add({ name: 'Chosen too' })]
  const window = { days: ['mon'], from: '09:00', to: '17:00', time_zone: 'UTC' }
  const sequence = async (state: string, lead_ids: string[]) => {
    const [row] = await hub.query<{ id: string }>(
      `insert into hub.sequences (project_id, name, filter, send_window, state)
       values ($1, 'Fair', $2, $3, $4) returning id`,
      [project_id, { lead_ids }, window, state],
    )
    return row?.id ?? ''
  }
  const ids = [await sequence('draft', [gone.id]), await sequence('done', [gone.id])]
  const filters = async () => {
    const rows = await hub.query<{ filter: { lead_ids: string[] } }>(
      'select filter from hub.sequences where id = any($1) order by array_position($1, id)',
      [ids],
    )
    return rows.flatMap(({ filter }) => filter.lead_ids)
  }
  const undo = (id: string) => post(`leads/merges/${id}/undo`, {})
  const first = (await merge(kept, gone)).body.merge.id
  // What was approved, and has ended, stays as it was.
  expect(await filters()).toEqual([kept.id, gone.id])
  expect((await undo(first)).status).toBe(200)
  expect(await filters()).toEqual([gone.id, gone.id])
  const again = (await merge(kept, gone)).body.merge.id
  await hub.query("update hub.sequences set filter = '{}' where id = $1", [ids[0]])
  expect(await undo(again)).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('A mail to many that named the lead') },
  })
})
