/** The only expressions a campaign of ours executes in listmonk, by the token that stands for them. */
const EXPRESSIONS: Record<string, string> = {
  first_name: '{{ .Subscriber.FirstName }}',
  unsubscribe_url: '{{ UnsubscribeURL }}',
}

const TOKEN = /\{(first_name|unsubscribe_url)\}/g

/** The expression for listmonk's picture that counts openings. */
export const TRACK_VIEW = '{{ TrackView }}'

/** Text that a Go template prints as it is: `{{` and listmonk's `…@TrackLink` are not executed. */
export function escapeGo(text: string): string {
  return text.replaceAll('{{', '{{"{{"}}').replaceAll('@TrackLink', '{{"@"}}TrackLink')
}

/** Our tokens turned into the expressions listmonk fills. */
export function goExpressions(text: string): string {
  return text.replace(TOKEN, (token, name: string) => EXPRESSIONS[name] ?? token)
}

/**
 * The plain text part of a campaign. listmonk executes it as HTML: a `<` would begin a tag there,
 * and an apostrophe in a name would arrive as `&#39;`, so both are handed through `Safe`.
 */
export function plainText(text: string): string {
  return escapeGo(text)
    .replaceAll('<', '{{ Safe "<" }}')
    .replace(TOKEN, (token, name: string) =>
      name === 'first_name' ? '{{ Safe .Subscriber.FirstName }}' : (EXPRESSIONS[name] ?? token),
    )
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
