import { ApiError } from '../../../shared/problem.ts'
import { everywhere, inProject, type Project } from '../../db/db.ts'
import { bilingual } from '../../i18n/words.ts'
import { mailbox } from '../address.ts'
import type { From } from '../brand/brand.ts'
import { approvedFrom, type Mailing, readGateInputs, withApproval } from '../drafts/approval.ts'
import { personalOf, skipWords } from '../drafts/audience.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import { flowText } from '../drafts/flow.text.ts'
import { requireOpen } from '../drafts/gates.ts'
import { finishPush, skipMails } from '../drafts/state.ts'
import { attributeFieldsIn } from '../render/go-template.ts'
import { givenFor } from '../render/placeholders.ts'
import { readMail } from '../settings.ts'
import { readSalt, suppress } from '../suppression.ts'
import { volumeOf } from '../today.ts'
import {
  type CampaignInput,
  firstNameAttribute,
  HUB_TAG,
  type Listmonk,
  ListmonkError,
  listmonk,
  ownAttribute,
} from './listmonk.ts'
import { ensureProjectList } from './lists.ts'

const say = bilingual(flowText)

type Recipient = {
  email: string
  name: string | null
  company: string | null
  own: Record<string, string>
  lead_id: string | null
}

/** After this time a killed push no longer blocks others; a running one renews it. */
const PUSH_SECONDS = 120
const AT_ONCE = 4

/**
 * push prepares an approved draft for sending. With listmonk, its recipients become subscribers,
 * and a campaign gets a list for each portion that the daily limit allows; nothing is sent yet.
 */
export async function push(mailing: Mailing, given: { slug: string; id: string }): Promise<void> {
  const { config } = mailing
  const { draft, project, recipients, from } = await withApproval(
    mailing,
    { ...given, step: 'push' },
    async (sql, draft, project, gates) => {
      requireOpen(gates)
      const taken = await sql`
        update hub.drafts
        set pushing_until = now() + make_interval(secs => ${PUSH_SECONDS})
        where id = ${draft.id} and (pushing_until is null or pushing_until < now())
        returning id`
      if (taken.length === 0) throw new ApiError('conflict', say.pushed_already)
      const recipients = await sql<Recipient>`
        select email, name, company, own, lead_id from hub.recipients
        where draft_id = ${draft.id} and state in ('waiting', 'pushed')
        order by email`
      return { draft, project, recipients, from: await approvedFrom(sql, config, draft) }
    },
  )
  try {
    const mail = await readMail(config.paths)
    if (draft.via !== 'smtp' && mail.listmonk) {
      const client = listmonk(mail.listmonk)
      const work = { mailing, project, draft, from, client }
      const list = await ensureProjectList(config.paths, client, project)
      const there = await leaveOutWiped(work, list, recipients)
      const added = await subscribeAll(work, list.list_id, there)
      if (draft.via === 'campaign') await makeCampaigns(work, added)
      else await client.ensureTemplate('tx')
    }
    await finish(mailing, given, draft)
  } catch (error) {
    await release(mailing, given)
    if (error instanceof ListmonkError) throw refusal(error)
    throw error
  }
}

type Work = {
  mailing: Mailing
  project: Project
  draft: DraftRow
  from: From | null
  client: Listmonk
}

/**
 * Puts recipients on a list; those whom listmonk has blocked or who unsubscribed are skipped and
 * suppressed.
 */
async function subscribeAll(
  work: Work,
  list_id: number,
  recipients: Recipient[],
): Promise<Recipient[]> {
  const { mailing, project, draft, client } = work
  const gone = new Set<string>()
  const left = [...recipients]
  const own = ownAttribute(draft.id)
  const { subject = '', html = '', text = '' } = draft.campaign ?? {}
  const named = attributeFieldsIn([subject, html, text], own)
  const worker = async () => {
    for (let one = left.shift(); one; one = left.shift()) {
      const values = personalOf(one)
      const attribs = {
        [`watchpost_${project.slug.replaceAll('-', '_')}`]: { company: one.company },
        [firstNameAttribute(project.slug)]: givenFor(values, 'first_name'),
        ...Object.fromEntries(
          [...Object.keys(one.own), ...named].map((key) => [
            `${own}_${key}`,
            givenFor(values, key),
          ]),
        ),
      }
      const { email } = one
      const person = { email, name: one.name ?? email, list_id, attribs }
      const { kind } = await client.subscribe(person).catch((error: unknown) => {
        throw error instanceof ListmonkError ? error.about(email) : error
      })
      if (kind !== 'added') gone.add(email)
      if (left.length % 50 === 0) await renew(mailing, project, draft.id)
    }
  }
  // All must have ended before a failure lets another push start.
  const ends = await Promise.allSettled(
    Array.from({ length: AT_ONCE }, () =>
      worker().catch((error) => {
        left.length = 0
        throw error
      }),
    ),
  )
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  await skipGone(work, [...gone])
  return recipients.filter(({ email }) => !gone.has(email))
}

/**
 * People can delete themselves on listmonk's public page, which leaves no trace there. Whoever was
 * mailed through it before and is no longer among its subscribers has left, and is not made anew.
 */
async function leaveOutWiped(
  work: Work,
  list: { is_new: boolean },
  recipients: Recipient[],
): Promise<Recipient[]> {
  // After a list was lost, or in another listmonk, absence says nothing.
  if (list.is_new) return recipients
  const emails = recipients.map(({ email }) => email)
  const mailed = await everywhere(
    work.mailing.db,
    (sql) => sql<{ email: string }>`
      select distinct r.email from hub.recipients as r
      join hub.drafts as d on d.id = r.draft_id
      where r.email = any(${emails}::text[]) and r.project_id = ${work.project.id}
        and d.via in ('campaign', 'tx') and r.claimed_at is not null`,
  )
  const gone = new Set<string>()
  for (const { email } of mailed) {
    if (!(await work.client.findSubscriber(email))) gone.add(email)
  }
  await skipGone(work, [...gone])
  return recipients.filter(({ email }) => !gone.has(email))
}

async function skipGone({ mailing, project, draft }: Work, emails: string[]): Promise<void> {
  if (emails.length === 0) return
  const salt = await readSalt(mailing.config.paths)
  await inProject(mailing.db, project.slug, async (sql) => {
    await suppress(sql, salt, { emails, reason: 'unsubscribed', project_id: project.id })
    await skipMails(sql, { draft_id: draft.id, emails }, skipWords.suppressed)
  })
}

async function renew(mailing: Mailing, project: Project, id: string): Promise<void> {
  await inProject(mailing.db, project.slug, async (sql) => {
    await sql`
      update hub.drafts set pushing_until = now() + make_interval(secs => ${PUSH_SECONDS})
      where id = ${id} and state = 'approved'`
  })
}

/**
 * A name for what one approval creates in listmonk, so that it can be found after a call without an
 * answer.
 */
function markOf({ id, approved_at }: DraftRow, portion: number): string {
  return `${id}-${Date.parse(approved_at ?? '').toString(36)}-${portion}`
}

async function makeCampaigns(work: Work, recipients: Recipient[]): Promise<void> {
  const { mailing, project, draft, client } = work
  const { today, mail } = await readGateInputs(mailing)
  const { cap } = volumeOf(today, mail, work.from)
  const template_id = await client.ensureTemplate('campaign')
  const first = await nextPortion(work)
  for (let at = 0; at < recipients.length; at += cap) {
    const portion = first + at / cap
    const people = recipients.slice(at, at + cap)
    const mark = markOf(draft, portion)
    const list = await client.ensureList({
      name: `${project.name}: ${draft.rendered_subject} (${portion})`.slice(0, 190),
      tag: `${HUB_TAG}-${mark}`,
    })
    await subscribeAll(work, list.id, people)
    await removeOthers(client, list.id, people)
    const campaign_id = await ensureCampaign(
      client,
      campaignInput(work, { name: `Watchpost ${mark}`, list_id: list.id, template_id }),
    )
    await inProject(mailing.db, project.slug, async (sql) => {
      await sql`
        insert into hub.campaigns (project_id, draft_id, portion, list_id, campaign_id)
        values (${project.id}, ${draft.id}, ${portion}, ${list.id}, ${campaign_id})
        on conflict (draft_id, portion) where state <> 'void'
        do update set list_id = excluded.list_id, campaign_id = excluded.campaign_id`
      await sql`
        update hub.recipients set portion = ${portion}
        where draft_id = ${draft.id} and state in ('waiting', 'pushed')
          and email = any(${people.map(({ email }) => email)}::text[])`
    })
  }
  const end = first + Math.ceil(recipients.length / cap)
  await inProject(mailing.db, project.slug, async (sql) => {
    await sql`
      update hub.campaigns set state = 'void'
      where draft_id = ${draft.id} and state = 'made' and portion >= ${end}`
  })
}

/** Portions of an earlier push that were sent keep their numbers. */
async function nextPortion({ mailing, project, draft }: Work): Promise<number> {
  return inProject(mailing.db, project.slug, async (sql) => {
    const [row] = await sql<{ next: number }>`
      select coalesce(max(portion), 0)::int + 1 as next from hub.campaigns
      where draft_id = ${draft.id} and state in ('started', 'finished')`
    return row?.next ?? 1
  })
}

/** The list of a killed push may contain people who are not in this portion. */
async function removeOthers(client: Listmonk, list_id: number, people: Recipient[]): Promise<void> {
  const expected = new Set(people.map(({ email }) => email))
  const members = await client.listMembers(list_id)
  const others = members.filter(({ subscriber }) => !expected.has(subscriber.email.toLowerCase()))
  if (others.length === 0) return
  await client.removeFromList(
    others.map(({ subscriber }) => subscriber.id),
    list_id,
  )
}

function campaignInput(
  { draft, from }: Work,
  given: { name: string; list_id: number; template_id: number },
): CampaignInput {
  const { campaign } = draft
  if (!campaign || !from) {
    throw new ApiError('conflict', say.no_campaign)
  }
  return {
    name: given.name,
    list_ids: [given.list_id],
    from_email: mailbox(from),
    reply_to: from.reply_to,
    rendered: { ...campaign, bytes: Buffer.byteLength(campaign.html) },
    template_id: given.template_id,
  }
}

async function ensureCampaign(client: Listmonk, input: CampaignInput): Promise<number> {
  const known = await client.findCampaign(input.name)
  if (!known) return (await client.createCampaign(input)).id
  if (known.status !== 'draft') {
    throw new ApiError('conflict', say.campaign_runs(input.name, known.status))
  }
  await client.updateCampaign(known.id, input)
  return known.id
}

async function finish(
  mailing: Mailing,
  given: { slug: string; id: string },
  draft: DraftRow,
): Promise<void> {
  await inProject(mailing.db, given.slug, async (sql) => {
    await finishPush(sql, draft)
  })
}

async function release(mailing: Mailing, given: { slug: string; id: string }): Promise<void> {
  await inProject(mailing.db, given.slug, async (sql) => {
    await sql`update hub.drafts set pushing_until = null where id = ${given.id}`
  })
}

/**
 * listmonk's error as an answer of ours. A push can be repeated, because it finds what it has
 * created.
 */
export function refusal(error: ListmonkError): ApiError {
  const isRefusal = error.kind === 'refused'
  const detail = isRefusal ? say.listmonk_refused(error.words) : say.listmonk_away(error.words)
  return new ApiError(isRefusal ? 'conflict' : 'unavailable', detail, { cause: error })
}
