import type { Sql } from '../../../shared/sql.ts'
import { everywhere } from '../../db/db.ts'
import { hashOf } from '../../hash.ts'
import { verbatim } from '../../i18n/words.ts'
import { recordActivity } from '../../leads/timeline.ts'
import type { Mailing } from '../drafts/approval.ts'
import { findMails, recordBounce, recordOutcome } from '../drafts/outcome.ts'
import { recordRefusal } from '../drafts/refusal.ts'
import type { Mail } from '../drafts/state.ts'
import { relatesTo } from '../imap/automatic.ts'
import type { IncomingMail } from '../imap/imap.ts'
import { asksToStop } from '../imap/opt-out-words.ts'
import { MAX_REPLY, reportedBy, withoutMail } from '../imap/reply.ts'
import { postponeSequences, stopSequences } from '../sequences/stop.ts'
import { readMail } from '../settings.ts'
import { endsAddress } from '../smtp/dead-address.ts'
import { readSalt, type Salt } from '../suppression.ts'
import { bounceAnswers } from './answers.ts'
import { awayUntil, saysAway } from './away.ts'

type MatchedBy = 'message_id' | 'subject' | 'address'
/** The mail of ours that a mail is about, and how that is known. */
export type Answered = { ours: Mail; matched_by: MatchedBy }
export type InboxKind = 'reply' | 'out_of_office' | 'bounce' | 'unrelated'

/**
 * answeredBy finds the mail of ours that a mail is about: by its Message-ID; else by the sender's address
 * and our subject; else by the address alone, which makes it no reply.
 */
export async function answeredBy(sql: Sql, mail: IncomingMail): Promise<Answered | undefined> {
  const { references, in_reply_to, from } = mail
  const message_ids = [...(in_reply_to ? [in_reply_to] : []), ...references]
  const [named] = await findMails(sql, { message_ids, email: null })
  if (named) return { ours: named, matched_by: 'message_id' }
  const [answered] = await sql<Mail>`
    select known.draft_id, known.project_id, known.lead_id, known.our_email as email, draft.subject
    from hub.answers as answer
    join hub.inbox_mails as known on known.id = answer.inbox_mail_id
    join hub.drafts as draft on draft.id = known.draft_id
    where answer.message_id = any(${message_ids}::text[]) and answer.claimed_at is not null
    limit 1`
  if (answered) return { ours: answered, matched_by: 'message_id' }
  if (!from) return undefined
  const sent = await sql<Mail & { rendered: string | null }>`
    select r.draft_id, r.project_id, r.lead_id, r.email, d.subject, d.rendered_subject as rendered
    from hub.recipients as r
    join hub.drafts as d on d.id = r.draft_id
    where r.claimed_at is not null and r.email = ${from}
    order by r.claimed_at desc limit 200`
  const related = sent.find((one) => relatesTo(mail.subject, [one.subject, one.rendered ?? '']))
  const [newest] = sent
  if (related) return { ours: related, matched_by: 'subject' }
  return newest && { ours: newest, matched_by: 'address' }
}

/** Whether the text of a mail is read: not that of a newsletter that answers none of ours. */
export function isReadable({ automatic }: IncomingMail, { matched_by }: Answered): boolean {
  return matched_by !== 'address' || automatic === null || automatic === 'replied'
}

/** kindOf sorts a mail that is about one of ours. Only a person's reply stops what was to follow. */
export function kindOf(
  mail: Pick<IncomingMail, 'automatic' | 'subject' | 'body'>,
  matched_by: MatchedBy,
): Exclude<InboxKind, 'bounce'> {
  const { automatic, subject, body } = mail
  if (automatic === null) return matched_by === 'address' ? 'unrelated' : 'reply'
  const mayBeAway = automatic === 'replied' || matched_by !== 'address'
  return mayBeAway && saysAway(subject, body?.said ?? null) ? 'out_of_office' : 'unrelated'
}

/**
 * takeMail keeps a mail about one of ours in the inbox, once, and does what follows from it: a reply stops
 * what was to follow, a notice of absence makes it wait, a request for no more mail ends it.
 */
export async function takeMail(mailing: Mailing, mail: IncomingMail): Promise<void> {
  const { paths } = mailing.config
  const [salt, { away_days }] = await Promise.all([readSalt(paths), readMail(paths)])
  await everywhere(mailing.db, async (sql) => {
    const answered = await answeredBy(sql, mail)
    if (!answered || (await isTold(sql, answered.ours, mail.message_id))) return
    const { ours, matched_by } = answered
    const kind = kindOf(mail, matched_by)
    const text = mail.body?.said
      ? withoutMail(mail.body.said, await mailOf(sql, ours)) || null
      : null
    const judged = mail.automatic ? 'no' : asksToStop(mail.subject, text)
    const is_named = matched_by === 'message_id'
    // Anybody can forge an address, and an opt-out is for ever.
    const asked = judged === 'yes' && is_named ? ('asked' as const) : ('open' as const)
    const opt_out = judged === 'no' ? null : asked
    const away = { subject: mail.subject, text, days: away_days }
    const away_until = kind === 'out_of_office' ? awayUntil(away, new Date()) : null
    const id = await keepMail(sql, { mail, answered, kind, text, opt_out, away_until })
    if (!id) return
    if (kind === 'out_of_office') await recordAway(sql, ours, { id, mail, text, until: away_until })
    if (kind === 'reply') await recordReply(sql, answered, { id, mail, text, opt_out })
    if (kind === 'unrelated' && opt_out) await holdMail(sql, ours)
    if (opt_out === 'asked') await recordRefusal(sql, salt, ours, mail.from)
  })
}

/** Returns the id; undefined if the inbox has this mail already. */
async function keepMail(
  sql: Sql,
  given: {
    mail: IncomingMail
    answered: Answered
    kind: InboxKind
    text: string | null
    opt_out?: 'asked' | 'open' | null
    away_until?: string | null
    bounce?: 'hard' | 'soft' | 'complaint'
  },
): Promise<string | undefined> {
  const { mail, answered, kind, text, opt_out = null, away_until = null, bounce = null } = given
  const { ours, matched_by } = answered
  const { body, message_id } = mail
  const thread_ids = [...new Set([...mail.references, ...(message_id ? [message_id] : [])])]
  const [row] = await sql<{ id: string }>`
    insert into hub.inbox_mails (
      project_id, lead_id, draft_id, our_email, kind, matched_by, from_email, from_name, subject,
      text, whole, is_cut, attachments, message_id, thread_ids, bounce, opt_out, opt_out_by,
      away_until, handled_at
    )
    values (
      ${ours.project_id}, ${ours.lead_id}, ${ours.draft_id}, ${ours.email}, ${kind}, ${matched_by},
      ${mail.from}, ${mail.from_name}, ${kind === 'bounce' ? ours.subject : mail.subject},
      ${text}, ${body?.whole ?? null}, ${body?.is_cut ?? false},
      ${JSON.stringify(mail.attachments)}, ${message_id && keptId(message_id)},
      ${thread_ids.slice(-MAX_THREAD)}::text[], ${bounce}, ${opt_out},
      ${opt_out === null ? null : 'rules'}, ${away_until}, ${opt_out === 'asked' ? NOW : null}
    )
    on conflict (project_id, our_email, message_id) where message_id is not null do nothing
    returning id`
  return row?.id
}

const MAX_THREAD = 20
/** No more fits into an index of Postgres; a longer id stands there as its hash. */
const MAX_ID_BYTES = 998

function keptId(message_id: string): string {
  return Buffer.byteLength(message_id) <= MAX_ID_BYTES ? message_id : hashOf(message_id)
}

/** Postgres reads it as the time of the transaction. */
const NOW = 'now'

type Taken = { id: string; mail: IncomingMail; text: string | null }

/**
 * The time of reading counts, because the reply's own date is not reliable; a reply that is only known by
 * its sender's address may be forged: it stops what follows too, is marked in the timeline, and can be
 * undone.
 */
export async function recordReply(
  sql: Sql,
  { ours, matched_by }: { ours: Mail; matched_by: MatchedBy | 'person' },
  {
    id,
    mail,
    text,
    opt_out,
  }: Pick<Taken, 'id' | 'text'> & {
    mail: Pick<IncomingMail, 'from' | 'message_id'>
    opt_out: 'asked' | 'open' | null
  },
): Promise<void> {
  const changed = await sql<{ is_first: boolean }>`
    update hub.recipients set replied_at = coalesce(replied_at, now()), last_replied_at = now(),
      opt_out = case when opt_out = 'asked' then opt_out else coalesce(${opt_out}, opt_out) end
    where draft_id = ${ours.draft_id} and email = ${ours.email}
    returning old.replied_at is null as is_first`
  if (!changed[0]?.is_first && text === null && !opt_out) return
  const is_other = mail.from !== null && mail.from !== ours.email
  await recordOutcome(sql, ours, 'replied', {
    inbox_id: id,
    ...(matched_by === 'subject' ? { only_address: true } : {}),
    ...(is_other && mail.from ? { from: mail.from } : {}),
    ...(opt_out ? { opt_out } : {}),
    ...(text === null ? {} : { text: text.slice(0, MAX_REPLY).toWellFormed() }),
    ...(mail.message_id ? { message_id: mail.message_id } : {}),
  })
  // Only what answers a Message-ID of ours from the address that we wrote to is certainly theirs.
  if (matched_by === 'message_id' && !is_other && !opt_out) await keepSaid(sql, ours, text)
}

async function recordAway(
  sql: Sql,
  { project_id, lead_id, draft_id }: Mail,
  { id, mail, text, until }: Taken & { until: string | null },
): Promise<void> {
  if (!lead_id) return
  const details = {
    draft_id,
    subject: mail.subject,
    inbox_id: id,
    until,
    ...(text === null ? {} : { text: text.slice(0, MAX_REPLY).toWellFormed() }),
    ...(mail.message_id ? { message_id: mail.message_id } : {}),
  }
  await recordActivity(sql, { project_id, lead_id, kind: 'away', details })
  if (until) await postponeSequences(sql, { project_id, lead_id }, new Date(until))
}

/** A mail that is no reply may still ask for no more mail: a person decides. */
export async function holdMail(sql: Sql, { draft_id, email }: Mail): Promise<void> {
  await sql`
    update hub.recipients set opt_out = 'open'
    where draft_id = ${draft_id} and email = ${email} and opt_out is null`
}

/** The mail as it was rendered; its lines with personal fields differ from those that were sent. */
async function mailOf(sql: Sql, { draft_id }: Mail): Promise<string> {
  const [draft] = await sql<{ text: string | null }>`
    select rendered_text as text from hub.drafts where id = ${draft_id}`
  return draft?.text ?? ''
}

/** Whether a timeline from before there was an inbox tells it. A renumbered mailbox is read again. */
async function isTold(sql: Sql, { lead_id }: Mail, message_id: string | null): Promise<boolean> {
  if (!lead_id || !message_id) return false
  const [told] = await sql`
    select from hub.activities
    where lead_id = ${lead_id} and kind = 'replied' and details ->> 'message_id' = ${message_id}`
  return told !== undefined
}

/** keepSaid makes the paragraphs of a reply evidence about its lead. */
export async function keepSaid(
  sql: Sql,
  { project_id, lead_id }: Pick<Mail, 'project_id' | 'lead_id'>,
  text: string | null,
): Promise<void> {
  if (text === null || !lead_id) return
  const facts = reportedBy(text.slice(0, MAX_REPLY).toWellFormed())
  const source = `reply ${new Date().toISOString().slice(0, 10)}`
  await sql`
    insert into hub.evidence (project_id, lead_id, fact, source, said_by_lead)
    select ${project_id}::uuid, ${lead_id}::uuid, given.fact, ${source}, true
    from unnest(${facts}::text[]) as given (fact)
    where not exists (
      select from hub.evidence as known
      where known.lead_id = ${lead_id} and known.said_by_lead and known.fact = given.fact
    )`
}

/**
 * takeReport records a bounce or a complaint. Only its Message-ID proves that the mail was ours, and a
 * bounce must also name the address it was sent to. Returns whether it was about a mail of ours.
 */
export async function takeReport(
  mailing: Mailing,
  salt: Salt,
  mail: IncomingMail,
): Promise<boolean> {
  const { report } = mail
  if (!report) return false
  return everywhere(mailing.db, async (sql) => {
    const mails = await findMails(sql, { message_ids: report.original_ids, email: null })
    let isOurs = false
    for (const ours of mails) {
      const recipient = report.bounced.find(({ emails }) => emails.includes(ours.email))
      if (report.kind === 'bounce' && !recipient) continue
      const isFinal = recipient?.permanent ?? false
      const isDead = isFinal && endsAddress(recipient?.status ?? '')
      const bounce = report.kind === 'complaint' ? 'complaint' : isDead ? 'hard' : 'soft'
      await recordBounce(sql, salt, ours, bounce)
      if (isFinal && !isDead) {
        const { project_id, email } = ours
        await stopSequences(sql, { project_id, email }, 'failed', verbatim(recipient?.status ?? ''))
      }
      const answered = { ours, matched_by: 'message_id' as const }
      await keepMail(sql, {
        mail,
        answered,
        kind: 'bounce',
        text: recipient?.status ?? null,
        bounce,
      })
      isOurs = true
    }
    const { original_ids } = report
    for (const { emails, status, permanent } of report.bounced) {
      if (!permanent) continue
      const count = await bounceAnswers(sql, { original_ids, emails, status })
      isOurs ||= count > 0
    }
    return isOurs
  })
}
