import { getDomain } from 'tldts'
import { z } from 'zod'
import { Day } from '../../shared/time.ts'
import { fieldText } from '../i18n/problem.text.ts'
import { CURRENCIES } from './currencies.ts'
import { languageTag } from './languages.ts'

export const STAGES = ['new', 'contacted', 'replied', 'meeting', 'proposal', 'won', 'lost'] as const
export const Stage = z.enum(STAGES)
export const LawfulBasis = z.enum(['consent', 'contract', 'legitimate_interest'])

/** Replaces control characters and runs of white space by one space. */
const line = (max: number) =>
  z
    .string()
    .overwrite((text) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim())
    .max(max)

const email = line(320)
  .refine((text) => text === '' || z.email().safeParse(text).success, fieldText.en.no_email)
  .meta({ format: 'email' })

const website = line(500)
  .overwrite((text) =>
    /^[a-z][a-z0-9+.-]*:/i.test(text) || text === '' ? text : `https://${text}`,
  )
  .refine(
    (text) => text === '' || z.url({ protocol: /^https?$/ }).safeParse(text).success,
    fieldText.en.no_address,
  )

/** So many tags a lead may have. */
export const MAX_TAGS = 50
export const Tag = line(60).regex(/^[^,;]+$/, fieldText.en.tag)

const paragraph = (max: number) =>
  z
    .string()
    .overwrite((text) => text.replaceAll('\0', '').trim())
    .max(max)

/** The largest amount; a database column of 14 digits holds it to the cent. */
const MAX_AMOUNT = 999_999_999_999.99
/** Values of a project's own fields, by their keys; their kinds are checked against the project. */
export const OwnValues = z
  .record(
    z.string().regex(/^[a-z][a-z0-9_]{0,39}$/),
    z.union([z.string().max(1000), z.number(), z.boolean(), z.null()]),
  )
  .meta({
    description: 'The project’s own fields by key; an absent one is unchanged, null clears it.',
    example: { fleet_size: 40 },
  })
export type OwnValues = z.infer<typeof OwnValues>

/** The fields of a lead that people, files and agents fill in; an empty text counts as no value. */
export const LeadFields = {
  name: line(200).nullable(),
  email: email.nullable(),
  company: line(200).nullable(),
  title: line(200).nullable().meta({ description: 'The position, e.g. Head of Logistics.' }),
  phone: line(60).nullable(),
  website: website
    .nullable()
    .meta({ description: 'An http or https address; without a scheme, https is assumed.' }),
  country: line(100).nullable(),
  language: z
    .string()
    .overwrite((text) => languageTag(text) ?? text.trim())
    .refine((text) => text === '' || languageTag(text) !== undefined, fieldText.en.no_language)
    .nullable()
    .meta({
      description:
        'The language of what is written to the lead: ISO 639-1, e.g. tr; of a tag such as tr-TR the language is kept. Null: that of the country.',
    }),
  stage: Stage,
  source: line(200)
    .nullable()
    .meta({ description: 'Where the contact came from; required before sending.' }),
  lawful_basis: LawfulBasis.nullable().meta({
    description: 'Why you may write to this person; required before sending.',
  }),
  score: z.int().min(0).max(100).nullable(),
  tags: z.array(Tag).max(MAX_TAGS),
  amount: z
    .number()
    .min(0)
    .max(MAX_AMOUNT)
    .multipleOf(0.01)
    .nullable()
    .meta({ description: 'What the deal is worth, in `currency`.' }),
  currency: z
    .string()
    .overwrite((text) => text.trim().toUpperCase())
    .refine((code) => code === '' || CURRENCIES.has(code), fieldText.en.no_currency)
    .nullable()
    .meta({ description: 'ISO 4217, e.g. EUR; required with an amount.' }),
  close_on: Day.nullable().meta({ description: 'When the deal is expected to be decided.' }),
  next_step: line(500).nullable(),
  outcome_reason: line(100).nullable().meta({
    description: 'Why the deal was won or lost; only in these stages, and cleared on leaving them.',
  }),
  outcome_note: paragraph(2000).nullable(),
  basis_note: line(1000).nullable().meta({
    description: 'For a legitimate interest: which one, and why it weighs more.',
  }),
  basis_source: line(500)
    .nullable()
    .meta({ description: 'Where the lawful basis is on record, e.g. the form or the contract.' }),
  basis_on: Day.nullable().meta({ description: 'Since when the lawful basis holds.' }),
  custom: OwnValues,
}

/** A new lead: at least one of name, email and company. */
export const NewLead = z
  .strictObject(LeadFields)
  .partial()
  .refine(isIdentified, { error: fieldText.en.unnamed, path: ['name'] })
export type NewLead = z.output<typeof NewLead>

export const LeadChange = z.strictObject(LeadFields).partial()
export type LeadChange = z.output<typeof LeadChange>

export function isIdentified(lead: Pick<LeadChange, 'name' | 'email' | 'company'>): boolean {
  return Boolean(lead.name || lead.email || lead.company)
}

export const Note = z
  .object({ id: z.uuid(), text: z.string(), created_at: z.string() })
  .meta({ id: 'Note' })

export const Task = z
  .object({
    id: z.uuid(),
    project: z.string(),
    lead_id: z.uuid().nullable(),
    title: z.string(),
    due_on: Day.nullable(),
    done_at: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'Task' })

/** A lead as the API returns it. */
export const Lead = z
  .object({
    id: z.uuid(),
    project: z.string().meta({ description: 'The slug of its project.' }),
    name: z.string().nullable(),
    email: z.string().nullable(),
    company: z.string().nullable(),
    title: z.string().nullable(),
    phone: z.string().nullable(),
    website: z.string().nullable(),
    country: z.string().nullable(),
    language: z.string().nullable(),
    stage: Stage,
    source: z.string().nullable(),
    lawful_basis: LawfulBasis.nullable(),
    score: z.int().nullable(),
    tags: z.array(z.string()),
    amount: z.number().nullable(),
    currency: z.string().nullable(),
    close_on: Day.nullable(),
    next_step: z.string().nullable(),
    outcome_reason: z.string().nullable(),
    outcome_note: z.string().nullable(),
    closed_at: z.string().nullable().meta({
      description: 'When it came to won or lost in the hub; null for one imported there.',
    }),
    basis_note: z.string().nullable(),
    basis_source: z.string().nullable(),
    basis_on: Day.nullable(),
    custom: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).meta({
      description: 'The values of the project’s own fields, by their keys.',
    }),
    notes: z.array(Note).meta({ description: 'The newest three; lead/get has more.' }),
    open_tasks: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Lead' })
export type Lead = z.infer<typeof Lead>

// Mail providers: an address there says nothing about the company.
const MAIL_PROVIDERS = new Set(
  [
    'gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com aol.com',
    'icloud.com me.com mac.com proton.me protonmail.com gmx.com gmx.de gmx.net web.de mail.com',
    'mail.ru yandex.com yandex.ru yandex.com.tr zoho.com fastmail.com hotmail.com.tr outlook.com.tr',
    'hotmail.de hotmail.fr hotmail.co.uk yahoo.com.tr yahoo.de yahoo.fr yahoo.co.uk live.de',
    'live.co.uk t-online.de orange.fr free.fr laposte.net libero.it qq.com 163.com 126.com',
    // Nor does an address on a platform that many companies share.
    'facebook.com instagram.com linkedin.com x.com twitter.com youtube.com tiktok.com pinterest.com',
    'google.com linktr.ee wa.me t.me sahibinden.com trendyol.com hepsiburada.com n11.com alibaba.com',
    'mynet.com superonline.com ttmail.com ttnet.net.tr turk.net e-kolay.net windowslive.com',
  ].flatMap((names) => names.split(' ')),
)

/** domainOf is the registered domain of a lead's website or e-mail, but never a mail provider's. */
export function domainOf({ email, website }: Pick<LeadChange, 'email' | 'website'>): string | null {
  const hosts = [website, email?.split('@').at(-1)]
  for (const host of hosts) {
    const domain = host ? getDomain(host, { allowPrivateDomains: true })?.toLowerCase() : null
    if (domain && !MAIL_PROVIDERS.has(domain)) return domain
  }
  return null
}
