import type { Sql } from '../../../shared/sql.ts'
import { everywhere } from '../../db/db.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import type { Log } from '../../log.ts'
import { fromOf } from '../brand/brand.ts'
import { brandOf } from '../brand/brand-of.ts'
import type { Mailing } from '../drafts/approval.ts'
import { scheduleMails } from '../drafts/step-state.ts'
import { readMail } from '../settings.ts'
import { sequencesText } from './sequences.text.ts'
import { completePeople, finishSequence, voidSequence } from './state.ts'
import { stopSequences } from './stop.ts'
import { senderHash } from './thread.ts'
import { dueOf } from './timetable.ts'
import type { SendWindow } from './window.ts'

const say = bilingual(sequencesText)

type Running = {
  id: string
  project_id: string
  send_window: SendWindow
  sender_hash: string | null
}

/** The mail of a recipient that comes next; without a state it has had them all. */
type Next = {
  email: string
  time_zones: string[]
  wait_until: string | null
  last_sent_at: string | null
  draft_id: string | null
  wait_days: number | null
  state: 'waiting' | 'pushed' | 'sending' | 'unclear' | 'skipped' | 'failed' | null
  reason: Words | null
}

/**
 * scheduleSequences moves every running sequence on: the next mail of each recipient gets its office
 * hours, a mail that missed them gets the next ones, and who has had all, or must not get more, leaves.
 * Running it again changes nothing, so a killed hub goes on where it was.
 */
export async function scheduleSequences(mailing: Mailing & { log: Log }): Promise<void> {
  const { config, db, log } = mailing
  const settings = await readMail(config.paths)
  const running = await everywhere(
    db,
    (sql) => sql<Running>`
      select id, project_id, send_window, approved ->> 'sender_hash' as sender_hash
      from hub.sequences where state = 'running' order by approved_at, id`,
  )
  const moveOn = (sequence: Running) =>
    everywhere(db, async (sql) => {
      const brand = await brandOf(sql, config, { id: sequence.project_id })
      if (sequence.sender_hash !== senderHash(fromOf(brand), settings)) {
        const isVoid = await voidSequence(sql, sequence.id, say.sender_changed)
        if (isVoid) log({ msg: 'sequence must be approved again', sequence_id: sequence.id })
        return
      }
      await scheduleOne(sql, sequence, new Date())
      if (await finishSequence(sql, sequence.id)) {
        log({ msg: 'sequence done', sequence_id: sequence.id })
      }
    })
  for (const sequence of running) {
    try {
      await moveOn(sequence)
    } catch (error) {
      // What is wrong with one sequence must not hold up the others, nor other mail.
      const what = error instanceof Error ? error.message : String(error)
      log({ msg: 'scheduling a sequence', sequence_id: sequence.id, error: what })
    }
  }
}

async function scheduleOne(sql: Sql, sequence: Running, now: Date): Promise<void> {
  const { id, project_id, send_window: window } = sequence
  const people = await nextMails(sql, id)
  const due = []
  const done: string[] = []
  for (const one of people) {
    const { email, draft_id, state, wait_days, reason } = one
    if (!draft_id || !state) {
      done.push(email)
    } else if (state === 'skipped' || state === 'failed') {
      const why = state === 'failed' ? 'failed' : 'left_out'
      await stopSequences(sql, { project_id, email, sequence_id: id }, why, reason)
    } else if (state === 'waiting' || state === 'pushed') {
      const opening = dueOf(
        {
          time_zones: one.time_zones,
          last_sent_at: one.last_sent_at ? new Date(one.last_sent_at) : null,
          wait_until: one.wait_until ? new Date(one.wait_until) : null,
        },
        { wait_days: wait_days ?? 0, window, now },
      )
      if (opening) due.push({ draft_id, email, due_at: opening.from, due_until: opening.until })
    }
  }
  if (due.length > 0) await scheduleMails(sql, due)
  if (done.length > 0) await completePeople(sql, id, done)
}

/** Of each recipient who is still in, the first step that it has not had, unless that may go now. */
function nextMails(sql: Sql, sequence_id: string): Promise<Next[]> {
  return sql<Next>`
    select person.email, person.time_zones, person.wait_until, next.draft_id, next.wait_days,
      next.state, next.reason, (
        select max(had.sent_at)
        from hub.recipients as had join hub.drafts as step on step.id = had.draft_id
        where step.sequence_id = person.sequence_id and had.email = person.email
      ) as last_sent_at
    from hub.sequence_recipients as person
    left join lateral (
      select mail.draft_id, step.wait_days, mail.state, mail.reason,
        mail.due_until is null or mail.due_until <= now() as is_late
      from hub.drafts as step join hub.recipients as mail on mail.draft_id = step.id
      where step.sequence_id = person.sequence_id and mail.email = person.email
        and mail.state <> 'sent'
      order by step.step
      limit 1
    ) as next on true
    where person.sequence_id = ${sequence_id} and person.state = 'active'
      and (next.state is null or next.state <> 'pushed' or next.is_late)`
}
