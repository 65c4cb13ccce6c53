/** What a message says before it has the form of a service, and how its texts are made harmless. */
import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../functions/channels/channel.ts'
import { cardOf } from '../../../functions/channels/message/card.ts'
import {
  characters,
  oneLine,
  shortenBy,
  webLink,
} from '../../../functions/channels/message/text.ts'
import { alertOf, digestOf, NOTIFICATIONS, STYLES } from './samples.ts'

const card = (notification: Notification, acknowledge_url: string | null = null) =>
  cardOf({ ...STYLES.en, notification, acknowledge_url })
const raised = (given: Parameters<typeof alertOf>[0], more: Partial<Notification> = {}) =>
  card({ ...NOTIFICATIONS['alert.raised'], alert: alertOf(given), facts: {}, ...more })

test('a link has at most 1,500 characters, and none that ends it in any markup', () => {
  const ofLength = (length: number) => `https://x.example/${'a'.repeat(length - 18)}`
  expect(webLink(ofLength(1_500))).toBe(ofLength(1_500))
  expect(webLink(ofLength(1_501))).toBeNull()
  for (const sign of '|()\'<>"\\^`{}[]') {
    expect(webLink(`https://x.example/?q=${sign}#${sign}`), sign).not.toContain(sign)
  }
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'mailto:a@b.example', 'x', '']) {
    expect(webLink(url), url).toBeNull()
  }
})

test('a text of strangers is one line in one direction', () => {
  for (const sign of '\u0000\u001b\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff') {
    expect(oneLine(` a${sign}${sign}b\n`), JSON.stringify(sign)).toBe('a b')
  }
})

test('a text of strangers has one space where it had several', () => {
  expect(oneLine('a   b\t\tc \n d\u00a0\u00a0e')).toBe('a b c d e')
  expect(oneLine('half \ud83d')).toBe('half \ufffd')
})

test.each([
  ['http://x.example/a', 'http://x.example/a'],
  ['https://x.example/(a|b)', 'https://x.example/%28a%7Cb%29'],
  ["https://x.example/'a'[1]", 'https://x.example/%27a%27%5B1%5D'],
  ['ftp://x.example/a', null],
  [undefined, null],
  [null, null],
])('the link %s is written %s', (url, written) => {
  expect(webLink(url)).toBe(written)
})

test.each([1, 2, 7, 8, 9, 15, 16, 17])(
  'of a text that is too long as many as fit are kept: %i',
  (kept) => {
    const mark = '… (shortened)'
    for (const length of [kept + mark.length + 1, 64, 100]) {
      const cut = shortenBy(characters)('x'.repeat(length), kept + mark.length, STYLES.en)
      expect(cut).toBe(`${'x'.repeat(kept)}${mark}`)
    }
  },
)

test('a text is cut only where it is too long, and not after a space', () => {
  const cut = (text: string, limit: number) => shortenBy(characters)(text, limit, STYLES.en)
  expect(cut('a'.repeat(20), 20)).toBe('a'.repeat(20))
  expect(cut('a'.repeat(21), 20)).toBe('aaaaaaa… (shortened)')
  expect(cut(`aaaaaa ${'a'.repeat(20)}`, 20)).toBe('aaaaaa… (shortened)')
})

describe('a card', () => {
  test.each([
    ['down', 'The source has been unreachable since'],
    ['stale', 'The source has sent nothing new since'],
  ] as const)('tells of a source that is %s how it fails', (status, said) => {
    const { source, ...blind } = NOTIFICATIONS['zone.blind']
    expect(card({ ...blind, source: { ...source, status } }).text).toContain(said)
  })

  test('names ten of the zones that a silent source leaves blind, and counts the rest', () => {
    const zones = Array.from({ length: 12 }, (_, n) => ({ id: `${n}`, label: `zone ${n}` }))
    const { text } = card({ ...NOTIFICATIONS['zone.blind'], zones, zones_total: 14 })
    expect(text).toMatch(/in: zone 0, .*, zone 9 and 4 more\.$/)
  })

  test.each([
    [60, '1 minute'],
    [3_600, '1 hour'],
    [24 * 3_600, '1 day'],
    [25 * 3_600 + 60, '1 day 1 hour 1 minute'],
  ])('says of %i seconds that they were %s', (blind_seconds, said) => {
    const { source } = NOTIFICATIONS['zone.sighted']
    const { text } = card({
      ...NOTIFICATIONS['zone.sighted'],
      source: { ...source, blind_seconds },
    })
    expect(text).toContain(`(${said})`)
  })

  test('tells a stored reason without the title before it', () => {
    expect(raised({ title: 'M 5', more: { reason: 'M 5: it is near.' } }).text).toBe('it is near.')
    expect(raised({ title: 'M 5', more: { reason: 'M 51: it is near.' } }).text).toBe(
      'M 51: it is near.',
    )
  })

  test('names the zone as the message does, or as the alert does', () => {
    const more = { zone_name: 'before' }
    expect(raised({ more }, { zone: { id: 'z', label: 'now' } }).heading).toMatch(/ · now$/)
    expect(raised({ more }, { zone: null }).heading).toMatch(/ · before$/)
  })

  test('says what the last change was, not an earlier one of the kind', () => {
    const updates = [40, 50].map((to) => ({
      ...{ kind: 'revised' as const, changes: { severity: [30, to] as [number, number] } },
    }))
    const { facts } = raised({ updates }, { type: 'alert.revised' })
    expect(facts.find(({ name }) => name === 'Changed')?.value).toBe('severity 30 → 50')
  })

  test('of a digest says why its alerts were held back, and has the link for all of them', () => {
    const given = digestOf(1)
    const [id = ''] = Object.keys(given.facts ?? {})
    const held = (name: 'burst' | 'quiet_hours', passed: boolean) => {
      const checks = [{ name, passed }] as never // safe: all that is read of them
      return card({ ...given, facts: { [id]: { checks, news: null } } }).text
    }
    expect(held('burst', false)).toMatch(/as many alerts as it may in an hour\.$/)
    expect(held('quiet_hours', false)).toBe('Held back during quiet hours.')
    expect([held('burst', true), held('quiet_hours', true)]).toEqual(['', ''])
    const url = 'https://watch.example/seen'
    expect(card(given, url).links).toEqual([{ label: 'I have seen it', url }])
  })
})
