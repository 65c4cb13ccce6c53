import { expect, test } from 'vitest'
import { asWritten, inflects, wordsOf } from '../../../../hub/agents/run/words.ts'

test.each([
  ['Kaya’ya İLGİLİ, 3 ŞEY!', ['kaya', 'ilgili', '3', 'sey'], ['Kaya', 'İLGİLİ', '3', 'ŞEY']],
  [" Ali's  2024'te ", ['ali', '2024'], ['Ali', '2024']],
  ["'quoted' x' y", ['quoted', 'x', 'y'], ['quoted', 'x', 'y']],
  ['İş'.normalize('NFD'), ['is'], ['İş']],
  ['...', [], []],
])('the words of %j', (text, folded, written) => {
  expect(wordsOf(text)).toEqual(folded)
  expect(asWritten(text)).toEqual(written)
})

test.each([
  ['drafts', 'draft', 'en', true],
  ['drafting', 'draft', 'en', true],
  ['draftly', 'draft', 'en', true],
  ['draftery', 'draft', 'en', false],
  ['adraft', 'draft', 'en', false],
  ['write', 'write', 'en', true],
  ['writing', 'write', 'en', true],
  ['writting', 'write', 'en', false],
  ['drafing', 'draft', 'en', false],
  ['invoicable', 'invoi*', 'en', true],
  ['ainvoice', 'invoi*', 'en', false],
  ['bulut', 'bul', 'tr', false],
  ['bulun', 'bul', 'tr', true],
  ['taslaklari', 'taslak', 'tr', true],
  ['taslagi', 'taslak', 'tr', true],
  ['hesabi', 'hesap', 'tr', true],
  ['kanadi', 'kanat', 'tr', true],
  // It softens before a vowel alone, and in no short word.
  ['bekliyor', 'bekle', 'tr', true],
  ['ariyor', 'ara', 'tr', true],
  ['ari', 'ara', 'tr', false],
  ['beklini', 'bekle', 'tr', false],
  ['bekliyorx', 'bekle', 'tr', false],
  ['replies', 'reply', 'en', true],
  ['replied', 'reply', 'en', true],
  ['replica', 'reply', 'en', false],
  ['taslaglar', 'taslak', 'tr', false],
  ['taslagx', 'taslak', 'tr', false],
  ['agi', 'ak', 'tr', false],
  ['ocagi', 'ocas', 'tr', false],
  ['taslagi', 'taslak', 'en', false],
] as const)('whether “%s” is “%s” with an ending, in %s: %s', (word, stem, language, is) => {
  expect(inflects(word, stem, language)).toBe(is)
})
