import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import { createRoute, jsonResponse, resource, respond } from '../../shared/route.ts'
import { authenticate, can } from '../auth.ts'
import { MISSING_TRANSPORTS } from '../channels/transport/send.ts'
import { vapidKeys } from '../channels/transport/vapid.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'

const WebPush = z
  .object({
    public_key: z.string().meta({
      description:
        'The `applicationServerKey` for `pushManager.subscribe()`: a point on P-256, 65 bytes in base64url.',
    }),
  })
  .meta({ id: 'WebPush', description: 'What a browser needs to subscribe to notifications.' })

export const webPush = resource<Env>()

webPush.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'getWebPush',
    tags: ['Channels'],
    summary: 'Get the key with which a browser subscribes to notifications',
    security: [{ key: [] }],
    middleware: can('read'),
    responses: { 200: jsonResponse(WebPush, 'The key.'), ...problems(404) },
  }),
  async (c) => {
    await authenticate(c)
    const { push, seal } = c.get('deps')
    if (!push) throw new ApiError('not_found', MISSING_TRANSPORTS.push)
    const { public_key } = await vapidKeys(seal)
    return respond(c, WebPush, { public_key }, 200)
  },
)
