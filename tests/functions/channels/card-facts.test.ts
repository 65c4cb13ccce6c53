/** The numbers and names that a message gives of an alert, and what a digest says of several. */
import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../functions/channels/channel.ts'
import { cardOf } from '../../../functions/channels/message/card.ts'
import { alertOf, digestOf, NOTIFICATIONS, STYLES } from './samples.ts'

const card = (notification: Notification) =>
  cardOf({ ...STYLES.en, notification, acknowledge_url: null })
const [event] = alertOf().event_ids
const also = (source: string) => ({ ...event, source, event_id: `${source}:1` }) as never // safe: of another source
const factsOf = (
  given: Parameters<typeof alertOf>[0],
  type: Notification['type'] = 'alert.raised',
) => {
  const notification = { ...NOTIFICATIONS['alert.raised'], type, alert: alertOf(given), facts: {} }
  return card(notification).facts.map(
    ({ name, value, is_wide }) => `${name}: ${value}${is_wide ? ', wide' : ''}`,
  )
}

test('all that is known of an event is told, rounded as people read it', () => {
  const facts = factsOf({
    severity: 64,
    current: {
      ...{ magnitude: 5.75, depth_km: 1234.56, ends_at: '2026-03-02T00:00:00.000Z' },
      subject: 'a\nship',
    },
    more: { event_ids: [event as never, also('emsc'), also('emsc'), also('geonet')] },
  })
  expect(facts).toEqual([
    'Severity: 64 of 100 (severe)',
    'Magnitude: 5.8',
    'Depth: 1,234.6 km',
    'Time: 1 Mar 2026, 12:00 GMT',
    'Lasts until: 2 Mar 2026, 00:00 GMT',
    'Place: 40.8700, 28.9800',
    'Followed: a ship',
    'Also reported by: emsc, geonet, wide',
  ])
})

test('what is not known of an event is not told', () => {
  const facts = factsOf({
    current: { magnitude: null, depth_km: null, ends_at: null, subject: null },
  })
  expect(facts.map((fact) => fact.replace(/:.*/, ''))).toEqual(['Severity', 'Time', 'Place'])
})

describe('what an update changed', () => {
  const changed = (updates: object[], type: Notification['type'] = 'alert.revised') =>
    factsOf({ updates: updates as never }, type).filter((fact) => fact.startsWith('Changed'))

  test('is told of the last one of its kind', () => {
    const updates = [
      { kind: 'revised', changes: { severity: [40, 50] } },
      {
        kind: 'revised',
        changes: { severity: [50, 64], magnitude: [null, 5.75], place: [{}, {}] },
      },
      { kind: 'linked', changes: { depth_km: [1, 2] } },
    ]
    expect(changed(updates)).toEqual(['Changed: severity 50 → 64, magnitude, place, wide'])
  })

  test.each([
    ['of what has no name', { of_another_time: ['a', 'b'] }],
    ['where nothing changed', {}],
  ])('is not told %s', (_, changes) => {
    expect(changed([{ kind: 'revised', changes }])).toEqual([])
  })

  test('says only what changed where a number came or went', () => {
    expect(changed([{ kind: 'revised', changes: { magnitude: [5.7, null] } }])).toEqual([
      'Changed: magnitude, wide',
    ])
  })
})

describe('a digest', () => {
  test('without the zone is named by that of its first alert', () => {
    expect(card({ ...digestOf(2), zone: null }).title).toBe('Bosphorus: 2 alerts')
  })

  test('of nothing leads nowhere', () => {
    const empty = card({ ...digestOf(1), alerts: [], facts: {}, zone: null })
    expect(empty).toMatchObject({ tone: 'over', url: null, items: [], text: '' })
    const { alerts: _, facts: __, ...bare } = digestOf(1)
    expect(card({ ...bare, zone: null })).toMatchObject({ tone: 'over', url: null, items: [] })
  })

  test('says why it was held as far as that is known', () => {
    const { facts: _, ...bare } = digestOf(2)
    expect(card(bare).text).toBe('')
    expect(card({ ...bare, facts: {} }).text).toBe('')
    expect(card(digestOf(2)).text).toBe('Held back during quiet hours.')
  })
})

test('a source that is silent may leave nobody blind that is named', () => {
  const { zones: _, zones_total: __, ...blind } = NOTIFICATIONS['zone.blind']
  expect(card(blind).text).not.toContain('Bosphorus')
  expect(card(blind).text).not.toContain('undefined')
})
