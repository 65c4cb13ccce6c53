import { everywhere } from '../../db/db.ts'
import { LOCK_SPACE, LOCKS } from '../../db/locks.ts'
import { bilingual } from '../../i18n/words.ts'
import type { Log } from '../../log.ts'
import { renderAnew } from '../brand/render-anew.ts'
import { type Mailing, readGateInputs } from '../drafts/approval.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import { postponeDraft } from '../drafts/holds.ts'
import { outcomeText } from '../drafts/outcome.text.ts'
import { finishDraft } from '../drafts/outcome.ts'
import { giveUpClaims } from '../drafts/state.ts'
import { sendCampaigns } from '../listmonk/campaigns.ts'
import { applyOptOuts } from '../opt-outs.ts'
import { scheduleSequences } from '../sequences/schedule.ts'
import { pauseMail } from '../settings.ts'
import { type Patience, sendMails } from './send-mails.ts'

const TICK_MS = 10_000

export type Mailer = {
  /** Tells the mailer that there may be something to send. */
  nudge: () => void
  /** Sends what can be sent now; returns when that is done. */
  run: () => Promise<void>
  start: () => void
  close: () => Promise<void>
}

/** createMailer sends drafts in the state `sending` in the background. */
export function createMailer(
  given: Mailing & { log: Log; patience?: Patience; tick_ms?: number },
): Mailer {
  const { log, tick_ms = TICK_MS } = given
  const mailing = { ...given, patience: given.patience ?? {} }
  let running: Promise<void> | undefined
  let again = false
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function run(): Promise<void> {
    again = true
    running ??= loop().finally(() => {
      running = undefined
    })
    return running
  }
  async function loop(): Promise<void> {
    while (again && !isClosed) {
      again = false
      try {
        await applyOptOuts(mailing)
        await sendAll(mailing, () => isClosed)
      } catch (error) {
        log({ msg: 'sending mail', error: error instanceof Error ? error.message : String(error) })
      }
      await renderAnew(mailing, { isClosed: () => isClosed }).catch((error: unknown) =>
        log({
          msg: 'rendering mail',
          error: error instanceof Error ? error.message : String(error),
        }),
      )
    }
  }
  return {
    nudge: () => {
      if (timer) void run()
    },
    run,
    start: () => {
      timer ??= setInterval(() => void run(), tick_ms)
      void run()
    },
    close: async () => {
      isClosed = true
      clearInterval(timer)
      timer = undefined
      await running
    },
  }
}

type Sending = Mailing & { log: Log; patience: Patience }

/** One round over all drafts that are being sent, unless another process is doing it. */
async function sendAll(mailing: Sending, isClosed: () => boolean): Promise<void> {
  const { config, db } = mailing
  const [open] = await everywhere(
    db,
    (sql) => sql`
    select from hub.drafts where state = 'sending' limit 1`,
  )
  if (!open) return
  await db.transaction('*', async (sql) => {
    // The lock belongs to this transaction and ends with its connection, so a killed hub leaves
    // none.
    await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`
    const [lock] = await sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS.mailer}) as taken`
    if (!lock?.taken) return
    await recover(mailing)
    await scheduleSequences(mailing)
    const { today, pause } = await readGateInputs(mailing)
    if (today.alarm) await pauseMail(config.paths, today.alarm.reason, today.alarm.detail)
    const isPaused = today.alarm !== null || pause.reason !== null
    // A campaign that runs in listmonk is paused there at once.
    const drafts = await everywhere(
      db,
      (own) => own<DraftRow>`
      select * from hub.drafts
      where state = 'sending'
        and (retry_at is null or retry_at <= now()
          or via = 'campaign' and (${isPaused} or paused_at is not null))
      order by coalesce(step, 1) = 1, updated_at, id`,
    )
    for (const draft of drafts) {
      if (isClosed()) return
      try {
        await sendDraft(mailing, draft, isClosed)
      } catch (error) {
        // What is wrong with one draft must not hold up the others.
        const what = error instanceof Error ? error.message : String(error)
        mailing.log({ msg: 'sending mail', draft_id: draft.id, error: what })
        const reason = bilingual(outcomeText).stuck(what)
        await everywhere(db, (own) => postponeDraft(own, draft.id, { reason, first_seconds: 15 }))
      }
    }
  })
}

async function sendDraft(mailing: Sending, draft: DraftRow, isClosed: () => boolean) {
  if (draft.via === 'campaign') await sendCampaigns(mailing, draft)
  else await sendMails(mailing, draft, isClosed)
  // A step waits for its next mails; it ends with its sequence.
  if (!draft.sequence_id) await everywhere(mailing.db, (sql) => finishDraft(sql, draft.id))
}

/** No process is sending, so a mail in the state `sending` was left by one that has ended. */
async function recover({ db, log }: Sending): Promise<void> {
  const count = await everywhere(db, (sql) => giveUpClaims(sql, bilingual(outcomeText).hub_ended))
  if (count > 0) log({ msg: 'mails unclear after an end', count })
}
