/** Invented vessels on invented routes through real straits, so that stays can be shown. */

import { distance_km } from '../../../shared/geometry/geometry.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { toVesselEvent } from '../formats/ais.ts'
import { roundAt, roundOf } from './clock.ts'
import type { Replay } from './replay.ts'

const SOURCE = 'vessels-replay'
const REPORT_EVERY_MS = 10_000
/** Positions are kept for two days; one is enough to show where the vessels come from. */
const HISTORY_MS = 24 * 60 * 60_000
const HISTORY_EVERY_MS = 10 * 60_000
const KM_PER_HOUR_OF_A_KNOT = 1.852
const HOUR_MS = 60 * 60_000

const UNDER_WAY = 0
const NOT_UNDER_COMMAND = 2
const AGROUND = 6

type Place = readonly [lat: number, lon: number]

type Vessel = {
  /** It begins with 1 and not with 111: no ship has such an MMSI (ITU-R M.585). */
  mmsi: string
  name: string
  knots: number
  /** It sails to the end and back again. */
  route: readonly [Place, Place, ...Place[]]
  /** In every round it lies still with this status for a part of the time (0 ≤ from < to ≤ 1). */
  incident?: { status: number; from: number; to: number }
}

const ORESUND = [
  [56.2, 12.42],
  [56.09, 12.58],
  [56.035, 12.655],
  [55.97, 12.64],
  [55.9, 12.62],
  [55.8, 12.66],
] as const
const BOSPORUS = [
  [41.24, 29.14],
  [41.17, 29.075],
  [41.135, 29.065],
  [41.105, 29.063],
  [41.085, 29.06],
  [41.045, 29.035],
  [41.025, 29.005],
  [40.98, 28.97],
] as const
const GIBRALTAR = [
  [35.92, -6],
  [35.95, -5.6],
  [36, -5.3],
  [36.1, -4.9],
] as const
const DOVER = [
  [50.55, 1.2],
  [50.8, 1.4],
  [51, 1.6],
  [51.25, 1.95],
] as const
const SINGAPORE = [
  [1.13, 103.55],
  [1.16, 103.72],
  [1.19, 103.83],
  [1.22, 103.95],
  [1.27, 104.1],
  [1.3, 104.3],
] as const

/** The vessels; the first is fast, so that it enters and leaves a harbour within minutes. */
const VESSELS: readonly Vessel[] = [
  {
    mmsi: '100000001',
    name: 'Ferry of the Sound',
    knots: 38,
    route: [
      [56.034, 12.622],
      [56.043, 12.69],
    ],
  },
  { mmsi: '100000002', name: 'Northbound Coaster', knots: 11, route: ORESUND },
  { mmsi: '100000003', name: 'Timber Carrier', knots: 13, route: ORESUND },
  {
    mmsi: '100000004',
    name: 'Grain Carrier',
    knots: 10,
    route: BOSPORUS,
    incident: { status: AGROUND, from: 0.1, to: 0.4 },
  },
  { mmsi: '100000005', name: 'Black Sea Tanker', knots: 9, route: BOSPORUS },
  {
    mmsi: '100000006',
    name: 'Ferry of the Two Continents',
    knots: 18,
    route: [
      [41.026, 29.012],
      [41.017, 28.981],
    ],
  },
  { mmsi: '100000007', name: 'Container Ship of the West', knots: 18, route: GIBRALTAR },
  {
    mmsi: '100000008',
    name: 'Ferry of the Pillars',
    knots: 34,
    route: [
      [36.0, -5.59],
      [35.85, -5.56],
    ],
  },
  {
    mmsi: '100000009',
    name: 'Channel Tanker',
    knots: 12,
    route: DOVER,
    incident: { status: NOT_UNDER_COMMAND, from: 0.5, to: 0.8 },
  },
  {
    mmsi: '100000010',
    name: 'Ferry of the White Cliffs',
    knots: 22,
    route: [
      [51.115, 1.35],
      [50.975, 1.84],
    ],
  },
  { mmsi: '100000011', name: 'Straits Bulker', knots: 12, route: SINGAPORE },
  {
    mmsi: '100000012',
    name: 'Spice Route Container Ship',
    knots: 16,
    route: SINGAPORE,
    incident: { status: AGROUND, from: 0.65, to: 0.9 },
  },
]

export const vesselsReplay: Replay = {
  source: SOURCE,
  title: 'REPLAY with invented vessels',
  attribution: 'Invented: no real vessel, route or MMSI',
  types: ['vessel'],
  interval_seconds: 5,
  history: (startedAt) => {
    const count = HISTORY_MS / HISTORY_EVERY_MS
    const positions = Array.from({ length: count }, (_, n) => (n - count) * HISTORY_EVERY_MS)
    return positions.flatMap((position) =>
      VESSELS.map((vessel) => {
        const event = report(vessel, position, startedAt.getTime())
        return { event, first_seen_at: event.ts }
      }),
    )
  },
  due: (from, to, origin) =>
    VESSELS.flatMap((vessel, index) => {
      const shift = Math.floor((index * REPORT_EVERY_MS) / VESSELS.length)
      const first = Math.ceil((from - shift) / REPORT_EVERY_MS)
      const count = Math.max(0, Math.ceil((to - shift) / REPORT_EVERY_MS) - first)
      return Array.from({ length: count }, (_, n) =>
        report(vessel, (first + n) * REPORT_EVERY_MS + shift, origin),
      )
    }),
}

/** What a vessel reports at a position of the replay; before the start the position is negative. */
function report(vessel: Vessel, position: number, origin: number): NormalisedEvent {
  const { mmsi, name, knots, route } = vessel
  const hours = timeUnderWay(vessel, position) / HOUR_MS
  const [lat, lon] = placeOn(route, hours * knots * KM_PER_HOUR_OF_A_KNOT)
  const result = toVesselEvent({
    source: SOURCE,
    mmsi,
    name: `INVENTED ${name}`,
    lat,
    lon,
    at: Math.floor(origin + position),
    status: statusAt(vessel, position),
  })
  if ('rejected' in result) throw new Error(`${name}: ${result.rejected.reason}`)
  return result.event
}

/** For how long it has sailed since position 0, without the time that it lay still. */
function timeUnderWay({ incident }: Vessel, position: number): number {
  if (!incident || position < 0) return position
  const { from, to } = incident
  const current = roundAt(position)
  let still = 0
  for (let number = 1; number <= current; number += 1) {
    const { start, length } = roundOf(number)
    const since = position - (start + from * length)
    still += Math.min(Math.max(0, since), (to - from) * length)
  }
  return position - still
}

function statusAt({ incident }: Vessel, position: number): number {
  if (!incident || position < 0) return UNDER_WAY
  const { start, length } = roundOf(roundAt(position))
  const share = (position - start) / length
  return share >= incident.from && share < incident.to ? incident.status : UNDER_WAY
}

/** Where a vessel is that has sailed so many km up and down a route. */
function placeOn(route: Vessel['route'], km: number): Place {
  const legs = route.slice(1).map((to, index): [Place, Place, number] => {
    const from = route[index] ?? to
    return [from, to, distance_km({ lat: from[0], lon: from[1] }, { lat: to[0], lon: to[1] })]
  })
  const whole = legs.reduce((sum, [, , length]) => sum + length, 0)
  const turn = ((km % (2 * whole)) + 2 * whole) % (2 * whole)
  let left = whole - Math.abs(whole - turn)
  for (const [from, to, length] of legs) {
    if (left > length) {
      left -= length
      continue
    }
    const along = (a: number, b: number) => Number((a + ((b - a) * left) / length).toFixed(6))
    return [along(from[0], to[0]), along(from[1], to[1])]
  }
  return route.at(-1) ?? route[0]
}
