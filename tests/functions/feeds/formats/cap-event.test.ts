import { describe, expect, test } from 'vitest'
import type { CapAlert, CapInfo } from '../../../../functions/feeds/formats/cap.ts'
import {
  capEvent,
  codesOf,
  infosOf,
  placeOf,
  placeOfPoints,
  refuseCap,
  severityOfCap,
} from '../../../../functions/feeds/formats/cap-event.ts'

const AREA = {
  description: 'Testland',
  polygons: ['10,20 10,22 12,22 12,20 10,20'],
  circles: [],
  geocodes: [],
}
const info = (more: Partial<CapInfo> = {}): CapInfo => ({
  language: 'en-GB',
  categories: ['Met'],
  event: 'Wind',
  responses: [],
  urgency: 'Expected',
  severity: 'Moderate',
  certainty: 'Likely',
  effective: null,
  onset: '2026-03-01T18:00:00.000Z',
  expires: '2026-03-02T06:00:00.000Z',
  headline: 'Wind warning',
  sender_name: '',
  web: 'https://example.org/wind',
  event_codes: [],
  parameters: [],
  areas: [AREA],
  ...more,
})
const alert = (infos: CapInfo[], more: Partial<CapAlert> = {}): CapAlert => ({
  identifier: 'A1',
  sender: 'ops@example.org',
  sent: '2026-03-01T11:00:00.000Z',
  status: 'Actual',
  msg_type: 'Alert',
  incidents: '',
  references: [],
  infos,
  ...more,
})
const mapping = { id: 'cap:1', source: 'cap' }
/** The event of an alert, beside what of it could not be read. */
function made(infos: CapInfo[], more: Partial<Parameters<typeof capEvent>[1]> = {}) {
  const found = capEvent(alert(infos), { ...mapping, ...more })
  const events = found.flatMap((one) => ('event' in one ? [one.event] : []))
  const reasons = found.flatMap((one) => ('rejected' in one ? [one.rejected.reason] : []))
  return { event: events[0], reasons }
}

describe('an event', () => {
  test('has ended only when everything that is said of it is an all-clear', () => {
    const clear = info({ responses: ['Monitor', 'AllClear'] })
    expect(made([clear, clear]).event?.status).toBe('ended')
    expect(made([clear, info()]).event?.status).toBe('active')
    expect(made([info()]).event?.status).toBe('active')
  })

  test.each<[string, string, string, string]>([
    ['2026-03-01T18:00:00.000Z', '2026-03-01T18:00:00.001Z', 'later', '2026-03-01T18:00:00.001Z'],
    [
      '2026-03-01T18:00:00.000Z',
      '2026-03-01T18:00:00.000Z',
      'no later',
      '2026-03-02T00:00:00.000Z',
    ],
    ['2026-03-01T18:00:00.000Z', '2026-03-01T17:00:00.000Z', 'earlier', '2026-03-02T00:00:00.000Z'],
  ])('that begins %s and expires %s, which is %s, ends %s', (onset, expires, _, end) => {
    expect(made([info({ onset, expires })], { default_hours: 6 }).event?.ends_at).toBe(end)
  })

  test('ends when the feed says, or with the last expiry, or never', () => {
    const two = [info(), info({ expires: '2026-03-05T00:00:00.000Z' }), info({ expires: null })]
    expect(made(two).event?.ends_at).toBe('2026-03-05T00:00:00.000Z')
    const ends_at = '2026-03-03T00:00:00.000Z'
    expect(made(two, { ends_at }).event?.ends_at).toBe(ends_at)
    expect(made([info({ expires: null })]).event?.ends_at).toBe(null)
  })

  test('begins with the first onset, or else when it is effective, or was sent', () => {
    const effective = '2026-03-01T12:00:00.000Z'
    expect(made([info(), info({ onset: null, effective })]).event?.ts).toBe(effective)
    expect(made([info({ effective })]).event?.ts).toBe('2026-03-01T18:00:00.000Z')
    expect(made([info({ onset: null })]).event?.ts).toBe('2026-03-01T11:00:00.000Z')
  })

  test('takes what the feed knows better', () => {
    const known = { type: 'flood', severity: 77, subject: 'vtec:X', url: null } as const
    expect(made([info()], known).event).toMatchObject(known)
    expect(made([info()]).event).toMatchObject({
      ...{ type: 'weather', severity: 50, subject: null, url: 'https://example.org/wind' },
    })
  })

  test('without a headline is named by its hazard and its places', () => {
    const areas = [AREA, { ...AREA, description: '' }, { ...AREA, description: 'Farland' }]
    const title = (more: Partial<CapInfo>) =>
      made([info({ headline: '', areas, ...more })]).event?.title
    expect(title({})).toBe('Wind - Testland; Farland')
    expect(title({ event: '' })).toBe('Alert - Testland; Farland')
    expect(title({ headline: 'Gale' })).toBe('Gale')
    expect(title({ areas: [{ ...AREA, description: '' }] })).toBe('Wind')
  })

  test('is what its worst info says, wherever that stands', () => {
    const worst = info({ severity: 'Extreme', headline: 'Worst', event: 'Flood' })
    const minor = info({ severity: 'Minor', headline: 'Minor' })
    for (const infos of [
      [worst, info(), minor],
      [info(), worst, minor],
      [minor, info(), worst],
    ]) {
      expect(made(infos).event).toMatchObject({ severity: 90, title: 'Worst', type: 'flood' })
    }
  })

  test('is none without an info or a place', () => {
    expect(made([])).toEqual({ event: undefined, reasons: ['info: is missing'] })
    const codes = { ...AREA, polygons: ['1,x'], geocodes: [['FIPS6', '001'] as [string, string]] }
    expect(made([info({ areas: [codes] })])).toEqual({
      event: undefined,
      reasons: [
        expect.stringMatching(/^polygon: /),
        'no-geometry: no polygon and no circle; FIPS6 001',
      ],
    })
  })
})

describe('a place', () => {
  const place = (polygons: string[], circles: string[] = []) =>
    placeOf([{ ...AREA, polygons, circles }])

  test.each([
    ['10,20', 'a latitude and a longitude', false],
    ['-10.5,20.', 'a latitude and a longitude', false],
    ['x10,20', 'is not a latitude and a longitude', true],
    ['10,20x', 'is not a latitude and a longitude', true],
    ['10;20', 'is not a latitude and a longitude', true],
    ['90,180', 'is not a place on Earth', false],
    ['-90,-180', 'is not a place on Earth', false],
    ['90.1,0', 'is not a place on Earth', true],
    ['-90.1,0', 'is not a place on Earth', true],
    ['0,180.1', 'is not a place on Earth', true],
    ['0,-180.1', 'is not a place on Earth', true],
  ])('of the centre %s: %s: %s', (centre, problem, isWrong) => {
    const { problems, point } = place([], [`${centre} 0`])
    expect(problems).toEqual(isWrong ? [expect.stringContaining(problem)] : [])
    expect(point === null).toBe(isWrong)
  })

  test('is a point for a circle without a radius, and an outline for one with it', () => {
    expect(place([], [' 10,20 0 '])).toEqual({ point: [20, 10], geometry: null, problems: [] })
    expect(place([], ['10,20'])).toEqual({ point: [20, 10], geometry: null, problems: [] })
    expect(place([], ['10,20 5']).geometry?.type).toBe('Polygon')
    expect(place([], ['10,20 -1']).problems).toEqual([
      'circle: the radius "-1" is not a number of km',
    ])
    expect(place([], ['10,20 far']).problems).toEqual([
      'circle: the radius "far" is not a number of km',
    ])
    expect(place([], ['10,20', '10,21']).geometry).toEqual({
      type: 'MultiPoint',
      coordinates: [
        [20, 10],
        [21, 10],
      ],
    })
  })

  test('is read whatever the white space between its positions', () => {
    const [outline = ''] = AREA.polygons
    const wide = ` ${outline.replaceAll(' ', '\n  ')}\n`
    expect(place([wide])).toEqual(place([outline]))
    expect(place([], ['\n10,20 \t 5'])).toEqual(place([], ['10,20 5']))
  })

  test('has its outline up to 10,000 positions', () => {
    const ring = (corners: number) =>
      Array.from({ length: corners }, (_, n) => {
        const angle = (2 * Math.PI * n) / corners
        return `${Math.sin(angle).toFixed(6)},${Math.cos(angle).toFixed(6)}`
      }).join(' ')
    // The first position is the last one, too.
    expect(place([ring(9_999)])).toMatchObject({ geometry: { type: 'Polygon' }, problems: [] })
    expect(place([ring(10_000)])).toMatchObject({
      geometry: null,
      problems: ['polygon: has 10001 positions, more than 10000; only the point is kept'],
    })
  })

  test('names an outline once that several areas have', () => {
    const [outline = ''] = AREA.polygons
    expect(place([outline, outline]).geometry?.type).toBe('Polygon')
    expect(place([outline, '30,20 30,21 31,21 31,20 30,20']).geometry?.type).toBe('MultiPolygon')
  })

  test('of one point has no outline, and of several has theirs', () => {
    expect(placeOfPoints([])).toEqual({ point: null, geometry: null, problems: [] })
    expect(placeOfPoints([[1, 2]], ['x'])).toEqual({
      point: [1, 2],
      geometry: null,
      problems: ['x'],
    })
    const two: [number, number][] = [
      [1, 2],
      [3, 4],
    ]
    expect(placeOfPoints(two).geometry).toEqual({ type: 'MultiPoint', coordinates: two })
  })

  test('is told by at most five of its codes, each once', () => {
    const codes = (...values: number[]) =>
      codesOf([{ ...AREA, geocodes: values.map((n) => ['SAME', String(n)]) }])
    expect(codes()).toBe('no codes')
    expect(codes(1, 1, 2)).toBe('SAME 1, SAME 2')
    expect(codes(1, 2, 3, 4, 5)).toBe('SAME 1, SAME 2, SAME 3, SAME 4, SAME 5')
    expect(codes(1, 2, 3, 4, 5, 6, 7)).toBe('SAME 1, SAME 2, SAME 3, SAME 4, SAME 5 and 2 more')
  })
})

test.each([
  ['EXTREME', 'Future', 'Unlikely', 90],
  ['severe', 'immediate', 'observed', 80],
  ['Moderate', 'Immediate', 'very likely', 60],
  ['minor', 'IMMEDIATE', 'LIKELY', 40],
  ['Minor', 'Immediate', 'Unlikely', 30],
  ['Minor', 'Immediate', 'Likely so', 30],
  ['', '', '', 20],
])('%s, %s and %s have severity %i', (severity, urgency, certainty, number) => {
  expect(severityOfCap({ severity, urgency, certainty })).toBe(number)
})

const type = (event: string, ...categories: string[]) =>
  made([info({ event, categories })]).event?.type
test.each([
  ...['Tsunami', 'TSUNAMI warning'].map((event) => [event, 'tsunami']),
  ...['Volcano', 'Ashfall', 'Ash fall'].map((event) => [event, 'volcano']),
  ...['Earthquake', 'Seismic event'].map((event) => [event, 'earthquake']),
  ...['Red Flag', 'Fire Weather', 'Fire Danger', 'Forest-fire', 'Forestfire'].map((event) => [
    event,
    'weather',
  ]),
  ...['Wildfire', 'Wild fire', 'Bushfire', 'Bush fire', 'Forest fire', 'Fire Warning'].map(
    (event) => [event, 'wildfire'],
  ),
  ...['Flood', 'Hydrologic', 'Storm Surge', 'High Water'].map((event) => [event, 'flood']),
  ...['Storm', 'Hurricane', 'Typhoon', 'Cyclone', 'Tornado'].map((event) => [event, 'storm']),
  ['Drought', 'drought'],
  ...['Dashfall', 'Backfire warning', 'Cold'].map((event) => [event, 'other']),
])('%s is of type %s', (event, expected) => {
  expect(type(event)).toBe(expected)
})

test('what no word tells is told by the category', () => {
  expect([type('Cold', 'Met'), type('Cold', 'Fire', 'Met'), type('Smoke', 'Fire')]).toEqual([
    ...['weather', 'weather', 'wildfire'],
  ])
  expect([type('Smoke', 'Health'), type('Flood', 'Met')]).toEqual(['other', 'flood'])
})

test.each<[Partial<CapAlert>, string | null]>([
  [{}, null],
  [{ status: 'ACTUAL', msg_type: 'update' }, null],
  [{ msg_type: 'Cancel' }, null],
  [{ status: 'Exercise' }, 'status: "Exercise" is not an actual alert'],
  [{ msg_type: 'Ack' }, 'msgType: "Ack" does not warn of anything'],
  [{ msg_type: 'No alert' }, 'msgType: "No alert" does not warn of anything'],
  [{ msg_type: 'Alerts' }, 'msgType: "Alerts" does not warn of anything'],
])('%j is refused with: %s', (more, why) => {
  expect(refuseCap(alert([], more))).toBe(why)
})

test('infos are those of one language: the wanted one, or that of the first', () => {
  const [tr, de, at, us] = ['tr', 'de-DE', 'de-at', 'en-US'].map((language) => info({ language }))
  const none = info({ language: '' })
  if (!tr || !de || !at || !us) throw new Error('four languages')
  expect(infosOf(alert([tr, us, none]))).toEqual([us, none])
  expect(infosOf(alert([tr, de, at]), 'de')).toEqual([de, at])
  expect(infosOf(alert([tr, de, { ...tr, language: 'TR' }]))).toHaveLength(2)
  expect(infosOf(alert([de, at]))).toEqual([de])
  expect(infosOf(alert([]))).toEqual([])
})
