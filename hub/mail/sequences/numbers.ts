import type { z } from 'zod'
import type { Sql } from '../../../shared/sql.ts'
import type { SequenceState } from './state.ts'
import { type People, peopleColumns, type Stopped } from './view.ts'

/** The figures of that many sequences at most are shown. */
export const MAX_SHOWN = 50

export type SequenceNumbers = {
  id: string
  name: string
  state: SequenceState
  people: z.infer<typeof People>
  stopped: z.infer<typeof Stopped>
  /** How many mails of each step were sent, the first step first. */
  sent: number[]
  replied: number
}

/** sequenceNumbers counts what became of the sequences that were approved, the newest first. */
export function sequenceNumbers(sql: Sql, project_id: string): Promise<SequenceNumbers[]> {
  return sql<SequenceNumbers>`
    select sequence.id, sequence.name, sequence.state, ${peopleColumns}, (
        select coalesce(jsonb_agg((
          select count(*) from hub.recipients as mail
          where mail.draft_id = step.id and mail.state = 'sent'
        ) order by step.step), '[]')
        from hub.drafts as step where step.sequence_id = sequence.id
      ) as sent, (
        select count(distinct mail.email)::int
        from hub.recipients as mail join hub.drafts as step on step.id = mail.draft_id
        where step.sequence_id = sequence.id and mail.replied_at is not null
      ) as replied
    from hub.sequences as sequence
    where sequence.project_id = ${project_id} and sequence.started_at is not null
    order by sequence.started_at desc, sequence.id desc
    limit ${MAX_SHOWN}`
}
