import { z } from 'zod'
import { raw, type Sql } from '../../../shared/sql.ts'
import { absent } from '../../i18n/failure.ts'
import type { Words } from '../../i18n/words.ts'
import { AudienceFilter } from '../drafts/audience.ts'
import { MAIL_STATES } from '../drafts/flow.ts'
import { SEQUENCE_STATES } from './state.ts'
import { SendWindow } from './window.ts'

const Count = z.int()

/** The mails of a step: how many are on their way, and what became of the others. */
const StepMails = z.object({
  waiting: Count,
  sent: Count,
  unclear: Count,
  failed: Count,
  skipped: Count,
  replied: Count,
  bounced: Count,
  unsubscribed: Count,
})

/** How many recipients are in which state. */
export const People = z.object({ active: Count, done: Count, stopped: Count, left_out: Count })
/** How many left for which reason. */
export const Stopped = z
  .object({ replied: Count, bounced: Count, opted_out: Count, stage: Count, others: Count })
  .meta({ description: 'Why recipients left it.' })

export const SequenceStep = z
  .object({
    id: z.uuid(),
    step: Count,
    wait_days: Count,
    subject: z.string().nullable().meta({ description: 'null: Re: and that of the first step.' }),
    text: z.string(),
    mails: StepMails,
  })
  .meta({ id: 'SequenceStep' })

/** A sequence as the API returns it. */
export const Sequence = z
  .object({
    id: z.uuid(),
    project: z.string(),
    name: z.string(),
    language: z.enum(['en', 'tr']),
    filter: AudienceFilter,
    window: SendWindow,
    state: z.enum(SEQUENCE_STATES),
    state_reason: z.string().nullable(),
    agent: z.string().nullable(),
    mission_id: z.uuid().nullable(),
    steps: z.array(SequenceStep),
    people: People,
    stopped: Stopped,
    approved_at: z.string().nullable(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Sequence' })
export type SequenceView = Omit<z.infer<typeof Sequence>, 'state_reason'> & {
  state_reason: Words | null
}

export const PERSON_STATES = ['active', 'done', 'stopped'] as const

/** A recipient of an approved sequence. */
export const SequenceRecipient = z
  .object({
    email: z.string(),
    name: z.string().nullable(),
    company: z.string().nullable(),
    lead_id: z.uuid().nullable(),
    state: z.enum(PERSON_STATES),
    stop_reason: z.string().nullable().meta({ description: 'Why it left, as a code.' }),
    stopped: z.string().nullable().meta({ description: 'The same in words.' }),
    time_zones: z.array(z.string()),
    wait_until: z.string().nullable().meta({ description: 'Away until then.' }),
    next_at: z.string().nullable().meta({ description: 'The office hours of its next mail.' }),
    ended_at: z.string().nullable(),
    mails: z.array(
      z.object({
        step: Count,
        state: z.enum(MAIL_STATES),
        reason: z.string().nullable(),
        due_at: z.string().nullable(),
        sent_at: z.string().nullable(),
        replied_at: z.string().nullable(),
        bounced_at: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'SequenceRecipient' })

const PEOPLE = `(
    select jsonb_build_object(
      'active', count(*) filter (where person.state = 'active'),
      'done', count(*) filter (where person.state = 'done'),
      'stopped', count(*) filter (
        where person.state = 'stopped' and person.stop_reason <> 'left_out'),
      'left_out', count(*) filter (where person.stop_reason = 'left_out')
    )
    from hub.sequence_recipients as person where person.sequence_id = sequence.id
  ) as people, (
    select jsonb_build_object(
      'replied', count(*) filter (where person.stop_reason = 'replied'),
      'bounced', count(*) filter (where person.stop_reason in ('bounced', 'failed')),
      'opted_out', count(*) filter (where person.stop_reason in ('opted_out', 'complained')),
      'stage', count(*) filter (where person.stop_reason = 'stage'),
      'others', count(*) filter (where person.stop_reason not in (
        'replied', 'bounced', 'failed', 'opted_out', 'complained', 'stage', 'left_out'))
    )
    from hub.sequence_recipients as person where person.sequence_id = sequence.id
  ) as stopped`
/** The columns `people` and `stopped`, for queries over `sequence`. */
export const peopleColumns = raw(PEOPLE)

/** The columns of a Sequence, for queries over `sequence` and `project`. */
export const sequenceColumns = raw(`
  sequence.id, project.slug as project, sequence.name, sequence.language, sequence.filter,
  sequence.send_window as window, sequence.state, sequence.state_reason, sequence.agent,
  sequence.mission_id, (
    select coalesce(jsonb_agg(jsonb_build_object(
        'id', step.id, 'step', step.step, 'wait_days', step.wait_days,
        'subject', case when not step.is_reply then step.subject end, 'text', step.text,
        'mails', (
          select jsonb_build_object(
            'waiting', count(*) filter (where mail.state in ('waiting', 'pushed', 'sending')),
            'sent', count(*) filter (where mail.state = 'sent'),
            'unclear', count(*) filter (where mail.state = 'unclear'),
            'failed', count(*) filter (where mail.state = 'failed'),
            'skipped', count(*) filter (where mail.state = 'skipped'),
            'replied', count(mail.replied_at), 'bounced', count(mail.bounced_at),
            'unsubscribed', count(mail.unsubscribed_at)
          )
          from hub.recipients as mail where mail.draft_id = step.id
        )
      ) order by step.step), '[]')
    from hub.drafts as step where step.sequence_id = sequence.id
  ) as steps, ${PEOPLE},
  sequence.approved_at, sequence.started_at, sequence.ended_at, sequence.created_at,
  sequence.updated_at`)

/** One sequence as the API returns it; throws 404 for one of another project. */
export async function viewSequence(
  sql: Sql,
  project_id: string,
  id: string,
): Promise<SequenceView> {
  const [sequence] = await sql<SequenceView>`
    select ${sequenceColumns}
    from hub.sequences as sequence
    join hub.projects as project on project.id = sequence.project_id
    where sequence.id = ${id} and sequence.project_id = ${project_id}`
  if (!sequence) throw absent('sequence')
  return sequence
}
