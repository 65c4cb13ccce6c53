import { z } from 'zod'
import type { Paths } from '../config.ts'
import { fieldText } from '../problem.text.ts'
import { readSetting, type Setting } from '../settings.ts'

/** An archive holds people's data: off this machine it goes encrypted only. */
export const Encryption = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('passphrase'),
    passphrase: z.string().min(12, fieldText.en.short_passphrase).max(500),
  }),
  z.strictObject({
    kind: z.literal('recipient'),
    /** The public half of an age key; the private one is not on this machine. */
    recipient: z
      .string()
      .max(4000)
      .regex(/^age1[a-z0-9]+$/, fieldText.en.no_recipient),
  }),
])
export type Encryption = z.infer<typeof Encryption>

export const Target = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('s3'),
    endpoint: z.url({ protocol: /^https?$/, error: fieldText.en.no_address }).max(500),
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,62}$/, fieldText.en.no_bucket),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/)
      .default('us-east-1'),
    prefix: z
      .string()
      .max(200)
      .regex(/^[\w./-]*$/)
      .default(''),
    access_key_id: z.string().min(1).max(200),
    secret_access_key: z.string().min(1).max(200),
  }),
  z.strictObject({
    kind: z.literal('rsync'),
    /** `user@host:folder`, `rsync://host/module`, or a mounted folder. */
    destination: z
      .string()
      .min(1)
      .max(500)
      .regex(/^[^-\s\0][^\0\r\n]*$/, fieldText.en.no_destination),
  }),
])
export type Target = z.infer<typeof Target>

/** backup.json: when backups are made, how many stay, and where else they go. */
export const BackupSettings = z
  .strictObject({
    hour: z.int().min(0).max(23).default(3),
    keep_daily: z.int().min(1).max(365).default(14),
    encryption: Encryption.prefault({ kind: 'none' }),
    target: Target.prefault({ kind: 'none' }),
  })
  .refine(({ encryption, target }) => target.kind === 'none' || encryption.kind !== 'none', {
    path: ['encryption'],
    message: fieldText.en.unencrypted,
  })
export type BackupSettings = z.infer<typeof BackupSettings>

export const BACKUP: Setting<typeof BackupSettings> = {
  file: 'backup.json',
  schema: BackupSettings,
  fallback: BackupSettings.parse({}),
}

export const readBackupSettings = (paths: Paths) => readSetting(paths, BACKUP)
