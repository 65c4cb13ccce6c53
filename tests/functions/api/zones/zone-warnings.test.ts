import { describe, expect, test } from 'vitest'
import type { Obstacles, Reach, ReachedZone } from '../../../../functions/api/zones/zone-rows.ts'
import { warn, warnOfReach } from '../../../../functions/api/zones/zone-warnings.ts'
import { ZoneCreate, zoneDefaults } from '../../../../shared/schemas/zone.ts'

const REACH: Reach = { lost: [], unconfirmed: 0, is_reached: true, steps: [] }
const CLEAR: Obstacles = { paused: null, silent: [], highest: [] }

/** What is said of a zone as it is stored, of which nothing is wrong but what is given. */
function said(fields: object, { reach = REACH, obstacles = CLEAR }: Partial<ReachedZone> = {}) {
  const zone = zoneDefaults(ZoneCreate.parse({ label: 'Here', lat: 1, lon: 2 }))
  const stored = {
    ...{ id: 'z', owner_id: 'o', version: 1, created_at: '', updated_at: '' },
    ...{ coverage: [{ source: 'usgs', status: 'ok' as const }], reach, obstacles },
  }
  return warn({ ...zone, ...stored, ...fields }).warnings
}

test('nothing is said of a zone that can raise alerts and reach somebody', () => {
  expect(said({})).toBeUndefined()
  expect(said({}, { reach: null, obstacles: null })).toBeUndefined()
})

test('a zone that is switched off says so, and so does one whose channels tell nobody', () => {
  expect(said({ enabled: false })).toEqual(['The zone is switched off.'])
  expect(said({}, { reach: { ...REACH, is_reached: false } })).toEqual([
    'No enabled channel gets the alerts of this zone: they are recorded but not sent.',
  ])
})

describe('the account of its owner', () => {
  test.each([
    [
      'paused_by_plan',
      'The zone is paused, because the account of its owner is below the Pro plan.',
    ],
    ['owner_banned', 'The zone is paused, because the account of its owner is banned.'],
  ] as const)('pauses it: %s', (paused, warning) => {
    expect(said({}, { obstacles: { ...CLEAR, paused } })).toEqual([warning])
  })
})

describe('aftershocks', () => {
  const NOTHING = 'aftershocks does nothing: the types of the zone do not include earthquake.'
  test.each([
    [['storm'], [NOTHING]],
    [['storm', 'earthquake'], undefined],
    [null, undefined],
  ])('of the types %j', (types, warnings) => {
    expect(said({ types, aftershocks: { magnitude_gap: 1 } })).toEqual(warnings)
    expect(said({ types, aftershocks: null })).toBeUndefined()
  })
})

describe('a threshold', () => {
  const highest = [
    { type: 'storm', severity: 30 },
    { type: 'flood', severity: null },
  ]
  test.each([
    [30, 1, undefined],
    [
      31,
      1,
      /^min_severity 31 can never be reached by events of type storm: their highest severity is 30, and/,
    ],
    [31, 2, undefined],
  ])('of %d with the multiplier %d', (min_severity, severity_multiplier, warning) => {
    const obstacles = { ...CLEAR, highest: highest.slice(0, 1) }
    const warnings = said({ min_severity, severity_multiplier }, { obstacles })
    if (warning) expect(warnings).toEqual([expect.stringMatching(warning)])
    else expect(warnings).toBeUndefined()
  })

  test('is compared with all that is possible where the sources are not known', () => {
    const fields = { min_severity: 60, severity_multiplier: 0.5 }
    const warning =
      'min_severity 60 can never be reached: with severity_multiplier 0.5 the highest effective severity is 50.'
    expect(said(fields)).toEqual([warning])
    const unknown = { ...CLEAR, highest: highest.slice(1) }
    expect(said({ ...fields, sources: ['custom:a'] }, { obstacles: unknown })).toEqual([warning])
  })
})

describe('the sources', () => {
  const off = { source: 'old', status: 'disabled' as const }
  const unknown = { source: 'usgss', status: 'unknown' as const }
  const OFF = 'The source "old" is switched off in this service.'
  const UNKNOWN = 'This service has no source "usgss". GET /api/sources/health lists its sources.'
  const NONE = 'No source of this service matches the sources and types of the zone.'
  const gone = [{ source: 'old', status: 'disabled' as const }]

  test('that send nothing are named, each for its reason, and once when there are no others', () => {
    const silent = { ...CLEAR, silent: [off, unknown] }
    const fields = { sources: ['old', 'usgss'], coverage: gone }
    expect(said(fields, { obstacles: silent })).toEqual([OFF, UNKNOWN])
    const beside = { sources: ['old', 'usgs'], coverage: gone }
    expect(said(beside, { obstacles: { ...CLEAR, silent: [off] } })).toEqual([OFF, NONE])
  })

  test('are none where all are switched off, unless one is the caller’s own', () => {
    expect(said({ coverage: gone })).toEqual([NONE])
    expect(said({ coverage: [] })).toEqual([NONE])
    expect(said({ coverage: [...gone, { source: 'usgs', status: 'down' }] })).toBeUndefined()
    expect(said({ coverage: gone, sources: ['custom:mine'] })).toBeUndefined()
    expect(said({ coverage: gone, sources: ['nhc', 'custom'] })).toBeUndefined()
  })

  test('that lack types of the zone say which, unless one is the caller’s own', () => {
    const highest = ['flood', 'storm', 'tsunami'].map((type) => ({ type, severity: null }))
    const obstacles = { ...CLEAR, highest: [...highest.slice(0, 2), { type: 'x', severity: 90 }] }
    expect(said({}, { obstacles })).toEqual([
      'No source of the zone has events of type flood, storm.',
    ])
    expect(said({ sources: ['usgs', 'custom:mine'] }, { obstacles })).toBeUndefined()
  })
})

describe('a step of the escalation', () => {
  const STEP = { after_minutes: 15, channels: 3, lost: 0, is_reached: true }
  test.each([
    [{}, undefined],
    [{ channels: 0, is_reached: false }, / 15 minutes does nothing: its channel_ids is empty\.$/],
    [{ is_reached: false }, / 15 minutes tells nobody: each of its channels is disabled or not /],
    [{ lost: 1 }, / 15 minutes tells 2 of its 3 channels: the others were deleted, or /],
    [{ lost: 3, is_reached: false }, / 15 minutes tells nobody: /],
  ])('%j', (given, warning) => {
    const reach = { ...REACH, steps: [{ ...STEP, ...given }] }
    const expected = warning && [expect.stringMatching(warning)]
    expect(said({}, { reach })).toEqual(expected)
    // Also where alerts themselves go to no channel.
    const EMPTY = 'channel_ids is empty: alerts are recorded but not sent.'
    expect(said({ channel_ids: [] }, { reach })).toEqual([EMPTY, ...(expected ?? [])])
  })
})

describe('the channels of a zone', () => {
  const [A, B, C] = ['a', 'b', 'c']
  const LOST = 'it was deleted, or the owner of the zone no longer sees it.'
  test.each<[object, string[] | null, string | null, string[]]>([
    [{}, null, null, []],
    [{}, [A], null, []],
    [{ lost: [A] }, [A, B, C], null, [`1 of 3 channels in channel_ids gets no alerts: ${LOST}`]],
    [
      { lost: [A, B] },
      [A, B, C],
      null,
      [
        '2 of 3 channels in channel_ids get no alerts: they were deleted, or the owner of the zone no longer sees them.',
      ],
    ],
    [
      { lost: [A, B] },
      [A, B],
      null,
      [
        'No channel in channel_ids is left: each was deleted, or the owner of the zone no longer sees it. Alerts go to every enabled channel of the owner; change channel_ids to choose.',
      ],
    ],
    [
      { lost: [A] },
      [A],
      'org',
      [
        expect.stringContaining(
          'to every enabled channel of the owner and of the organisation; change',
        ),
      ],
    ],
    [
      { unconfirmed: 1 },
      null,
      null,
      [
        '1 channel gets no alerts of this zone until its address is confirmed with the link that was mailed to it.',
      ],
    ],
    [
      { unconfirmed: 2, is_reached: false },
      null,
      null,
      [
        '2 channels get no alerts of this zone until their addresses are confirmed with the link that was mailed to them.',
        'No enabled channel gets the alerts of this zone: they are recorded but not sent.',
      ],
    ],
  ])('with %j of %j, shared with %s', (given, channel_ids, org_id, warnings) => {
    expect(warnOfReach({ channel_ids, org_id }, { ...REACH, ...given })).toEqual(warnings)
  })
})
