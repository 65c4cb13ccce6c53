/** A piece of a text; `sentence` is its index if it is one of the sentences. */
type Piece = { text: string; sentence?: number }

/** Cuts a text at some of its sentences; spaces and line breaks may differ. */
export function cutAtSentences(text: string, sentences: (string | undefined)[]): Piece[] {
  const found = sentences
    .map((written, sentence) => {
      const words = (written ?? '')
        .trim()
        .split(/\s+/)
        .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      const match = words[0] ? new RegExp(words.join('\\s+'), 'iu').exec(text) : null
      return match ? { sentence, from: match.index, to: match.index + match[0].length } : undefined
    })
    .filter((one) => one !== undefined)
    .sort((a, b) => a.from - b.from || b.to - a.to)
  const pieces: Piece[] = []
  let at = 0
  for (const { sentence, from, to } of found) {
    if (from < at) continue
    if (from > at) pieces.push({ text: text.slice(at, from) })
    pieces.push({ text: text.slice(from, to), sentence })
    at = to
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}
