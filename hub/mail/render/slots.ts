import { z } from 'zod'

/** Personal fields a text slot may hold, written `{first_name}` or `{first_name|there}`. */
export const PERSONAL_FIELDS = ['first_name', 'name', 'company'] as const
type PersonalField = (typeof PERSONAL_FIELDS)[number]
/** What is filled in for one reader; `own` are the project's own fields, as they are shown. */
export type Personal = Partial<Record<PersonalField, string | null | undefined>> & {
  own?: Record<string, string> | undefined
}

/** Allowed kinds of links; everything else (`javascript:`, `data:`, …) is refused. */
const LINK_PROTOCOLS = ['http:', 'https:', 'mailto:']

export const NO_LINK = 'must be an http, https or mailto link'

const CONTROL = /[\p{Cc}\u2028\u2029\ufeff]+/gu

/** One line of text: control characters become spaces, edges are trimmed. */
export function line(value: string): string {
  return value.replace(CONTROL, ' ').replace(/ {2,}/g, ' ').trim()
}

const words = (maxLength: number, what: string) =>
  z.string().max(maxLength).transform(line).pipe(z.string().min(1)).describe(what)

const optionalWords = (maxLength: number, what: string) =>
  z.string().max(maxLength).transform(line).optional().describe(what)

/**
 * A link that can be put into an attribute unchanged: http, https or mailto, without credentials.
 */
const Link = z
  .string()
  .max(1000)
  .transform((value, context) => {
    const url = URL.canParse(value.trim()) ? new URL(value.trim()) : null
    if (!url || !LINK_PROTOCOLS.includes(url.protocol) || url.username || url.password) {
      context.addIssue({ code: 'custom', message: NO_LINK })
      return z.NEVER
    }
    return url.href
      .replace(/[{}'"<>`\\^|]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('@TrackLink', '%40TrackLink')
  })
  .describe('A full https:// address')

const Button = z.strictObject({
  label: words(60, 'What happens on a click, a verb first'),
  url: Link,
})

const common = {
  subject: words(150, 'The subject line, without the sender'),
  preheader: words(150, 'The line an inbox shows after the subject'),
}
const greeting = words(80, 'The greeting without a comma; {first_name} is filled in')
const closing = words(60, 'The closing without a comma and without a name')
const paragraphs = (maxItems: number) =>
  z
    .array(words(900, 'One paragraph of plain text'))
    .min(1)
    .max(maxItems)
    .describe('The text of the mail')

/** The texts that a writer fills in for each template; never HTML. */
export const SLOTS = {
  letter: z.strictObject({ ...common, greeting, paragraphs: paragraphs(6), closing }),
  offer: z.strictObject({
    ...common,
    greeting,
    paragraphs: paragraphs(4),
    offer: z.strictObject({
      title: words(120, 'The offer in one line'),
      points: z.array(words(200, 'One point of the offer')).max(5),
    }),
    button: Button,
    closing,
  }),
  newsletter: z.strictObject({
    ...common,
    title: words(120, 'The headline'),
    intro: words(600, 'What this issue is about'),
    sections: z
      .array(
        z.strictObject({
          heading: words(120, 'The heading of the section'),
          paragraphs: paragraphs(3),
          link: Button.optional(),
        }),
      )
      .min(1)
      .max(6),
    button: Button.optional(),
  }),
  invitation: z.strictObject({
    ...common,
    greeting,
    paragraphs: paragraphs(3),
    event: z.strictObject({
      name: words(120, 'The name of the event'),
      when: words(120, 'Day and time with the time zone'),
      where: words(200, 'The place or the online room'),
      agenda: z
        .array(
          z.strictObject({
            time: words(20, 'The time of the item'),
            item: words(160, 'What happens'),
          }),
        )
        .max(6),
    }),
    button: Button,
    closing,
  }),
  follow_up: z.strictObject({
    ...common,
    greeting,
    earlier: optionalWords(300, 'What the earlier mail said, in one sentence'),
    paragraphs: paragraphs(3),
    question: words(200, 'One question that is easy to answer'),
    closing,
  }),
} as const

export type TemplateName = keyof typeof SLOTS
export type Slots<T extends TemplateName = TemplateName> = z.infer<(typeof SLOTS)[T]>
export const TEMPLATES = Object.keys(SLOTS) as TemplateName[] // safe: the keys of a constant

/** The purpose of each template, for the model and the template picker. */
export const TEMPLATE_PURPOSE = {
  letter: { en: 'A plain personal letter', tr: 'Sade bir kişisel e-posta' },
  offer: { en: 'A letter with a highlighted offer', tr: 'Öne çıkan teklifli e-posta' },
  newsletter: { en: 'A newsletter with sections', tr: 'Bölümlü bülten' },
  invitation: { en: 'An invitation to an event', tr: 'Etkinlik daveti' },
  follow_up: { en: 'A short reminder of a letter', tr: 'E-posta sonrası kısa hatırlatma' },
} as const satisfies Record<TemplateName, { en: string; tr: string }>

const Colour = z.string().regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #1a7f5a')

/** The look of the sender: `logo` is https, or data: up to 40 KB (sent as an inline picture). */
export const MailBranding = z.object({
  name: words(80, 'The name above the mail'),
  logo: z
    .union([
      z.url({ protocol: /^https$/ }).max(1000),
      z
        .string()
        .max(40_000)
        .regex(/^data:image\/(png|jpeg|gif|webp);base64,[a-z0-9+/]+={0,2}$/i),
    ])
    .nullable()
    .default(null),
  logo_width: z.number().int().min(24).max(300).default(140),
  color: Colour.default('#1f5f99'),
})
export type MailBranding = z.infer<typeof MailBranding>

/** The lines under the mail: the first is the name of the person who signs. */
export const MailSignature = z.array(words(80, 'One line of the signature')).min(1).max(6)
export type MailSignature = z.infer<typeof MailSignature>

/** What the law requires in every mail: a postal address, why it was sent, and a way out. */
export const MailFooter = z.object({
  postal_address: words(300, 'Company and postal address in one line'),
  reason: words(300, 'Why the reader gets this mail'),
  unsubscribe: words(60, 'The words of the link to unsubscribe').optional(),
})
export type MailFooter = z.infer<typeof MailFooter>
