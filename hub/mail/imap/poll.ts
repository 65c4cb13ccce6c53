import { join } from 'node:path'
import { z } from 'zod'
import { doublingDelay } from '../../../shared/backoff.ts'
import { readJson, writeJson } from '../../files.ts'
import { KeptWords } from '../../i18n/kept-words.ts'
import { verbatim } from '../../i18n/words.ts'
import type { Log } from '../../log.ts'
import type { Mailing } from '../drafts/approval.ts'
import { giveUpAnswers } from '../inbox/answers.ts'
import { type Judging, judgeReplies } from '../inbox/opt-out-model.ts'
import { ListmonkError } from '../listmonk/listmonk.ts'
import { pollListmonk } from '../listmonk/poll-listmonk.ts'
import { type MailSettings, readMail } from '../settings.ts'
import { pollImap } from './poll-imap.ts'

const SOURCES = ['listmonk', 'imap'] as const
type Source = (typeof SOURCES)[number]

const INTERVAL_SECONDS = 60
const WAIT_SECONDS = { first: INTERVAL_SECONDS, longest: 30 * 60 }

/** The state of reading from one source; stored, so that a restart continues from there. */
const PollState = z.object({
  last_success_at: z.string().nullable(),
  error: KeptWords.nullable(),
  failures: z.int(),
  next_at: z.string().nullable(),
  /** How far it has read. */
  cursor: z.unknown(),
  /** Whose numbers the cursor has; absent in files of earlier versions. */
  server: z.string().nullish(),
})
type PollState = z.infer<typeof PollState>
const States = z.partialRecord(z.enum(SOURCES), PollState)

const NEVER: PollState = {
  last_success_at: null,
  error: null,
  failures: 0,
  next_at: null,
  cursor: null,
}

/** Where a source is read: in another listmonk or mailbox the numbers of a cursor mean nothing. */
function serverOf(source: Source, { listmonk, imap }: MailSettings): string | null {
  if (source === 'listmonk') return listmonk?.url ?? null
  return imap ? [imap.user, imap.host, imap.mailbox].join(' ') : null
}

/** A new server is asked at once: for all that a listmonk has, and for the mail of the last days in a mailbox. */
const fromAnew = (source: Source): PollState => ({
  ...NEVER,
  cursor: source === 'imap' ? { uid_validity: '', last_uid: 0 } : null,
})

const file = (mailing: Mailing) => join(mailing.config.paths.data_dir, 'mail-polls.json')

/** The sources of information about sent mail: since when each works, and what is wrong with it. */
export async function readPolls(mailing: Mailing): Promise<Record<Source, PollState>> {
  const known = States.safeParse(await readJson(file(mailing)))
  return { listmonk: NEVER, imap: NEVER, ...(known.success ? known.data : {}) }
}

export type Poller = {
  /** Reads the sources that are due, or all with `isForced`. */
  run: (isForced?: boolean) => Promise<void>
  start: () => void
  close: () => Promise<void>
}

/**
 * createPoller reads opens, bounces, unsubscriptions and replies, and asks the model about replies of which
 * the rules are not sure.
 */
export function createPoller(mailing: Judging): Poller {
  const closing = new AbortController()
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const run = (isForced = false) => {
    running = running
      .then(() => giveUpAnswers(mailing))
      .then(() => pollAll(mailing, isForced))
      .then(() => judgeReplies(mailing, closing.signal))
      .catch((error) => {
        mailing.log({ msg: 'polling mail', error: String(error) })
      })
    return running
  }
  return {
    run,
    start: () => {
      timer ??= setInterval(() => void run(), INTERVAL_SECONDS * 1000)
    },
    close: async () => {
      clearInterval(timer)
      closing.abort()
      await running
    },
  }
}

async function pollAll(mailing: Mailing & { log: Log }, isForced: boolean): Promise<void> {
  const mail = await readMail(mailing.config.paths)
  const states = await readPolls(mailing)
  for (const source of SOURCES) {
    const server = serverOf(source, mail)
    const known = states[source]
    const isOther = typeof known.server === 'string' && known.server !== server
    const state = { ...(isOther ? fromAnew(source) : known), server }
    const isDue = !state.next_at || Date.parse(state.next_at) <= Date.now()
    if (!mail[source] || !(isDue || isForced)) continue
    states[source] = await pollOne(mailing, source, state)
    await writeJson(file(mailing), states)
  }
}

async function pollOne(
  mailing: Mailing & { log: Log },
  source: Source,
  state: PollState,
): Promise<PollState> {
  const { log } = mailing
  const mail = await readMail(mailing.config.paths)
  try {
    const cursor =
      source === 'imap'
        ? mail.imap && (await pollImap(mailing, mail.imap, state.cursor))
        : mail.listmonk && (await pollListmonk(mailing, mail.listmonk, state.cursor))
    const now = new Date()
    const next_at = new Date(now.getTime() + INTERVAL_SECONDS * 1000).toISOString()
    return {
      ...state,
      last_success_at: now.toISOString(),
      error: null,
      failures: 0,
      next_at,
      cursor,
    }
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown)
    log({ msg: 'polling mail', source, error })
    const failures = state.failures + 1
    const wait = doublingDelay(failures, WAIT_SECONDS)
    const next_at = new Date(Date.now() + wait * 1000).toISOString()
    const words = thrown instanceof ListmonkError ? thrown.words : verbatim(error)
    return { ...state, error: words, failures, next_at }
  }
}
