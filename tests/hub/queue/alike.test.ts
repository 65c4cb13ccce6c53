import { describe, expect, test } from 'vitest'
import { markDifferences } from '../../../hub/queue/alike.ts'

/** A text as it is marked: what is a reader's own in brackets. */
const shown = (texts: string[]) =>
  markDifferences(texts).map((pieces) =>
    pieces.map(({ text, is_common }) => (is_common ? text : `[${text}]`)).join(''),
  )

test.each<[what: string, texts: string[], marked: string[]]>([
  ['no texts', [], []],
  ['equal texts', ['A. B.', 'A. B.'], ['A. B.', 'A. B.']],
  ['nothing in common', ['A.', 'B.'], ['[A.]', '[B.]']],
  ['another end', ['A. B.', 'A. C.'], ['A. [B.]', 'A. [C.]']],
  ['another beginning', ['B. A.', 'C. A.'], ['[B. ]A.', '[C. ]A.']],
  ['a sentence more', ['A. B. C.', 'A. C.'], ['A. [B. ]C.', 'A. C.']],
  ['several in a row', ['A. B. C. D.', 'A. D.'], ['A. [B. C. ]D.', 'A. D.']],
  ['other space behind it', ['A.  B.', 'A.\nB.'], ['A.  B.', 'A.\nB.']],
  ['another order', ['A. B.', 'B. A.'], ['[A. ]B.', 'B. [A.]']],
  ['the longest order', ['A. B. C.', 'C. A. B.'], ['A. B. [C.]', '[C. ]A. B.']],
  ['one of them twice', ['A. A. B.', 'A. B.'], ['A. [A. ]B.', 'A. B.']],
  ['questions and calls', ['A? B!', 'A? C!'], ['A? [B!]', 'A? [C!]']],
  ['dots in a row', ['A... B.', 'A... C.'], ['A... [B.]', 'A... [C.]']],
  ['numbers', ['At 1.5 t. B.', 'At 1.7 t. B.'], ['[At 1.5 t. ]B.', '[At 1.7 t. ]B.']],
  ['lines', ['A\nB', 'A\nC'], ['A\n[B]', 'A\n[C]']],
  ['of three, what all have', ['A. B. C.', 'A. B.', 'A. C.'], ['A. [B. C.]', 'A. [B.]', 'A. [C.]']],
])('of %s what all have is common', (_, texts, marked) => {
  expect(shown(texts)).toEqual(marked)
})

test.each([
  [400, 2],
  [401, 1],
])('a text of %i sentences in one line is compared by %i pieces', (count, pieces) => {
  const text = Array.from({ length: count }, (_, at) => `S${at}.`).join(' ')
  const [first = []] = markDifferences([`${text}`, `${text.replace(/S\d+\.$/, 'T.')}`])
  expect(first).toHaveLength(pieces)
  // Longer ones by lines.
  const [lines = []] = markDifferences([`${text}\nA`, `${text}\nB`])
  expect(lines.map(({ is_common }) => is_common)).toEqual([true, false])
})

describe('differences of a batch', () => {
  test('are marked, and nothing is lost', () => {
    const texts = [
      'Hello Ali,\n\nYou carry fruit. We cool it. Shall we talk?\n\nAyşe',
      'Hello Berk,\n\nYou carry fish. We cool it. Shall we talk?\n\nAyşe',
      'Hello Can,\n\nWe cool it. You have a depot. Shall we talk?\n\nAyşe',
    ]
    const marked = markDifferences(texts)
    expect(marked.map((pieces) => pieces.map(({ text }) => text).join(''))).toEqual(texts)
    const own = marked.map((pieces) =>
      pieces.filter(({ is_common }) => !is_common).map(({ text }) => text.trim()),
    )
    expect(own).toEqual([
      ['Hello Ali,\n\nYou carry fruit.'],
      ['Hello Berk,\n\nYou carry fish.'],
      ['Hello Can,', 'You have a depot.'],
    ])
  })

  test('one text is all common, an empty one has no pieces, a long one is fast', () => {
    expect(markDifferences(['Hello.'])).toEqual([[{ text: 'Hello.', is_common: true }]])
    expect(markDifferences(['', 'x'])).toEqual([[], [{ text: 'x', is_common: false }]])
    const long = Array.from({ length: 3000 }, (_, at) => `Sentence ${at}.`).join(' ')
    const began = performance.now()
    markDifferences([long, `${long} More.`])
    expect(performance.now() - began).toBeLessThan(2000)
  })
})
