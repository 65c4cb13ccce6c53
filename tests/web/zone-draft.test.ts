import { describe, expect, test } from 'vitest'
import { type ZoneCreate, zoneDefaults } from '../../shared/schemas/zone.ts'
import type { Channel, Zone } from '../../web/api/queries.ts'
import { isZoneIcon, ZONE_ICONS, zoneIcon } from '../../web/event/zone-icons.ts'
import { stateOf } from '../../web/map/shapes.ts'
import { zoneIconFeatures } from '../../web/map/zone-symbols.tsx'
import { sayValue } from '../../web/pages/zones/change-value.ts'
import { bodyOf, draftOf, previewOf } from '../../web/pages/zones/draft.ts'
import {
  quietBody,
  silenceOf,
  stepsBody,
  windowField,
  withStep,
  withWindow,
} from '../../web/pages/zones/draft-rules.ts'
import { moreRulesText } from '../../web/pages/zones/more-rules.text.ts'

const HERE = { label: 'Strait', lat: 41, lon: 29 }

function zoneOf(given: Partial<ZoneCreate>): Zone {
  const answered = {
    id: '7d1c35a2-2f0b-4a45-9a47-4b6c0f1f4f10',
    owner_id: '7d1c35a2-2f0b-4a45-9a47-4b6c0f1f4f11',
    version: 1,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    coverage: [],
  }
  return { ...zoneDefaults({ ...HERE, ...given }), ...answered } as Zone // safe: as the API answers it
}

const RULES = {
  severity_multiplier: 1.5,
  dwell_minutes: 30,
  max_alerts_per_hour: 4,
  match: 'point',
  aftershocks: { magnitude_gap: 1.5 },
  sources: ['usgs', 'custom:plant'],
  color: '#112233',
  icon: 'anchor',
} satisfies Partial<ZoneCreate>

describe('the form of a zone', () => {
  test('sends back every rule of a zone as it came', () => {
    const zone = zoneOf({ ...RULES, emergency_severity: 90 })
    expect(bodyOf(draftOf(zone, HERE))).toMatchObject({ ...RULES, emergency_severity: 90 })
    expect(zone).toMatchObject(bodyOf(draftOf(zone, HERE)) ?? {})
  })

  test('sends the defaults where a field is emptied, and null where nothing is chosen', () => {
    const draft = draftOf(zoneOf(RULES), HERE)
    const emptied = {
      ...draft,
      severity_multiplier: '',
      dwell_minutes: ' ',
      max_alerts_per_hour: '',
      magnitude_gap: '',
      sources: [],
      color: '',
      icon: '',
    }
    expect(bodyOf(emptied)).toMatchObject({
      severity_multiplier: 1,
      dwell_minutes: 0,
      max_alerts_per_hour: null,
      aftershocks: { magnitude_gap: 2 },
      sources: null,
      color: null,
      icon: null,
    })
    expect(bodyOf({ ...draft, leavesAftershocks: false })?.aftershocks).toBe(null)
  })

  test('is previewed without its name and its looks', () => {
    const zone = zoneOf({ icon: 'anchor', external_id: 'HQ' })
    const body = bodyOf(draftOf(zone, HERE))
    if (!body) throw new Error('a circle is drawn')
    expect(previewOf(body)).toMatchObject({ icon: null, external_id: null, lat: HERE.lat })
    expect(previewOf({ ...body, label: 'Other' })).toEqual(previewOf(body))
  })
})

describe('the quiet windows of the form', () => {
  const DAILY = { quiet_hours_start: '22:00', quiet_hours_end: '07:00' }
  const ALL = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
  const window = { days: [...ALL], start: '22:00', end: '07:00' }
  test.each<[string, Partial<ZoneCreate>]>([
    ['no quiet hours', {}],
    ['two times', DAILY],
    ['two times that are the same', { quiet_hours_start: '00:00', quiet_hours_end: '00:00' }],
    ['one window for all days', { quiet_windows: [window] }],
    ['days in an order of their own', { quiet_windows: [{ ...window, days: ['sun', 'mon'] }] }],
    [
      'ends at both midnights',
      {
        quiet_windows: [
          { ...window, end: '24:00' },
          { ...window, end: '00:00' },
        ],
      },
    ],
  ])('come back as they were: %s', (_, given) => {
    const zone = zoneOf(given)
    expect(zone).toMatchObject(bodyOf(draftOf(zone, HERE)) ?? {})
  })

  const windowsOf = (given: Partial<ZoneCreate>) => draftOf(zoneOf(given), HERE).quiet
  test('are two times as long as there is one for all days, and else a list', () => {
    const none = windowsOf({})
    const one = withWindow(none)
    expect(quietBody(one)).toEqual({ ...DAILY, quiet_windows: null })
    expect(windowField(one, 0, 'end')).toBe('quiet_hours_end')
    const two = withWindow(one)
    expect(quietBody(two)).toMatchObject({
      quiet_hours_start: null,
      quiet_windows: [window, window],
    })
    expect(windowField(two, 0, 'end')).toBe('quiet_windows.0.end')
    expect(new Set(two.windows.map(({ key }) => key)).size).toBe(2)
    const having = (part: object) => ({
      ...one,
      windows: one.windows.map((each) => ({ ...each, ...part })),
    })
    expect(quietBody(having({ days: ['sat'] })).quiet_windows).toHaveLength(1)
    expect(quietBody(having({ end: '24:00' }))).toMatchObject({ quiet_hours_end: '00:00' })
    // From midnight to midnight: as two times that would say that it is off.
    expect(quietBody(having({ start: '00:00', end: '24:00' })).quiet_windows).toHaveLength(1)
    expect(quietBody(none)).toEqual(quietBody(windowsOf(zoneDefaults({ ...HERE }))))
  })
})

describe('the escalation steps of the form', () => {
  const channel = (id: string, status: Channel['status'] = 'ok', messages = ['alert.raised']) =>
    ({ id, status, messages }) as Pick<Channel, 'id' | 'status' | 'messages'> // safe: types of messages
  const channels = [
    channel('on'),
    channel('failing', 'failing'),
    channel('off', 'disabled'),
    channel('new', 'unconfirmed'),
    channel('digests', 'ok', ['alert.digest']),
  ]
  test.each<[string[], ReturnType<typeof silenceOf>]>([
    [[], 'no_channel'],
    [['on'], null],
    [['failing'], null],
    [['off', 'on'], null],
    [['off', 'new', 'digests', 'gone'], 'no_receiver'],
  ])('that tell %j are said to be silent: %j', (channel_ids, said) => {
    expect(silenceOf({ channel_ids }, channels)).toBe(said)
  })

  test('begin ten minutes on, each later than the last and within a day', () => {
    let steps = withStep([])
    for (const _ of [1, 2]) steps = withStep(steps)
    expect(stepsBody(steps)?.map(({ after_minutes }) => after_minutes)).toEqual([10, 20, 40])
    const late = withStep([{ key: 0, after_minutes: '1000', channel_ids: [] }])
    expect(late.at(-1)?.after_minutes).toBe('1440')
    expect(stepsBody([])).toBe(null)
  })
})

describe('the icons of zones', () => {
  test('have names that the API takes, each in both languages', () => {
    for (const [name, Icon] of Object.entries(ZONE_ICONS)) {
      expect(name).toMatch(/^[a-z0-9-]{1,32}$/)
      expect(Icon).toBeDefined()
    }
    for (const { icons } of Object.values(moreRulesText)) {
      expect(Object.keys(icons)).toEqual(Object.keys(ZONE_ICONS))
    }
  })

  test('are a pin where the name is not known, and names of every object are no icons', () => {
    expect(zoneIcon('submarine')).toBe(ZONE_ICONS['map-pin'])
    expect(isZoneIcon('constructor')).toBe(false)
    expect(zoneIcon('constructor')).toBe(ZONE_ICONS['map-pin'])
  })

  test('stand at the place of the zone, or within a polygon that the place is outside of', () => {
    const square = [
      [10, 10],
      [12, 10],
      [12, 12],
      [10, 12],
      [10, 10],
    ]
    const polygon = { type: 'Polygon', coordinates: [square] } as never // safe: as the API answers it
    const features = [
      zoneOf({ icon: 'anchor', color: '#112233' }),
      zoneOf({ icon: 'star', polygon }),
      zoneOf({ icon: 'star', polygon, lat: 10.5, lon: 11.5 }),
      zoneOf({}),
    ]
    expect(
      zoneIconFeatures(features).features.map(({ geometry, properties }) => [
        geometry.coordinates,
        properties?.symbol,
      ]),
    ).toEqual([
      [[29, 41], 'zone-icon anchor #112233'],
      [[11, 11], 'zone-icon star '],
      [[11.5, 10.5], 'zone-icon star '],
    ])
  })
})

describe('the history of a zone says', () => {
  const names = new Map([['c1', 'On call']])
  const said = (language: 'en' | 'tr', field: string, value: unknown) => {
    const number = (of: number) => of.toLocaleString(language)
    return sayValue(field, value, { language, names, formats: { number, time: (at) => `<${at}>` } })
  }
  test.each<[string, unknown, string, string]>([
    [
      'quiet_windows',
      [{ days: ['mon', 'sun'], start: '22:00', end: '24:00' }],
      'Mon Sun 22:00–24:00',
      'Pzt Paz 22:00–24:00',
    ],
    [
      'escalation',
      [
        { after_minutes: 10, channel_ids: ['c1', 'gone'] },
        { after_minutes: 30, channel_ids: [] },
      ],
      'after 10 min: On call, gone; after 30 min: none',
      '10 dk sonra: On call, gone; 30 dk sonra: hiçbiri',
    ],
    ['types', null, 'all', 'tümü'],
    ['types', ['earthquake', 'flood'], 'Earthquake, Flood', 'Deprem, Sel'],
    ['channel_ids', ['c1', 'gone'], 'On call, gone', 'On call, gone'],
    ['channel_ids', [], 'none', 'hiçbiri'],
    ['enabled', false, 'no', 'hayır'],
    ['severity_multiplier', 1.5, '1.5', '1,5'],
    ['quiet_hours_start', null, '–', '–'],
    ['shape_type', 'polygon', 'Polygon', 'Çokgen'],
    ['quiet_mode', 'drop', 'Only recorded', 'Yalnızca kaydedilir'],
    ['icon', 'anchor', 'Harbour', 'Liman'],
    ['icon', 'submarine', 'submarine', 'submarine'],
    ['something_new', { a: 1 }, '{"a":1}', '{"a":1}'],
  ])('of %s that it is %j', (field, value, en, tr) => {
    expect([said('en', field, value), said('tr', field, value)]).toEqual([en, tr])
  })
})

describe('a zone on the map', () => {
  const NOW = Date.parse('2026-03-01T00:00:00Z')
  const LATER = '2026-03-01T01:00:00.000Z'
  test.each<[string, string[], boolean, string | null]>([
    ['on', [], true, null],
    ['on', ['ok', 'disabled'], true, null],
    ['blind', ['ok', 'stale'], true, null],
    ['blind', ['down'], true, null],
    // Off or paused, all of them: nothing reaches it.
    ['blind', ['disabled', 'disabled'], true, null],
    ['snoozed', ['down'], true, LATER],
    ['off', ['down'], false, LATER],
  ])('is %s with sources that are %j, switched on %s, snoozed until %s', (...given) => {
    const [state, statuses, enabled, snoozed_until] = given
    const coverage = statuses.map((status, nth) => ({ source: `s${nth}`, status }))
    const zone = { enabled, snoozed_until, coverage } as Parameters<typeof stateOf>[0] // safe: statuses of sources
    expect(stateOf(zone, NOW)).toBe(state)
  })
})
