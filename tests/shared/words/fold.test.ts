import { expect, test } from 'vitest'
import { fold, foldName } from '../../../shared/words/fold.ts'

test.each([
  ['İzmir IZMIR ızmır', 'izmir izmir izmir'],
  ['Łódź Århus Đakovo Seyðis Ħamrun', 'lodz arhus dakovo seydis hamrun'],
  ['Straße ÆRØ Œuvre Þór', 'strasse aero oeuvre thor'],
  ['i\u0307brahim s\u0327en', 'ibrahim sen'],
  ['МОСКВА 日本', 'москва 日本'],
  ['Saint-Étienne, o’nun', 'saint-etienne, o’nun'],
])('%s is folded to %s', (text, folded) => {
  expect(fold(text)).toBe(folded)
  expect(fold(folded)).toBe(folded)
})

test.each([
  ['Diyarbakır’ın', 'diyarbakirin'],
  ["L'Aquila Hawaiʻi Naʼin", 'laquila hawaii nain'],
  ['  Saint-Étienne (Loire) ', 'saint etienne loire'],
  ['Köln|Cologne\nKlein', 'koln|cologne\nklein'],
  ['—', ''],
])('the name %s is folded to %s', (name, folded) => {
  expect(foldName(name)).toBe(folded)
})
