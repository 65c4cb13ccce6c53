import { expect, test } from 'vitest'
import { spelledOut } from '../../../../hub/agents/run/slips.ts'

test.each([
  ['u', 'you'],
  ['ur', 'your'],
  ['pls', 'please'],
  ['plz', 'please'],
  ['ppl', 'people'],
  ['thru', 'through'],
  ['w', 'with'],
  ['whats', 'what'],
  ['bout', 'about'],
  ['havent', 'haven'],
  ['hasnt', 'hasn'],
  ['hadnt', 'hadn'],
  ['didnt', 'didn'],
  ['dont', 'don'],
  ['doesnt', 'doesn'],
  ['bi', 'bir'],
  ['bisey', 'sey'],
  ['nerde', 'nerede'],
  // Turkish swallows the last letter of what is happening now.
  ['yaziyo', 'yaziyor'],
  ['geliyo', 'geliyor'],
  ['oluyo', 'oluyor'],
  ['iyo', 'iyo'],
  ['kiyo', 'kiyo'],
  ['k1iyo', 'k1iyo'],
  ['yaziyor', 'yaziyor'],
  ['tokyo', 'tokyo'],
  ['constructor', 'constructor'],
  ['mail', 'mail'],
])('“%s” is spelled “%s”', (typed, spelled) => {
  expect(spelledOut(typed)).toBe(spelled)
})
