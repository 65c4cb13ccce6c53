import { ApiError } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import { everywhere } from '../../db/db.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual, type Language, stored, type Words } from '../../i18n/words.ts'
import { moveStage } from '../../leads/leads.ts'
import { recordActivity } from '../../leads/timeline.ts'
import type { Log } from '../../log.ts'
import { type From, fromOf, signatureOf } from '../brand/brand.ts'
import { brandOf } from '../brand/brand-of.ts'
import type { Mailing } from '../drafts/approval.ts'
import { readRefusals } from '../opt-outs.ts'
import { type MailPause, type MailSettings, readMail, readPause } from '../settings.ts'
import { domainOfSender, readDkim } from '../smtp/dkim.ts'
import { isMessageId } from '../smtp/message.ts'
import { messageId, type SendResult, sendMail } from '../smtp/smtp.ts'
import { emailHashes, type Refusals, suppressed } from '../suppression.ts'
import { inboxText } from './inbox.text.ts'

const say = bilingual(inboxText)

/** Only this file writes answers.state: waiting → sending → sent, unclear or failed. */
export type AnswerState = 'waiting' | 'sending' | 'sent' | 'unclear' | 'failed'

/** The mail that is answered, as far as an answer needs it. */
export type Answered = {
  id: string
  project_id: string
  lead_id: string | null
  draft_id: string | null
  our_email: string
  kind: string
  from_email: string | null
  from_name: string | null
  subject: string
  text: string | null
  whole: string | null
  message_id: string | null
  thread_ids: string[]
  received_at: string
}

export type Answering = {
  config: Config
  mail: MailSettings
  pause: MailPause
  refusals: Refusals
}

export async function readAnswering({ config }: Pick<Mailing, 'config'>): Promise<Answering> {
  const [mail, pause, refusals] = await Promise.all([
    readMail(config.paths),
    readPause(config.paths),
    readRefusals(config.paths),
  ])
  return { config, mail, pause, refusals }
}

/** writerOf returns who an answer in a project is from, and the lines under it. */
export async function writerOf(
  sql: Sql,
  config: Config,
  project_id: string,
): Promise<{ from: From | null; signature: string[] }> {
  const [project] = await sql<{ id: string; name: string }>`
    select id, name from hub.projects where id = ${project_id}`
  if (!project) throw absent('project')
  const brand = await brandOf(sql, config, project)
  return { from: fromOf(brand), signature: signatureOf(brand, project) }
}

/** closedFor says why a mail cannot be answered now; null: it can. */
export async function closedFor(
  sql: Sql,
  { config, mail, pause, refusals }: Answering,
  to: Answered,
): Promise<Words | null> {
  if (to.kind === 'bounce') return say.closed.not_a_person
  if (!to.from_email) return say.closed.no_address
  if (!mail.smtp) return say.closed.no_smtp
  if (!(await writerOf(sql, config, to.project_id)).from) return say.closed.no_sender
  if (pause.reason) return say.closed.paused
  const emails = [...new Set([to.from_email, to.our_email])]
  if ((await suppressed(sql, refusals, emails)).size > 0) return say.closed.suppressed
  const [open] = await sql`
    select from hub.recipients
    where project_id = ${to.project_id} and opt_out = 'open'
      and (lead_id = ${to.lead_id} or email = any(${emails}::text[])) limit 1`
  return open ? say.closed.undecided : null
}

/** answerSubject is the subject of an answer: theirs, with one `Re:`. */
export function answerSubject(subject: string): string {
  const bare = subject.replace(/^(?:\s*(?:re|aw|ynt|yan[ıi]t|antw|sv)\s*:\s*)+/iu, '').trim()
  return `Re: ${bare}`.slice(0, 300).toWellFormed().trim()
}

/** answerBody is what goes out: the text, the signature, and on request what is answered, marked by `>`. */
export function answerBody(
  given: Pick<Answered, 'whole' | 'from_name' | 'from_email' | 'received_at'> & {
    text: string
    with_quote: boolean
    signature: string[]
    language: Language
  },
): string {
  const { text, with_quote, whole, language } = given
  const signature = given.signature.join('\n')
  const parts = [text.trim(), `-- \n${signature}`]
  if (!with_quote || !whole) return `${parts.join('\n\n')}\n`
  const who = given.from_name ?? given.from_email ?? ''
  const quoted = whole
    .split('\n')
    .map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`.trimEnd()))
    .join('\n')
  const head = inboxText[language].wrote(who, given.received_at)
  // The signature stands above the quote: below its mark, mail programs hide everything.
  return `${text.trim()}\n\n${signature}\n\n${head}\n${quoted}\n`
}

/** Thrown while claiming: the answer must not be sent any more, or somebody else is sending it. */
class ClaimRefused extends Error {}

/**
 * sendAnswer sends what a person wrote, in the thread of the mail it answers. The caller chooses the id: the
 * same id is sent once, however often it is asked for. `sending` is committed before DATA, so that nobody
 * gets it twice.
 *
 * @throws ApiError `conflict` while a mail to that address must not be sent.
 */
export async function sendAnswer(
  mailing: Mailing & { log: Log },
  given: {
    id: string
    inbox_mail_id: string
    text: string
    with_quote: boolean
    language: Language
    by: 'session' | 'token'
  },
): Promise<void> {
  const { db } = mailing
  const { id, inbox_mail_id, text } = given
  const answering = await readAnswering(mailing)
  const { to, is_new, writer } = await everywhere(db, async (sql) => {
    const to = await readAnswered(sql, inbox_mail_id)
    const writer = await writerOf(sql, answering.config, to.project_id)
    const [known] = await sql<{ text: string; inbox_mail_id: string }>`
      select text, inbox_mail_id from hub.answers where id = ${id}`
    if (known && (known.text !== text || known.inbox_mail_id !== inbox_mail_id)) {
      throw new ApiError('conflict', say.other_text)
    }
    if (known) return { to, writer, is_new: false }
    const closed = await closedFor(sql, answering, to)
    if (closed) throw new ApiError('conflict', closed)
    const email = to.from_email ?? ''
    // Without a target: the same answer at the same moment may first meet the unique message_id.
    const made = await sql`
      insert into hub.answers
        (id, project_id, lead_id, inbox_mail_id, email, subject, text, message_id, written_by)
      values (${id}, ${to.project_id}, ${to.lead_id}, ${to.id}, ${email},
        ${answerSubject(to.subject)}, ${text},
        ${messageId(id, email, writer.from?.email ?? '')}, ${given.by})
      on conflict do nothing
      returning id`
    return { to, writer, is_new: made.length > 0 }
  })
  if (is_new) await deliver(mailing, answering, { ...given, ...writer, to })
}

/** readAnswered reads a mail of the inbox; 404 if there is none. */
export async function readAnswered(sql: Sql, id: string): Promise<Answered> {
  const [mail] = await sql<Answered>`
    select id, project_id, lead_id, draft_id, our_email, kind, from_email, from_name, subject, text,
      whole, message_id, thread_ids, received_at
    from hub.inbox_mails where id = ${id}`
  if (!mail) throw absent('mail')
  return mail
}

async function deliver(
  mailing: Mailing & { log: Log },
  { config, mail, refusals }: Answering,
  given: {
    id: string
    to: Answered
    from: From | null
    signature: string[]
    text: string
    with_quote: boolean
    language: Language
  },
): Promise<void> {
  const { db, log } = mailing
  const { id, to, from: sender, signature } = given
  const { smtp } = mail
  if (!smtp || !sender || !to.from_email) throw new Error('an answer without its gates')
  const hashes = [to.from_email, to.our_email].flatMap((one) => emailHashes(refusals.salt, one))
  const subject = answerSubject(to.subject)
  const thread = to.thread_ids.filter(isMessageId)
  const key = (await readDkim(config.paths)).keys[domainOfSender(sender.email)]
  let isClaimed = false
  let result: SendResult
  try {
    result = await sendMail(
      smtp,
      {
        from: { name: sender.name, address: sender.email },
        to: { address: to.from_email },
        ...(sender.reply_to ? { reply_to: { address: sender.reply_to } } : {}),
        subject,
        text: answerBody({ ...given, ...to, text: given.text, signature }),
        message_id: messageId(id, to.from_email, sender.email),
        date: new Date(),
        ...(to.message_id && isMessageId(to.message_id) ? { in_reply_to: to.message_id } : {}),
        ...(thread.length > 0 ? { references: thread } : {}),
      },
      {
        on_data: async () => {
          isClaimed = await claim(mailing, { id, to, hashes })
          if (!isClaimed) throw new ClaimRefused()
        },
        dkim: key?.signs ? key : undefined,
        answer_timeout_ms: ANSWER_TIMEOUT_MS,
      },
    )
  } catch (error) {
    if (!(error instanceof ClaimRefused)) throw error
    await everywhere(db, (sql) =>
      end(sql, id, { from: 'waiting', to: 'failed', reason: say.withdrawn }),
    )
    return
  }
  log({ msg: 'answer', answer_id: id, outcome: result.kind })
  await everywhere(db, async (sql) => {
    const from = isClaimed ? 'sending' : 'waiting'
    if (result.kind === 'refused') {
      await end(sql, id, { from, to: 'failed', reason: say.refused(result.response) })
      return
    }
    if (result.kind === 'unclear') {
      await end(sql, id, { from, to: 'unclear', reason: say.no_clear_answer(result.response) })
      return
    }
    if (await end(sql, id, { from, to: 'sent', reason: null })) await recordAnswer(sql, to, given)
  })
}

/** A person waits for the outcome. */
const ANSWER_TIMEOUT_MS = 60_000
const GIVE_UP_MINUTES = 10

/** Commits `sending`: the last moment at which an opt-out or a pause still counts. */
async function claim(
  { config, db }: Mailing,
  { id, to, hashes }: { id: string; to: Answered; hashes: string[] },
): Promise<boolean> {
  const [pause, { queued }] = await Promise.all([
    readPause(config.paths),
    readRefusals(config.paths),
  ])
  if (pause.reason || hashes.some((hash) => queued.has(hash))) return false
  const claimed = await everywhere(
    db,
    (sql) => sql`
      update hub.answers set state = 'sending', claimed_at = now()
      where id = ${id} and state = 'waiting'
        and not exists (
          select from hub.suppression
          where email_hash = any(${hashes}::text[]) and released_at is null
        )
        and not exists (
          select from hub.recipients
          where project_id = ${to.project_id} and opt_out = 'open'
            and (lead_id = ${to.lead_id} or email in (${to.from_email}, ${to.our_email}))
        )
      returning id`,
  )
  return claimed.length > 0
}

async function end(
  sql: Sql,
  id: string,
  given: { from: AnswerState; to: AnswerState; reason: Words | null },
): Promise<boolean> {
  const { from, to, reason } = given
  const changed = await sql`
    update hub.answers
    set state = ${to}, reason = ${reason && stored(reason)},
      sent_at = case when ${to} = 'sent' then now() end
    where id = ${id} and state = ${from}
    returning id`
  return changed.length > 0
}

/** An answered mail is handled, and the answer stands on the timeline. */
async function recordAnswer(
  sql: Sql,
  to: Answered,
  { id, text }: { id: string; text: string },
): Promise<void> {
  await sql`
    update hub.inbox_mails set handled_at = coalesce(handled_at, now()),
      seen_at = coalesce(seen_at, now())
    where id = ${to.id}`
  const { project_id, lead_id } = to
  if (!lead_id) return
  const details = {
    subject: answerSubject(to.subject),
    text: text.slice(0, 4000).toWellFormed(),
    inbox_id: to.id,
    answer_id: id,
    ...(to.from_email === to.our_email ? {} : { to: to.from_email }),
  }
  await recordActivity(sql, { project_id, lead_id, kind: 'answered', details })
  await moveStage(
    sql,
    { project_id, lead_id },
    {
      from: ['new'],
      to: 'contacted',
      details: { by: 'answered' },
    },
  )
}

/**
 * bounceAnswers: sent or unclear → failed for answers that a report says did not arrive, and what they
 * answered is open again. Returns how many.
 */
export async function bounceAnswers(
  sql: Sql,
  report: { original_ids: string[]; emails: string[]; status: string },
): Promise<number> {
  const { original_ids, emails, status } = report
  const changed = await sql`
    with bounced as (
      update hub.answers set state = 'failed', reason = ${stored(say.returned(status))}, sent_at = null
      where message_id = any(${original_ids}::text[]) and email = any(${emails}::text[])
        and state in ('sent', 'unclear')
      returning inbox_mail_id
    )
    update hub.inbox_mails set handled_at = null, seen_at = null
    from bounced where id = bounced.inbox_mail_id
    returning id`
  return changed.length
}

/** giveUpAnswers: sending → unclear for answers whose process ended; nobody knows whether they arrived. */
export async function giveUpAnswers({ db }: Mailing): Promise<void> {
  await everywhere(
    db,
    (sql) => sql`
      update hub.answers set state = 'unclear', reason = ${stored(say.stopped)}
      where state = 'sending' and claimed_at < now() - make_interval(mins => ${GIVE_UP_MINUTES})`,
  )
  await everywhere(
    db,
    (sql) => sql`
      update hub.answers set state = 'failed', reason = ${stored(say.not_begun)}
      where state = 'waiting' and created_at < now() - make_interval(mins => ${GIVE_UP_MINUTES})`,
  )
}
