import { base64url } from 'jose'
import { z } from 'zod'
import { ApiError, notFound } from '../../shared/problem.ts'
import { createRoute, jsonResponse, noBody, pathId, resource, respond } from '../../shared/route.ts'
import { Channel } from '../../shared/schemas/channel.ts'
import type { Sql } from '../../shared/sql.ts'
import { can } from '../auth.ts'
import { present, unsealReceiver } from '../channels/sealed.ts'
import type { Deps, Env } from '../context.ts'
import { problems } from '../http.ts'
import { mailboxOf, parseMailAddress } from '../mail/address.ts'
import { write } from '../transaction.ts'
import { findChannel, ownChannel, type StoredChannel } from './channel-rows.ts'

const ChannelId = z.object({ id: pathId('The id of a channel.') })
const One = z.object({ channel: Channel })

/** Asking the address of an e-mail channel for its consent; part of the channels' routes. */
export const confirmations = resource<Env>()

confirmations.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/confirmation',
    operationId: 'confirmChannel',
    tags: ['Channels'],
    summary: 'Mail the link again with which the address of a channel is confirmed',
    description:
      'The link works for 48 hours. At most three of these mails go to a mailbox in 24 hours, and one account can ask ' +
      'for 20. `GET /channels/{id}/deliveries` shows what became of them.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ChannelId, body: noBody },
    responses: {
      202: jsonResponse(One, 'The channel; the mail is on its way.'),
      ...problems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const deps = c.get('deps')
    const row = await write(c, async (sql) => {
      const found = ownChannel(await findChannel(sql, id))
      await askAddress(sql, found, deps)
      return found
    })
    return respond(
      c,
      One,
      { channel: await present(row, { is_open: row.is_mine, seal: deps.seal }) },
      202,
    )
  },
)

/** Has the confirmation mailed to the address of a channel. Throws 429 when there were too many. */
export async function askAddress(sql: Sql, channel: StoredChannel, deps: Deps): Promise<void> {
  const { target } = await unsealReceiver(channel, deps.seal)
  const mailbox = await mailboxKey(target, deps)
  const [row] = await sql<{ wait: number | null }>`
    select private.begin_confirmation(${channel.id}, ${mailbox}) as wait`
  if (row?.wait === 0) return
  if (typeof row?.wait !== 'number') throw notFound('channel')
  const minutes = Math.ceil(row.wait / 60)
  throw new ApiError(
    'rate_limited',
    `Too many confirmations were mailed to this address, or asked for by you, in the last 24 hours. Try again in ${minutes} min.`,
    { headers: { 'Retry-After': String(row.wait) } },
  )
}

/** Tells mailboxes apart without telling which they are. */
async function mailboxKey(target: string, { seal, allow }: Deps): Promise<string> {
  const [key] = await seal.macKeys('mailbox')
  if (!key) throw new Error('a seal without a key')
  const parsed = parseMailAddress(target, allow)
  const mailbox = mailboxOf(parsed.ok ? parsed.address : target)
  const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(mailbox))
  return base64url.encode(new Uint8Array(mac))
}
