import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse } from '../../../shared/route.ts'
import { authText } from '../../auth/auth.text.ts'
import { ADDRESS_HEADERS } from '../../auth/caller.ts'
import { type Env, problems } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import type { Call } from './mcp-tools.ts'

const MAX_BATCH_MESSAGES = 20
const Message = z.looseObject({ method: z.string().max(200).optional() })
const Messages = z.union([Message, z.array(Message).min(1).max(MAX_BATCH_MESSAGES)], {
  error: `Send one JSON-RPC message, or an array of 1 to ${MAX_BATCH_MESSAGES}.`,
})

/**
 * mountMcp serves the Model Context Protocol (streamable HTTP, stateless). Each tool calls a route of this
 * API with the same key, so a model can do what its key can, and of that only read and propose.
 */
export function mountMcp(app: OpenAPIHono<Env>, base: string): void {
  app.openapi(
    createRoute({
      method: 'post',
      path: `${base}/mcp`,
      operationId: 'mcp',
      tags: ['Automation'],
      summary: 'Speak the Model Context Protocol',
      description:
        'JSON-RPC messages for models: tools that read projects, leads, drafts, missions and numbers, and that propose leads, notes, drafts and missions. None approves, sends, deletes or changes settings. Needs an API key as Bearer.',
      request: { body: jsonBody(Messages) },
      responses: {
        200: jsonResponse(z.unknown(), 'The answers.'),
        202: { description: 'Notifications alone have no answer.' },
        ...problems(422),
      },
    }),
    async (c) => {
      if (c.get('caller') !== 'token') {
        throw new ApiError('forbidden', bilingual(authText).needs_key)
      }
      const parsedBody = c.req.valid('json')
      const origin = ADDRESS_HEADERS.flatMap((name): [string, string][] => {
        const value = c.req.header(name)
        return value === undefined ? [] : [[name, value]]
      })
      const role = c.get('actor')?.role ?? 'reader'
      const ask = async ({ method, path, body }: Call) => {
        const answer = await app.request(
          `${base}/${path}`,
          {
            method,
            headers: {
              ...Object.fromEntries(origin),
              host: c.req.header('host') ?? new URL(c.req.url).host,
              authorization: c.req.header('authorization') ?? '',
              'accept-language': c.req.header('accept-language') ?? 'en',
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          },
          c.env,
        )
        return { ok: answer.ok, text: await answer.text() }
      }
      // The SDK is large: a hub to which nobody speaks MCP starts without it.
      const { answerMessages } = await import('./mcp-server.ts')
      const proposes = role !== 'reader' || c.get('scope') === 'propose'
      return (await answerMessages(c.req.raw, { parsedBody, proposes, ask })) as never // safe: the protocol's own answer
    },
  )
}
