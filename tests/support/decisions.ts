import type { Check, CheckName, DecidableEvent, ZoneRule } from '../../shared/decide/checks.ts'
import { type DecideOptions, type Decision, decide, Memory } from '../../shared/decide/decide.ts'
import { zoneDefaults } from '../../shared/schemas/zone.ts'

export const NOON = '2026-03-01T12:00:00.000Z'
export const later = (minutes: number, from = NOON) =>
  new Date(Date.parse(from) + minutes * 60_000).toISOString()

export const zone = (more: Partial<ZoneRule> = {}): ZoneRule => ({
  ...zoneDefaults({ label: 'Home', lat: 0, lon: 0, radius_km: 100 }),
  ...more,
})
export const quake = (more: Partial<DecidableEvent> = {}): DecidableEvent => ({
  id: 'usgs:us1',
  source: 'usgs',
  type: 'earthquake',
  title: 'M 5.7 - 10 km E of Home',
  lat: 0,
  lon: 0.1,
  ts: NOON,
  severity: 71,
  subject: null,
  status: 'active',
  geometry: null,
  magnitude: null,
  depth_km: null,
  ends_at: null,
  flag: null,
  known_since: more.ts ?? NOON,
  ...more,
})
/** A ship, so many degrees east of the centre; 100 km are 0.8993°. */
export const ship = (
  minutes: number,
  lon: number,
  more: Partial<DecidableEvent> = {},
): DecidableEvent =>
  quake({
    id: `ais:230:${minutes}`,
    source: 'ais',
    type: 'vessel',
    title: 'MS Test',
    ts: later(minutes),
    lon,
    subject: 'mmsi:230123456',
    ...more,
  })

export const tell = (
  rule: ZoneRule,
  event: DecidableEvent,
  memory: Memory | null = null,
  at = NOON,
  options: DecideOptions = {},
) => decide(rule, event, memory, new Date(at), options)
export const checkOf = <N extends CheckName>(decision: Decision, name: N) => {
  const check = decision.checks.find((c) => c.name === name)
  if (!check) throw new Error(`no check ${name}`)
  return check as Extract<Check, { name: N }> // safe: it was found by that name
}
/** follow folds revisions, each first seen when it says; answers the outcomes and the last decision. */
export function follow(rule: ZoneRule, steps: [event: DecidableEvent, at?: string][]) {
  let memory: Memory | null = null
  const outcomes: string[] = []
  let last: Decision | null = null
  for (const [event, at = event.ts] of steps) {
    last = tell(rule, event, memory, at)
    memory = last.memory === null ? null : Memory.parse(JSON.parse(JSON.stringify(last.memory)))
    outcomes.push(last.update ? `${last.outcome} ${last.update}` : last.outcome)
  }
  if (!last) throw new Error('no steps')
  return { outcomes, last, memory }
}

export const night = { quiet_hours_start: '22:00', quiet_hours_end: '07:00' }
export const NIGHT = '2026-03-01T23:00:00.000Z'
export const MORNING = '2026-03-02T07:00:00.000Z'
