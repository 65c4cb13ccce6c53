import { latenessOf } from '../../shared/decide/lateness.ts'
import { extentOfEvent } from '../../shared/geometry/geometry.ts'
import { createRoute, jsonBody, jsonResponse, resource, respond } from '../../shared/route.ts'
import {
  MAX_PUSHED_A_DAY,
  Push,
  Pushed,
  PushedEvent,
  type PushOutcome,
} from '../../shared/schemas/push.ts'
import { can } from '../auth.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { runInSlices } from '../scheduling.ts'
import { write } from '../transaction.ts'
import { type Item, readItems } from './pushed-items.ts'

type EventItem = Extract<Item, { kind: 'event' }>
type Row = { id: string; event_id: string; outcome: 'created' | 'revised' | 'unchanged' }

export const push = resource<Env>()
// Push names it by reference, because its items are validated one by one. A copy, because a schema has the
// method for this only if it was made after the library was loaded.
push.openAPIRegistry.register('PushedEvent', PushedEvent.meta(PushedEvent.meta() ?? {}))

push.openapi(
  createRoute({
    method: 'post',
    path: '/',
    operationId: 'pushEvents',
    tags: ['Events'],
    summary: 'Send events of one’s own',
    description:
      'Stores up to 1,000 events as the source `custom:<name>`. Only the caller sees them or, with `org_id`, the ' +
      'organisation; zones match them like any other. Each item is accepted or refused for itself. An account may send ' +
      '100,000 items a day on Pro and 1,000,000 on Enterprise.',
    security: [{ key: [] }],
    middleware: can('ingest'),
    request: { body: jsonBody(Push) },
    responses: {
      200: jsonResponse(Pushed, 'What became of each item.'),
      ...problems(413, 415, 422),
    },
  }),
  async (c) => {
    const push = c.req.valid('json')
    const { source, org_id = null } = push
    const now = new Date().toISOString()
    const { items, ignored } = await runInSlices(readItems(push, new Date(now)))
    const events = items.filter((item) => item.kind === 'event')
    const refused = items.filter(({ kind }) => kind === 'refused').length
    const last = new Map(events.map((item) => [item.event.id, item]))
    const stored = [...last.values()].map(({ event, aliases }) => ({
      ...event,
      source,
      aliases,
      ts: new Date(event.ts).toISOString(),
      box: extentOfEvent(event),
    }))
    const rows = await write(
      c,
      (sql) => sql<Row>`
        select id, event_id, outcome
        from private.push_events(
          ${source}, ${org_id}, ${JSON.stringify(stored)}::jsonb, ${JSON.stringify(MAX_PUSHED_A_DAY)}::jsonb)`,
    )
    const byId = new Map(rows.map((row) => [row.id, row]))
    const count = (outcome: Row['outcome']) => rows.filter((row) => row.outcome === outcome).length
    Object.assign(c.get('log'), {
      source,
      inserted: count('created'),
      revised: count('revised'),
      unchanged: count('unchanged'),
      rejected_count: refused,
    })
    return respond(
      c,
      Pushed,
      {
        accepted: events.length,
        refused,
        ignored,
        results: items.map((item) => (item.kind === 'event' ? outcomeOf(item) : without(item))),
      },
      200,
    )

    function outcomeOf(item: EventItem): PushOutcome {
      const { id } = item.event
      const row = byId.get(id)
      if (!row) throw new Error(`the database answered nothing about ${id}`)
      const outcome = last.get(id) === item ? row.outcome : 'superseded'
      const reason = outcome === 'created' ? tooLate(item.event, now) : null
      return { index: item.index, id, event_id: row.event_id, outcome, reason }
    }
  },
)

/** Says of an event first seen at `known_since` that it will raise no alert for its age; null when it may. */
function tooLate(event: PushedEvent, known_since: string): string | null {
  const { late, news_for_hours } = latenessOf({ ...event, known_since })
  if (!late || (event.ends_at !== null && event.ends_at > known_since)) return null
  return `It is stored, but raises no alert: its \`ts\` is older than ${news_for_hours} hours, and no \`ends_at\` says that it lasts.`
}

function without(item: Exclude<Item, EventItem>): PushOutcome {
  const { index, reason } = item
  return item.kind === 'refused'
    ? { index, id: item.id, event_id: null, outcome: 'refused', reason }
    : { index, id: null, event_id: null, outcome: 'no_event', reason }
}
