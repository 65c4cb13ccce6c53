import { z } from 'zod'
import type { Sql } from '../../../shared/sql.ts'
import { logoFault } from '../../branding/logo.ts'
import type { Project } from '../../db/db.ts'
import { fieldText } from '../../i18n/problem.text.ts'

/** The colour of a mail whose project has chosen none. */
export const MAIL_COLOUR = '#1f5f99'
/** A logo travels inside each mail, and mail programs cut off mails above 100 KB. */
const MAX_LOGO = 40_000
const MAX_SIGNATURE_LINES = 6

const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}*$/u, fieldText.en.one_line)
const email = z.email().max(254)

/** The lines under a mail: 1 to 6 of at most 80 characters; empty ones are left out. */
const Signature = z
  .string()
  .transform((text) => linesOf(text).join('\n'))
  .pipe(
    z
      .string()
      .min(1)
      .max(400)
      .refine((text) => linesOf(text).length <= MAX_SIGNATURE_LINES, fieldText.en.signature_lines)
      .refine(
        (text) => linesOf(text).every((one) => one.length <= 80 && /^\P{Cc}*$/u.test(one)),
        fieldText.en.signature_line,
      ),
  )

/** What a project's mails and documents carry; null takes what the hub has for it. */
export const Brand = z.strictObject({
  name: line(80).nullable().meta({
    description: 'Above a mail and below a document; null is the project’s name.',
  }),
  logo: z
    .string()
    .max(MAX_LOGO, fieldText.en.logo_size)
    .refine((logo) => logoFault(logo) === undefined, fieldText.en.logo)
    .nullable()
    .meta({ description: 'A data: URL of a PNG or a JPEG of at most 29 KB.' }),
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, fieldText.en.colour)
    .transform((colour) => colour.toLowerCase())
    .meta({ description: 'Of buttons and links, such as #1f5f99.' }),
  sender_name: line(80).nullable(),
  sender_email: email.nullable().meta({ description: 'The address that mails are sent from.' }),
  reply_to: email.nullable().meta({ description: 'Where replies go; null: to the sender.' }),
  signature: Signature.nullable().meta({
    description: 'Up to 6 lines under a mail; null is the sender’s name.',
  }),
  postal_address: line(300).nullable().meta({ description: 'Required before mail is sent.' }),
  reason_en: line(300).nullable().meta({
    description: 'Why the recipient gets this mail; null uses the default sentence.',
  }),
  reason_tr: line(300).nullable(),
  unsubscribe_en: line(60).nullable().meta({
    description: 'The words of the link to unsubscribe; null: "Unsubscribe".',
  }),
  unsubscribe_tr: line(60).nullable(),
})
export type Brand = z.output<typeof Brand>

export const NO_BRAND: Brand = {
  name: null,
  logo: null,
  color: MAIL_COLOUR,
  sender_name: null,
  sender_email: null,
  reply_to: null,
  signature: null,
  postal_address: null,
  reason_en: null,
  reason_tr: null,
  unsubscribe_en: null,
  unsubscribe_tr: null,
}

export const BRAND_FIELDS = Object.keys(NO_BRAND) as (keyof Brand)[] // safe: the keys of a constant

/** Who a mail is from, and who gets its replies. */
export type From = { name: string; email: string; reply_to: string | null }

/** fromOf returns the sender of a brand, or null while it has none. */
export function fromOf({ sender_name, sender_email, reply_to }: Brand): From | null {
  if (!sender_name || !sender_email) return null
  return { name: sender_name, email: sender_email, reply_to }
}

/** signatureOf returns the lines under a mail of a project; at least one. */
export function signatureOf(brand: Brand, project: Pick<Project, 'name'>): string[] {
  if (brand.signature) return linesOf(brand.signature)
  return [brand.sender_name ?? project.name]
}

/** linesOf splits a signature into its lines without the empty ones. */
function linesOf(text: string): string[] {
  return text
    .split(/\r\n?|\n/)
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

/** writeBrand stores the brand of a project, whole. */
export async function writeBrand(sql: Sql, project_id: string, brand: Brand): Promise<void> {
  await sql`
    insert into hub.brands (
      project_id, name, logo, color, sender_name, sender_email, reply_to, signature,
      postal_address, reason_en, reason_tr, unsubscribe_en, unsubscribe_tr
    )
    values (
      ${project_id}, ${brand.name}, ${brand.logo}, ${brand.color}, ${brand.sender_name},
      ${brand.sender_email}, ${brand.reply_to}, ${brand.signature}, ${brand.postal_address},
      ${brand.reason_en}, ${brand.reason_tr}, ${brand.unsubscribe_en}, ${brand.unsubscribe_tr}
    )
    on conflict (project_id) do update set
      name = excluded.name, logo = excluded.logo, color = excluded.color,
      sender_name = excluded.sender_name, sender_email = excluded.sender_email,
      reply_to = excluded.reply_to, signature = excluded.signature,
      postal_address = excluded.postal_address, reason_en = excluded.reason_en,
      reason_tr = excluded.reason_tr, unsubscribe_en = excluded.unsubscribe_en,
      unsubscribe_tr = excluded.unsubscribe_tr, updated_at = now()`
}
