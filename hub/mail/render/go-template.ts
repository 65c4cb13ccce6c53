/** listmonk's expression for the picture that counts opens. */
export const TRACK_VIEW = '{{ TrackView }}'

const TOKEN = /( ?)\{(first_name|unsubscribe_url)\}/g

/** Text that a Go template prints literally: `{{` and listmonk's `…@TrackLink` are not executed. */
export function escapeGo(text: string): string {
  return text.replaceAll('{{', '{{"{{"}}').replaceAll('@TrackLink', '{{"@"}}TrackLink')
}

/**
 * Replaces our tokens by expressions that listmonk fills. Its `FirstName` is a guess: the first
 * word of the name with more than two bytes, so "Jo Doe" becomes Doe and "Dr. Al" becomes "Dr.".
 * Our own attribute has what was approved; if it is empty, the space before it is removed too.
 */
export function goExpressions(text: string, attribute?: string): string {
  return text.replace(TOKEN, (_, space: string, name: string) => {
    if (name === 'unsubscribe_url') return `${space}{{ UnsubscribeURL }}`
    if (!attribute) return `${space}{{ .Subscriber.FirstName }}`
    return `{{ with .Subscriber.Attribs.${attribute} }}${space}{{ . }}{{ end }}`
  })
}

/**
 * The plain text part of a campaign. listmonk executes it as HTML: a `<` would begin a tag, and an
 * apostrophe in a name would become `&#39;`, so both go through `Safe`.
 */
export function plainText(text: string, attribute?: string): string {
  return goExpressions(escapeGo(text).replaceAll('<', '{{ Safe "<" }}'), attribute)
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
