import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere } from '../../../hub/db/db.ts'
import { forgetMerges } from '../../../hub/leads/merge-undo.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'

let hub: TestHub
let project_id: string
const { get, post, add } = leadCalls(() => hub)
type Id = { id: string }

beforeAll(async () => {
  hub = await startHub()
  await post('projects/create', { slug: 'demir', name: 'Demir' })
  const [project] = await hub.query<Id>('select id from hub.projects')
  project_id = project?.id ?? ''
  await hub.query(
    `insert into hub.lead_fields (project_id, key, label, kind)
     values ($1, 'fleet', 'Fleet', 'number'), ($1, 'tier', 'Tier', 'text')`,
    [project_id],
  )
})
afterAll(() => hub.close())

const merge = async (kept: Id, gone: Id, choices = {}): Promise<string> => {
  const { status, body } = await post('lead/merge', { kept_id: kept.id, gone_id: gone.id, choices })
  expect([status, body.detail]).toEqual([200, undefined])
  return body.merge.id
}
const undo = (id: string) => post(`leads/merges/${id}/undo`, {})

/** All rows of all tables; the audit and the records of merges grow, and so does the list of refusals. */
async function everything(): Promise<Record<string, unknown[]>> {
  const tables = await hub.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'hub' and table_type = 'BASE TABLE'
       and table_name not in ('audit', 'merges', 'suppression') order by 1`,
  )
  const found: Record<string, unknown[]> = {}
  for (const { name } of tables) {
    const rows = await hub.query<{ row: string }>(
      `select to_jsonb(t)::text as row from hub.${name} as t order by 1`,
    )
    found[name] = rows.map(({ row }) => row)
  }
  return found
}

/** Two leads with something in every table that a merge touches. */
async function two(name: string) {
  const kept = await add({
    name,
    email: `${name}@kept.example`,
    company: 'Işık',
    tags: ['a'],
    custom: { fleet: 12 },
    amount: 10.5,
    currency: 'EUR',
  })
  const gone = await add({
    name: `${name} Işık`,
    email: `${name}@gone.example`,
    tags: ['b'],
    custom: { fleet: 7, tier: 'Gold' },
    stage: 'won',
    outcome_reason: 'Price',
    lawful_basis: 'consent',
  })
  for (const { id } of [kept, gone]) {
    await post('lead/note', { lead_id: id, text: 'Likes tea' })
    await post('lead/task', { lead_id: id, title: 'Call' })
  }
  const of = [project_id, kept.id, gone.id]
  await hub.query(
    `insert into hub.evidence (project_id, lead_id, fact, source, import_column)
     values ($1, $2, 'City: Ankara', 'a.csv:2', 'City'), ($1, $3, 'City: Bursa', 'b.csv:2', 'City'),
       ($1, $3, 'Size: 9', 'b.csv:2', 'Size')`,
    of,
  )
  await hub.query('update hub.leads set linked = gen_random_uuid() where id = $1', [gone.id])
  const [letter, campaign] = await hub.query<Id>(
    `insert into hub.drafts (project_id, audience, subject, text, html, state)
     values ($1, jsonb_build_object('kind', 'lead', 'lead_id', $3::uuid), 'Dear', 'Text', '<p>', 'rendered'),
       ($1, jsonb_build_object('kind', 'list', 'filter', jsonb_build_object('lead_ids', jsonb_build_array($3::uuid, $2::uuid))),
         'All', 'Text', '<p>', 'sent')
     returning id`,
    of,
  )
  await hub.query(
    `insert into hub.stands (draft_id, basis, project_id, sentence, verdict, stood_by)
     values ($1, 'b', $2, 'Text', 'unsure', 'token')`,
    [letter?.id, project_id],
  )
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, lead_id, email, state, sent_at, bounced_at)
     values ($1, $3, $4, $5, 'failed', null, null), ($2, $3, $4, $5, 'sent', now(), null)`,
    [letter?.id, campaign?.id, project_id, gone.id, `${name}@gone.example`],
  )
  const [mail] = await hub.query<Id>(
    `insert into hub.inbox_mails (project_id, lead_id, draft_id, our_email, kind, matched_by, text)
     values ($1, $2, $3, 'x@kept.example', 'reply', 'message_id', 'Yes') returning id`,
    [project_id, gone.id, campaign?.id],
  )
  await hub.query(
    `insert into hub.answers (id, project_id, lead_id, inbox_mail_id, email, subject, text, message_id, state, written_by)
     values (gen_random_uuid(), $1, $2, $3, 'x@kept.example', 'Re', 'Good', $4, 'sent', 'session')`,
    [project_id, gone.id, mail?.id, `<${name}@x>`],
  )
  const [sequence] = await hub.query<Id>(
    `insert into hub.sequences (project_id, name, send_window, state)
     values ($1, 'Hello', '{"days": [1], "from": "09:00", "to": "17:00", "time_zone": "UTC"}', 'running')
     returning id`,
    [project_id],
  )
  const [step] = await hub.query<Id>(
    `insert into hub.drafts (project_id, audience, subject, text, state, sequence_id, step, wait_days)
     values ($1, '{"kind": "list", "filter": {}}', 'Step', 'Text', 'sending', $2, 1, 0) returning id`,
    [project_id, sequence?.id],
  )
  const theirs = [sequence?.id, project_id, gone.id, gone.email]
  await hub.query(
    `insert into hub.sequence_recipients (sequence_id, project_id, lead_id, email, time_zones)
     values ($1, $2, $3, $4, '{UTC}')`,
    theirs,
  )
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, lead_id, email, state, due_at, due_until)
     values ($1, $2, $3, $4, 'pushed', now() + interval '1 day', now() + interval '2 days')`,
    [step?.id, ...theirs.slice(1)],
  )
  return { kept, gone, letter, campaign, mail, sequence }
}

test('gives both leads everything back, exactly', async () => {
  const { kept, gone } = await two('ayse')
  // An older merge came into the lead that goes.
  const older = await merge(gone, await add({ name: 'ayse', email: 'older@gone.example' }))
  const before = await everything()
  const id = await merge(kept, gone, { email: 'gone', stage: 'gone', 'custom.fleet': 'gone' })
  const between = await everything()
  const changed = Object.keys(before).filter(
    (table) => JSON.stringify(before[table]) !== JSON.stringify(between[table]),
  )
  expect(changed).toEqual([
    'activities',
    'answers',
    'drafts',
    'evidence',
    'inbox_mails',
    'leads',
    'notes',
    'recipients',
    'sequence_recipients',
    'stands',
    'tasks',
  ])
  expect((await get('leads/merges?project=demir')).body.merges[0]).toMatchObject({
    id,
    undone_at: null,
    undo_until: expect.any(String),
  })
  const { status, body } = await undo(id)
  expect(status).toBe(200)
  expect(body.leads).toMatchObject([
    { id: kept.id, email: 'ayse@kept.example', stage: 'new' },
    { id: gone.id, email: 'ayse@gone.example', stage: 'won', outcome_reason: 'Price' },
  ])
  // Both timelines say so; all else is as it was.
  const undone = `from hub.activities where kind = 'unmerged'`
  expect(
    await hub.query(`select lead_id, actor ->> 'kind' as by ${undone} order by lead_id`),
  ).toEqual([kept.id, gone.id].sort().map((lead_id) => ({ lead_id, by: 'api' })))
  const told = await everything()
  told.activities = (told.activities ?? []).filter((row) => !String(row).includes('"unmerged"'))
  expect(told).toEqual(before)
  const [record] = await hub.query(
    'select moved_rows, changed, sums from hub.merges where id = $1 and undone_at is not null',
    [id],
  )
  expect(record).toEqual({ moved_rows: null, changed: null, sums: null })
  // The older merge belongs to its own lead again, and can be undone too.
  expect((await undo(older)).status).toBe(200)
  const acts = await hub.query('select action, target from hub.audit order by at desc limit 2')
  expect(acts).toEqual([
    { action: 'undoMerge', target: older },
    { action: 'undoMerge', target: id },
  ])
})

test('leaves whoever asked for no more mail on the list', async () => {
  const kept = await add({ name: 'Opt', email: 'opt@kept.example' })
  const gone = await add({ name: 'Opt', email: 'opt@gone.example' })
  await post('suppression/add', { emails: ['opt@gone.example'] })
  const listed = () => hub.query('select * from hub.suppression order by email_hash')
  const id = await merge(kept, gone)
  const after = await listed()
  expect(after.length).toBeGreaterThan(1)
  expect((await undo(id)).status).toBe(200)
  expect(await listed()).toEqual(after)
})

test('leaves what another merge brought where it is', async () => {
  const merges: string[] = []
  for (const name of ['north', 'south']) {
    const kept = await add({ name, email: `${name}@kept.example` })
    const gone = await add({ name, email: `${name}@gone.example` })
    await post('lead/note', { lead_id: gone.id, text: `Note of ${name}` })
    merges.push(await merge(kept, gone))
  }
  expect((await undo(merges[0] ?? '')).status).toBe(200)
  const notes = await hub.query(
    `select note.text, lead.email from hub.notes as note join hub.leads as lead on lead.id = note.lead_id
     where note.text like 'Note of %' order by 1`,
  )
  expect(notes).toEqual([
    { text: 'Note of north', email: 'north@gone.example' },
    { text: 'Note of south', email: 'south@kept.example' },
  ])
})

test('happens once, though two ask for it at once', async () => {
  const { kept, gone } = await two('twice')
  const id = await merge(kept, gone)
  const answers = await Promise.all([undo(id), undo(id)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  const refused = answers.find(({ status }) => status === 409)
  expect(refused?.body.detail).toBe('This merge was undone already.')
})

describe('is refused, and changes nothing, after', () => {
  type Two = Awaited<ReturnType<typeof two>>
  const cases: [string, RegExp, (given: Two) => Promise<unknown>][] = [
    [
      'a change of the lead',
      /^The lead was changed/,
      ({ kept }) => post('lead/update', { lead_id: kept.id, title: 'CEO' }),
    ],
    [
      'a change of stage by itself',
      /^The lead was changed/,
      ({ kept }) => hub.query("update hub.leads set stage = 'meeting' where id = $1", [kept.id]),
    ],
    [
      'a note',
      /^The lead has new or changed notes/,
      ({ kept }) => post('lead/note', { lead_id: kept.id, text: 'New' }),
    ],
    [
      'a task that is done',
      /^The lead has new or changed notes/,
      ({ kept }) => hub.query('update hub.tasks set done_at = now() where lead_id = $1', [kept.id]),
    ],
    [
      'an edited letter',
      /^A mail to the lead/,
      ({ letter }) => hub.query("update hub.drafts set text = 'New' where id = $1", [letter?.id]),
    ],
    [
      'an approval',
      /^A mail to the lead/,
      ({ letter }) =>
        hub.query("update hub.drafts set state = 'approved', approved_at = now() where id = $1", [
          letter?.id,
        ]),
    ],
    [
      'a letter that was sent',
      /^A mail to the lead/,
      ({ kept, letter }) =>
        hub.query(
          `insert into hub.recipients (draft_id, project_id, lead_id, email, state, sent_at)
           values ($1, $2, $3, 'new@kept.example', 'sent', now())`,
          [letter?.id, project_id, kept.id],
        ),
    ],
    [
      'a new letter',
      /^A mail to the lead/,
      ({ kept }) =>
        hub.query(
          `insert into hub.drafts (project_id, audience)
           values ($1, jsonb_build_object('kind', 'lead', 'lead_id', $2::uuid))`,
          [project_id, kept.id],
        ),
    ],
    [
      'a change of who gets a campaign',
      /^A mail to many that named the lead/,
      ({ campaign }) =>
        hub.query(
          `update hub.drafts set audience = '{"kind": "list", "filter": {}}' where id = $1`,
          [campaign?.id],
        ),
    ],
    [
      'the end of its sequence',
      /^A sequence of the lead/,
      ({ sequence }) =>
        hub.query("update hub.sequences set state = 'done' where id = $1", [sequence?.id]),
    ],
    [
      'a reply',
      /^A mail of the lead came in/,
      ({ kept }) =>
        hub.query(
          `insert into hub.inbox_mails (project_id, lead_id, our_email, kind, matched_by)
           values ($1, $2, 'x', 'reply', 'subject')`,
          [project_id, kept.id],
        ),
    ],
    [
      'another merge',
      /Undo the later merge first/,
      async ({ kept }) => merge(kept, await add({ name: 'Third' })),
    ],
    [
      'a new lead with its address',
      /^Another lead of the project has the e-mail .*@gone\.example/,
      ({ gone }) => add({ name: 'New', email: gone.email }),
    ],
  ]
  test.each(cases.map((one, at) => [...one, at] as const))('%s', async (_, why, act, at) => {
    const given = await two(`case${at}`)
    const id = await merge(given.kept, given.gone)
    await act(given)
    const before = await everything()
    const { status, body } = await undo(id)
    expect([status, body.detail]).toEqual([409, expect.stringMatching(why)])
    expect(await everything()).toEqual(before)
  })

  test('30 days, when its record goes, and an upgrade from an earlier release', async () => {
    const { kept, gone } = await two('old')
    const id = await merge(kept, gone)
    await hub.query("update hub.merges set merged_at = now() - interval '30 days' where id = $1", [
      id,
    ])
    const late = await undo(id)
    expect([late.status, late.body.detail]).toEqual([404, expect.stringContaining('30 days')])
    const young = await merge(await add({ name: 'Young' }), await add({ name: 'Young' }))
    await everywhere(hub.deps.db, forgetMerges)
    const left = await hub.query<Id>('select id from hub.merges')
    expect(left.map((one) => one.id)).not.toContain(id)
    expect(left.map((one) => one.id)).toContain(young)
    await hub.query('update hub.merges set moved_rows = null, changed = null, sums = null')
    const old = await undo(young)
    expect([old.status, old.body.detail]).toEqual([409, expect.stringContaining('earlier version')])
  })

  test('looking at its mails, it still happens', async () => {
    const { kept, gone, mail } = await two('seen')
    const id = await merge(kept, gone)
    await hub.query('update hub.inbox_mails set seen_at = now() where id = $1', [mail?.id])
    expect((await undo(id)).status).toBe(200)
  })
})

test('a project that comes back from its archive has the way back, too', async () => {
  const kept = await add({ name: 'Archive', email: 'archive@kept.example' })
  const gone = await add({ name: 'Archive', email: 'archive@gone.example' })
  const leads = () =>
    hub.query('select to_jsonb(l) as row from hub.leads l where id = any($1) order by id', [
      [kept.id, gone.id],
    ])
  const before = await leads()
  const id = await merge(kept, gone)
  // Nothing is on its way.
  await hub.query("update hub.sequences set state = 'done'")
  await hub.query("update hub.drafts set state = 'sent' where state in ('sending', 'approved')")
  await post('projects/delete', { slug: 'demir', name: 'Demir' })
  const [archive] = (await get('projects/archives')).body.archives
  expect((await post('projects/restore', { archive: archive.archive })).status).toBe(201)
  expect((await undo(id)).status).toBe(200)
  expect(await leads()).toEqual(before)
})

test('a column that an upgrade of the hub adds does not count as a change', async () => {
  const { kept, gone } = await two('upgraded')
  const id = await merge(kept, gone)
  await hub.query('alter table hub.leads add column later text')
  try {
    await hub.query(`update hub.leads set later = 'filled' where id = $1`, [kept.id])
    expect(await undo(id)).toMatchObject({ status: 409 })
    await hub.query('update hub.leads set later = null where id = $1', [kept.id])
    expect(await undo(id)).toMatchObject({ status: 200 })
  } finally {
    await hub.query('alter table hub.leads drop column later')
  }
})
