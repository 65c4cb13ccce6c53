import type { OpenAPIHono } from '@hono/zod-openapi'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { ErrorCode, ListResourcesRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import { VERSION } from '../../shared/version.ts'
import { authenticate, can, consumeBudget } from '../auth.ts'
import type { Caller, Ctx, Env } from '../context.ts'
import { type Call, query, TOOLS } from './mcp-tools.ts'

/** The most messages in one batch. Each counts as one request. */
export const MAX_BATCH_MESSAGES = 20

/** The caller of each inner request, by object identity, so that no header can forge it. */
const inherited = new WeakMap<Request, Caller>()

/** The caller of an inner request of the MCP endpoint, as verified for the outer request. */
export function callerOfTool(request: Request): Caller | undefined {
  return inherited.get(request)
}

/** Makes a request of a tool or resource to the API, as the caller. */
type Ask = (call: Call) => Promise<{ ok: boolean; text: string }>

/**
 * Serves the Model Context Protocol (streamable HTTP, stateless). Tools and resources call the API's own
 * routes, so a model can do exactly what its key can, and each message of a batch counts against the rate
 * limit.
 */
export function mountMcp(app: OpenAPIHono<Env>, base: string): void {
  app.post(`${base}/mcp`, can('read'), async (c) => {
    const caller = await authenticate(c)
    const messages = await messagesOf(c)
    if (!('parsed' in messages)) return c.json(messages.refusal, 400)
    const { parsed: parsedBody } = messages
    if (Array.isArray(parsedBody)) await consumeBudget(c, parsedBody.length - 1)
    const server = new McpServer({ name: 'watchpost', title: 'Watchpost', version: VERSION })
    const inOrder = oneByOne()
    const ask: Ask = (call) => inOrder(() => request(app, c, caller, call, base))
    offerTools(server, caller, ask)
    offerResources(server, ask)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    try {
      return await transport.handleRequest(c.req.raw, { parsedBody })
    } finally {
      await server.close()
    }
  })
}

function offerTools(server: McpServer, caller: Caller, ask: Ask): void {
  for (const { name, title, description, scope, input: inputSchema, call } of TOOLS) {
    if (!caller.scopes.includes(scope)) continue
    const annotations = { readOnlyHint: scope === 'read', openWorldHint: false }
    server.registerTool(
      name,
      { title, description, inputSchema, annotations },
      async (input: Record<string, unknown>) => {
        const { ok, text } = await ask(call(input))
        return { content: [{ type: 'text' as const, text }], isError: !ok }
      },
    )
  }
}

const RESOURCES = [
  {
    name: 'zone',
    plural: 'zones',
    title: 'Watch zone',
    list: { geometry: 'none' },
    labelOf: (zone: Record<string, unknown>) => String(zone.label),
  },
  {
    name: 'alert',
    plural: 'alerts',
    title: 'Alert',
    list: { days: 7 },
    labelOf: (alert: Record<string, unknown>) => String(alert.reason),
  },
] as const

/** A request for a page of resources. */
type Listed = { params?: { cursor?: string | undefined } | undefined }

/** Offers each zone and alert as a resource, `watchpost://zones/<id>` and `watchpost://alerts/<id>`. */
function offerResources(server: McpServer, ask: Ask): void {
  const get = async (path: string) => {
    const { ok, text } = await ask({ method: 'GET', path })
    if (!ok) throw new McpError(RESOURCE_NOT_FOUND, JSON.parse(text).detail)
    return text
  }
  const mimeType = 'application/json'
  for (const { name, plural, title } of RESOURCES) {
    server.registerResource(
      name,
      // Listed below, page by page: the SDK's own listing has no cursor.
      new ResourceTemplate(`watchpost://${plural}/{id}`, { list: undefined }),
      { title, mimeType, description: `One ${name} of this account or its organisations.` },
      async (uri: URL, { id }: { [name: string]: string | string[] }) => {
        const text = await get(`/${plural}/${encodeURIComponent(String(id))}`)
        return { contents: [{ uri: uri.href, mimeType, text }] }
      },
    )
  }
  server.server.setRequestHandler(ListResourcesRequestSchema, async ({ params }: Listed) => {
    const [plural = '', cursor = ''] = splitOnce(params?.cursor ?? `${RESOURCES[0].plural}:`)
    const index = RESOURCES.findIndex((kind) => kind.plural === plural)
    const kind = RESOURCES[index]
    if (!kind) throw new McpError(ErrorCode.InvalidParams, 'The cursor is not one of this list.')
    const parameters = { ...kind.list, ...(cursor === '' ? {} : { cursor }) }
    const page = JSON.parse(await get(`/${plural}${query(parameters)}`))
    const next = RESOURCES[index + 1]
    const nextCursor = page.next_cursor
      ? `${plural}:${page.next_cursor}`
      : next && `${next.plural}:`
    return {
      resources: page[plural].map((row: Record<string, unknown>) => ({
        uri: `watchpost://${plural}/${row.id}`,
        name: kind.labelOf(row),
        mimeType,
      })),
      ...(nextCursor ? { nextCursor } : {}),
    }
  })
}

function splitOnce(text: string): string[] {
  const at = text.indexOf(':')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** The code of the protocol for a resource that does not exist or cannot be read. */
const RESOURCE_NOT_FOUND = -32002

/**
 * The parsed body: a message or a batch of messages, which the transport validates. A body that is none
 * is refused with an error of the protocol (JSON-RPC 2.0, section 5.1).
 */
async function messagesOf(c: Ctx): Promise<{ parsed: unknown } | { refusal: object }> {
  let body: unknown
  try {
    body = await c.req.json()
  } catch {
    const message = 'The body is not valid JSON. Send a JSON-RPC message.'
    return { refusal: protocolError(ErrorCode.ParseError, message) }
  }
  if (!Array.isArray(body)) return { parsed: body }
  if (body.length > MAX_BATCH_MESSAGES) {
    const message = `A batch can have at most ${MAX_BATCH_MESSAGES} messages; this one has ${body.length}. Send the rest in another batch.`
    return { refusal: protocolError(ErrorCode.InvalidRequest, message) }
  }
  // Requests are stateless, so there is nothing to cancel: a cancelled call of the same batch would never be answered.
  return { parsed: body.filter((message) => message?.method !== 'notifications/cancelled') }
}

function protocolError(code: number, message: string) {
  return { jsonrpc: '2.0', id: null, error: { code, message } }
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

async function request(
  app: OpenAPIHono<Env>,
  c: Ctx,
  caller: Caller,
  { method, path, body }: Call,
  base: string,
) {
  const asked = new Request(new URL(`${base}${path}`, c.req.url), {
    method,
    headers: {
      Authorization: c.req.header('authorization') ?? '',
      Accept: 'application/json',
      'User-Agent': c.req.header('user-agent') ?? '',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  inherited.set(asked, caller)
  const answer = await app.fetch(asked, c.env)
  return { ok: answer.ok, text: answer.status === 204 ? '{"done": true}' : await answer.text() }
}
