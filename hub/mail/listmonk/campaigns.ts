import { everywhere } from '../../db/db.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import type { From } from '../brand/brand.ts'
import { approvedFrom, type Mailing } from '../drafts/approval.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import { explainDraft, postponeDraft } from '../drafts/holds.ts'
import { outcomeText } from '../drafts/outcome.text.ts'
import { recordAllSent } from '../drafts/outcome.ts'
import { claimPortion, endPortion, failPortion } from '../drafts/portion-state.ts'
import { type MailSettings, readMail, readPause } from '../settings.ts'
import { readToday, senderKey, type Today, volumeOf } from '../today.ts'
import { ListmonkError, listmonk } from './listmonk.ts'
import type { Campaign } from './listmonk-rows.ts'
import { settleList, settleStarted, takeOffOptedOut, type Work } from './settle-list.ts'

const say = bilingual(outcomeText)

/**
 * sendCampaigns starts the portions of a campaign one after the other, each when the daily limit
 * has room for all of it, and follows the running one. Starting twice is harmless, because listmonk
 * runs a campaign only once.
 */
export async function sendCampaigns(mailing: Mailing, draft: DraftRow): Promise<void> {
  const mail = await readMail(mailing.config.paths)
  if (!mail.listmonk) return
  const client = listmonk(mail.listmonk)
  const portions = await everywhere(
    mailing.db,
    (sql) => sql<Work['portion']>`
      select id, portion, list_id, campaign_id, state, held
      from hub.campaigns
      where draft_id = ${draft.id} and state in ('made', 'started')
      order by portion`,
  )
  try {
    for (const portion of portions) {
      const work = { mailing, client, draft, portion }
      const isOver = portion.state === 'started' ? await follow(work) : await start(work)
      if (!isOver) return
    }
  } catch (error) {
    if (!(error instanceof ListmonkError)) throw error
    const reason = say.listmonk(error.words)
    await everywhere(mailing.db, (sql) =>
      postponeDraft(sql, draft.id, { reason, first_seconds: 15 }),
    )
  }
}

/** Starts a portion; returns true if it has no recipients left. */
async function start(work: Work): Promise<boolean> {
  const { mailing, draft, portion } = work
  const { config, db } = mailing
  const [mail, pause] = await Promise.all([readMail(config.paths), readPause(config.paths)])
  if (pause.reason || draft.paused_at) return false
  const { people, fault } = await settleList(work)
  if (people.length === 0) {
    await everywhere(
      db,
      (sql) => sql`update hub.campaigns set state = 'void' where id = ${portion.id}`,
    )
    return true
  }
  if (fault) {
    await giveUp(work, fault)
    return true
  }
  const { today, from } = await everywhere(db, async (sql) => ({
    today: await readToday(sql, mail, pause),
    from: await approvedFrom(sql, config, draft),
  }))
  if (today.alarm || !from) return false
  const { left } = volumeOf(today, mail, from)
  if (people.length > left) {
    const what = whyLater(people.length, left, { today, mail, from })
    await everywhere(db, (sql) => explainDraft(sql, draft.id, what))
    return false
  }
  const sender = senderKey(from.email)
  const claimed = await everywhere(db, (sql) => claimPortion(sql, draft, { ...portion, sender }))
  if (claimed) await run(work)
  await everywhere(db, (sql) => explainDraft(sql, draft.id, null))
  return false
}

/** Why a portion does not start today: the ramp of its sender, or the daily limit of all. */
function whyLater(
  people: number,
  left: number,
  { today, mail, from }: { today: Today; mail: MailSettings; from: From },
): Words {
  if (mail.ramp && people <= mail.daily_cap && left < today.left) {
    return say.ramp_used(people, from.email, left)
  }
  return people > today.cap ? say.over_cap(people, today.cap) : say.cap_used(today.cap)
}

/** Starts the campaign. If the answer is lost, the next round reads its status. */
async function run({ client, portion }: Work): Promise<void> {
  try {
    await client.setCampaignStatus(portion.campaign_id, 'running')
  } catch (error) {
    if (!(error instanceof ListmonkError) || error.kind === 'not_sent') throw error
    if (error.kind === 'unclear') return
    const { status } = await client.getCampaign(portion.campaign_id)
    if (status === 'draft') throw error
  }
}

async function giveUp({ mailing, draft, portion }: Work, reason: Words): Promise<void> {
  await everywhere(mailing.db, async (sql) => {
    await sql`update hub.campaigns set state = 'void' where id = ${portion.id}`
    await failPortion(sql, draft.id, portion.portion, reason)
  })
}

/** Follows a started portion; returns true when it has ended. */
async function follow(work: Work): Promise<boolean> {
  const { mailing, client, draft, portion } = work
  const pause = await readPause(mailing.config.paths)
  const isPaused = pause.reason !== null || draft.paused_at !== null
  let campaign: Campaign
  try {
    campaign = await client.getCampaign(portion.campaign_id)
  } catch (error) {
    if (!(error instanceof ListmonkError) || (error.status !== 404 && error.status !== 400))
      throw error
    await end(work, 'unclear', say.campaign_gone)
    return true
  }
  switch (campaign.status) {
    case 'finished':
      await finish(work, campaign)
      return true
    case 'cancelled':
      await end(work, 'unclear', say.campaign_cancelled(campaign.sent))
      return true
    case 'draft':
      // The hub ended, or the answer was lost, between storing the state and the start.
      if (isPaused) return false
      await settleStarted(work, campaign)
      await run(work)
      return false
    case 'scheduled':
    case 'running':
      if (isPaused) {
        await hold(work, true)
        await client.setCampaignStatus(portion.campaign_id, 'paused')
        return false
      }
      // It runs after all: a pause that comes now is not the hub's.
      if (portion.held) await hold(work, false)
      await takeOffOptedOut(work, campaign)
      return false
    case 'paused':
      if (isPaused) return false
      if (portion.held) {
        await settleStarted(work, campaign)
        await client.setCampaignStatus(portion.campaign_id, 'running')
        await hold(work, false)
      } else {
        await takeOffOptedOut(work, campaign)
        const what = say.paused_there(campaign.sent, campaign.to_send)
        await everywhere(mailing.db, (sql) => explainDraft(sql, draft.id, what))
      }
      return false
  }
}

/** Remembers who paused: only what the hub paused may it start again. */
async function hold({ mailing, portion }: Work, held: boolean): Promise<void> {
  await everywhere(
    mailing.db,
    (sql) => sql`update hub.campaigns set held = ${held} where id = ${portion.id}`,
  )
}

/**
 * listmonk finishes a campaign whatever its mail server answered. Only its count says that mails
 * left; it may be too low after a restart, so that a lower one is unclear, not failed.
 */
async function finish(work: Work, campaign: Campaign): Promise<void> {
  const { mailing, draft, portion } = work
  await everywhere(mailing.db, (sql) => explainDraft(sql, draft.id, null))
  const [row] = await everywhere(
    mailing.db,
    (sql) => sql<{ people: number }>`
      select count(*)::int as people from hub.recipients
      where draft_id = ${draft.id} and portion = ${portion.portion} and state = 'sending'`,
  )
  const people = row?.people ?? 0
  if (campaign.sent >= people) return end(work, 'sent', null)
  return end(work, 'unclear', say.counted(campaign.sent, people))
}

async function end(work: Work, to: 'sent' | 'unclear', reason: Words | null): Promise<void> {
  const { mailing, draft, portion } = work
  await everywhere(mailing.db, async (sql) => {
    const mails = await endPortion(sql, draft.id, portion.portion, { to, reason })
    await sql`
      update hub.campaigns set state = 'finished', finished_at = now() where id = ${portion.id}`
    if (to === 'sent') await recordAllSent(sql, draft, mails)
  })
}
