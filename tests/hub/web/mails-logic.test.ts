import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutAtSentences } from '../../../hub/web/pages/drafts/cut-at-sentences.ts'
import { linesOf } from '../../../hub/web/pages/drafts/diff-lines.ts'
import { fieldsOf, withFields } from '../../../hub/web/pages/drafts/slots.ts'

describe('sentences in a text', () => {
  test('are found over line ends and other spaces, once each, in the order of the text', () => {
    const text = 'Hello Jo,\n\nYou have 42\ntrucks. You   sold two.'
    const sentences = ['You sold two.', 'You have 42 trucks.', undefined]
    expect(cutAtSentences(text, sentences)).toEqual([
      { text: 'Hello Jo,\n\n' },
      { text: 'You have 42\ntrucks.', sentence: 1 },
      { text: ' ' },
      { text: 'You   sold two.', sentence: 0 },
    ])
  })

  test('the pieces are the text, whatever the sentences', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (text, sentences) => {
        const pieces = cutAtSentences(text, sentences)
        expect(pieces.map((piece) => piece.text).join('')).toBe(text)
      }),
    )
  })
})

describe('the slots of a mail', () => {
  const slots = {
    subject: 'Hi',
    paragraphs: ['One.', 'Two.'],
    button: { label: 'Go', url: 'https://demir.example' },
    sections: [{ heading: 'A', paragraphs: ['x'] }],
  }

  test('are listed with where they stand, and come back as they were', () => {
    const fields = fieldsOf(slots)
    expect(fields.map(({ path }) => path.join('.'))).toEqual([
      'subject',
      'paragraphs',
      'button.label',
      'button.url',
      'sections.0.heading',
      'sections.0.paragraphs',
    ])
    expect(withFields(slots, fields)).toEqual(slots)
  })

  test('an empty line makes a paragraph, and the mail before stays as it was', () => {
    const fields = fieldsOf(slots).map((field) =>
      field.path[0] === 'paragraphs' ? { ...field, value: 'A\n\n\n B \n\n' } : field,
    )
    expect(withFields(slots, fields).paragraphs).toEqual(['A', 'B'])
    expect(slots.paragraphs).toEqual(['One.', 'Two.'])
  })
})

test('a changed line of a diff knows what it stands against, an added one stands alone', () => {
  const patch = [
    '--- approved',
    '+++ now',
    '@@ -1,3 +1,4 @@',
    ' same',
    '-next week',
    '+on Friday',
    '+or Monday',
    ' end',
    '\\ No newline at end of file',
  ].join('\n')
  expect(linesOf(patch)).toEqual([
    [
      { kind: ' ', text: 'same' },
      { kind: '-', text: 'next week', other: 'on Friday' },
      { kind: '+', text: 'on Friday', other: 'next week' },
      { kind: '+', text: 'or Monday' },
      { kind: ' ', text: 'end' },
    ],
  ])
})
