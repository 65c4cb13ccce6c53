/** Made-up data of the pages that show what a team, its mail and its other programs did. */
import pg from 'pg'
import { z } from 'zod'
import type { Call } from './hub-sample.ts'

const OFFICE = ['mon', 'tue', 'wed', 'thu', 'fri']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const Sequence = z.object({ sequence: z.object({ id: z.string() }) })
const Written = z.object({
  hash: z.string(),
  sentences: z.array(
    z.object({
      step_id: z.string(),
      sentences: z.array(
        z.object({ sentence: z.string(), verdict: z.string(), stand: z.unknown().nullish() }),
      ),
    }),
  ),
})
const Linked = z.object({ link: z.string() })

export type MorePages = { draftSequence: string; sequence: string; invitation: string }

/** fillPages adds sequences, answers, members, keys, webhooks, own fields and amounts. */
export async function fillPages(call: Call, databaseUrl: string): Promise<MorePages> {
  await call('PUT', 'leads/fields', {
    project: 'demir',
    fields: [
      { key: 'trucks', label: 'Trucks', kind: 'number' },
      {
        key: 'lane',
        label: 'Lane',
        kind: 'choice',
        choices: ['Thessaloniki', 'Sofia', 'Bucharest'],
      },
    ],
  })
  await call('PUT', 'projects/rules', {
    slug: 'demir',
    agent: 'sales',
    text: 'Never name a price before the first call.',
  })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(`select set_config('hub.project', '*', false)`)
    await client.query(
      `update hub.leads as lead
       set amount = 4000 + (at * 3700) % 52000, currency = 'EUR',
         custom = jsonb_build_object('trucks', 20 + (at * 17) % 140,
           'lane', (array['Thessaloniki', 'Sofia', 'Bucharest'])[1 + at % 3])
       from (select id, row_number() over (order by score desc, id)::int as at from hub.leads) as place
       where lead.id = place.id and at % 4 <> 3`,
    )
    const sequences = await addSequences(call, client)
    await addAnswers(client)
    const invitation = await addTeam(call, client)
    return { ...sequences, invitation }
  } finally {
    await client.end()
  }
}

async function addSequences(call: Call, client: pg.Client) {
  const create = async (name: string, filter: object, window: object) => {
    const made = await call('POST', 'sequence/create', {
      project: 'demir',
      name,
      filter,
      window: { from: '09:00', to: '17:00', time_zone: 'Europe/Istanbul', ...window },
      steps: [
        {
          wait_days: 0,
          subject: 'Empty on the way back?',
          text: 'Hello {first_name},\n\nit was good to meet you at the fair.\n\nWould a short call suit you?',
        },
        { wait_days: 3, text: 'Hello {first_name},\n\nshall I call you this week?' },
        {
          wait_days: 5,
          subject: 'One last question',
          text: 'Hello {first_name},\n\nis there anybody else I should ask?',
        },
      ],
    })
    return Sequence.parse(made).sequence.id
  }
  const draftSequence = await create('Exporters in spring', { tag: 'export' }, { days: OFFICE })
  // Its first mails are due after today, so that none is tried at a server that does not exist.
  const today = new Date().getDay()
  const later = OFFICE.filter((day) => (WEEKDAYS.indexOf(day) - today + 7) % 7 > 1)
  const id = await create('After the fair', { tag: 'fair 2026' }, { days: later })
  const ref = { id, project: 'demir' }
  const { sentences } = Written.parse(await call('GET', `sequences/get?id=${id}&project=demir`))
  for (const step of sentences) {
    for (const { sentence, verdict, stand } of step.sentences) {
      if (stand || verdict === 'harmless' || verdict === 'supported') continue
      await call('POST', 'sequence/stand', { ...ref, step_id: step.step_id, sentence })
    }
  }
  const { hash } = Written.parse(await call('GET', `sequences/get?id=${id}&project=demir`))
  await call('POST', 'sequence/approve', { ...ref, hash })
  await client.query(
    `update hub.sequence_recipients as person
     set state = 'stopped', ended_at = now(), stop_reason = (array['replied', 'opted_out', 'stage'])[at]
     from (select email, row_number() over (order by email)::int as at
       from hub.sequence_recipients where sequence_id = $1) as place
     where person.sequence_id = $1 and person.email = place.email and at <= 3`,
    [id],
  )
  await client.query(
    `update hub.recipients as mail set state = 'skipped', due_at = null, due_until = null
     from hub.sequence_recipients as person, hub.drafts as draft
     where person.sequence_id = $1 and person.state = 'stopped' and draft.sequence_id = $1
       and mail.draft_id = draft.id and mail.email = person.email`,
    [id],
  )
  return { draftSequence, sequence: id }
}

/** Three mails of ours and what came back: a question, a no, and an absence. */
async function addAnswers(client: pg.Client): Promise<void> {
  await client.query(
    `with lead as (
       select id, project_id, email, name, row_number() over (order by score desc, id)::int as at
       from hub.leads where stage in ('contacted', 'replied') limit 3
     ), draft as (
       insert into hub.drafts (project_id, audience, subject, text, state)
       select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id), 'Fewer empty kilometres',
         E'Would a short call suit you?', 'sent' from lead
       returning id, project_id, (audience ->> 'lead_id')::uuid as lead_id
     ), recipient as (
       insert into hub.recipients (draft_id, project_id, lead_id, email, state, claimed_at, sent_at,
         replied_at, last_replied_at)
       select draft.id, draft.project_id, lead.id, lead.email, 'sent', now() - interval '2 days',
         now() - interval '2 days', answered.at, answered.at
       from draft join lead on lead.id = draft.lead_id,
         lateral (select case when lead.at < 3 then now() - make_interval(hours => lead.at * 5) end as at)
           as answered
       returning draft_id
     )
     insert into hub.inbox_mails (project_id, lead_id, draft_id, our_email, kind, matched_by, from_email,
       from_name, subject, text, whole, message_id, away_until, attachments, received_at)
     select lead.project_id, lead.id, draft.id, lead.email,
       case at when 3 then 'out_of_office' else 'reply' end, 'message_id', lead.email, lead.name,
       case at when 3 then 'Out of office' else 'Re: Fewer empty kilometres' end, said,
       said || E'\n\n> Would a short call suit you?', '<' || at || '@answers.example>',
       case at when 3 then current_date + 6 end,
       case at when 1 then '[{"name": "lanes-may.pdf", "type": "application/pdf", "bytes": 48211}]' else '[]' end::jsonb,
       now() - make_interval(hours => at * 5)
     from lead join draft on draft.lead_id = lead.id, unnest(array[
       'Tuesday at ten suits me. I attach our lanes of May; could you look at Thessaloniki first?',
       'We have a partner for this year. Please ask again in autumn.',
       'I am away until next week and read my mail after that.']) with ordinality as answer (said, place)
     where place = at`,
  )
}

/** Two colleagues, one invited; a key, and a webhook. */
async function addTeam(call: Call, client: pg.Client): Promise<string> {
  await client.query(
    `insert into hub.members (email, name, role, password_hash, joined_at) values
     ('zeynep@demir.example', 'Zeynep Kaya', 'seller', 'of nobody', now() - interval '40 days'),
     ('emre@demir.example', 'Emre Arslan', 'reader', 'of nobody', now() - interval '12 days')`,
  )
  const { link } = Linked.parse(
    await call('POST', 'settings/members', {
      email: 'elif@demir.example',
      name: 'Elif Öztürk',
      role: 'seller',
    }),
  )
  await call('POST', 'settings/keys', { name: 'Data warehouse', scope: 'read' })
  await call('POST', 'settings/keys', { name: 'Assistant on my laptop', scope: 'propose' })
  await call('POST', 'settings/webhooks', {
    label: 'Chat of the sales team',
    url: 'https://hooks.demir.example/sales',
    project: 'demir',
    events: ['mail.replied', 'mail.opted_out'],
    allow_private: false,
  })
  return new URL(link).hash
}
