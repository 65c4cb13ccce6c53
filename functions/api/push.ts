import type { z } from 'zod'
import { extentOfEvent } from '../../shared/geometry/geometry.ts'
import { MAX_PUSHED_A_DAY, Push, Pushed, PushedEvent, type PushOutcome } from '../../shared/push.ts'
import { createRoute, jsonBody, jsonResponse, resource, respond } from '../../shared/route.ts'
import { can } from '../auth.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { write } from '../transaction.ts'

type Item = { index: number; event: PushedEvent }
type Refused = { index: number; id: string | null; reason: string }
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
    const { source, org_id = null, events } = c.req.valid('json')
    const { items, refused } = readItems(events)
    const last = new Map(items.map((item) => [item.event.id, item]))
    const stored = [...last.values()].map(({ event }) => ({
      ...event,
      source,
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
    const results = [...items.map(outcomeOf), ...refused.map(refusalOf)]
    results.sort((a, b) => a.index - b.index)
    return respond(c, Pushed, { accepted: items.length, refused: refused.length, results }, 200)

    function outcomeOf(item: Item): PushOutcome {
      const { id } = item.event
      const row = byId.get(id)
      if (!row) throw new Error(`the database answered nothing about ${id}`)
      const outcome = last.get(id) === item ? row.outcome : 'superseded'
      return { index: item.index, id, event_id: row.event_id, outcome, reason: null }
    }
  },
)

function refusalOf({ index, id, reason }: Refused): PushOutcome {
  return { index, id, event_id: null, outcome: 'refused', reason }
}

/** Validates each item for itself. A refused one is told by its first mistake. */
function readItems(given: unknown[]): { items: Item[]; refused: Refused[] } {
  const items: Item[] = []
  const refused: Refused[] = []
  for (const [index, one] of given.entries()) {
    const read = PushedEvent.safeParse(one)
    if (read.success) items.push({ index, event: read.data })
    else refused.push({ index, id: idOf(one), reason: reasonOf(read.error) })
  }
  return { items, refused }
}

function reasonOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.')
  return `${path ? `${path}: ` : ''}${issue?.message ?? 'It cannot be read.'}`
}

function idOf(item: unknown): string | null {
  const read = PushedEvent.pick({ id: true }).strip().safeParse(item)
  return read.success ? read.data.id : null
}
