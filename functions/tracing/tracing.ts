import type { Sql } from '../../shared/sql.ts'

type Attributes = Record<string, string | number | undefined>

/** A span while its work runs. */
export type Span = {
  set: (attributes: Attributes) => void
  rename: (name: string) => void
  /** Marks it as failed. The type is a short word, never a message: messages may hold secrets. */
  fail: (type: string) => void
}

/** What a span goes on from: by default the span that is active. */
export type Origin = {
  /** The traceparent of another process or transaction; null: it starts a trace of its own. */
  parent?: string | null
  /** The traceparents of what led to it besides. */
  links?: string[]
}

export type SpanOptions = Origin & {
  name: string
  /** By the semantic conventions of OpenTelemetry. */
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  attributes?: Attributes
}

/** Traces what a process does, by OpenTelemetry (otlp/otlp.ts) or not at all. */
export type Tracing = {
  is_on: boolean
  span: <T>(options: SpanOptions, work: (span: Span) => Promise<T>) => Promise<T>
  /** The active span as a W3C traceparent. */
  traceparent: () => string | undefined
  /** Sends what is left. */
  stop: () => Promise<void>
}

const NO_SPAN: Span = { set: () => undefined, rename: () => undefined, fail: () => undefined }

/** Costs nothing and knows nothing. */
export const NO_TRACING: Tracing = {
  is_on: false,
  span: (_, work) => work(NO_SPAN),
  traceparent: () => undefined,
  stop: async () => undefined,
}

const TRACEPARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/

/** The id of the active trace, if it is recorded. */
export function traceIdOf(tracing: Tracing): string | undefined {
  const [, id, flags = '0'] = TRACEPARENT.exec(tracing.traceparent() ?? '') ?? []
  return Number.parseInt(flags, 16) & 1 ? id : undefined
}

/** Follows a traceparent in the column `trace` of what starts a trace of its own. */
const APART = ' apart'

/**
 * Writes the active span into the transaction: the batches and deliveries that it inserts from then on have it in their
 * column `trace`. `apart`: the jobs of these rows start traces of their own, which are linked to this one.
 */
export async function markTransaction(
  sql: Sql,
  tracing: Tracing,
  { apart = false }: { apart?: boolean } = {},
): Promise<void> {
  const traceparent = tracing.traceparent()
  if (!traceparent) return
  await sql`select set_config('watchpost.trace', ${traceparent + (apart ? APART : '')}, true)`
}

/** How a job goes on from the column `trace` of its row. */
export function originOf(trace: string | null | undefined): Origin {
  if (!trace) return {}
  if (!trace.endsWith(APART)) return { parent: trace }
  return { parent: null, links: [traceparentOf(trace)] }
}

/** The traceparent in the column `trace`. */
export const traceparentOf = (trace: string) => trace.replace(APART, '')

/** The span of a call of a function of the database. */
export const callSpan = (name: string, attributes: Attributes = {}): SpanOptions => ({
  name,
  kind: 'client',
  attributes: {
    'db.system.name': 'postgresql',
    'db.stored_procedure.name': `private.${name}`,
    ...attributes,
  },
})

/** Calls a function of the database in a span. Batches and deliveries that it inserts go on from this span. */
export function traceCall<T>(
  { tracing, sql }: { tracing: Tracing; sql: Sql },
  { name, ...options }: { name: string; apart?: boolean; attributes?: Attributes },
  call: (span: Span) => Promise<T>,
): Promise<T> {
  return tracing.span(callSpan(name, options.attributes), async (span) => {
    // Sent together: the one does not wait for the other.
    const [, value] = await Promise.all([markTransaction(sql, tracing, options), call(span)])
    return value
  })
}

/** A short word for an error: its code or the name of its class. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'Error'
  const word = 'code' in error ? String(error.code) : error.name
  return /^\w{1,60}$/.test(word) ? word : 'Error'
}
