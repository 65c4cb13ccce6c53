import { expect, test } from 'vitest'
import { faultIn } from '../../../../hub/agents/health/explanation.ts'
import type { Language } from '../../../../hub/i18n/words.ts'

const KNOWN = ['disk_free_percent: 3.6\nmissions_failed_24h: 0', 'disk: Only 3 % is free.']

test.each<[name: string, texts: string[], fault: RegExp | undefined, language?: Language]>([
  [
    'what was measured',
    ['3.6 % of the disk is free, and 0 missions failed in 24 hours.'],
    undefined,
  ],
  ['what was measured, rounded', ['About 4 % of the disk is free.'], undefined],
  ['what the alert says', ['Only 3 % of the disk is free.'], undefined],
  ['a number of its own', ['Only 7 % of the disk is free.'], /not measured: 7\.$/],
  ['a number in a reason', ['The disk is full.', 'It frees 512 MiB.'], /not measured: 512\.$/],
  ['another language', ['Diskin yüzde 3 kadarı boş ve bu çok az.'], /another language/],
  ['its own language', ['Diskin yüzde 3 kadarı boş ve bu çok az.'], undefined, 'tr'],
  ['English in Turkish', ['The disk is full and the backups fail.'], /another language/, 'tr'],
  ['the same twice', ['The disk is nearly full. The disk is nearly full.'], /“the disk is nearly/],
  ['the same as a reason', ['The disk is nearly full.', 'The disk is nearly full!'], /twice/],
  ['a short sentence twice', ['The disk is nearly full. Act now. Act now.'], undefined],
])('an explanation with %s', (_, texts, fault, language = 'en') => {
  const found = faultIn(texts, { known: KNOWN, language })
  if (fault) expect(found?.en).toMatch(fault)
  else expect(found).toBeUndefined()
})

test('at most five of the numbers that nobody measured are named', () => {
  const fault = faultIn(['There are 11, 12, 12, 13, 14, 15 and 16.'], { known: [], language: 'en' })
  expect(fault?.en).toContain('11, 12, 13, 14, 15')
  expect(fault?.en).not.toContain('16')
})

test('a sentence of four words is said once, and quoted with at most 80 characters', () => {
  const of = (text: string) => faultIn([`${text} ${text}`], { known: [], language: 'en' })
  expect(of('The disk is full.')?.en).toContain('the disk is full')
  expect(of('Disk is full.')).toBeUndefined()
  const long = of(`The disk of the hub ${'is full and '.repeat(10)}slow.`)
  expect(long?.en).toContain(`the disk of the hub ${'is full and '.repeat(5)}`.trim())
  expect(long?.en).not.toContain('slow')
})
