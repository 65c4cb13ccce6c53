import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import { everywhere, inProject } from '../db/db.ts'
import { bilingual, perLanguage, type Words } from '../i18n/words.ts'
import { normaliseEmail } from '../mail/address.ts'
import { fromOf } from '../mail/brand/brand.ts'
import { brandOf } from '../mail/brand/brand-of.ts'
import type { Mailing } from '../mail/drafts/approval.ts'
import { peopleOf, personalOf } from '../mail/drafts/audience.ts'
import { readDraft } from '../mail/drafts/draft-view.ts'
import { readRefusals } from '../mail/opt-outs.ts'
import { personalise } from '../mail/render/render.ts'
import { readMail } from '../mail/settings.ts'
import { domainOfSender, readDkim } from '../mail/smtp/dkim.ts'
import { messageId, sendMail } from '../mail/smtp/smtp.ts'
import { readSetting, type Setting, writeSetting } from '../ops/settings.ts'
import { queueText } from './queue.text.ts'

const { test: say } = bilingual(queueText)

const AN_HOUR = 10
const HOUR_MS = 3_600_000
const SUBJECT = 'Test'

const Sent = z.strictObject({ at: z.array(z.iso.datetime()) })
const SENT: Setting<typeof Sent> = {
  file: 'mail-tests.json',
  schema: Sent,
  fallback: { at: [] },
}

/**
 * sendTest sends a rendered draft to the admin's own address, as its first reader would get it, marked
 * [Test]. It counts nowhere, its unsubscribe link unsubscribes nobody, and it never goes to a lead.
 *
 * @throws ApiError `conflict` while something is missing, `rate_limited` after ten tests in an hour.
 */
export async function sendTest(
  mailing: Mailing,
  { slug, id }: { slug: string; id: string },
): Promise<{ to: string }> {
  const { config, db } = mailing
  const { smtp, test_email } = await readMail(config.paths)
  const to = test_email === null ? null : normaliseEmail(test_email)
  if (!to) throw new ApiError('conflict', say.no_address)
  if (!smtp) throw new ApiError('conflict', say.no_smtp)
  const refusals = await readRefusals(config.paths)
  await everywhere(db, async (sql) => {
    const [known] = await sql`
      select from hub.leads where email_key = ${to}
      union all select from hub.recipients where email = ${to} limit 1`
    if (known) throw new ApiError('conflict', say.somebody_elses)
  })
  const { rendered, sender } = await inProject(db, slug, async (sql, project) => {
    const draft = await readDraft(sql, project.id, id)
    const sender = fromOf(await brandOf(sql, config, project))
    if (!sender) throw new ApiError('conflict', say.no_sender)
    if (draft.html === null) throw new ApiError('conflict', say.not_rendered)
    const written = [draft]
    const { people } = await peopleOf(sql, { ...draft, project_id: project.id, refusals, written })
    const reader = people.find(({ skip }) => skip === null) ?? people[0]
    const parts = {
      subject: draft.rendered_subject ?? '',
      html: draft.html,
      text: draft.rendered_text ?? '',
      bytes: 0,
    }
    const personal = personalOf(reader ?? { name: null, company: null })
    const base = config.public_url ?? 'https://localhost'
    const unsubscribe_url = new URL(TEST_LINK, base).href
    return { rendered: personalise(parts, { ...personal, unsubscribe_url }), sender }
  })
  await count(mailing)
  const key = (await readDkim(config.paths)).keys[domainOfSender(sender.email)]
  const result = await sendMail(
    smtp,
    {
      from: { name: sender.name, address: sender.email },
      to: { address: to },
      ...(sender.reply_to ? { reply_to: { address: sender.reply_to } } : {}),
      subject: `[${SUBJECT}] ${rendered.subject}`.slice(0, 500),
      html: rendered.html,
      text: rendered.text,
      message_id: messageId(randomUUID(), to, sender.email),
      date: new Date(),
    },
    {
      on_data: async () => {},
      dkim: key?.signs ? key : undefined,
      answer_timeout_ms: 60_000,
    },
  )
  if (result.kind === 'refused') throw new ApiError('conflict', filled('failed', result.response))
  if (result.kind === 'unclear') throw new ApiError('conflict', filled('unclear', result.response))
  return { to }
}

/** A token of nobody; its page says that this was a test. */
export const TEST_TOKEN = 'test'
const TEST_LINK = `/api/cockpit/u/${TEST_TOKEN}`

const filled = (key: 'failed' | 'unclear', why: string): Words =>
  perLanguage((language) => queueText[language].test[key](why))

let counting: Promise<void> = Promise.resolve()

/** Counts before sending, one after the other, so that tests at once are counted too. */
function count(mailing: Mailing): Promise<void> {
  const mine = counting.then(() => countOne(mailing))
  counting = mine.catch(() => {})
  return mine
}

async function countOne({ config }: Mailing): Promise<void> {
  const now = Date.now()
  const { at } = await readSetting(config.paths, SENT)
  const recent = at.filter((time) => Date.parse(time) > now - HOUR_MS)
  const [first] = recent
  if (recent.length >= AN_HOUR && first) {
    const seconds = Math.ceil((Date.parse(first) + HOUR_MS - now) / 1000)
    throw new ApiError('rate_limited', say.too_often(Math.ceil(seconds / 60)), {
      headers: { 'Retry-After': String(seconds) },
    })
  }
  await writeSetting(config.paths, SENT, { at: [...recent, new Date(now).toISOString()] })
}
