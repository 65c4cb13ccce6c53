/** The expression for listmonk's picture that counts openings. */
export const TRACK_VIEW = '{{ TrackView }}'

const TOKEN = /( ?)\{(first_name|unsubscribe_url)\}/g

/** Text that a Go template prints as it is: `{{` and listmonk's `…@TrackLink` are not executed. */
export function escapeGo(text: string): string {
  return text.replaceAll('{{', '{{"{{"}}').replaceAll('@TrackLink', '{{"@"}}TrackLink')
}

/**
 * Our tokens turned into the expressions listmonk fills. Its `FirstName` is a guess: the first word
 * of the name with more than two bytes, so "Jo Doe" is Doe and "Dr. Al" is "Dr."; an attribute of
 * ours is what was approved, and an empty one takes the space before it along.
 */
export function goExpressions(text: string, attribute?: string): string {
  return text.replace(TOKEN, (_, space: string, name: string) => {
    if (name === 'unsubscribe_url') return `${space}{{ UnsubscribeURL }}`
    if (!attribute) return `${space}{{ .Subscriber.FirstName }}`
    return `{{ with .Subscriber.Attribs.${attribute} }}${space}{{ . }}{{ end }}`
  })
}

/**
 * The plain text part of a campaign. listmonk executes it as HTML: a `<` would begin a tag there,
 * and an apostrophe in a name would arrive as `&#39;`, so both are handed through `Safe`.
 */
export function plainText(text: string, attribute?: string): string {
  return goExpressions(escapeGo(text).replaceAll('<', '{{ Safe "<" }}'), attribute)
    .replaceAll('{{ .Subscriber.FirstName }}', '{{ Safe .Subscriber.FirstName }}')
    .replaceAll('{{ . }}', '{{ Safe . }}')
}

/**
 * Comments handed through `Safe`. Go's html/template drops HTML comments, and with them the tables
 * and widths that Outlook reads between `<!--[if mso]>` and `<![endif]-->`.
 */
export function safeComments(html: string): string {
  return html.replace(/<!--[\s\S]*?-->/g, (comment) => `{{ Safe ${JSON.stringify(comment)} }}`)
}

/**
 * Links that listmonk counts clicks on. Links of slots hold no quote and no brace; those inside
 * comments are escaped by then and stay.
 */
export function trackLinks(html: string): string {
  return html.replace(/href="(https?:\/\/[^"{}]*)"/g, (_, href: string) => {
    return `href="{{ TrackLink "${href.replaceAll('&amp;', '&')}" }}"`
  })
}
