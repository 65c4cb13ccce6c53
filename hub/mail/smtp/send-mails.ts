import type { Sql } from '../../../shared/sql.ts'
import { everywhere } from '../../db/db.ts'
import { bilingual, verbatim, type Words } from '../../i18n/words.ts'
import type { Log } from '../../log.ts'
import { mailbox } from '../address.ts'
import type { From } from '../brand/brand.ts'
import { approvedFrom, type Mailing } from '../drafts/approval.ts'
import { peopleOf, personalOf, skipWords } from '../drafts/audience.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import { explainDraft, postponeDraft } from '../drafts/holds.ts'
import { outcomeText } from '../drafts/outcome.text.ts'
import { recordBounce, recordSent } from '../drafts/outcome.ts'
import {
  type ClaimedMail,
  claimMail,
  markFailed,
  markUnclear,
  putBack,
  skipMails,
} from '../drafts/state.ts'
import { awayDay, waitForReturn } from '../inbox/waits.ts'
import { ListmonkError, listmonk } from '../listmonk/listmonk.ts'
import { readRefusals } from '../opt-outs.ts'
import { personalise, type Rendered } from '../render/render.ts'
import { earlierMails } from '../sequences/thread.ts'
import { type MailSettings, readMail, readPause } from '../settings.ts'
import {
  emailHashes,
  type Refusals,
  readSalt,
  type Salt,
  tokenHash,
  unsubscribeToken,
} from '../suppression.ts'
import { readToday, senderKey, volumeOf } from '../today.ts'
import { refusesAddress } from './dead-address.ts'
import { domainOfSender, readDkim } from './dkim.ts'
import { isSubject } from './message.ts'
import { messageId, type SendResult, sendMail, unsubscribeHeaders } from './smtp.ts'

const say = bilingual(outcomeText)

type Recipient = {
  email: string
  lead_id: string | null
  name: string | null
  company: string | null
  own: Record<string, string>
}
type PersonalMail = { recipient: Recipient; token: string; url: string; rendered: Rendered }

const MAX_ATTEMPTS = 5
const MINUTE = 60

/** How long each answer may take; tests use shorter times. */
export type Patience = { connect_timeout_ms?: number; answer_timeout_ms?: number }

/** Thrown while claiming: somebody else was first, or the mail must no longer be sent. */
class ClaimRefused extends Error {}

/**
 * sendMails sends a draft's mails one by one, until all are sent, the daily limit is reached or the
 * server is unavailable. `sending` is committed before DATA, so that nobody gets a mail twice.
 */
export async function sendMails(
  mailing: Mailing & { log: Log; patience: Patience },
  draft: DraftRow,
  isClosed: () => boolean,
): Promise<void> {
  let refused: string | undefined
  while (!isClosed()) {
    const [settings, pause] = await Promise.all([
      readMail(mailing.config.paths),
      readPause(mailing.config.paths),
    ])
    const from = await everywhere(mailing.db, (sql) => approvedFrom(sql, mailing.config, draft))
    if (pause.reason || !from || !mailing.config.public_url) return
    const recipient = await choose(mailing, draft, { settings, from })
    // Chosen again although refused a moment ago: the next round tries, so that nobody is asked without end.
    if (recipient === null || recipient.email === refused) return
    try {
      const goesOn = await sendOne(mailing, { draft, settings, from, recipient })
      if (!goesOn) return
    } catch (error) {
      if (!(error instanceof ClaimRefused)) throw error
      refused = recipient.email
    }
  }
}

/** The next recipient; those who must no longer get the mail are skipped with the reason. */
async function choose(
  { config, db }: Mailing,
  draft: DraftRow,
  { settings, from }: { settings: MailSettings; from: From },
): Promise<Recipient | null> {
  const refusals = await readRefusals(config.paths)
  const pause = await readPause(config.paths)
  return everywhere(db, async (sql) => {
    const today = await readToday(sql, settings, pause)
    if (today.alarm || volumeOf(today, settings, from).left === 0) return null
    for (;;) {
      const [next] = await sql<Recipient>`
        select email, lead_id, name, company, own
        from hub.recipients
        where draft_id = ${draft.id} and state = 'pushed' and (retry_at is null or retry_at <= now())
          and (${draft.sequence_id}::uuid is null or (due_at <= now() and now() < due_until))
          and exists (
            select from hub.drafts
            where id = ${draft.id} and state = 'sending' and paused_at is null
              and approved_hash = ${draft.approved_hash}
              and (retry_at is null or retry_at <= now())
          )
        order by retry_at nulls first, email
        limit 1`
      if (!next) return null
      const { email, lead_id } = next
      const skip = await reasonToSkip(sql, draft, next, refusals)
      const until = skip === null && lead_id ? await awayDay(sql, lead_id) : null
      if (until) await waitForReturn(sql, { draft_id: draft.id, email, until })
      else if (!skip) return next
      else await skipMails(sql, { draft_id: draft.id, emails: [email] }, skip)
    }
  })
}

/** Why an approved recipient must no longer get the mail. */
export async function reasonToSkip(
  sql: Sql,
  draft: DraftRow,
  { lead_id, email }: Pick<Recipient, 'lead_id' | 'email'>,
  refusals: Refusals,
): Promise<Words | null> {
  if (!lead_id) return skipWords.lead_deleted
  const { project_id, template, created_at } = draft
  const audience = { kind: 'lead' as const, lead_id }
  const { people } = await peopleOf(sql, { project_id, audience, template, created_at, refusals })
  const [person] = people
  if (person?.email !== email) return skipWords.other_address
  return person.skip && skipWords[person.skip]
}

/** The outcome of a mail, with the server's answer. */
/** `handed_over`: listmonk took the mail, and does not tell what its mail server said. */
type Outcome = (SendResult | { kind: 'handed_over'; response: string; message_id: string }) & {
  said: Words
}

type Work = { draft: DraftRow; settings: MailSettings; from: From; recipient: Recipient }

async function sendOne(
  mailing: Mailing & { log: Log; patience: Patience },
  work: Work,
): Promise<boolean> {
  const { config, log } = mailing
  const { draft, settings, from, recipient } = work
  const salt = await readSalt(config.paths)
  const token = unsubscribeToken(salt, recipient.email)
  const url = new URL(`/api/cockpit/u/${token}`, config.public_url ?? 'https://localhost').href
  const rendered = personalise(
    {
      subject: draft.rendered_subject ?? '',
      html: draft.html ?? '',
      text: draft.rendered_text ?? '',
      bytes: 0,
    },
    { ...personalOf(recipient), unsubscribe_url: url },
  )
  if (!isSubject(rendered.subject)) {
    const who = { draft_id: draft.id, emails: [recipient.email] }
    await everywhere(mailing.db, (sql) => skipMails(sql, who, say.no_subject))
    return true
  }
  const mail = { recipient, token, url, rendered }
  let claimed: ClaimedMail | undefined
  const claim = async () => {
    claimed = await claimFor(mailing, draft, from, mail)
  }
  const result =
    draft.via === 'tx'
      ? await byListmonk(settings, from, mail, claim)
      : await bySmtp(mailing, {
          draft,
          settings,
          from,
          mail,
          claim,
          earlier: await earlierMails(mailing.db, draft, recipient.email),
        })
  log({ msg: 'mail', draft_id: draft.id, outcome: result.kind })
  return settle(mailing, { ...work, claimed, result, salt })
}

/**
 * Commits `sending`: the last moment at which an unsubscription, a pause or the daily limit still
 * counts.
 */
async function claimFor(
  { config, db }: Mailing,
  draft: DraftRow,
  from: From,
  { recipient, token }: PersonalMail,
): Promise<ClaimedMail> {
  const [{ salt, queued }, limits, pause] = await Promise.all([
    readRefusals(config.paths),
    readMail(config.paths),
    readPause(config.paths),
  ])
  const hashes = emailHashes(salt, recipient.email)
  if (pause.reason || hashes.some((hash) => queued.has(hash))) throw new ClaimRefused()
  const message_id = messageId(draft.id, recipient.email, from.email)
  return everywhere(db, async (sql) => {
    const today = await readToday(sql, limits, pause)
    if (volumeOf(today, limits, from).left === 0) throw new ClaimRefused()
    const attempt = await claimMail(sql, draft, {
      email: recipient.email,
      hashes,
      message_id,
      token_hash: tokenHash(token),
      sender: senderKey(from.email),
    })
    if (attempt === undefined) throw new ClaimRefused()
    const { email, lead_id } = recipient
    const { id: draft_id, project_id, subject } = draft
    return { draft_id, project_id, email, lead_id, subject, attempt }
  })
}

async function bySmtp(
  { config, patience }: Mailing & { patience: Patience },
  given: {
    draft: DraftRow
    settings: MailSettings
    from: From
    mail: PersonalMail
    claim: () => Promise<void>
    /** The Message-IDs of the thread it goes on, the first one first. */
    earlier: string[]
  },
): Promise<Outcome> {
  const { draft, claim, from, earlier } = given
  const last = earlier.at(-1)
  const { smtp } = given.settings
  const { recipient, url, rendered } = given.mail
  if (!smtp) return away(say.no_server)
  const key = (await readDkim(config.paths)).keys[domainOfSender(from.email)]
  const result = await sendMail(
    smtp,
    {
      from: { name: from.name, address: from.email },
      to: {
        ...(recipient.name ? { name: oneLine(recipient.name) } : {}),
        address: recipient.email,
      },
      ...(from.reply_to ? { reply_to: { address: from.reply_to } } : {}),
      subject: rendered.subject,
      html: rendered.html,
      text: rendered.text,
      message_id: messageId(draft.id, recipient.email, from.email),
      date: new Date(),
      unsubscribe_url: url,
      ...(last ? { in_reply_to: last, references: earlier } : {}),
    },
    { on_data: claim, dkim: key?.signs ? key : undefined, ...patience },
  )
  return { ...result, said: verbatim(result.response) }
}

async function byListmonk(
  { listmonk: account }: MailSettings,
  from: From,
  { recipient, url, rendered }: PersonalMail,
  claim: () => Promise<void>,
): Promise<Outcome> {
  if (!account) return away(say.no_listmonk)
  const client = listmonk(account)
  try {
    const template_id = await client.ensureTemplate('tx')
    await claim()
    await client.sendTransactional({
      email: recipient.email,
      from_email: mailbox(from),
      rendered,
      headers: {
        ...unsubscribeHeaders(url),
        ...(from.reply_to ? { 'Reply-To': from.reply_to } : {}),
      },
      template_id,
    })
    const response = 'taken by listmonk'
    return { kind: 'handed_over', response, message_id: '', said: verbatim(response) }
  } catch (error) {
    if (!(error instanceof ListmonkError)) throw error
    const { kind, message: response, words: said } = error
    if (kind === 'unclear') return { kind, code: 'LISTMONK', response, message_id: '', said }
    const permanent = kind === 'refused'
    const stage = permanent ? 'data' : 'connect'
    return { kind: 'refused', permanent, code: 'LISTMONK', response, stage, said }
  }
}

const away = (why: Words): Outcome => ({
  kind: 'refused',
  permanent: false,
  code: 'SETTINGS',
  response: why.en,
  stage: 'connect',
  said: why,
})

const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ').slice(0, 200)

/** Stores the outcome. Returns whether the next mail may follow at once. */
async function settle(
  { db }: Mailing,
  given: Work & { claimed: ClaimedMail | undefined; result: Outcome; salt: Salt },
): Promise<boolean> {
  const { draft, claimed, result, salt } = given
  const later = (reason: Words) =>
    everywhere(db, async (sql) => {
      await postponeDraft(sql, draft.id, { reason, first_seconds: 30 })
      return false
    })
  if (result.kind === 'sent' && claimed) {
    await everywhere(db, async (sql) => {
      await recordSent(sql, claimed)
      await explainDraft(sql, draft.id, null)
    })
    return true
  }
  if (result.kind === 'handed_over' && claimed) {
    await everywhere(db, async (sql) => {
      await markUnclear(sql, claimed, say.handed_over)
      await explainDraft(sql, draft.id, null)
    })
    return true
  }
  if (result.kind === 'unclear' && claimed) {
    await everywhere(db, (sql) => markUnclear(sql, claimed, say.no_clear_answer(result.said)))
    return later(say.stopped_answering(result.said))
  }
  if (result.kind !== 'refused') throw new Error('a mail went out without a claim')
  const { stage, permanent, response, said: reason } = result
  const isOfMail = stage === 'recipient' || stage === 'data'
  if (!claimed) return later(say.takes_none(result.said))
  if (!isOfMail) {
    await everywhere(db, (sql) =>
      putBack(sql, claimed, { reason, wait_seconds: 0, was_tried: false }),
    )
    return later(say.takes_none(result.said))
  }
  await everywhere(db, async (sql) => {
    if (permanent || claimed.attempt >= MAX_ATTEMPTS) {
      await markFailed(sql, claimed, reason)
      const isDead = permanent && stage === 'recipient' && refusesAddress(response)
      if (isDead) await recordBounce(sql, salt, claimed, 'hard')
      return
    }
    const wait_seconds = 5 * MINUTE * 3 ** (claimed.attempt - 1)
    await putBack(sql, claimed, { reason, wait_seconds, was_tried: true })
  })
  return true
}
