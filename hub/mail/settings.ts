import { z } from 'zod'
import type { Config, Paths } from '../config.ts'
import { readSetting, type Setting, writeSetting } from '../settings.ts'
import { ListmonkSettings } from './listmonk.ts'
import { SmtpSettings } from './smtp.ts'

const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}*$/u, 'must be one line')

/** Where replies are read. */
export const ImapSettings = z.strictObject({
  host: z.string().min(1).max(255),
  port: z.int().min(1).max(65_535).default(993),
  security: z.enum(['tls', 'starttls', 'none']).default('tls'),
  user: z.string().min(1).max(255),
  password: z.string().min(1).max(1000),
  mailbox: z.string().min(1).max(200).default('INBOX'),
  ca: z.string().max(50_000).optional(),
})
export type ImapSettings = z.infer<typeof ImapSettings>

/** mail.json: who writes, by which server, and how much a day. */
export const MailSettings = z.strictObject({
  sender: z
    .strictObject({
      name: line(80),
      email: z.email().max(254),
      title: line(80).nullable().default(null),
      phone: line(40).nullable().default(null),
      reply_to: z.email().max(254).nullable().default(null),
    })
    .nullable()
    .default(null),
  footer: z
    .strictObject({
      postal_address: line(300).nullable().default(null),
      /** Why the reader gets it; null takes our sentence. */
      reason_en: line(300).nullable().default(null),
      reason_tr: line(300).nullable().default(null),
    })
    .prefault({}),
  smtp: SmtpSettings.nullable().default(null),
  listmonk: ListmonkSettings.nullable().default(null),
  imap: ImapSettings.nullable().default(null),
  daily_cap: z.int().min(1).max(100_000).default(200),
  /** A new sender begins with `start` mails a day and adds `step` with every day it sends. */
  ramp: z
    .strictObject({ start: z.int().min(1).max(10_000), step: z.int().min(1).max(10_000) })
    .nullable()
    .default({ start: 20, step: 20 }),
  track_opens: z.boolean().default(false),
  dkim_selector: z
    .string()
    .regex(/^[a-z0-9._-]{1,63}$/i)
    .nullable()
    .default(null),
})
export type MailSettings = z.infer<typeof MailSettings>

export const MAIL: Setting<typeof MailSettings> = {
  file: 'mail.json',
  schema: MailSettings,
  fallback: MailSettings.parse({}),
}

export const PAUSE_REASONS = ['admin', 'restored', 'bounces', 'complaints', 'agent'] as const
const Pause = z.strictObject({
  reason: z.enum(PAUSE_REASONS).nullable(),
  detail: z.string().max(500).default(''),
  /** Since when it is paused, or since when bounces and complaints count anew. */
  since: z.string().nullable(),
})
const PAUSE: Setting<typeof Pause> = {
  file: 'mail-pause.json',
  schema: Pause,
  fallback: { reason: null, detail: '', since: null },
}
export type MailPause = z.infer<typeof Pause>

export const readMail = (paths: Paths): Promise<MailSettings> => readSetting(paths, MAIL)

export const readPause = (paths: Paths): Promise<MailPause> => readSetting(paths, PAUSE)

/** Stops all mail until somebody confirms in Settings > Mail; a restore ends with it. */
export async function pauseMail(
  paths: Paths,
  reason: NonNullable<MailPause['reason']>,
  detail: string,
): Promise<void> {
  const now = await readPause(paths)
  if (now.reason) return
  await writeSetting(paths, PAUSE, { reason, detail, since: new Date().toISOString() })
}

/** Lets mail go on; bounces and complaints before now are forgiven. */
export async function confirmMail(paths: Paths): Promise<void> {
  await writeSetting(paths, PAUSE, { reason: null, detail: '', since: new Date().toISOString() })
}

/** How a mail goes out. A letter needs our own unsubscribe link, so the hub has to be reachable. */
export function viaOf(
  { smtp, listmonk }: MailSettings,
  config: Config,
  kind: 'lead' | 'list',
): 'smtp' | 'tx' | 'campaign' | null {
  const isReachable = config.public_url !== null
  if (kind === 'list' && listmonk) return 'campaign'
  if (smtp && (isReachable || !listmonk)) return 'smtp'
  if (!listmonk) return null
  return isReachable ? 'tx' : 'campaign'
}
