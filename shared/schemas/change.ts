/** Changes of alerts and events, for those who follow them. */
import { z } from 'zod'
import { latenessOf } from '../decide/lateness.ts'
import { Instant } from '../time.ts'
import { Alert } from './alert.ts'
import { EVENT_STATUSES, EventType, PositionFlag, Severity } from './event.ts'

/** An event in the form of the API, without its footprint. */
export const EventFields = z.object({
  id: z.string().meta({ example: 'usgs:us7000abcd' }),
  source: z.string(),
  type: EventType,
  title: z.string(),
  lat: z.number(),
  lon: z.number(),
  ts: Instant,
  severity: Severity,
  subject: z.string().nullable(),
  status: z.enum(EVENT_STATUSES).meta({
    description:
      '`active`; `ended`: it is over, at the latest since `ends_at`; `retracted`: its source has withdrawn it.',
  }),
  url: z.string().nullable(),
  magnitude: z.number().nullable().meta({ description: 'Where the source gives one.' }),
  depth_km: z.number().nullable().meta({ description: 'Where the source gives one.' }),
  ends_at: Instant.nullable().meta({
    description: 'Until when it lasts; null for an event without duration.',
  }),
  attribution: z.string().meta({
    description: 'Whom to name as the source of the event, in its own words.',
    example: 'Earthquake data: U.S. Geological Survey',
  }),
  flag: PositionFlag.nullable(),
  first_seen_at: Instant.meta({ description: 'When this service first heard of it.' }),
  late: z.boolean().meta({
    description:
      'Whether it was first seen later than its type and severity are news: then it raises an alert only while it lasts.',
  }),
  updated_at: Instant,
})
/** The stored fields of an event. */
export type UnmarkedEvent = Omit<z.infer<typeof EventFields>, 'late'>

/** An event with the mark whether it came late. */
export function marked<T extends UnmarkedEvent>(event: T): T & { late: boolean } {
  return { ...event, late: latenessOf({ ...event, known_since: event.first_seen_at }).late }
}

const Seq = z.int().min(1).meta({
  description: 'Counts what this follower has been told: 1, 2, 3 … without gaps.',
  example: 1,
})
const Kind = {
  upsert: z.literal('upsert'),
  gone: z.literal('gone'),
}

export const AlertChange = z
  .discriminatedUnion('kind', [
    z.object({ seq: Seq, kind: Kind.upsert, alert: Alert }),
    z.object({ seq: Seq, kind: Kind.gone, alert: z.object({ id: z.uuid() }) }),
  ])
  .meta({
    id: 'AlertChange',
    description:
      '`upsert`: the alert is new or has changed; `gone`: it was deleted, or you no longer see it.',
  })
export type AlertChange = z.infer<typeof AlertChange>

export const EventChange = z
  .discriminatedUnion('kind', [
    z.object({ seq: Seq, kind: Kind.upsert, event: EventFields.meta({ id: 'EventFields' }) }),
    z.object({ seq: Seq, kind: Kind.gone, event: z.object({ id: z.string() }) }),
  ])
  .meta({
    id: 'EventChange',
    description:
      '`upsert`: the event is new or has changed; `gone`: it was deleted, or you no longer see it.',
  })
export type EventChange = z.infer<typeof EventChange>
