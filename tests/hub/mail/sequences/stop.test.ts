import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import { recordBounce, recordOutcome } from '../../../../hub/mail/drafts/outcome.ts'
import { recordRefusal } from '../../../../hub/mail/drafts/refusal.ts'
import { takeReport } from '../../../../hub/mail/inbox/incoming.ts'
import { endWait } from '../../../../hub/mail/inbox/waits.ts'
import { postponeSequences, stopSequences } from '../../../../hub/mail/sequences/stop.ts'
import { readSalt } from '../../../../hub/mail/suppression.ts'
import { api, hub, passDays, smtp, useSequences } from './sequence-help.ts'

const { of, get, add, create, approve, run, people } = useSequences()

type Mail = {
  draft_id: string
  project_id: string
  lead_id: string
  email: string
  subject: string
}
type Event = (lead: { id: string; email: string }, mail: Mail | undefined) => Promise<unknown>
/** The newest mail that a lead got. */
async function mailOf(email: string): Promise<Mail | undefined> {
  const [mail] = await hub.query<Mail>(
    `select r.draft_id, r.project_id, r.lead_id, r.email, d.subject
     from hub.recipients r join hub.drafts d on d.id = r.draft_id
     where r.email = $1 and r.claimed_at is not null order by r.claimed_at desc limit 1`,
    [email],
  )
  return mail
}
const inDatabase = (work: Parameters<typeof everywhere<unknown>>[1]) =>
  everywhere(hub.deps.db, work)
const given = (mail: Mail | undefined): Mail => {
  if (!mail) throw new Error('there is no mail yet')
  return mail
}

const REPORT = {
  uid: 1,
  message_id: null,
  from: null,
  from_name: null,
  subject: 'Undelivered',
  date: null,
  in_reply_to: null,
  references: [],
  automatic: null,
  is_report: true,
  body: null,
  attachments: [],
}

/** Each event, and why the recipient leaves; null: it stays. `early`: possible before the first mail. */
const EVENTS: Record<string, { event: Event; reason: string | null; early?: true }> = {
  'a reply': {
    event: (_, mail) => inDatabase((sql) => recordOutcome(sql, given(mail), 'replied')),
    reason: 'replied',
  },
  'a hard bounce': {
    event: async (_, mail) => {
      const salt = await readSalt(hub.paths)
      return inDatabase((sql) => recordBounce(sql, salt, given(mail), 'hard'))
    },
    reason: 'bounced',
  },
  'a soft bounce': {
    event: async (_, mail) => {
      const salt = await readSalt(hub.paths)
      return inDatabase((sql) => recordBounce(sql, salt, given(mail), 'soft'))
    },
    reason: null,
  },
  'a mail that came back as spam': {
    event: async (_, mail) => {
      const { draft_id, email } = given(mail)
      const [sent] = await hub.query<{ message_id: string }>(
        'select message_id from hub.recipients where draft_id = $1 and email = $2',
        [draft_id, email],
      )
      const bounced = [{ emails: [email], status: '5.7.1', permanent: true }]
      const original_ids = [sent?.message_id ?? '']
      const report = { kind: 'bounce' as const, original_ids, bounced }
      return takeReport(hub.deps, await readSalt(hub.paths), { ...REPORT, report })
    },
    reason: 'failed',
  },
  'a complaint': {
    event: async (_, mail) => {
      const salt = await readSalt(hub.paths)
      return inDatabase((sql) => recordBounce(sql, salt, given(mail), 'complaint'))
    },
    reason: 'complained',
  },
  'an opt-out in words': {
    event: async (_, mail) => {
      const salt = await readSalt(hub.paths)
      // It comes as a reply, and what it asks for is why the person leaves.
      return inDatabase(async (sql) => {
        await recordOutcome(sql, given(mail), 'replied', { opt_out: 'asked' })
        await recordRefusal(sql, salt, given(mail))
      })
    },
    reason: 'opted_out',
  },
  'the stage contacted': {
    event: (lead) => api.ok('lead/update', { lead_id: lead.id, stage: 'contacted' }),
    reason: null,
    early: true,
  },
  ...Object.fromEntries(
    ['replied', 'meeting', 'proposal', 'won', 'lost'].map((stage) => [
      `the stage ${stage}`,
      {
        event: ((lead) => api.ok('lead/update', { lead_id: lead.id, stage })) as Event, // safe: an object literal loses it
        reason: 'stage',
        early: true as const,
      },
    ]),
  ),
  'the deletion of the lead': {
    event: (lead) => api.ok('lead/delete', { lead_id: lead.id }),
    reason: 'lead_deleted',
    early: true,
  },
  'a suppressed address': {
    event: (lead) => api.ok('suppression/add', { emails: [lead.email] }),
    reason: 'left_out',
    early: true,
  },
  'another address of the lead': {
    event: (lead) => api.ok('lead/update', { lead_id: lead.id, email: `new-${lead.email}` }),
    reason: 'left_out',
    early: true,
  },
  'a lawful basis taken back': {
    event: (lead) => api.ok('lead/update', { lead_id: lead.id, lawful_basis: null }),
    reason: 'left_out',
    early: true,
  },
  'an absence of 20 days': {
    event: (lead) =>
      inDatabase(async (sql) => {
        const who = { project_id: null, lead_id: lead.id }
        // A shorter one that comes later does not end it.
        for (const days of [20, 1]) {
          await postponeSequences(sql, who, new Date(Date.now() + days * 86_400_000))
        }
      }),
    reason: null,
    early: true,
  },
  'a return before its day': {
    event: (lead) =>
      inDatabase(async (sql) => {
        const until = new Date(Date.now() + 20 * 86_400_000)
        await postponeSequences(sql, { project_id: null, lead_id: lead.id }, until)
        await endWait(sql, lead.id)
      }),
    reason: null,
    early: true,
  },
  'nothing at all': { event: async () => {}, reason: null, early: true },
}

const STATES = ['before the first mail', 'after the first mail', 'paused', 'edited'] as const
let leads: Record<string, { id: string; email: string }> = {}
let count = 0

describe.each(STATES)('%s', (state) => {
  test('each event has its result', async () => {
    count += 1
    await api.ok('settings/mail/confirm')
    const names = Object.keys(EVENTS).filter(
      (name) => state !== 'before the first mail' || EVENTS[name]?.early,
    )
    const tag = `matrix${count}`
    leads = {}
    for (const [at, name] of names.entries()) {
      leads[name] = await add(`m${count}x${at}x`, { tags: [tag] })
    }
    const id = await create({ tag })
    await approve(id)
    if (state !== 'before the first mail') await run()
    if (state === 'paused') await api.ok('sequence/pause', of(id))
    if (state === 'edited') await api.ok('sequence/edit', { ...of(id), name: 'Edited' })
    for (const name of names) {
      const lead = leads[name]
      if (lead) await EVENTS[name]?.event(lead, await mailOf(lead.email))
    }
    // Three bounces among so few mails pause all mail.
    await api.ok('settings/mail/confirm')
    if (state === 'paused') await api.ok('sequence/resume', of(id))
    if (state === 'edited') await approve(id)
    smtp.to().length = 0
    await passDays(hub, 3)
    await api.ok('settings/mail/confirm')
    await run()
    const found = await people(id)
    // Under a new address a lead neither begins again nor counts as left out now.
    expect(Object.keys(found).filter((name) => name.startsWith('new-'))).toEqual([])
    const result = Object.fromEntries(
      names.map((name) => {
        const email = leads[name]?.email ?? ''
        const { stop_reason } = found[email.split('@')[0] ?? ''] ?? {}
        return [name, [stop_reason, smtp.to().filter((to) => to.endsWith(email)).length]]
      }),
    )
    const expected = Object.fromEntries(
      names.map((name) => {
        const { reason = null } = EVENTS[name] ?? {}
        const waits = name.startsWith('an absence')
        return [name, [reason, reason === null && !waits ? 1 : 0]]
      }),
    )
    expect(result).toEqual(expected)
    await api.ok('sequence/stop', of(id))
  })
})

test('who leaves has it in the timeline, with the reason, and the numbers say it', async () => {
  await api.ok('settings/mail/confirm')
  const lead = await add('timeline', { tags: ['timeline'] })
  const id = await create({ tag: 'timeline' })
  await approve(id)
  await run()
  // What happens in another project does not take anybody out of this one.
  const elsewhere = { project_id: randomUUID(), email: lead.email }
  expect(await inDatabase((sql) => stopSequences(sql, elsewhere, 'stage'))).toBe(0)
  await inDatabase(async (sql) => recordOutcome(sql, given(await mailOf(lead.email)), 'replied'))
  const { activities } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
  const told = activities
    .filter(({ kind }: { kind: string }) => kind === 'sequence')
    .map(({ details }: { details: object }) => details)
  expect(told).toMatchObject([{ what: 'stopped', reason: 'replied' }, { what: 'started' }])
  expect((await get(id)).sequence).toMatchObject({
    people: { active: 0, stopped: 1 },
    stopped: { replied: 1 },
  })
  const { sequences } = (await api.get('projects/numbers?project=demir')).body
  const none = { replied: 0, bounced: 0, opted_out: 0, stage: 0, others: 0 }
  expect(sequences[0]).toEqual({
    id,
    name: 'Three questions',
    state: 'running',
    people: { active: 0, done: 0, stopped: 1, left_out: 0 },
    stopped: { ...none, replied: 1 },
    sent: [1, 0, 0],
    // A reply counts with the mail that it answers.
    replied: 0,
  })
  await hub.query('update hub.recipients set replied_at = now() where email = $1', [lead.email])
  await create({ tag: 'timeline' })
  const again = (await api.get('projects/numbers?project=demir')).body.sequences
  expect(again[0]).toEqual({ ...sequences[0], replied: 1 })
})

test('who has left has left for the first reason; another sequence goes on, and waits no less', async () => {
  const made = await hub.query<{ id: string }>(
    `with project as (
      insert into hub.projects (slug, name) values ('one', 'One'), ('two', 'Two') returning id)
    insert into hub.sequences (project_id, name, send_window)
    select id, 'S', '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "UTC"}' from project
    returning id`,
  )
  const [one, two] = made.map(({ id }) => id)
  await hub.query(
    `insert into hub.sequence_recipients (sequence_id, project_id, email, time_zones)
    select id, project_id, 'jo@twice.example', '{UTC}' from hub.sequences where id = any($1)`,
    [[one, two]],
  )
  const leave = (reason: 'replied' | 'bounced') =>
    inDatabase((sql) => {
      const who = { project_id: null, email: 'Jo@Twice.example', sequence_id: one ?? '' }
      return stopSequences(sql, who, reason)
    })
  expect([await leave('replied'), await leave('bounced')]).toEqual([1, 0])
  for (const until of ['2099-02-01', '2099-01-01']) {
    await inDatabase((sql) =>
      postponeSequences(sql, { project_id: null, email: 'Jo@Twice.example' }, new Date(until)),
    )
  }
  const rows = await hub.query(
    `select sequence_id as id, state, stop_reason as reason, wait_until::date::text as wait
    from hub.sequence_recipients where email = 'jo@twice.example' order by state`,
  )
  expect(rows).toEqual([
    { id: two, state: 'active', reason: null, wait: '2099-02-01' },
    { id: one, state: 'stopped', reason: 'replied', wait: null },
  ])
  await hub.query("delete from hub.projects where slug in ('one', 'two')")
})
