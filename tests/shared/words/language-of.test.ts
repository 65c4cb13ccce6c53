import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { languageOf } from '../../../shared/words/language-of.ts'

const app = new Hono().get('/', (c) => c.text(languageOf(c)))

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['*', 'en'],
  ['tr', 'tr'],
  ['TR-tr', 'tr'],
  ['tr-TR,en;q=0.9', 'tr'],
  ['en-GB,tr;q=0.9', 'en'],
  // The order of the header does not count, the weight does.
  ['en;q=0.3, tr;q=0.8', 'tr'],
  // A language with weight 0 is refused, so it is not read even when no other is ours.
  ['tr;q=0, de', 'en'],
  ['de, fr;q=0.9, tr;q=0.1', 'tr'],
  ['de, ja', 'en'],
  // Only the whole primary tag counts: Turkmen is not Turkish.
  ['trk, tk, tru;q=0.5', 'en'],
  [';;,q=1', 'en'],
])('Accept-Language: %s is answered in %s', async (header, language) => {
  const headers: Record<string, string> = header === undefined ? {} : { 'Accept-Language': header }
  expect(await (await app.request('/', { headers })).text()).toBe(language)
})
