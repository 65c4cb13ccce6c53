import { expect, test } from 'vitest'
import { MAX_NOTE, notesOf, shorten } from '../../../hub/leads/shorten.ts'

const x = (length: number) => 'x'.repeat(length)

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['ab😀d', 4, 'ab…'],
  ['a😀cd', 4, 'a😀…'],
])('%j in at most %i characters is %j', (text, most, short) => {
  expect(shorten(text, most)).toBe(short)
})

test.each([
  ['is one of the length there is', ` ${x(MAX_NOTE)} `, [MAX_NOTE]],
  ['is one also with a border in it', `${x(6000)} ${x(3999)}`, [MAX_NOTE]],
  ['is two where it is one character longer', x(MAX_NOTE + 1), [MAX_NOTE, 1]],
  ['is divided between words', `${x(6000)} ${x(6000)}`, [6000, 6000]],
  ['is divided between lines before words', `${x(6000)}\n${x(2000)} ${x(6000)}`, [6000, 8001]],
  [
    'is divided between paragraphs before lines',
    `${x(6000)}\n\n${x(1000)}\n${x(1000)} ${x(6000)}`,
    [6000, 8002],
  ],
  ['is not divided where too little came before', `${x(5000)} ${x(6000)}`, [MAX_NOTE, 1001]],
  ['is divided where a little more came before', `${x(5001)} ${x(6000)}`, [5001, 6000]],
  ['has no spaces at its borders', `${x(6000)}  \n\n  ${x(6000)}`, [6000, 6000]],
])('a note %s', (_, text, lengths) => {
  const notes = notesOf(text)
  expect(notes.map(({ length }) => length)).toEqual(lengths)
  expect(notes.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
  for (const note of notes) expect(note).toBe(note.trim())
})
