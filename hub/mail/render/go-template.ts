import { TOKEN } from './placeholders.ts'
import { line } from './slots.ts'

/** listmonk's expression for the picture that counts opens. */
export const TRACK_VIEW = '{{ TrackView }}'

/** Text that a Go template prints literally: `{{` and listmonk's `…@TrackLink` are not executed. */
export function escapeGo(text: string): string {
  return text.replaceAll('{{', '{{"{{"}}').replaceAll('@TrackLink', '{{"@"}}TrackLink')
}

/** Personal fields for which listmonk has nothing of its own that is what was approved. */
export const ATTRIBUTE_FIELDS = ['name', 'company'] as const

/** Which of them a campaign's content names by its attributes, which begin with `own`. */
export function attributeFieldsIn(content: string[], own: string) {
  return ATTRIBUTE_FIELDS.filter((field) =>
    content.some((text) => text.includes(`.Subscriber.Attribs.${own}_${field} `)),
  )
}

/** The subscriber attributes that hold what was approved. */
export type Attributes = {
  first_name?: string | undefined
  /** What the names of the attributes of names, companies and own fields begin with. */
  own?: string | undefined
}

/**
 * Replaces our tokens by expressions that listmonk fills. Its `FirstName` is a guess: the first
 * word of the name with more than two bytes, so "Jo Doe" becomes Doe and "Dr. Al" becomes "Dr.".
 * Our own attributes have what was approved; instead of an empty one stands the text of the token, or
 * nothing, without the space before it.
 */
export function goExpressions(text: string, { first_name, own }: Attributes = {}): string {
  return text.replace(TOKEN, (token, space: string, name: string, instead?: string) => {
    if (name === 'unsubscribe_url') return `${space}{{ UnsubscribeURL }}`
    if (name === 'first_name' && !first_name) return `${space}{{ .Subscriber.FirstName }}`
    const attribute = name === 'first_name' ? first_name : own && `${own}_${name}`
    if (!attribute) return token
    const otherwise = instead === undefined ? '' : `{{ else }}${space}${line(instead)}`
    return `{{ with .Subscriber.Attribs.${attribute} }}${space}{{ . }}${otherwise}{{ end }}`
  })
}

/**
 * The plain text part of a campaign. listmonk executes it as HTML: a `<` would begin a tag, and an
 * apostrophe in a name would become `&#39;`, so both go through `Safe`.
 */
export function plainText(text: string, attributes: Attributes = {}): string {
  return goExpressions(escapeGo(text).replaceAll('<', '{{ Safe "<" }}'), attributes)
    .replaceAll('{{ .Subscriber.FirstName }}', '{{ Safe .Subscriber.FirstName }}')
    .replaceAll('{{ . }}', '{{ Safe . }}')
}

/**
 * Comments that go through `Safe`. Go's html/template removes HTML comments, and with them the
 * tables and widths that Outlook reads between `<!--[if mso]>` and `<![endif]-->`.
 */
export function safeComments(html: string): string {
  return html.replace(/<!--[\s\S]*?-->/g, (comment) => `{{ Safe ${JSON.stringify(comment)} }}`)
}

/**
 * Links with listmonk's click tracking. Links in slots contain no quotes and braces; those inside
 * comments are already escaped and stay as they are.
 */
export function trackLinks(html: string): string {
  return html.replace(/href="(https?:\/\/[^"{}]*)"/g, (_, href: string) => {
    return `href="{{ TrackLink "${href.replaceAll('&amp;', '&')}" }}"`
  })
}
