/** The width at which hub/mail/render/render.ts breaks the lines of a plain text. */
const WIDTH = 78

/**
 * withoutSoftBreaks joins lines that were broken only because the next word did not fit, so that a page
 * can break them at its own width; the line breaks of the writer stay.
 */
export function withoutSoftBreaks(text: string): string {
  const lines = text.split('\n')
  return lines.reduce((joined, line, at) => {
    const before = lines[at - 1] ?? ''
    const [word = ''] = line.split(' ', 1)
    const isSoft = before !== '' && word !== '' && before.length + 1 + word.length > WIDTH
    return at === 0 ? line : `${joined}${isSoft ? ' ' : '\n'}${line}`
  }, '')
}

/** The text part of a mail as a page shows it. */
export function plainMail(text: string, ownLink: string): string {
  return withOwnLink(withoutSoftBreaks(text), ownLink)
}

/** Says what stands for the link to unsubscribe, of which each recipient has one of their own. */
export function withOwnLink(text: string, ownLink: string): string {
  return text.replaceAll('{unsubscribe_url}', ownLink)
}
