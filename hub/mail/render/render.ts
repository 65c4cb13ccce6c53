import { readFileSync } from 'node:fs'
import { compile } from 'html-to-text'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { luminance } from '../../../shared/colour.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { fillTemplate } from '../../template.ts'
import {
  ATTRIBUTE_FIELDS,
  escapeGo,
  goExpressions,
  plainText,
  safeComments,
  TRACK_VIEW,
  trackLinks,
} from './go-template.ts'
import { givenFor, TOKEN, tidied } from './placeholders.ts'
import { renderText } from './render.text.ts'
import {
  line,
  MailBranding,
  MailFooter,
  MailSignature,
  NO_LINK,
  type Personal,
  SLOTS,
  type TemplateName,
} from './slots.ts'

const say = bilingual(renderText)

/** Gmail cuts off mails after about 102 KB, and with them the unsubscribe link. */
export const MAX_HTML_BYTES = 100_000

/**
 * How the mail is sent. `smtp`: plain HTML in which `personalise` fills `{unsubscribe_url}` (and
 * the personal fields, unless a recipient was given). `listmonk`: a Go template for a campaign, in
 * which only our own fields are executed.
 */
type Target = 'smtp' | 'listmonk'

/** Everything a mail is made from; `slots` is validated by the template's schema. */
export const RenderInput = z.object({
  template: z.enum(Object.keys(SLOTS) as [TemplateName, ...TemplateName[]]), // safe: constant keys
  slots: z.unknown(),
  signature: MailSignature,
  branding: MailBranding,
  footer: MailFooter,
  lang: z.enum(['en', 'tr']),
})
export type RenderInput = z.input<typeof RenderInput>

type RenderOptions = {
  target: Target
  /** Fills the personal fields at once, for a mail to one lead. */
  recipient?: Personal
  /** In a campaign: lets listmonk count opens, and clicks. Off by default. */
  track_opens?: boolean
  track_clicks?: boolean
  /** In a campaign: the subscriber attribute with the approved first name. */
  first_name_attribute?: string
  /** In a campaign: the names of the attributes with approved names, companies and own fields begin so. */
  own_attribute?: string
}

/** A mail as it is approved; the same input always gives the same bytes. */
export type Rendered = { subject: string; html: string; text: string; bytes: number }

/** Why rendering failed; `message` says what to change, `words` say it in both languages. */
export class RenderError extends Error {
  readonly code: 'invalid_slots' | 'too_large' | 'personal_field'
  readonly words: Words
  readonly issues: { path: string; message: Words }[]

  constructor(code: RenderError['code'], words: Words, issues: RenderError['issues'] = []) {
    const list = issues.map(({ path, message }) => `${path}: ${message.en}`)
    super([words.en, ...list].join(' '))
    this.code = code
    this.words = words
    this.issues = issues
  }
}

const WORDS = {
  en: { unsubscribe: 'Unsubscribe', when: 'When', where: 'Where' },
  tr: { unsubscribe: 'Abonelikten çık', when: 'Ne zaman', where: 'Nerede' },
}

/** Removed from texts, because only the footer has the unsubscribe link. */
const FOREIGN = /\{+(unsubscribe_url)\}+/g

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  '{': '&#123;',
  '}': '&#125;',
}

const toText = compile({
  wordwrap: 78,
  selectors: [
    { selector: 'div[style*="display:none"]', format: 'skip' },
    { selector: 'img', format: 'skip' },
    {
      selector: 'div',
      format: 'block',
      options: { leadingLineBreaks: 2, trailingLineBreaks: 2 },
    },
    {
      selector: 'a',
      options: { linkBrackets: ['<', '>'], hideLinkHrefIfSameAsText: true, noAnchorUrl: true },
    },
  ],
})

/** The slots parsed by the template's schema; RenderError `invalid_slots` names each fault. */
function parseSlots<T extends TemplateName>(template: T, slots: unknown) {
  const answer = SLOTS[template].safeParse(slots)
  if (answer.success) return answer.data as z.infer<(typeof SLOTS)[T]> // safe: parsed by that very schema
  const issues = answer.error.issues.map((issue) => ({
    path: issue.path.join('.'),
    message: wordsOf(issue),
  }))
  throw new RenderError('invalid_slots', say.no_fit, issues)
}

function wordsOf(issue: z.core.$ZodIssue): Words {
  if (issue.code === 'too_big') {
    const most = Number(issue.maximum)
    return issue.origin === 'string' ? say.longest(most) : say.most(most)
  }
  if (issue.code === 'too_small' || issue.code === 'invalid_type') return say.missing
  if (issue.code === 'unrecognized_keys') return say.unknown_slots(issue.keys.join(', '))
  return issue.message === NO_LINK ? say.no_link : say.wrong
}

/**
 * Renders a mail. Without a recipient the personal fields remain; a listmonk campaign has listmonk's
 * expressions for them, which need the names of their attributes.
 */
export async function render(
  input: RenderInput,
  options: RenderOptions = { target: 'smtp' },
): Promise<Rendered> {
  const { template, signature, branding, footer, lang } = normalise(RenderInput.parse(input))
  const [first, ...rest] = signature
  const slots = normalise(parseSlots(template, input.slots))
  const words = WORDS[lang]
  const mjmlSource = fillTemplate(
    mjmlOf(template),
    {
      ...slots,
      lang,
      words,
      signature: { first, rest },
      brand: { ...branding, ...colours(branding.color) },
      footer: { unsubscribe: words.unsubscribe, ...footer, unsubscribe_url: '{unsubscribe_url}' },
    },
    { encode: escapeHtml, partial: mjmlOf },
  )
  const common = { subject: slots.subject, ...(await htmlOf(mjmlSource)) }
  const own = options.recipient ? substitute(common, options.recipient) : common
  const rendered = options.target === 'smtp' ? own : forListmonk(own, options)
  const bytes = Buffer.byteLength(rendered.html)
  if (bytes > MAX_HTML_BYTES) {
    throw new RenderError('too_large', say.too_large(bytes, MAX_HTML_BYTES))
  }
  return { ...rendered, bytes }
}

type Made = Pick<Rendered, 'html' | 'text'>

/** A mail is rendered for each look at it, for its approval and when it is sent: the same each time. */
const made = new LRUCache<string, Made>({
  maxSize: 8_000_000,
  sizeCalculation: ({ html, text }, source) => source.length + html.length + text.length,
})

/** The HTML and the text that MJML makes. */
async function htmlOf(source: string): Promise<Made> {
  const known = made.get(source)
  if (known) return known
  // 85 MB of modules, loaded only when something is rendered.
  const { default: mjml } = await import('mjml')
  const { html } = await mjml(source, {
    validationLevel: 'strict',
    ignoreIncludes: true,
    fonts: {},
  })
  const fresh = {
    html: html.replace(/[ \t]+$/gm, '').replace(/\n{2,}/g, '\n'),
    text: `${toText(html).trim()}\n`,
  }
  made.set(source, fresh)
  return fresh
}

const sources = new Map<string, string>()

/** The MJML of a template, or of a part that templates share. */
function mjmlOf(name: string): string {
  const known = sources.get(name)
  if (known !== undefined) return known
  const source = readFileSync(new URL(`templates/${name}.mjml`, import.meta.url), 'utf8')
  sources.set(name, source)
  return source
}

/** The mail for one recipient, with the personal fields and the unsubscribe link filled in. */
export function personalise(
  rendered: Rendered,
  recipient: Personal & { unsubscribe_url: string },
): Rendered {
  const filled = substitute(rendered, recipient)
  return { ...filled, bytes: Buffer.byteLength(filled.html) }
}

type Parts = Omit<Rendered, 'bytes'>

/** Fills the given fields; an empty one is removed with the space before it ("Dear,"). */
function substitute(parts: Parts, values: Personal & { unsubscribe_url?: string }): Parts {
  const put = (text: string, encode: (value: string) => string) =>
    text.replace(TOKEN, (token, space: string, name: string, instead?: string) => {
      const isLink = name === 'unsubscribe_url'
      const known = isLink ? values.unsubscribe_url : givenFor(values, name)
      if (known === undefined) return token
      const value = known || line(instead ?? '')
      return value ? space + encode(value) : ''
    })
  return {
    subject: put(parts.subject, (value) => value),
    html: put(parts.html, escapeHtml),
    text: put(parts.text, (value) => value),
  }
}

function forListmonk(parts: Parts, options: RenderOptions): Parts {
  const { track_opens, track_clicks, first_name_attribute, own_attribute } = options
  const left = new Set(
    [...`${parts.subject} ${parts.html}`.matchAll(TOKEN)].map(([, , name]) => name),
  )
  for (const field of ATTRIBUTE_FIELDS) {
    if (!left.has(field) || own_attribute) continue
    throw new RenderError('personal_field', say.personal_field(field))
  }
  for (const name of [first_name_attribute, own_attribute]) {
    if (!name || /^[a-z][a-z0-9_]*$/.test(name)) continue
    throw new RangeError(`${name} cannot name an attribute in a template`)
  }
  const attributes = { first_name: first_name_attribute, own: own_attribute }
  const filled = goExpressions(safeComments(parts.html), attributes)
  const html = track_clicks ? trackLinks(filled) : filled
  return {
    subject: goExpressions(escapeGo(parts.subject), attributes),
    html: track_opens ? html.replace('</body>', `${TRACK_VIEW}</body>`) : html,
    text: plainText(parts.text, attributes),
  }
}

/** Escapes for text and attributes; personal fields stay, every other brace becomes an entity. */
export function escapeHtml(text: string): string {
  let html = ''
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    html += entities(text.slice(at, match.index)) + match[0]
    at = match.index + match[0].length
  }
  return html + entities(text.slice(at))
}

function entities(text: string): string {
  return text
    .replace(/[&<>"'`{}]/g, (char) => ENTITIES[char] ?? char)
    .replaceAll('@TrackLink', '&#64;TrackLink')
}

/** Greeting and closing without their comma; `{{first_name}}` becomes the field it means. */
function normalise<T>(value: T, key = ''): T {
  if (Array.isArray(value)) return value.map((item) => normalise(item)) as T // safe: same shape
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, item]) => [name, normalise(item, name)])
    return Object.fromEntries(entries) as T // safe: same keys, same kinds
  }
  if (typeof value !== 'string') return value
  const text = tidied(value, []).replace(FOREIGN, '$1')
  const bare = key === 'greeting' || key === 'closing' ? text.replace(/[\s,;:.!]+$/, '') : text
  return bare as T // safe: T is string here
}

/** Readable colours: on the button, and as a link on a light and on a dark background. */
function colours(color: string) {
  const light = luminance(color)
  return {
    on_color: light > 0.4 ? '#1f2328' : '#ffffff',
    link_color: light > 0.3 ? '#1f5f99' : color,
    link_color_dark: light < 0.25 ? '#8ab8ff' : color,
  }
}
