/**
 * Header fields by lower-case name, unfolded; of several the first, which the last server wrote.
 */
export function parseHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>()
  const unfolded = text.replaceAll('\r\n', '\n').replace(/\n[ \t]+/g, ' ')
  for (const field of unfolded.split('\n')) {
    const colon = field.indexOf(':')
    const name = field.slice(0, colon).trim().toLowerCase()
    if (colon > 0 && !headers.has(name)) headers.set(name, field.slice(colon + 1).trim())
  }
  return headers
}

/** Every id in angle brackets. */
export function messageIds(text: string): string[] {
  return [...text.matchAll(/<[^\s<>]+>/g)].map(([id]) => id)
}
