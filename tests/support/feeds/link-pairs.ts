/**
 * Events of two sources with the answer whether they are the same thing. Facts are from the recordings of the feeds and
 * from the catalogues of the agencies; what is marked as a variant is how the other source would have told of it.
 */
import { type LinkableEvent, type LinkRule, linkRuleOf } from '../../../shared/decide/link.ts'

/** `missed`: the same, but too different for the rule. */
export type Pair = {
  what: string
  same: boolean
  missed?: true
  a: LinkableEvent
  b: LinkableEvent
}

const event = (given: Partial<LinkableEvent> & { source: string }): LinkableEvent => ({
  id: `${given.source}:${Math.abs(hash(JSON.stringify(given)))}`,
  type: 'earthquake',
  title: 'an event',
  lat: 0,
  lon: 0,
  ts: '2026-03-01T12:00:00.000Z',
  subject: null,
  geometry: null,
  magnitude: null,
  depth_km: null,
  ...given,
})

function hash(text: string): number {
  let value = 0
  for (const letter of text) value = (Math.imul(value, 31) + letter.charCodeAt(0)) | 0
  return value
}

/** time, latitude, longitude, depth, magnitude */
type Quake = [ts: string, lat: number, lon: number, depth_km: number, magnitude: number]
const quake = (source: string, [ts, lat, lon, depth_km, magnitude]: Quake) =>
  event({ source, ts: new Date(ts).toISOString(), lat, lon, depth_km, magnitude })

const yes = (what: string, a: LinkableEvent, b: LinkableEvent): Pair => ({ what, same: true, a, b })
const missed = (what: string, a: LinkableEvent, b: LinkableEvent): Pair => ({
  ...yes(what, a, b),
  missed: true,
})
const no = (what: string, a: LinkableEvent, b: LinkableEvent): Pair => ({ what, same: false, a, b })

const MARCH_11 = '2011-03-11T05:46:'
const QUAKES: Pair[] = [
  yes(
    'Tohoku 2011, the first magnitude of USGS was 7.9',
    quake('usgs', [`${MARCH_11}23Z`, 38.322, 142.369, 24.4, 7.9]),
    quake('emsc', [`${MARCH_11}23Z`, 38.3, 142.5, 22, 8.9]),
  ),
  yes(
    'Tohoku 2011, final',
    quake('usgs', [`${MARCH_11}24.12Z`, 38.297, 142.373, 29, 9.1]),
    quake('gdacs', [`${MARCH_11}23Z`, 38.322, 142.369, 24.4, 7.9]),
  ),
  yes(
    'Kaikoura 2016',
    quake('usgs', ['2016-11-13T11:02:56.34Z', -42.7373, 173.054, 15.1, 7.8]),
    quake('geonet', ['2016-11-13T11:02:56.346Z', -42.69, 173.02, 15, 7.8]),
  ),
  yes(
    'Kaikoura 2016, the first magnitude of GeoNet was 6.6',
    quake('usgs', ['2016-11-13T11:02:59Z', -42.757, 173.077, 23, 7.4]),
    quake('geonet', ['2016-11-13T11:02:56Z', -42.69, 173.02, 15, 6.6]),
  ),
  yes(
    'Darfield 2010',
    quake('usgs', ['2010-09-03T16:35:47.77Z', -43.522, 171.83, 12, 7]),
    quake('geonet', ['2010-09-03T16:35:41Z', -43.53, 172.17, 11, 7.1]),
  ),
  yes(
    'Pazarcık 2023',
    quake('usgs', ['2023-02-06T01:17:34.34Z', 37.2256, 37.0143, 10, 7.8]),
    quake('emsc', ['2023-02-06T01:17:36Z', 37.17, 37.08, 20, 7.7]),
  ),
  yes(
    'Elbistan 2023',
    quake('usgs', ['2023-02-06T10:24:48.81Z', 38.011, 37.196, 7.4, 7.5]),
    quake('emsc', ['2023-02-06T10:24:49Z', 38.11, 37.24, 10, 7.5]),
  ),
  no(
    'South Sandwich Islands 2021: two great earthquakes in three minutes',
    quake('usgs', ['2021-08-12T18:32:52Z', -57.567, -25.032, 47, 7.5]),
    quake('gdacs', ['2021-08-12T18:35:17Z', -58.375, -25.264, 22.8, 8.1]),
  ),
  no(
    'Pazarcık 2023 and its aftershock of magnitude 6.7',
    quake('usgs', ['2023-02-06T01:17:34.34Z', 37.2256, 37.0143, 10, 7.8]),
    quake('emsc', ['2023-02-06T01:28:15Z', 37.18, 36.89, 14, 6.7]),
  ),
  // Two of one catalogue, of which each source lists one (variants of USGS events of the week to 7 February 2018).
  ...(
    [
      [
        '07:36:09.21',
        33.7218,
        -116.8435,
        15.2,
        0.51,
        '07:36:13.78',
        33.7192,
        -116.8438,
        16.15,
        0.42,
      ],
      ['12:29:54.69', 33.5138, -116.7957, 5.02, 0.38, '12:30:15.67', 33.4883, -116.7815, 4.75, 0.3],
      ['13:40:03.12', 61.2929, -139.5458, 4.6, 3.8, '13:40:28.16', 61.172, -139.8335, 5, 3.8],
      ['14:53:38.66', 37.4892, -118.391, 3.14, 0.3, '14:53:51.61', 37.4913, -118.3865, 4.22, 0.32],
      ['00:46:25.8', 38.8372, -122.8315, 1.69, 1.83, '00:46:31.15', 38.8368, -122.8303, 1.6, 1.16],
      ['13:02:57.41', 33.2487, -116.2433, 7.4, 0.71, '13:03:23.03', 33.4837, -116.7823, 2.45, 0.14],
      ['09:50:48.45', 51.8429, -176.9172, 9.6, 3.4, '09:51:06.88', 51.7976, -176.8953, 6.6, 3.4],
      ['10:45:36.75', 37.6368, -118.9398, 3.91, 1, '10:45:57.79', 37.635, -118.935, 3.96, 0.72],
      [
        '01:54:53.41',
        37.6353,
        -118.9375,
        3.47,
        1.85,
        '01:54:59.01',
        37.6352,
        -118.9322,
        5.45,
        1.54,
      ],
      ['22:08:36.13', 35.891, -116.93, 2.72, 2.31, '22:08:50.7', 35.8878, -116.9448, 3.19, 2.15],
      ['09:25:49.84', 33.1807, -115.601, 4.19, 1.28, '09:26:00.72', 33.1742, -115.6251, 5.5, 0.92],
      ['19:59:43.28', 33.1865, -115.6072, 2.7, 2.08, '19:59:44.61', 33.183, -115.6053, 2.56, 2.47],
      ['10:33:19.65', 37.6593, -118.8618, 1.47, 0.18, '10:33:28.22', 37.66, -118.8603, 2.7, 0.25],
    ] as const
  ).map(([ts, lat, lon, depth, magnitude, later, ...rest]) =>
    no(
      `two at nearly the same place, ${ts} and ${later}`,
      quake('usgs', [`2018-02-01T${ts}Z`, lat, lon, depth, magnitude]),
      quake('emsc', [`2018-02-01T${later}Z`, ...rest]),
    ),
  ),
  // GDACS repeats a solution of USGS, to the second (its items of 29 December 2019, with variants of USGS).
  ...(
    [
      ['18:24:41', '18:24:41.63', -52.8544, 11.3526, 10, 5.3, 5.3],
      ['16:24:45', '16:24:45.18', -6.3622, 154.9449, 35, 4.9, 4.9],
      ['13:59:02', '13:59:02.86', -5.5333, 151.757, 35, 5.1, 5],
      ['13:18:06', '13:18:06.44', 4.4091, 125.1504, 65.42, 4.7, 4.7],
      ['12:03:55', '12:03:55.09', 4.6257, 125.3181, 49.65, 4.8, 4.9],
      ['11:25:23', '11:25:23.71', 55.1467, 160.6628, 118.92, 4.5, 4.5],
      ['09:12:14', '09:12:14.5', 4.6441, 125.3147, 10, 5.2, 5.4],
      ['01:44:25', '01:44:25.32', 29.3174, 143.0572, 10, 4.9, 4.8],
    ] as const
  ).map(([ts, exact, lat, lon, depth, early, final]) =>
    yes(
      `GDACS item of ${ts}`,
      quake('gdacs', [`2019-12-29T${ts}Z`, lat, lon, depth, early]),
      quake('usgs', [`2019-12-29T${exact}Z`, lat + 0.04, lon - 0.05, depth, final]),
    ),
  ),
  no(
    'two of Sulawesi within the day of the GDACS recording',
    quake('gdacs', ['2019-12-29T12:03:55Z', 4.6257, 125.3181, 49.65, 4.8]),
    quake('usgs', ['2019-12-29T13:18:06.44Z', 4.4091, 125.1504, 65.42, 4.7]),
  ),
  missed(
    'a distant one that the local network misplaces (variant)',
    quake('usgs', ['2019-07-22T10:00:00Z', -30.1, -177.9, 10, 5.6]),
    quake('geonet', ['2019-07-22T10:00:21Z', -32.0, -178.4, 33, 5.6]),
  ),
  missed(
    'one whose magnitudes are of two kinds (variant)',
    quake('usgs', ['2018-02-04T13:12:52.13Z', 24.1692, 121.7191, 11.77, 4.9]),
    quake('emsc', ['2018-02-04T13:12:53Z', 24.15, 121.7, 10, 4.3]),
  ),
  no(
    'Kaikoura 2016 and its aftershock of magnitude 6.2',
    quake('usgs', ['2016-11-13T11:02:56.34Z', -42.7373, 173.054, 15.1, 7.8]),
    quake('geonet', ['2016-11-13T11:32:06Z', -42.3, 173.67, 10, 6.2]),
  ),
  no(
    'two of New Zealand within two minutes (of the GeoNet recording, one as a variant of USGS)',
    quake('geonet', ['2019-07-23T10:11:57.376Z', -42.95886993, 171.869873, 5, 1.76]),
    quake('usgs', ['2019-07-23T10:10:14.226Z', -41.25324249, 172.4393311, 200.07, 2.06]),
  ),
  no(
    'one without a magnitude',
    event({ source: 'usgs', magnitude: null }),
    event({ source: 'emsc', magnitude: 4 }),
  ),
  no(
    'the same second on the other side of the earth',
    quake('usgs', ['2026-03-01T12:00:00Z', 10, 20, 10, 5]),
    quake('emsc', ['2026-03-01T12:00:00Z', -10, -160, 10, 5]),
  ),
]

const storm = (source: string, title: string, ts: string, lat: number, lon: number) =>
  event({ source, type: 'storm', title, ts: new Date(ts).toISOString(), lat, lon })
const gdacsStorm = (name: string) => `Green alert for tropical cyclone ${name}. Population affected`

const STORMS: Pair[] = [
  yes(
    'Arthur 2020 (variant of GDACS)',
    storm('nhc', 'Tropical Storm Arthur', '2020-05-17T06:00Z', 29.6, -77.7),
    storm('gdacs', gdacsStorm('ARTHUR-20'), '2020-05-17T09:00Z', 30, -77.4),
  ),
  yes(
    'Alex 2022 (variant of GDACS)',
    storm('nhc', 'Tropical Storm Alex', '2022-06-06T05:49Z', 32.9, -68.1),
    storm('gdacs', 'Green Tropical Cyclone ALEX-22 in Bermuda', '2022-06-05T21:00Z', 31.4, -71.8),
  ),
  yes(
    'Nolo 2026 (variant of NHC)',
    storm('eonet', 'Hurricane Nolo', '2026-09-28T06:00Z', 16.4, -160.8),
    storm('nhc', 'Major Hurricane Nolo', '2026-09-28T15:00Z', 16.6, -162.4),
  ),
  yes(
    'Polo 2026 (variant of NHC)',
    storm('gdacs', 'Orange Tropical Cyclone POLO-26 in Mexico', '2026-09-28T09:00Z', 23.6, -113.8),
    storm('nhc', 'Hurricane Polo', '2026-09-28T15:00Z', 24.3, -113.2),
  ),
  yes(
    'Polo 2026 (variant of EONET, a day old)',
    storm('gdacs', 'Orange Tropical Cyclone POLO-26 in Mexico', '2026-09-28T09:00Z', 23.6, -113.8),
    storm('eonet', 'Hurricane Polo', '2026-09-27T06:00Z', 20.9, -112.9),
  ),
  yes(
    'Sarai 2019 (variant of EONET)',
    storm('gdacs', gdacsStorm('SARAI-19'), '2019-12-29T18:00Z', -20.5, -178.8),
    storm('eonet', 'Tropical Cyclone Sarai', '2019-12-29T06:00Z', -20.1, 179.6),
  ),
  yes(
    'Calvinia 2019 (variant of EONET)',
    storm('gdacs', gdacsStorm('CALVINIA-19'), '2019-12-29T12:00Z', -19.4, 59.8),
    storm('eonet', 'Tropical Cyclone Calvinia', '2019-12-30T00:00Z', -20.3, 58.9),
  ),
  missed(
    'one that GDACS still calls by its number (variant)',
    storm('nhc', 'Tropical Storm Bud', '2026-07-01T03:00Z', 12.4, -104.1),
    storm('gdacs', 'Green Tropical Cyclone TWO-26', '2026-07-01T00:00Z', 12.2, -103.8),
  ),
  no(
    'Nolo and Polo of the same day',
    storm('eonet', 'Hurricane Nolo', '2026-09-28T06:00Z', 16.4, -160.8),
    storm('gdacs', 'Orange Tropical Cyclone POLO-26 in Mexico', '2026-09-28T09:00Z', 23.6, -113.8),
  ),
  no(
    'the first depression of two oceans',
    storm('gdacs', 'Orange Tropical Cyclone ONE-26 in India', '2026-09-24T00:00Z', 18.1, 83.7),
    storm('nhc', 'Tropical Depression One', '2026-09-24T00:00Z', 18.1, -83.7),
  ),
  no(
    'two depressions without a name at one place',
    storm('nhc', 'Tropical Depression Two', '2026-07-01T00:00Z', 12, -50),
    storm('gdacs', 'Green Tropical Cyclone TWO-26', '2026-07-01T00:00Z', 12, -50),
  ),
  no(
    'Alex of 2016 and of 2022',
    storm('eonet', 'Hurricane Alex', '2016-01-14T12:00Z', 31.8, -28),
    storm('nhc', 'Tropical Storm Alex', '2022-06-06T05:49Z', 32.9, -68.1),
  ),
  no(
    'a name in two oceans on one day',
    storm('nhc', 'Hurricane Olivia', '2018-09-08T12:00Z', 20, -140),
    storm('gdacs', 'Green Tropical Cyclone OLIVIA-18', '2018-09-08T12:00Z', -15, 115),
  ),
  no(
    'a name of four days ago at the same place',
    storm('nhc', 'Hurricane Olivia', '2018-09-08T12:00Z', 20, -140),
    storm('gdacs', 'Green Tropical Cyclone OLIVIA-18', '2018-09-04T12:00Z', 20, -140),
  ),
  no(
    'Sarai and Calvinia',
    storm('gdacs', gdacsStorm('SARAI-19'), '2019-12-29T18:00Z', -20.5, -178.8),
    storm('eonet', 'Tropical Cyclone Calvinia', '2019-12-29T18:00Z', -20.5, -178.8),
  ),
]

const report = (title: string, ts: string, lat: number, lon: number) =>
  event({ source: 'eonet', type: 'wildfire', title, ts: new Date(ts).toISOString(), lat, lon })
/** A fire as satellites see it, from its places (latitude, longitude), of which the last one is the strongest. */
function seen(ts: string, ...places: [lat: number, lon: number][]): LinkableEvent {
  const [lat, lon] = places.at(-1) ?? [0, 0]
  const positions = places.map(([lat, lon]): [number, number] => [lon, lat])
  const first = positions[0] ?? [0, 0]
  return event({
    ...{ source: 'firms', type: 'wildfire', title: 'Fire 20 MW', lat, lon },
    ts: new Date(ts).toISOString(),
    geometry:
      places.length > 2
        ? { type: 'Polygon', coordinates: [[...positions, first]] }
        : places.length === 2
          ? { type: 'MultiPoint', coordinates: positions }
          : null,
  })
}

const DAVIS = report(
  'Wildfire Davis Coulee, Big Horn, Montana',
  '2026-09-14T11:43Z',
  45.5398,
  -107.6275,
)
const DYE = report(
  'Prescribed Fire D2 Dye RX, Coconino, Arizona',
  '2026-09-17T17:44Z',
  34.43545,
  -110.9112,
)
// What the satellites saw is a variant throughout: the recordings of FIRMS are of other days and continents.
const FIRES: Pair[] = [
  yes('seen beside the reported place', DAVIS, seen('2026-09-14T20:12Z', [45.548, -107.61])),
  yes('seen a day before the report', DAVIS, seen('2026-09-13T19:30Z', [45.5301, -107.6302])),
  yes(
    'seen about the reported place',
    DAVIS,
    seen('2026-09-15T09:20Z', [45.5, -107.7], [45.5, -107.55], [45.6, -107.55], [45.6, -107.7]),
  ),
  yes(
    'seen at two places, one of them near',
    DAVIS,
    seen('2026-09-16T09:20Z', [45.5402, -107.61], [45.5402, -107.594]),
  ),
  yes('a prescribed fire', DYE, seen('2026-09-17T20:40Z', [34.4402, -110.902])),
  yes('still burning after five days', DYE, seen('2026-09-22T20:40Z', [34.4302, -110.921])),
  missed(
    'seen 4 km from the reported place',
    DAVIS,
    seen('2026-09-14T20:12Z', [45.576, -107.6275]),
  ),
  no('a neighbour 3 km away', DAVIS, seen('2026-09-14T20:12Z', [45.567, -107.6275])),
  no(
    'a wide neighbour whose edge is 4 km away',
    DAVIS,
    seen('2026-09-15T09:20Z', [45.58, -107.7], [45.58, -107.55], [45.68, -107.55], [45.68, -107.7]),
  ),
  no('the next county', DAVIS, seen('2026-09-14T20:12Z', [45.9, -107.6275])),
  no('the same field in spring', DAVIS, seen('2026-04-02T20:12Z', [45.5398, -107.6275])),
  no('the same place ten days later', DYE, seen('2026-09-28T20:40Z', [34.43545, -110.9112])),
  no('the same place four days before', DYE, seen('2026-09-13T20:40Z', [34.43545, -110.9112])),
]

const bulletin = (centre: string, incident: string, ts: string) =>
  event({
    source: 'tsunami',
    type: 'tsunami',
    id: `tsunami:${centre}-${incident}`,
    ts,
    lat: 51.8,
    lon: -171.4,
  })
const warning = (code: string, ts: string) =>
  event({ source: 'nws', type: 'tsunami', subject: `vtec:${code}`, ts, lat: 54, lon: -165 })
const ORIGIN = '2011-09-02T10:55:55.000Z'
// The warnings of NWS are variants: its recordings hold none of a tsunami.
const TSUNAMIS: Pair[] = [
  ...(['10:59:00', '11:20:00', '13:55:00'] as const).map((time) =>
    yes(
      `a warning of Palmer at ${time}`,
      bulletin('PAAQ', 'lqw6d6', ORIGIN),
      warning('PAAQ.TS.W.0001', `2011-09-02T${time}.000Z`),
    ),
  ),
  yes(
    'an advisory of Honolulu',
    bulletin('PHEB', 'lqw6d6', ORIGIN),
    warning('PHEB.TS.Y.0002', '2011-09-02T11:31:00.000Z'),
  ),
  no(
    'a warning of the other centre',
    bulletin('PHEB', 'lqw6d6', ORIGIN),
    warning('PAAQ.TS.W.0001', '2011-09-02T10:59:00.000Z'),
  ),
  no(
    'a warning before the earthquake',
    bulletin('PAAQ', 'lqw6d6', ORIGIN),
    warning('PAAQ.TS.W.0001', '2011-09-02T10:50:00.000Z'),
  ),
  no(
    'a warning of the next day',
    bulletin('PAAQ', 'lqw6d6', ORIGIN),
    warning('PAAQ.TS.W.0002', '2011-09-03T10:59:00.000Z'),
  ),
  no(
    'a warning of another hazard',
    bulletin('PAAQ', 'lqw6d6', ORIGIN),
    warning('PAFC.CF.W.0001', '2011-09-02T10:59:00.000Z'),
  ),
]

export const PAIRS: Pair[] = [...QUAKES, ...STORMS, ...FIRES, ...TSUNAMIS]

/** The rule and the two sources of a pair, as the table in docs/zones.md names them. */
export function kindOf({ a, b }: Pair): { rule: LinkRule; sources: string } {
  const rule = linkRuleOf(a)
  if (!rule || rule !== linkRuleOf(b)) throw new Error(`no rule for ${a.source} and ${b.source}`)
  return { rule, sources: [a.source, b.source].sort().join(', ') }
}
