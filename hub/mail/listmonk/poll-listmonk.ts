import { z } from 'zod'
import { everywhere } from '../../db/db.ts'
import { normaliseEmail } from '../address.ts'
import type { Mailing } from '../drafts/approval.ts'
import { findMails, recordBounce, recordOutcome } from '../drafts/outcome.ts'
import { bouncedAmong, readSalt, type Salt, suppress } from '../suppression.ts'
import { type Listmonk, ListmonkError, type ListmonkSettings, listmonk } from './listmonk.ts'
import { readLists } from './lists.ts'

const Cursor = z
  .object({ blocklisted: z.int(), blocklist_read_at: z.string(), bounce_id: z.int() })
  .catch({ blocklisted: 0, blocklist_read_at: new Date(0).toISOString(), bounce_id: 0 })
/** Openings and bounces of older campaigns are rare, and every call costs. */
const FOLLOWED_DAYS = 30
/**
 * The blocklist is read whole when its size changes, and this often: one may leave as one comes. So are the
 * lists of old campaigns.
 */
const BLOCKLIST_HOURS = 6

type Watched = {
  id: string
  project_id: string
  draft_id: string
  list_id: number
  campaign_id: number
  state: string
}

/** Reads numbers, bounces and unsubscriptions from listmonk, and deletes void campaigns there. */
export async function pollListmonk(
  mailing: Mailing,
  settings: ListmonkSettings,
  from: unknown,
): Promise<unknown> {
  const client = listmonk(settings)
  const cursor = Cursor.parse(from)
  const began = new Date()
  const watched = await everywhere(
    mailing.db,
    (sql) => sql<Watched>`
      select id, project_id, draft_id, list_id, campaign_id, state
      from hub.campaigns
      where list_id is not null and campaign_id is not null and (
        state in ('started', 'void')
        or (state = 'finished' and finished_at > now() - make_interval(days => ${FOLLOWED_DAYS}))
      )`,
  )
  const salt = await readSalt(mailing.config.paths)
  for (const campaign of watched) {
    if (campaign.state === 'void') await clearAway(mailing, client, campaign)
    else await readNumbers(mailing, client, campaign)
  }
  const bounces = (await client.bounces()).filter(({ id }) => id > cursor.bounce_id)
  for (const { email, type, campaign } of bounces) {
    await takeBounce(mailing, salt, { email, type, campaign_id: campaign?.id ?? null })
  }
  // After the bounces, which give the reason: listmonk blocklists bounced addresses.
  const blocklisted = await client.countBlocklisted()
  const age = began.getTime() - Date.parse(cursor.blocklist_read_at)
  const isDue = blocklisted !== cursor.blocklisted || age > BLOCKLIST_HOURS * 3_600_000
  if (isDue) {
    const blocked = (await client.blocklisted()).map(({ email }) => email)
    await everywhere(mailing.db, async (sql) => {
      const dead = await bouncedAmong(sql, salt, blocked)
      const emails = blocked.filter((email) => !dead.has(email))
      await suppress(sql, salt, { emails, reason: 'unsubscribed' })
    })
  }
  for (const campaign of watched.filter(({ state }) => state === 'finished')) {
    await findWiped(mailing, client, salt, campaign)
  }
  // After the bounces: listmonk blocks bounced addresses and removes them from its lists as if they
  // had unsubscribed, which is no wish of theirs.
  for (const list_id of await listsToRead(mailing, watched, isDue)) {
    const gone = await ifThere(client.unsubscribed(list_id))
    const blocked = (gone ?? []).filter(({ status }) => status === 'blocklisted')
    const dead = await everywhere(mailing.db, (sql) =>
      bouncedAmong(
        sql,
        salt,
        blocked.map(({ email }) => email),
      ),
    )
    for (const { email } of gone ?? []) {
      if (!dead.has(email)) await takeUnsubscription(mailing, salt, email)
    }
  }
  return {
    blocklisted,
    blocklist_read_at: isDue ? began.toISOString() : cursor.blocklist_read_at,
    bounce_id: Math.max(cursor.bounce_id, ...bounces.map(({ id }) => id)),
  }
}

/** The links of old mails still unsubscribe: from the list of their campaign, which `all` has too. */
async function listsToRead(
  mailing: Mailing,
  watched: Watched[],
  all: boolean,
): Promise<Set<number>> {
  const old = await everywhere(
    mailing.db,
    (sql) => sql<{ list_id: number }>`
      select distinct list_id from hub.campaigns
      where ${all} and state = 'finished' and list_id is not null`,
  )
  return new Set([
    ...watched.filter(({ state }) => state !== 'void').map(({ list_id }) => list_id),
    ...Object.values(await readLists(mailing.config.paths)).map(({ list_id }) => list_id),
    ...old.map(({ list_id }) => list_id),
  ])
}

/**
 * Those of a campaign who deleted themselves on listmonk's public page: they are on its list no
 * longer, nor among the subscribers. Their wish is kept here, because listmonk forgets it.
 */
async function findWiped(
  mailing: Mailing,
  client: Listmonk,
  salt: Salt,
  { draft_id, campaign_id, list_id }: Watched,
): Promise<void> {
  // Without the list absence says nothing.
  if (!(await ifThere(client.getList(list_id)))) return
  const mailed = await everywhere(
    mailing.db,
    (sql) => sql<{ email: string }>`
      select r.email from hub.recipients as r
      join hub.campaigns as c on c.draft_id = r.draft_id and c.portion = r.portion
      where r.draft_id = ${draft_id} and c.campaign_id = ${campaign_id}
        and r.claimed_at is not null and r.unsubscribed_at is null`,
  )
  if ((await client.countMembers(list_id)) >= mailed.length) return
  const members = await client.listMembers(list_id)
  const on = new Set(members.map(({ subscriber }) => subscriber.email.toLowerCase()))
  for (const { email } of mailed.filter((one) => !on.has(one.email))) {
    if (!(await client.findSubscriber(email))) await takeUnsubscription(mailing, salt, email)
  }
}

/** An object that no longer exists in listmonk has no data. */
async function ifThere<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    const isGone = error instanceof ListmonkError && [400, 404].includes(error.status ?? 0)
    if (!isGone) throw error
    return null
  }
}

async function readNumbers(mailing: Mailing, client: Listmonk, watched: Watched): Promise<void> {
  const campaign = await ifThere(client.getCampaign(watched.campaign_id))
  if (!campaign) return
  await everywhere(mailing.db, async (sql) => {
    await sql`
      update hub.campaigns set opened = ${campaign.views}, clicked = ${campaign.clicks}
      where id = ${watched.id}`
  })
}

/** A campaign whose approval is void must not be started by hand in listmonk either. */
async function clearAway(mailing: Mailing, client: Listmonk, watched: Watched): Promise<void> {
  const campaign = await ifThere(client.getCampaign(watched.campaign_id))
  if (campaign?.status === 'draft') {
    await ifThere(client.deleteCampaign(watched.campaign_id))
    await ifThere(client.deleteList(watched.list_id))
  }
  await everywhere(
    mailing.db,
    (sql) => sql`
    delete from hub.campaigns where id = ${watched.id} and state = 'void'`,
  )
}

async function takeUnsubscription(mailing: Mailing, salt: Salt, given: string): Promise<void> {
  const email = normaliseEmail(given) ?? given
  await everywhere(mailing.db, async (sql) => {
    await suppress(sql, salt, { emails: [email], reason: 'unsubscribed' })
    const changed = await sql<{
      draft_id: string
      project_id: string
      lead_id: string | null
      subject: string
    }>`
      update hub.recipients as r set unsubscribed_at = now()
      from hub.drafts as d
      where d.id = r.draft_id and (r.draft_id, r.email) = (
        select draft_id, email from hub.recipients
        where email = ${email} and claimed_at is not null
        order by claimed_at desc
        limit 1
      ) and r.unsubscribed_at is null and r.complained_at is null
        and r.bounce is distinct from 'hard'
      returning r.draft_id, r.project_id, r.lead_id, d.subject`
    for (const mail of changed) await recordOutcome(sql, mail, 'unsubscribed')
  })
}

async function takeBounce(
  mailing: Mailing,
  salt: Salt,
  given: { email: string; type: 'hard' | 'soft' | 'complaint'; campaign_id: number | null },
): Promise<void> {
  const email = normaliseEmail(given.email) ?? given.email
  await everywhere(mailing.db, async (sql) => {
    const mails = await findMails(sql, { message_ids: [], email })
    const [of] = await sql<{ draft_id: string }>`
      select draft_id from hub.campaigns where campaign_id = ${given.campaign_id}`
    const mail = mails.find(({ draft_id }) => draft_id === of?.draft_id) ?? mails[0]
    if (mail) await recordBounce(sql, salt, mail, given.type)
    else if (given.type !== 'soft') {
      const reason = given.type === 'hard' ? 'bounced' : 'complained'
      await suppress(sql, salt, { emails: [email], reason })
    }
  })
}
