import type { OpenAPIHono } from '@hono/zod-openapi'
import { authenticate, can, consumeBudget } from '../auth.ts'
import type { Caller, Ctx, Env } from '../context.ts'
import type { Ask } from './mcp-server.ts'
import type { Call } from './mcp-tools.ts'

/** The most messages in one batch. Each counts as one request. */
export const MAX_BATCH_MESSAGES = 20

/** The caller of each inner request, by object identity, so that no header can forge it. */
const inherited = new WeakMap<Request, Caller>()

/** The caller of an inner request of the MCP endpoint, as verified for the outer request. */
export function callerOfTool(request: Request): Caller | undefined {
  return inherited.get(request)
}

/** Codes of JSON-RPC 2.0, section 5.1. */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

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
    const inOrder = oneByOne()
    const ask: Ask = (call) => inOrder(() => request(app, c, caller, call, base))
    // The SDK is a tenth of all modules: a process that nobody speaks MCP to starts without it.
    const { answerMessages } = await import('./mcp-server.ts')
    return answerMessages(c.req.raw, { parsedBody, caller, ask })
  })
}

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
    return { refusal: protocolError(PARSE_ERROR, message) }
  }
  if (!Array.isArray(body)) return { parsed: body }
  if (body.length > MAX_BATCH_MESSAGES) {
    const message = `A batch can have at most ${MAX_BATCH_MESSAGES} messages; this one has ${body.length}. Send the rest in another batch.`
    return { refusal: protocolError(INVALID_REQUEST, message) }
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
