import { z } from 'zod'
import { invalid, issuesOf } from '../../shared/problem.ts'
import type { Config, Paths } from '../config.ts'
import { KeptWords } from '../i18n/kept-words.ts'
import { fieldText } from '../i18n/problem.text.ts'
import type { Words } from '../i18n/words.ts'
import { readSetting, type Setting, writeSetting } from '../ops/settings.ts'
import { ImapSettings } from './imap/imap.ts'
import { AWAY_DAYS } from './inbox/away.ts'
import { ListmonkSettings } from './listmonk/listmonk.ts'
import { SmtpSettings } from './smtp/smtp.ts'

const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}*$/u, fieldText.en.one_line)

const Sender = z.strictObject({
  name: line(80),
  email: z.email().max(254),
  title: line(80).nullable().default(null),
  phone: line(40).nullable().default(null),
  reply_to: z.email().max(254).nullable().default(null),
})
const Footer = z.strictObject({
  postal_address: line(300).nullable().default(null),
  reason_en: line(300).nullable().default(null).meta({
    description: 'Why the recipient gets this mail; null uses the default sentence.',
  }),
  reason_tr: line(300).nullable().default(null),
})
const Ramp = z
  .strictObject({ start: z.int().min(1).max(10_000), step: z.int().min(1).max(10_000) })
  .meta({
    description:
      'A new sender starts with `start` mails per day and adds `step` on each day that it sends.',
  })
const Fields = {
  daily_cap: z.int().min(1).max(100_000),
  ramp: Ramp.nullable(),
  track_opens: z.boolean(),
  away_days: z.int().min(1).max(60).meta({
    description:
      'Days that a lead is left alone after a notice of absence that names no day of return.',
  }),
  test_email: z.email().max(254).nullable().meta({
    description: 'The address of your own to which `draft/test` sends.',
  }),
  dkim_selector: z
    .string()
    .regex(/^[a-z0-9._-]{1,63}$/i)
    .nullable(),
}

/** mail.json: the servers and the daily limit. */
export const MailSettings = z.strictObject({
  /** Of releases in which projects had no brands; see brand/first-brand.ts. */
  sender: Sender.nullable().optional(),
  footer: Footer.optional(),
  smtp: SmtpSettings.nullable().default(null),
  listmonk: ListmonkSettings.nullable().default(null),
  imap: ImapSettings.nullable().default(null),
  daily_cap: Fields.daily_cap.default(200),
  ramp: Fields.ramp.default({ start: 20, step: 20 }),
  track_opens: Fields.track_opens.default(false),
  away_days: Fields.away_days.default(AWAY_DAYS),
  test_email: Fields.test_email.default(null),
  dkim_selector: Fields.dkim_selector.default(null),
})
export type MailSettings = z.infer<typeof MailSettings>

/** What can be changed; absent fields stay, and so does a secret for the same server and user. */
export const MailChange = z
  .strictObject({
    ...Fields,
    smtp: z.strictObject(SmtpSettings.shape).nullable(),
    listmonk: z
      .strictObject({ ...ListmonkSettings.shape, token: ListmonkSettings.shape.token.optional() })
      .nullable(),
    imap: z
      .strictObject({ ...ImapSettings.shape, password: ImapSettings.shape.password.optional() })
      .nullable(),
  })
  .partial()

/** changeMail writes the changed settings; a 422 names a field that is not valid. */
export async function changeMail(
  paths: Paths,
  change: z.output<typeof MailChange>,
): Promise<MailSettings> {
  const now = await readMail(paths)
  const { smtp, listmonk, imap } = change
  const isSame = (a: object | null | undefined, b: object | null, fields: string[]) =>
    a && b && fields.every((field) => Reflect.get(a, field) === Reflect.get(b, field))
  const next = {
    ...now,
    ...change,
    ...(isSame(smtp, now.smtp, ['host', 'user'])
      ? { smtp: { ...(now.smtp?.password ? { password: now.smtp.password } : {}), ...smtp } }
      : {}),
    ...(isSame(listmonk, now.listmonk, ['url', 'user'])
      ? { listmonk: { token: now.listmonk?.token, ...listmonk } }
      : {}),
    ...(isSame(imap, now.imap, ['host', 'user'])
      ? { imap: { password: now.imap?.password, ...imap } }
      : {}),
  }
  const read = MailSettings.safeParse(next)
  if (!read.success) throw invalid(issuesOf(read.error))
  return writeSetting(paths, MAIL, read.data)
}

export const MAIL: Setting<typeof MailSettings> = {
  file: 'mail.json',
  schema: MailSettings,
  fallback: MailSettings.parse({}),
}

export const PAUSE_REASONS = ['admin', 'restored', 'bounces', 'complaints', 'agent'] as const
const Pause = z.strictObject({
  reason: z.enum(PAUSE_REASONS).nullable(),
  /** Details of the reason, if there are any. */
  detail: KeptWords.nullable(),
  /** Since when it is paused, or since when bounces and complaints are counted again. */
  since: z.string().nullable(),
})
const PAUSE: Setting<typeof Pause> = {
  file: 'mail-pause.json',
  schema: Pause,
  fallback: { reason: null, detail: null, since: null },
}
export type MailPause = z.infer<typeof Pause>

export const readMail = (paths: Paths): Promise<MailSettings> => readSetting(paths, MAIL)

export const readPause = (paths: Paths): Promise<MailPause> => readSetting(paths, PAUSE)

/** Stops all mail until somebody confirms it in Settings > Mail; a restore does this at its end. */
export async function pauseMail(
  paths: Paths,
  reason: NonNullable<MailPause['reason']>,
  detail: Words | null,
): Promise<void> {
  const now = await readPause(paths)
  if (now.reason) return
  await writeSetting(paths, PAUSE, { reason, detail, since: new Date().toISOString() })
}

/** Resumes mail; bounces and complaints before now no longer count. */
export async function confirmMail(paths: Paths): Promise<void> {
  await writeSetting(paths, PAUSE, { reason: null, detail: null, since: new Date().toISOString() })
}

/**
 * How a mail is sent. A mail to a single lead needs our own unsubscribe link, so the hub must be
 * reachable. The step of a sequence goes by SMTP alone: the next one waits for the answer of the mail
 * server, and is threaded on the Message-ID, and listmonk tells neither.
 */
export function viaOf(
  { smtp, listmonk }: MailSettings,
  config: Config,
  kind: 'lead' | 'list' | 'step',
): 'smtp' | 'tx' | 'campaign' | null {
  if (kind === 'step') return smtp ? 'smtp' : null
  const isReachable = config.public_url !== null
  if (kind === 'list' && listmonk) return 'campaign'
  if (smtp && (isReachable || !listmonk)) return 'smtp'
  if (!listmonk) return null
  return isReachable ? 'tx' : 'campaign'
}
