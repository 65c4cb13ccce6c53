/**
 * Aftershocks of large earthquakes, by the rule of the USGS Earthquake Notification Service (ENS): for a mainshock of
 * magnitude M, 5.5 or more, they are the earthquakes below M − 2 within twice its rupture length, for 10 to 120 days.
 */
import { z } from 'zod'
import { distance_km } from '../geometry/geometry.ts'
import { Instant } from '../time.ts'

const DEFAULT_GAP = 2
const DAY_MS = 24 * 60 * 60 * 1000
/** The days that the ENS excludes aftershocks for, from these magnitudes on. */
const DAYS_FROM = [
  [8, 120],
  [7, 60],
  [6.5, 30],
  [6, 20],
] as const
const SHORTEST_DAYS = 10
export const LONGEST_DAYS = DAYS_FROM[0][1]
/**
 * Reports of one earthquake differ by this much in time, at most, and by far more in magnitude. What is this close to
 * the mainshock may be the mainshock as another agency saw it, which is never excluded.
 */
const SAME_QUAKE_MS = 60_000

const gap = z.number().min(0.5).max(5)
const GAP = {
  description:
    'An aftershock is below the magnitude of its mainshock by more than this: 0.5–5. Default 2, as the USGS has it.',
  example: DEFAULT_GAP,
}
/** The field of a zone, as stored. */
export const Aftershocks = z.object({ magnitude_gap: gap.meta(GAP) }).meta({
  id: 'Aftershocks',
  description:
    'Earthquakes that are aftershocks of one of magnitude 5.5 or more raise no alert, unless they reach emergency_severity.',
})
export type Aftershocks = z.infer<typeof Aftershocks>
/** The field of a zone, as it may be sent. */
export const GivenAftershocks = z
  .strictObject({ magnitude_gap: gap.default(DEFAULT_GAP).meta(GAP) })
  .meta({ id: 'GivenAftershocks', description: 'Excludes aftershocks.' })

export const AftershockCheck = z
  .object({
    name: z.literal('aftershock'),
    passed: z.boolean(),
    magnitude: z.number().nullable().meta({
      description: 'Of the event; null when it is not an earthquake or has none, which passes.',
    }),
    magnitude_gap: z.number(),
    mainshock: z
      .object({
        event_id: z.string(),
        magnitude: z.number().meta({ description: 'As it was known at the time.' }),
        ts: Instant,
        distance_km: z.number(),
        limit_km: z.number().meta({
          description: 'Twice its rupture length by Wells and Coppersmith (1994).',
        }),
        days: z.number().meta({ description: 'How long it has aftershocks, by its magnitude.' }),
        until: Instant,
      })
      .nullable()
      .meta({
        description:
          'The strongest earthquake whose aftershocks the event may belong to by time and place; null when there is none.',
      }),
    emergency_severity: z.number().nullable(),
    overridden_by_emergency: z.boolean(),
  })
  .meta({
    id: 'AftershockCheck',
    description: 'Only of a zone with `aftershocks`. An aftershock raises no alert.',
  })
export type AftershockCheck = z.infer<typeof AftershockCheck>

/**
 * What was known of an earthquake from `first_seen_at` on. `counts`: it was a mainshock, and not retracted; which are
 * is decided where they are stored, in sql/33_mainshocks.sql.
 */
export type MainshockState = {
  event_id: string
  first_seen_at: string
  ts: string
  lat: number
  lon: number
  magnitude: number
  counts: boolean
}

/** An earthquake that was a mainshock at some time, and when it can have had aftershocks, whatever was known of it. */
type Mainshock = { states: MainshockState[]; from_ms: number; until_ms: number }
export type Mainshocks = readonly Mainshock[]

interface AftershockRule {
  aftershocks: Aftershocks | null
  emergency_severity: number | null
}

interface Quake {
  id: string
  type: string
  magnitude?: number | null | undefined
  lat: number
  lon: number
  ts: string
}

/**
 * The length of a rupture at the surface in kilometres: log10(SRL) = −3.22 + 0.69 M, for all types of slip.
 *
 * D. L. Wells and K. J. Coppersmith (1994): New empirical relationships among magnitude, rupture length, rupture width,
 * rupture area, and surface displacement. Bulletin of the Seismological Society of America 84 (4), 974–1002, table 2A.
 * The ENS uses this relation and not the one of the length below the surface, log10(RLD) = −2.44 + 0.59 M.
 */
export function ruptureLength_km(magnitude: number): number {
  return 10 ** (-3.22 + 0.69 * magnitude)
}

/** How far from a mainshock its aftershocks are. */
export function aftershockLimit_km(magnitude: number): number {
  return 2 * ruptureLength_km(magnitude)
}

/** How many days a mainshock has aftershocks. */
export function aftershockDays(magnitude: number): number {
  return DAYS_FROM.find(([from]) => magnitude >= from)?.[1] ?? SHORTEST_DAYS
}

/** The states of each earthquake together, in the order in which they were seen. */
export function groupMainshocks(states: readonly MainshockState[]): Mainshocks {
  const groups = Map.groupBy(states, ({ event_id }) => event_id)
  return [...groups.values()].flatMap((group) => {
    const counting = group.filter(({ counts }) => counts)
    if (counting.length === 0) return []
    return {
      states: group.sort((a, b) => (a.first_seen_at < b.first_seen_at ? -1 : 1)),
      from_ms: Math.min(...counting.map(({ ts }) => Date.parse(ts))),
      until_ms: Math.max(...counting.map((state) => untilOf(state))),
    }
  })
}

/**
 * Checks whether an event is an aftershock of an earthquake that was known `at` this time. An emergency passes, and so
 * does all but an earthquake with a magnitude. Null for a zone that does not exclude aftershocks.
 */
export function checkAftershock(
  { aftershocks, emergency_severity }: AftershockRule,
  event: Quake,
  { at, effective, mainshocks }: { at: Date; effective: number; mainshocks: Mainshocks },
): AftershockCheck | null {
  if (!aftershocks) return null
  const { magnitude_gap } = aftershocks
  const magnitude = event.type === 'earthquake' ? (event.magnitude ?? null) : null
  const isBelow = (found: Found) => magnitude !== null && isWeaker(magnitude, found, magnitude_gap)
  const around = magnitude === null ? [] : mainshocksAround(event, at, mainshocks)
  const mainshock = around.reduce<Found | null>(
    (most, found) => (most && most.magnitude >= found.magnitude ? most : found),
    null,
  )
  const isAftershock = mainshock !== null && isBelow(mainshock)
  const isEmergency = emergency_severity !== null && effective >= emergency_severity
  return {
    name: 'aftershock',
    passed: !isAftershock || isEmergency,
    magnitude,
    magnitude_gap,
    mainshock,
    emergency_severity,
    overridden_by_emergency: isAftershock && isEmergency,
  }
}

type Found = NonNullable<AftershockCheck['mainshock']>

/** The mainshocks whose aftershocks an event may belong to by time and place. */
function mainshocksAround(event: Quake, at: Date, mainshocks: Mainshocks): Found[] {
  const ts_ms = Date.parse(event.ts)
  const moment = at.toISOString()
  return mainshocks.flatMap(({ states, from_ms, until_ms }) => {
    if (ts_ms <= from_ms || ts_ms >= until_ms) return []
    const state = states.findLast(({ first_seen_at }) => first_seen_at <= moment)
    if (!state?.counts || state.event_id === event.id) return []
    const { event_id, magnitude, ts } = state
    if (ts_ms - Date.parse(ts) <= SAME_QUAKE_MS || ts_ms >= untilOf(state)) return []
    const limit_km = aftershockLimit_km(magnitude)
    const distance = distance_km(state, event)
    if (distance > limit_km) return []
    const days = aftershockDays(magnitude)
    const until = new Date(untilOf(state)).toISOString()
    return { event_id, magnitude, ts, distance_km: distance, limit_km, days, until }
  })
}

function untilOf({ ts, magnitude }: MainshockState): number {
  return Date.parse(ts) + aftershockDays(magnitude) * DAY_MS
}

/** Below M − gap; rounded, because 6.1 − 2 is not exactly 4.1. */
function isWeaker(magnitude: number, mainshock: { magnitude: number }, gap: number): boolean {
  return Math.round((mainshock.magnitude - gap - magnitude) * 1e9) > 0
}
