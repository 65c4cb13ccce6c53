import type { OpenAPIHono } from '@hono/zod-openapi'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import { VERSION } from '../../shared/version.ts'
import { ZoneCreate, ZonePatch } from '../../shared/zone.ts'
import { authenticate, can, consumeBudget } from '../auth.ts'
import type { Caller, Ctx, Env, Scope } from '../context.ts'

type Call = { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; body?: unknown }
type Tool = {
  name: string
  title: string
  description: string
  scope: Scope
  input: z.ZodObject
  call: (input: Record<string, unknown>) => Call
}

const Id = z.uuid()
const limit = z.int().min(1).max(500).optional()
const days = z.int().min(1).max(90).optional()

/** The tools for models. Each one is a route of the API, with its input and answer. */
const TOOLS: Tool[] = [
  {
    name: 'list_events',
    title: 'List events',
    description:
      'Events of the last minutes (default 60, at most 1440) inside the zones of this account, newest first.',
    scope: 'read',
    input: z.object({
      minutes: z.int().min(1).max(1440).optional(),
      zone_id: Id.optional(),
      source: z.string().optional(),
      type: z.string().optional(),
      min_severity: z.number().min(0).max(100).optional(),
      limit,
      cursor: z.string().optional(),
    }),
    call: (input) => ({ method: 'GET', path: `/events${query(input)}` }),
  },
  {
    name: 'list_zones',
    title: 'List zones',
    description: 'The watch zones of this account and its organisations.',
    scope: 'read',
    input: z.object({ limit, cursor: z.string().optional() }),
    call: (input) => ({
      method: 'GET',
      path: `/zones${query({ ...input, geometry: 'simplified' })}`,
    }),
  },
  {
    name: 'get_zone',
    title: 'Get a zone',
    description: 'One watch zone with all its rules.',
    scope: 'read',
    input: z.object({ zone_id: Id }),
    call: ({ zone_id }) => ({ method: 'GET', path: `/zones/${zone_id}` }),
  },
  {
    name: 'list_alerts',
    title: 'List alerts',
    description: 'The alerts of the last days (default 7), newest first, with their deliveries.',
    scope: 'read',
    input: z.object({
      days,
      zone_id: Id.optional(),
      resolved: z.boolean().optional(),
      status: z.string().optional(),
      limit,
      cursor: z.string().optional(),
    }),
    call: (input) => ({ method: 'GET', path: `/alerts${query(input)}` }),
  },
  {
    name: 'get_alert',
    title: 'Get an alert',
    description: 'One alert with its event, reason, deliveries and updates.',
    scope: 'read',
    input: z.object({ alert_id: Id }),
    call: ({ alert_id }) => ({ method: 'GET', path: `/alerts/${alert_id}` }),
  },
  {
    name: 'explain_event',
    title: 'Explain a decision',
    description:
      'Why an event did or did not raise an alert in a zone: every check with its numbers.',
    scope: 'read',
    input: z.object({ zone_id: Id, event_id: z.string() }),
    call: ({ zone_id, event_id }) => ({
      method: 'GET',
      path: `/zones/${zone_id}/explain${query({ event_id })}`,
    }),
  },
  {
    name: 'preview_zone',
    title: 'Preview a zone',
    description: 'What a saved zone would have alerted on in the last days.',
    scope: 'read',
    input: z.object({ zone_id: Id, days }),
    call: ({ zone_id, days }) => ({
      method: 'GET',
      path: `/zones/${zone_id}/preview${query({ days })}`,
    }),
  },
  {
    name: 'preview_draft',
    title: 'Preview a draft zone',
    description: 'What a zone that is not saved yet would have alerted on in the last days.',
    scope: 'read',
    input: z.object({ zone: ZoneCreate, days }),
    call: ({ zone, days }) => ({
      method: 'POST',
      path: `/zones/preview${query({ days })}`,
      body: zone,
    }),
  },
  {
    name: 'create_zone',
    title: 'Create a zone',
    description: 'Creates a watch zone.',
    scope: 'write',
    input: z.object({ zone: ZoneCreate }),
    call: ({ zone }) => ({ method: 'POST', path: '/zones', body: zone }),
  },
  {
    name: 'update_zone',
    title: 'Change a zone',
    description: 'Changes a watch zone. An absent field is unchanged; null clears a field.',
    scope: 'write',
    input: z.object({ zone_id: Id, changes: ZonePatch }),
    call: ({ zone_id, changes }) => ({ method: 'PATCH', path: `/zones/${zone_id}`, body: changes }),
  },
  {
    name: 'delete_zone',
    title: 'Delete a zone',
    description: 'Deletes a watch zone; it can be restored for 30 days.',
    scope: 'write',
    input: z.object({ zone_id: Id }),
    call: ({ zone_id }) => ({ method: 'DELETE', path: `/zones/${zone_id}` }),
  },
  {
    name: 'resolve_alert',
    title: 'Resolve or reopen an alert',
    description: 'Marks an alert resolved, or reopens it, with a note.',
    scope: 'write',
    input: z.object({ alert_id: Id, resolved: z.boolean(), note: z.string().max(4000).optional() }),
    call: ({ alert_id, ...body }) => ({ method: 'PATCH', path: `/alerts/${alert_id}`, body }),
  },
]

/** The most messages in one batch. Each counts as one request. */
export const MAX_BATCH_MESSAGES = 20

/** The caller of each inner request, by object identity, so that no header can forge it. */
const inherited = new WeakMap<Request, Caller>()

/** The caller of an inner request of the MCP endpoint, as verified for the outer request. */
export function callerOfTool(request: Request): Caller | undefined {
  return inherited.get(request)
}

/**
 * Serves the Model Context Protocol (streamable HTTP, stateless). Tools call the API's own routes, so a
 * model can do exactly what its key can, and each message of a batch counts against the rate limit.
 */
export function mountMcp(app: OpenAPIHono<Env>, base: string): void {
  app.post(`${base}/mcp`, can('read'), async (c) => {
    const caller = await authenticate(c)
    const parsedBody = await messagesOf(c)
    if (Array.isArray(parsedBody)) await consumeBudget(c, parsedBody.length - 1)
    const server = new McpServer({ name: 'watchpost', title: 'Watchpost', version: VERSION })
    const inOrder = oneByOne()
    for (const tool of TOOLS) {
      if (!caller.scopes.includes(tool.scope)) continue
      server.registerTool(
        tool.name,
        {
          title: tool.title,
          description: tool.description,
          inputSchema: tool.input.shape,
          annotations: { readOnlyHint: tool.scope === 'read', openWorldHint: false },
        },
        (input: Record<string, unknown>) =>
          inOrder(() => run(app, c, caller, tool.call(input), base)),
      )
    }
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    try {
      return await transport.handleRequest(c.req.raw, { parsedBody })
    } finally {
      await server.close()
    }
  })
}

/** The parsed body: a message or a batch of messages, which the transport validates. */
async function messagesOf(c: Ctx): Promise<unknown> {
  let body: unknown
  try {
    body = await c.req.json()
  } catch {
    throw new ApiError('malformed', 'The body is not valid JSON. Send a JSON-RPC message.')
  }
  if (!Array.isArray(body)) return body
  if (body.length > MAX_BATCH_MESSAGES) {
    const message = `A batch can have at most ${MAX_BATCH_MESSAGES} messages; this one has ${body.length}. Send the rest in another batch.`
    throw new ApiError('malformed', message)
  }
  // Requests are stateless, so there is nothing to cancel: a cancelled call of the same batch would never be answered.
  return body.filter((message) => message?.method !== 'notifications/cancelled')
}

/** Runs functions one after another, so that the calls of a batch do not run in parallel. */
function oneByOne(): <T>(work: () => Promise<T>) => Promise<T> {
  let before: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = before.then(work)
    before = mine.catch(() => undefined)
    return mine
  }
}

async function run(
  app: OpenAPIHono<Env>,
  c: Ctx,
  caller: Caller,
  { method, path, body }: Call,
  base: string,
) {
  const request = new Request(new URL(`${base}${path}`, c.req.url), {
    method,
    headers: {
      Authorization: c.req.header('authorization') ?? '',
      Accept: 'application/json',
      'User-Agent': c.req.header('user-agent') ?? '',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  inherited.set(request, caller)
  const answer = await app.fetch(request, c.env)
  const text = answer.status === 204 ? '{"done": true}' : await answer.text()
  return { content: [{ type: 'text' as const, text }], isError: !answer.ok }
}

function query(input: Record<string, unknown>): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}
