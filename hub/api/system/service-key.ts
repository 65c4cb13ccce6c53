import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { roleOf } from '../../db/keys.ts'
import { useKey } from '../../db/service-key.ts'
import { answer, type Env, problems } from '../../http/http.ts'

const Restarting = z
  .object({
    restarting: z.literal(true),
    key_role: z.enum(['hub_ro', 'hub_rw']).meta({
      description: 'The `key_role` that GET health reports once the hub has restarted.',
    }),
  })
  .meta({ id: 'Restarting' })

/** The database key in use: the public key reads, the service key also writes. */
export const serviceKey = resource<Env>()

serviceKey.openapi(
  createRoute({
    method: 'post',
    path: '/service_key',
    operationId: 'setServiceKey',
    tags: ['Settings'],
    summary: 'Use another database key',
    description:
      'The key is tested in a transaction that is rolled back, then stored in a file that only the hub can read; then the hub restarts itself. Poll `health` until its `key_role` equals the one in this answer. The public key makes the hub read-only again.',
    request: { body: jsonBody(z.strictObject({ key: z.string().min(1).max(200) })) },
    responses: {
      202: jsonResponse(Restarting, 'The hub restarts with this key.'),
      ...problems(422),
    },
  }),
  async (c) => {
    const { config, restart } = c.get('deps')
    const key = c.req.valid('json').key.trim()
    await useKey(config, key)
    restart()
    return answer(c, Restarting, { restarting: true, key_role: roleOf(key) ?? 'hub_ro' }, 202)
  },
)
