import type { Draft } from './queries.ts'

/** A piece of a text; `claim` is its index if it is a claim. */
type Piece = { text: string; claim?: number }

/** Cuts a text at its claims; spaces and line breaks may differ. */
export function cutAtClaims(
  text: string,
  claims: Pick<Draft['claims'][number], 'sentence'>[],
): Piece[] {
  const found = claims
    .map(({ sentence }, claim) => {
      const words = sentence
        .trim()
        .split(/\s+/)
        .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      const match = words[0] ? new RegExp(words.join('\\s+'), 'iu').exec(text) : null
      return match ? { claim, from: match.index, to: match.index + match[0].length } : undefined
    })
    .filter((one) => one !== undefined)
    .sort((a, b) => a.from - b.from)
  const pieces: Piece[] = []
  let at = 0
  for (const { claim, from, to } of found) {
    if (from < at) continue
    if (from > at) pieces.push({ text: text.slice(at, from) })
    pieces.push({ text: text.slice(from, to), claim })
    at = to
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}
