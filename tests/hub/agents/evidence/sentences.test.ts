import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  draftSentences,
  isPersonal,
  sentencesOf,
} from '../../../../hub/agents/evidence/sentences.ts'

test('every text that a reader sees is split, once each: of the slots, or of the text', () => {
  const slots = {
    subject: 'A subject',
    preheader: 'A preheader. And more!',
    paragraphs: ['One. Two.', 'Two.'],
    offer: { title: 'A headline', points: ['A point'] },
    button: { label: 'A button', url: 'https://demir.example' },
    sections: [{ heading: 'Wir sind 1.', link: { label: 'A link', url: 'We won.' } }],
  }
  const written = { subject: 'Subject', text: 'Not sent.', slots, language: 'en' as const }
  expect(draftSentences(written)).toEqual([
    'Subject', 'A subject', 'A preheader.', 'And more!', 'One.', 'Two.', 'A headline', 'A point',
    'A button', 'Wir sind 1.', 'A link', 'We won.',
  ]) // biome-ignore format: a list
  expect(draftSentences({ ...written, slots: {} })).toEqual(['Subject', 'Not sent.'])
})

test('a number and an address that is no link are read as well, and nothing is made of nothing', () => {
  const written = { subject: '', text: '', language: 'en' as const }
  const slots = {
    facts: [40, null, undefined, true],
    more: null,
    url: { url: 'https://x.example' },
  }
  expect(draftSentences({ ...written, slots })).toEqual(['40'])
  expect(draftSentences({ ...written, slots: { heading: 'https://x.example' } })).toEqual([
    'https://x.example',
  ])
})

test.each([
  ['One.\n\n\nTwo.', ['One.', 'Two.']],
  ['One\r\nTwo\u2028Three\u2029Four', ['One', 'Two', 'Three', 'Four']],
  ['One   and \t two.', ['One and two.']],
  ['In\u200bvis\u00adi\ufeffble.', ['Invisible.']],
  ['We won. {first_name} knows it.', ['We won.', '{first_name} knows it.']],
  [
    'We won. {{ .company | you }} knows it, {name} does. And {x} too.',
    ['We won.', '{{ .company | you }} knows it, {name} does.', 'And {x} too.'],
  ],
  ['... – !', []],
  ['€ ½', ['€ ½']],
])('%j is split into %j', (text, sentences) => {
  expect(sentencesOf(text, 'en')).toEqual(sentences)
})

test('no letter of a text is lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const letters = (from: string) => from.normalize('NFC').match(/[\p{L}\p{N}\p{S}]/gu) ?? []
      expect(letters(sentencesOf(text, 'en').join(' '))).toEqual(letters(text))
    }),
  )
})

test('a sentence with a placeholder is another one for each reader', () => {
  expect(isPersonal('{company} runs 40 trucks.')).toBe(true)
  expect(isPersonal('You run {trucks|many} trucks.')).toBe(true)
  expect(isPersonal('You run {{ trucks }} trucks.')).toBe(true)
  expect(isPersonal('You run {{{trucks}}} trucks.')).toBe(true)
  expect(isPersonal('You run {40 trucks}.')).toBe(false)
})
