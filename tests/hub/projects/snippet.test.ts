import { expect, test } from 'vitest'
import { snippetOf } from '../../../hub/projects/snippet.ts'

const x = (count: number) => 'x'.repeat(count)
const words = (count: number) => 'word '.repeat(count)

test.each([
  [
    'found in the middle',
    `${words(60)}Işık Lojistik ${words(60)}`,
    'isik',
    /^….*Işık Lojistik.*…$/,
  ],
  ['not found', `First ${words(60)}`, 'zebra', /^First word.*…$/],
  [
    'the first word of it at the very beginning',
    `Demir ${words(60)}Çelik`,
    'demir çelik',
    /^Demir/,
  ],
  ['found at the end', `${words(60)}zebra`, 'zebra', /^…[^…]*zebra$/],
  ['found late in a long word at the end', `${words(60)}${x(90)}zebra`, 'zebra', /^…zebra$/],
  [
    'the whole phrase before a word of it',
    `Demir ${words(60)}(Demir Çelik) ${words(60)}`,
    '  demir   çelik ',
    /^….*\(Demir Çelik\)/,
  ],
  ['a word of it', `${words(60)}Çelik ${words(60)}`, 'demir, çelik', /^….*Çelik/],
  [
    'the first word of it',
    `${words(40)}demir ${words(60)}çelik ${words(60)}`,
    'çelik demir',
    /^…(word )+çelik/,
  ],
  [
    'behind letters that fold to several',
    `${'ﬁ 🦀 '.repeat(60)}crab ${words(60)}`,
    'crab',
    /^….{20,40}crab/u,
  ],
])('a snippet of a long text shows %s', (_, text, query, shown) => {
  const snippet = snippetOf(text, query)
  expect(snippet).toMatch(shown)
  expect(snippet.length).toBeLessThanOrEqual(162)
})

test.each([
  ['a text of 160 characters is whole', `${x(150)} zebra 789`, `${x(150)} zebra 789`],
  ['a longer one ends in dots', `zebra ${x(155)}`, `zebra ${x(154)}…`],
  [
    'up to 40 characters before the word it begins with the text',
    `ab ${x(36)} zebra ${x(200)}`,
    `ab ${x(36)} zebra ${x(114)}…`,
  ],
  ['with more it begins with a word', `a ${x(38)} zebra ${x(200)}`, `…${x(38)} zebra ${x(115)}…`],
  ['a word that is itself too long is left out', `${x(80)} zebra ${x(200)}`, `…zebra ${x(154)}…`],
  ['it has no spaces at its ends', `zebra ${x(153)} y`, `zebra ${x(153)}…`],
  ['all white space is one', ' A\n\n\tzebra  ', 'A zebra'],
])('of a snippet %s', (_, text, snippet) => {
  expect(snippetOf(text, 'zebra')).toBe(snippet)
})
