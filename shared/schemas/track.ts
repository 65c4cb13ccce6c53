/** The way of a thing that moves. */
import { z } from 'zod'
import type { Steps } from '../geometry/steps.ts'
import { Instant } from '../time.ts'
import { type EventType, PositionFlag, Severity } from './event.ts'

export const TrackStep = z
  .object({
    lat: z.number(),
    lon: z.number(),
    ts: Instant,
    severity: Severity,
    flag: PositionFlag.nullable(),
  })
  .meta({
    id: 'TrackStep',
    description:
      'Where it was at a time. With a `flag` nothing is known of the way from the step before: it was not heard of for ' +
      'long (`gap`), or nothing moves that fast (`jump`).',
  })
export type TrackStep = z.infer<typeof TrackStep>

const HOUR_MS = 3_600_000
/** What lasts longer is a silence: advisories of storms come every six hours. */
const GAPS_MS: Partial<Record<EventType, number>> = {
  vessel: HOUR_MS,
  aircraft: HOUR_MS / 6,
  storm: 12 * HOUR_MS,
}
/** Of others, such as an iceberg that is seen once a week, what is much longer than is usual for it. */
const MIN_GAP_MS = 24 * HOUR_MS
const USUAL = 4

/** Marks the steps after a silence. Those of vessels and aircraft were marked when they came. */
export function markGaps(type: EventType, steps: readonly TrackStep[]): TrackStep[] {
  const times = steps.map(({ ts }) => Date.parse(ts))
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? time))
  const usual = waits.toSorted((a, b) => a - b)[Math.floor((waits.length - 1) / 2)] ?? 0
  const limit = GAPS_MS[type] ?? Math.max(MIN_GAP_MS, USUAL * usual)
  return steps.map((step, index) => {
    const wait = waits[index - 1] ?? 0
    return step.flag === null && wait > limit ? { ...step, flag: 'gap' } : step
  })
}

/**
 * Leaves out the steps that a map of this many degrees a pixel would draw in one place. The first and the last stay,
 * both ends of a gap, and when it lay still and when it went on.
 */
export function* thinSteps(steps: readonly TrackStep[], degrees: number): Steps<TrackStep[]> {
  const kept: TrackStep[] = []
  for (const [index, step] of steps.entries()) {
    if (index % 1000 === 999) yield 1000
    const last = kept.at(-1)
    const next = steps[index + 1]
    const isEnd = !last || !next || step.flag !== null || next.flag !== null
    if (isEnd || isFar(last, step, degrees) || isFar(last, next, degrees)) kept.push(step)
  }
  return kept
}

function isFar(from: TrackStep, to: TrackStep, degrees: number): boolean {
  const turn = Math.abs(to.lon - from.lon)
  const lon = Math.min(turn, 360 - turn) * Math.cos((from.lat * Math.PI) / 180)
  return Math.hypot(lon, to.lat - from.lat) >= degrees
}
