import { z } from 'zod'
import type { Paths } from '../config.ts'
import { fieldText } from '../i18n/problem.text.ts'
import { readSetting, type Setting } from '../ops/settings.ts'
import { DESTINATION } from './destination.ts'

/** An archive contains personal data, so it may leave this machine only encrypted. */
export const Encryption = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('passphrase'),
    passphrase: z.string().min(12, fieldText.en.short_passphrase).max(500),
  }),
  z.strictObject({
    kind: z.literal('recipient'),
    /** The public half of an age key; the private half is kept elsewhere. */
    recipient: z
      .string()
      .max(4000)
      .regex(/^age1[a-z0-9]+$/, fieldText.en.no_recipient),
  }),
])
export type Encryption = z.infer<typeof Encryption>

/**
 * The address of an S3 server: without anything after the path, to which bucket and name are
 * appended, and without a password.
 */
const Endpoint = z
  .url({ protocol: /^https?$/, error: fieldText.en.no_address })
  .max(500)
  .refine(
    (address) => /^https?:\/\/[^/?#@\\]+(?:\/[^?#\\]*)?$/i.test(address),
    fieldText.en.no_endpoint,
  )

const HostKeyLine = z
  .string()
  .max(2000)
  .regex(
    /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]+={0,2}$/,
    fieldText.en.no_host_key,
  )

export const Destination = z
  .string()
  .max(500)
  .regex(DESTINATION, fieldText.en.no_destination)
  .meta({ example: 'backup@nas.example:hub' })
export const Port = z.int().min(1).max(65_535)

export const Target = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('s3'),
    endpoint: Endpoint,
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,62}$/, fieldText.en.no_bucket),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/)
      .default('us-east-1'),
    prefix: z
      .string()
      .max(200)
      // `..` would leave the bucket.
      .regex(/^(?!(?:.*\/)?\.{1,2}(?:\/|$))[\w./-]*$/, fieldText.en.no_prefix)
      .default(''),
    access_key_id: z.string().min(1).max(200),
    secret_access_key: z.string().min(1).max(200),
  }),
  z.strictObject({
    kind: z.literal('rsync'),
    destination: Destination,
    port: Port.default(22).meta({ description: 'Of the SSH server.' }),
    host_key: HostKeyLine.nullable().default(null).meta({
      description:
        'The public key of the SSH server, as `ssh-ed25519 AAAA…`: with it, the hub signs in with its own key and trusts this server alone. null: the SSH configuration of the user that runs the hub.',
    }),
  }),
])
export type Target = z.infer<typeof Target>

/** backup.json: when backups are made, how many are kept, and where they are copied. */
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
