/** The only expressions a campaign of ours executes in listmonk, by the token that stands for them. */
const EXPRESSIONS: Record<string, string> = {
  first_name: '{{ .Subscriber.FirstName }}',
  unsubscribe_url: '{{ UnsubscribeURL }}',
}

/** The expression for listmonk's picture that counts openings. */
export const TRACK_VIEW = '{{ TrackView }}'

/** Text that a Go template prints as it is: `{{` and listmonk's `…@TrackLink` are not executed. */
export function escapeGo(text: string): string {
  return text.replaceAll('{{', '{{"{{"}}').replaceAll('@TrackLink', '{{"@"}}TrackLink')
}

/** Our tokens turned into the expressions listmonk fills. */
export function goExpressions(text: string): string {
  return text.replace(/\{(first_name|unsubscribe_url)\}/g, (token, name: string) => {
    return EXPRESSIONS[name] ?? token
  })
}

/**
 * Comments handed through `Safe`. Go's html/template drops HTML comments, and with them the tables
 * and widths that Outlook reads between `<!--[if mso]>` and `<![endif]-->`.
 */
export function safeComments(html: string): string {
  return html.replace(/<!--[\s\S]*?-->/g, (comment) => `{{ Safe ${JSON.stringify(comment)} }}`)
}
