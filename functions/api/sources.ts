import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import { createRoute, jsonResponse, resource, respond } from '../../shared/route.ts'
import { Instant } from '../../shared/time.ts'
import type { Ctx, Env } from '../context.ts'
import { Problem } from '../http.ts'

/** How long an answer about the sources may be cached. */
export const CACHE_SECONDS = 30

const SourceHealth = z
  .object({
    source: z.string().meta({ example: 'usgs' }),
    title: z.string(),
    attribution: z.string(),
    status: z.enum(['ok', 'stale', 'down', 'disabled']).meta({
      description:
        '`stale`: it is reachable but delivers nothing, or nothing that can be read; `down`: it answers with errors; `disabled`: this service does not poll it, or an operator has paused it, which `error` says.',
    }),
    last_success_at: Instant.nullable(),
    last_event_at: Instant.nullable(),
    events_24h: z.int().meta({
      description:
        'How many events of the last 24 hours it has told of; of a source of positions, how many vessels or aircraft.',
    }),
    error: z.string().nullable(),
    latency_seconds: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }).meta({
      description: 'Seconds from the time of an event until it was stored, over the last 24 hours.',
    }),
    delivery_seconds: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }).meta({
      description:
        'Seconds from when an event was first seen until a channel had accepted its alert, over the last 24 hours and all accounts; measured every ten minutes. Null for fewer than five deliveries.',
    }),
    items_24h: z.int().meta({
      description: 'How many items its answers had in the current hour and the 23 before.',
    }),
    rejected_24h: z.int().meta({ description: 'How many of `items_24h` could not be used.' }),
    rejected_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why the last of them was rejected; null without one.' }),
  })
  .meta({ id: 'SourceHealth' })
export type SourceHealth = z.infer<typeof SourceHealth>

const Health = z
  .object({
    status: z.enum(['ok', 'degraded', 'down']).meta({
      description:
        '`ok`: every enabled source is ok; `down`: every source is down, or the database is unavailable.',
    }),
    generated_at: Instant,
    sources: z.array(SourceHealth),
    jobs_start: z
      .enum(['at_once', 'polling'])
      .nullable()
      .meta({
        description:
          'How new work starts: `polling`: at the next look, seconds later, because this process does not hear ' +
          'the notifications of the database; null: the jobs run elsewhere.',
      }),
  })
  .meta({ id: 'Health' })
type Health = z.infer<typeof Health>

export const sources = resource<Env>()

sources.openapi(
  createRoute({
    method: 'get',
    path: '/health',
    operationId: 'getSourcesHealth',
    tags: ['Service'],
    summary:
      'Report the health of each source; public, and answered even while the database is unavailable',
    security: [],
    responses: {
      200: jsonResponse(Health, 'Always 200; problems are reported in `status`.'),
      429: {
        description: 'Too many requests. Wait for the time in Retry-After.',
        content: { 'application/problem+json': { schema: Problem } },
      },
    },
  }),
  async (c) => {
    limitAddress(c)
    const listed = await listSources(c)
    return respond(
      c,
      Health,
      {
        status: listed ? overallStatus(listed) : 'down',
        generated_at: new Date().toISOString(),
        sources: listed ?? [],
        jobs_start: c.get('deps').jobs_start?.() ?? null,
      },
      200,
      { 'Cache-Control': `public, max-age=${CACHE_SECONDS}` },
    )
  },
)

type Row = Omit<SourceHealth, 'latency_seconds' | 'delivery_seconds'> & {
  latency_p50: number | null
  latency_p95: number | null
  delivery_p50: number | null
  delivery_p95: number | null
}

/** Counts a request without a key. Throws 429 when its address has sent too many. */
export function limitAddress(c: Ctx): void {
  const wait = c.get('deps').address_limit(c.get('deps').address(c))
  if (wait === 0) return
  throw new ApiError('rate_limited', `Too many requests. Try again in ${wait} s.`, {
    headers: { 'Retry-After': String(wait) },
  })
}

/** The sources; undefined while the database is unavailable, which is logged. */
export async function listSources(c: Ctx): Promise<SourceHealth[] | undefined> {
  try {
    const connection = await c.get('deps').db.connect()
    try {
      const { rows } = await connection.query('select * from private.sources_health()')
      connection.release()
      // safe: the columns of private.sources_health, and the answer's schema looks at each
      return (rows as Row[]).map(
        ({ latency_p50, latency_p95, delivery_p50, delivery_p95, ...row }) => ({
          ...row,
          latency_seconds: { p50: latency_p50, p95: latency_p95 },
          delivery_seconds: { p50: delivery_p50, p95: delivery_p95 },
        }),
      )
    } catch (error) {
      connection.release(true)
      throw error
    }
  } catch (error) {
    c.get('log').error = error instanceof Error ? error.message : String(error)
    return undefined
  }
}

/** `down` when every enabled source is, `ok` when each is. */
export function overallStatus(listed: SourceHealth[]): Health['status'] {
  const enabled = listed.filter(({ status }) => status !== 'disabled')
  if (enabled.every(({ status }) => status === 'down')) return 'down'
  return enabled.every(({ status }) => status === 'ok') ? 'ok' : 'degraded'
}
