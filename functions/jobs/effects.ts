import type { BurstMemory } from '../../shared/decide/burst.ts'
import type { LinkedDecision } from '../../shared/decide/decide-linked.ts'
import { isSeenAgain, type Memory } from '../../shared/decide/match-memory.ts'
import { updateReason } from '../../shared/reason/reason.ts'
import type { EventReference } from '../../shared/schemas/alert.ts'
import { isMoving } from '../../shared/schemas/event.ts'
import type { Sql } from '../../shared/sql.ts'
import { NO_TRACING, type Tracing, traceCall } from '../tracing/tracing.ts'
import type { ZoneAtTime } from './zone-store.ts'

type Revision = Omit<EventReference, 'magnitude' | 'depth_km' | 'ends_at'> & { revision: number }

type Remembered = {
  zone_id: string
  key: string
  memory: Memory | BurstMemory
  /** When the subject of a stay that only goes on was seen; null when the memory itself changed. */
  seen_at: string | null
}

/** Of more alerts at once, every message has a trace of its own: nobody can read one of thousands of spans. */
const MAX_IN_ONE_TRACE = 20

const STATUS = {
  raised: 'pending',
  held: 'held',
  suppressed: 'suppressed',
  none: 'pending',
} as const

type Told = 'stay_end' | 'effective_severity' | 'update_delivery' | 'held_until'
/** What is told of an existing alert. */
type News = Pick<LinkedDecision, Told> & Partial<LinkedDecision>
type Update = NonNullable<LinkedDecision['update']>

/**
 * The results of a batch of decisions, collected first and then stored in a few statements: alerts
 * with their deliveries and jobs, updates of alerts, and match memory. Storing them twice changes
 * nothing.
 */
export class Effects {
  alertCount = 0
  updateCount = 0
  readonly #runId: string
  readonly #drillId: string | null
  readonly #alerts: object[] = []
  /** The events of the new alerts, by id and revision: each is sent once, however many alerts it raised. */
  readonly #events = new Map<string, { event: object; event_revision: number }>()
  readonly #advanced: object[] = []
  readonly #updates: object[] = []
  readonly #memories = new Map<string, Remembered>()

  /** With `drillId` its alerts are those of a drill. */
  constructor(runId: string, drillId: string | null = null) {
    this.#runId = runId
    this.#drillId = drillId
  }

  /** `before`: what is stored, or was remembered here since. */
  remember(
    zone_id: string,
    key: string,
    memory: Remembered['memory'],
    before: Memory | null = null,
  ): void {
    const id = `${zone_id} ${key}`
    const isStored = this.#memories.get(id)?.seen_at !== null
    const isOnlySeen = memory.kind === 'stay' && isStored && isSeenAgain(before, memory)
    const seen_at = isOnlySeen ? memory.last_seen_at : null
    this.#memories.set(id, { zone_id, key, memory, seen_at })
  }

  /** An alert is raised, held or recorded as suppressed; one that exists gets further. */
  alert(zone: ZoneAtTime, event: Revision, decision: LinkedDecision, at: Date): void {
    this.alertCount += 1
    const { event: told, ...reference } = this.#reference(zone, event)
    const row = {
      ...reference,
      alert_event_id: decision.alert_event_id,
      linked: linkedOf(zone, decision),
      zone_name: zone.label,
      severity: decision.effective_severity,
      reason: decision.reason,
      status: STATUS[decision.outcome],
      raised_at: at.toISOString(),
      held_until: decision.held_until?.toISOString() ?? null,
      checks: decision.checks,
      zone_version: zone.version,
      event_revision: event.revision,
      drill_id: this.#drillId,
    }
    if (decision.has_alert) {
      this.#advanced.push({ ...row, event: told })
      return
    }
    this.#alerts.push(row)
    const { revision } = event
    this.#events.set(`${event.id} ${revision}`, { event: told, event_revision: revision })
  }

  /** An update of an existing alert, which is sent to where the alert was sent. */
  update(zone: ZoneAtTime, event: Revision, decision: News, update: Update, at: Date): void {
    this.updateCount += 1
    const { checks = [], stay_end } = decision
    this.#updates.push({
      ...this.#reference(zone, event),
      alert_event_id: stay_end?.alert_event_id ?? decision.alert_event_id ?? event.id,
      kind: update,
      // Which sources report the event is no reason for its alert.
      reason:
        update === 'linked' || update === 'unlinked'
          ? null
          : updateReason(event, checks, update, stay_end?.how),
      news: { update, how: stay_end?.how ?? null, checks },
      at: at.toISOString(),
      severity: decision.alert_severity ?? decision.effective_severity,
      linked: linkedOf(zone, decision),
      send: decision.update_delivery === 'suppressed' ? null : decision.update_delivery,
      held_until:
        decision.update_delivery === 'held' ? (decision.held_until?.toISOString() ?? null) : null,
      event_revision: event.revision,
    })
  }

  #reference(zone: ZoneAtTime, event: Revision) {
    const { id, source, type, title, lat, lon, ts, severity, subject, status, url } = event
    // SQL adds what no decision reads: magnitude, depth and end.
    const reference: Omit<EventReference, 'magnitude' | 'depth_km' | 'ends_at'> = {
      ...{ id, source, type, title, lat, lon, ts, severity, subject, status, url },
    }
    return {
      zone_id: zone.id,
      event_id: id,
      source,
      subject: isMoving(event.subject) ? event.subject : null,
      event: reference,
    }
  }

  /** Statements that are sent together and run in this order. */
  async store(sql: Sql, tracing: Tracing = NO_TRACING): Promise<void> {
    const sent: Promise<unknown>[] = []
    const apart = this.alertCount + this.updateCount > MAX_IN_ONE_TRACE
    const send = (name: string, call: () => Promise<unknown>) =>
      sent.push(traceCall({ tracing, sql }, { name, apart }, call))
    sent.push(...this.#storeMemories(sql))
    if (this.#alerts.length > 0) {
      send(
        'raise_alerts',
        () =>
          sql`select private.raise_alerts(
            ${JSON.stringify(this.#alerts)}::jsonb, ${JSON.stringify([...this.#events.values()])}::jsonb, ${this.#runId})`,
      )
    }
    if (this.#advanced.length > 0) {
      send(
        'advance_alerts',
        () =>
          sql`select private.advance_alerts(${JSON.stringify(this.#advanced)}::jsonb, ${this.#runId})`,
      )
    }
    if (this.#updates.length > 0) {
      send(
        'update_alerts',
        () => sql`select private.update_alerts(${JSON.stringify(this.#updates)}::jsonb)`,
      )
    }
    await Promise.all(sent)
  }

  *#storeMemories(sql: Sql): Generator<Promise<unknown>> {
    const memories = [...this.#memories.values()]
    const changed = memories.filter(({ seen_at }) => seen_at === null)
    if (changed.length > 0) {
      yield sql`
        insert into watchpost.match_memory as m (zone_id, key, memory)
        select zone_id, key, memory
        from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb)
          as x (zone_id uuid, key text, memory jsonb)
        order by zone_id, key
        on conflict (zone_id, key) do update
        set memory = excluded.memory, updated_at = now(), seen_at = null`
    }
    const seen = memories.filter(({ seen_at }) => seen_at !== null)
    if (seen.length > 0) {
      // What has an index stays as it is, so that the row alone is written. decideAll has locked it.
      yield sql`
        update watchpost.match_memory m
        set seen_at = s.seen_at,
            updated_at = case when m.updated_at < now() - interval '1 hour' then now() else m.updated_at end
        from unnest(
          ${seen.map(({ zone_id }) => zone_id)}::uuid[], ${seen.map(({ key }) => key)}::text[],
          ${seen.map(({ seen_at }) => seen_at)}::timestamptz[]) as s (zone_id, key, seen_at)
        where m.zone_id = s.zone_id and m.key = s.key`
    }
  }
}

/** The decision that adds an event to the alert of another one. */
function linkedOf({ version }: ZoneAtTime, { link, checks, reason }: Partial<LinkedDecision>) {
  return link ? { link, checks, reason, zone_version: version } : null
}
