/** A piece of a text: one that all texts of a batch have, or one of its own. */
export type Piece = { text: string; is_common: boolean }

/** Texts longer than this are compared by lines, so that a batch is compared in milliseconds. */
const MAX_PIECES = 400

/**
 * markDifferences cuts each text into sentences and says which of them all texts have in the same order;
 * what is left is each reader's own. Joined again, the pieces are the text.
 */
export function markDifferences(texts: string[]): Piece[][] {
  const cut = texts.map((text) => {
    const sentences = sentencesOf(text)
    return sentences.length > MAX_PIECES ? text.split(/(?<=\n)/) : sentences
  })
  const [head = [], ...others] = cut
  const common = others.reduce(shared, head)
  return cut.map((pieces) => mark(pieces, common))
}

const even = (piece: string) => piece.trim()

/** With the space that follows, so that nothing is lost. A dot inside a word or a number ends none. */
function sentencesOf(text: string): string[] {
  const pieces = text.match(/(?:[^\n.!?]|[.!?](?!\s|$))*[.!?]?\n?\s*/g) ?? []
  return pieces.filter((piece) => piece !== '')
}

/** The longest common subsequence of two lists. */
function shared(a: string[], b: string[]): string[] {
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const isSame = even(a[i] ?? '') === even(b[j] ?? '')
      lengths[i * width + j] = isSame ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const found: string[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (even(a[i] ?? '') === even(b[j] ?? '')) {
      found.push(a[i] ?? '')
      i += 1
      j += 1
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1
    else j += 1
  }
  return found
}

function mark(pieces: string[], common: string[]): Piece[] {
  const marked: Piece[] = []
  let next = 0
  for (const text of pieces) {
    const is_common = next < common.length && even(text) === even(common[next] ?? '')
    if (is_common) next += 1
    const last = marked.at(-1)
    if (last?.is_common === is_common) last.text += text
    else marked.push({ text, is_common })
  }
  return marked
}
