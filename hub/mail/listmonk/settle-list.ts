import type { Sql } from '../../../shared/sql.ts'
import { everywhere } from '../../db/db.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import type { Mailing } from '../drafts/approval.ts'
import { skipWords } from '../drafts/audience.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import { outcomeText } from '../drafts/outcome.text.ts'
import { withdrawMails } from '../drafts/portion-state.ts'
import { skipMails } from '../drafts/state.ts'
import { inboxText } from '../inbox/inbox.text.ts'
import { awayDay } from '../inbox/waits.ts'
import { readRefusals } from '../opt-outs.ts'
import { reasonToSkip } from '../smtp/send-mails.ts'
import { type Refusals, readSalt, suppress, suppressed } from '../suppression.ts'
import type { Listmonk } from './listmonk.ts'
import type { Campaign } from './listmonk-rows.ts'
import { isThere } from './lists.ts'

const say = bilingual(outcomeText)
const sayAway = bilingual(inboxText)

type Portion = {
  id: string
  portion: number
  list_id: number
  campaign_id: number
  state: 'made' | 'started'
  /** The hub paused it; another pause is listmonk's own or a person's. */
  held: boolean
}
export type Work = { mailing: Mailing; client: Listmonk; draft: DraftRow; portion: Portion }

type Recipient = { email: string; lead_id: string | null }

/**
 * Removes those from the list who must no longer get it, and skips who deleted themselves in listmonk. The
 * list must then contain exactly the approved recipients; `fault` says how it differs.
 */
export async function settleList(
  work: Work,
): Promise<{ people: Recipient[]; fault: Words | null }> {
  const members = await membersOf(work)
  const { people, gone } = await judgeAgain(work, whoLeft(members))
  await takeOffList(
    work,
    members.filter(({ email }) => gone.has(email)),
  )
  const found = new Set(members.map(({ email }) => email).filter((email) => !gone.has(email)))
  const approved = new Set(people.map(({ email }) => email))
  const strange = [...found].filter((email) => !approved.has(email)).length
  if (strange > 0) return { people, fault: say.strangers(strange) }
  const missing = [...approved].filter((email) => !found.has(email))
  const wiped = await skipWiped(work, missing)
  const left = people.filter(({ email }) => !wiped.has(email))
  const lacking = missing.length - wiped.size
  return { people: left, fault: lacking > 0 ? say.missing(lacking) : null }
}

/** Whoever is no subscriber any more has left; without the list absence says nothing. */
async function skipWiped(work: Work, missing: string[]): Promise<Set<string>> {
  const { mailing, client, draft, portion } = work
  const wiped = new Set<string>()
  if (missing.length === 0 || !(await isThere(client, portion.list_id))) return wiped
  for (const email of missing) {
    if (!(await client.findSubscriber(email))) wiped.add(email)
  }
  const salt = await readSalt(mailing.config.paths)
  const emails = [...wiped]
  await everywhere(mailing.db, async (sql) => {
    await suppress(sql, salt, { emails, reason: 'unsubscribed', project_id: draft.project_id })
    await skipMails(sql, { draft_id: draft.id, emails }, skipWords.suppressed)
  })
  return wiped
}

type Member = { id: number; email: string; hasLeft: boolean }

async function membersOf({ client, portion }: Work): Promise<Member[]> {
  return (await client.listMembers(portion.list_id)).map(({ subscriber, subscription }) => ({
    id: subscriber.id,
    email: subscriber.email.toLowerCase(),
    hasLeft: subscription === 'unsubscribed' || subscriber.status !== 'enabled',
  }))
}

const whoLeft = (members: Member[]) =>
  new Set(members.filter((one) => one.hasLeft).map(({ email }) => email))

async function takeOffList({ client, portion }: Work, leaving: Member[]): Promise<void> {
  if (leaving.length === 0) return
  await client.removeFromList(
    leaving.map(({ id }) => id),
    portion.list_id,
  )
}

async function judgeAgain(
  { mailing, draft, portion }: Work,
  hasLeft: Set<string>,
): Promise<{ people: Recipient[]; gone: Set<string> }> {
  const refusals = await readRefusals(mailing.config.paths)
  return everywhere(mailing.db, async (sql) => {
    const all = await sql<Recipient & { state: string }>`
      select email, lead_id, state from hub.recipients
      where draft_id = ${draft.id} and portion = ${portion.portion}
        and state in ('pushed', 'skipped')
      order by email`
    const people: Recipient[] = []
    const gone = new Set(all.filter(({ state }) => state === 'skipped').map(({ email }) => email))
    for (const one of all.filter(({ state }) => state === 'pushed')) {
      const skip = await reasonToLeaveOut(sql, draft, one, { hasLeft, refusals })
      if (!skip) {
        people.push(one)
        continue
      }
      gone.add(one.email)
      await skipMails(sql, { draft_id: draft.id, emails: [one.email] }, skip)
    }
    return { people, gone }
  })
}

async function reasonToLeaveOut(
  sql: Sql,
  draft: DraftRow,
  one: Recipient,
  { hasLeft, refusals }: { hasLeft: Set<string>; refusals: Refusals },
): Promise<Words | null> {
  if (hasLeft.has(one.email)) return skipWords.suppressed
  const skip = await reasonToSkip(sql, draft, one, refusals)
  if (skip) return skip
  const until = one.lead_id ? await awayDay(sql, one.lead_id) : null
  return until ? sayAway.away_campaign(until) : null
}

/**
 * Before a started campaign begins or goes on: whoever must no longer get it, or was put on its list by
 * somebody else, is taken off.
 */
export async function settleStarted(work: Work, campaign: Campaign): Promise<void> {
  const { mailing, draft } = work
  const members = await membersOf(work)
  const hasLeft = whoLeft(members)
  const refusals = await readRefusals(mailing.config.paths)
  const leaving = new Map<string, Words>()
  const people = await beingSent(work)
  await everywhere(mailing.db, async (sql) => {
    for (const one of people) {
      const reason = await reasonToLeaveOut(sql, draft, one, { hasLeft, refusals })
      if (reason) leaving.set(one.email, reason)
    }
  })
  const staying = new Set(people.map(({ email }) => email).filter((email) => !leaving.has(email)))
  await takeOffList(
    work,
    members.filter(({ email }) => !staying.has(email)),
  )
  await withdraw(work, campaign, leaving)
}

/** Whoever opts out at the hub is not known to listmonk, which takes those on the list bit by bit. */
export async function takeOffOptedOut(work: Work, campaign: Campaign): Promise<void> {
  const { mailing } = work
  const refusals = await readRefusals(mailing.config.paths)
  const emails = (await beingSent(work)).map(({ email }) => email)
  const gone = await everywhere(mailing.db, (sql) => suppressed(sql, refusals, emails))
  if (gone.size === 0) return
  const members = await membersOf(work)
  await takeOffList(
    work,
    members.filter(({ email }) => gone.has(email)),
  )
  await withdraw(
    work,
    campaign,
    new Map([...gone].map((email) => [email, skipWords.suppressed] as const)),
  )
}

function beingSent({ mailing, draft, portion }: Work): Promise<Recipient[]> {
  return everywhere(
    mailing.db,
    (sql) => sql<Recipient>`
      select email, lead_id from hub.recipients
      where draft_id = ${draft.id} and portion = ${portion.portion} and state = 'sending'
      order by email`,
  )
}

/** Nobody knows who of a campaign that has begun had its mail already. */
async function withdraw(
  { mailing, draft }: Work,
  { status, sent }: Campaign,
  leaving: Map<string, Words>,
): Promise<void> {
  const isUntouched = status === 'draft' || (status === 'paused' && sent === 0)
  await everywhere(mailing.db, async (sql) => {
    for (const [email, why] of leaving) {
      const reason = isUntouched ? why : say.taken_off(why)
      const to = isUntouched ? 'skipped' : 'unclear'
      await withdrawMails(sql, { draft_id: draft.id, emails: [email] }, { to, reason })
    }
  })
}
