/**
 * What matching remembers between two revisions, stored as JSON per zone and event, or per zone and moving subject.
 * A *stay* is the time a moving subject spends inside a zone: it begins with the first position inside and ends when
 * one position is clearly outside, two in a row are outside, or nothing was seen for 24 hours.
 */
import { z } from 'zod'
import { EVENT_STATUSES, isMoving } from '../schemas/event.ts'
import { Instant } from '../time.ts'
import { LinkFacts } from './link.ts'

/** What became of an alert: recorded only, waiting for the end of quiet hours, or sent. */
export const AlertOutcome = z.enum(['suppressed', 'held', 'raised'])
export type AlertOutcome = z.infer<typeof AlertOutcome>

/** The memory of an event that does not move; null while there is no alert. */
export const EventMemory = z.object({
  kind: z.literal('event'),
  status: AlertOutcome,
  /** The highest effective severity so far. */
  peak: z.number(),
  held_until: Instant.nullable(),
  /** The last revision that was announced, to compare the next one with. */
  last: z.object({
    severity: z.number(),
    title: z.string(),
    lat: z.number(),
    lon: z.number(),
    ts: Instant,
    status: z.enum(EVENT_STATUSES),
  }),
  /** Where the group of its alert is remembered; absent where no other source reports such events. */
  link: z.object({ key: z.string(), group: z.string() }).optional(),
})
export type EventMemory = z.infer<typeof EventMemory>

/** The latest stay of a moving subject; `began_at` is null when it has ended. */
export const StayMemory = z.object({
  kind: z.literal('stay'),
  began_at: Instant.nullable(),
  outside_in_a_row: z.int().min(0),
  last_seen_at: Instant,
  alert: AlertOutcome.nullable(),
  /** The position that raised the alert. */
  alert_event_id: z.string().nullable().default(null),
  peak: z.number().nullable(),
  held_until: Instant.nullable(),
})
export type StayMemory = z.infer<typeof StayMemory>

/** The events of several sources that one alert is about, because they report the same thing. */
export const LinkGroup = z.object({
  /** The event that began it and when, because an event may leave its group and begin another. */
  id: z.string(),
  /** The event of the alert: that which began it, or a later one that took a held or suppressed alert further. */
  alert: z.string(),
  /** Of the alert, as in {@link EventMemory}. */
  status: AlertOutcome,
  peak: z.number(),
  held_until: Instant.nullable(),
  members: z.array(
    LinkFacts.extend({
      status: z.enum(EVENT_STATUSES),
      /** Its effective severity when it was told last. */
      effective: z.number(),
    }),
  ),
})
export type LinkGroup = z.infer<typeof LinkGroup>

/** What a zone was alerted about lately, for a kind of event and a part of time or space. */
export const LinksMemory = z.object({ kind: z.literal('links'), groups: z.array(LinkGroup) })
export type LinksMemory = z.infer<typeof LinksMemory>

export const Memory = z.discriminatedUnion('kind', [EventMemory, StayMemory, LinksMemory])
export type Memory = z.infer<typeof Memory>

/** The key of an event in a zone's memory: its subject when that moves, otherwise its id. */
export function memoryKey(event: { id: string; subject: string | null }): string {
  return isMoving(event.subject) && event.subject !== null ? event.subject : event.id
}

/** Whether a stay only goes on: nothing but when its subject was seen last differs. */
export function isSeenAgain(before: Memory | null, after: Memory): boolean {
  if (before?.kind !== 'stay' || after.kind !== 'stay') return false
  return STAY_FIELDS.every((field) => before[field] === after[field])
}

/** All but when the subject was seen last. */
const STAY_FIELDS = [
  'began_at',
  'outside_in_a_row',
  'alert',
  'alert_event_id',
  'peak',
  'held_until',
] as const satisfies (keyof StayMemory)[]

/** A subject that was not seen for longer has left. */
export const UNSEEN_MS = 24 * 60 * 60 * 1000
const OUTSIDE_IN_A_ROW = 2

export interface StayStep {
  /** The memory after this position; null when the subject was never inside. */
  stay: StayMemory | null
  /** The position is not newer than the last one, so it is ignored. */
  late: boolean
}

/**
 * Advances a stay by one position, in event time. `isFarOutside` tells whether a position outside is far
 * enough to end the stay by itself; it is called only when that matters.
 */
export function advanceStay(
  memory: StayMemory | null,
  position: { ts: string; inside: boolean },
  isFarOutside: () => boolean,
): StayStep {
  const { ts, inside } = position
  const unseen_ms = memory ? Date.parse(ts) - Date.parse(memory.last_seen_at) : 0
  if (memory && unseen_ms <= 0) return { stay: memory, late: true }
  const stay = memory?.began_at && unseen_ms <= UNSEEN_MS ? memory : null
  if (inside) {
    const began = { began_at: ts, ...NO_ALERT }
    const next = { ...(stay ?? began), outside_in_a_row: 0, last_seen_at: ts }
    return { stay: { kind: 'stay', ...next }, late: false }
  }
  if (!memory) return { stay: null, late: false }
  const outside_in_a_row = memory.outside_in_a_row + 1
  if (stay && outside_in_a_row < OUTSIDE_IN_A_ROW && !isFarOutside()) {
    return { stay: { ...stay, outside_in_a_row, last_seen_at: ts }, late: false }
  }
  return { stay: endedStay(memory, ts), late: false }
}

/** The memory after the end of a stay. */
export function endedStay(memory: StayMemory, last_seen_at: string): StayMemory {
  return { ...memory, began_at: null, outside_in_a_row: 0, ...NO_ALERT, last_seen_at }
}

const NO_ALERT = { alert: null, alert_event_id: null, peak: null, held_until: null }
