import { z } from 'zod'
import { ApiError, notFound } from '../../shared/problem.ts'
import {
  createRoute,
  jsonBody,
  jsonResponse,
  noBody,
  pathId,
  resource,
  respond,
} from '../../shared/route.ts'
import { ChannelDelivery, Recovered, Recovery } from '../../shared/schemas/channel.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  LAST_UUID,
  NextCursor,
  splitPage,
} from '../../shared/schemas/page.ts'
import { raw } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import { deliver } from '../channels/kinds.ts'
import { kindOf, unsealReceiver, unsealSecrets } from '../channels/sealed.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { read, write } from '../transaction.ts'
import { findChannel, isMine, ownChannel } from './channel-rows.ts'

/** How many messages one request sends again. */
const MAX_RECOVERED = 1000

const UNCONFIRMED =
  'Nobody has confirmed the address of this channel yet, so nothing is sent to it. Open the link in the mail that went to it, or have it mailed again: POST /channels/{id}/confirmation.'

const ChannelId = z.object({
  id: pathId('The id of a channel.'),
})
const Tested = z.object({ delivery: ChannelDelivery })
const DeliveryPage = z.object({ deliveries: z.array(ChannelDelivery), next_cursor: NextCursor })
const DeliveryQuery = z.strictObject({
  limit: integerParameter(1, 500, 100, 'How many deliveries a page has.'),
  delivery_id: z.uuid().optional().meta({ description: 'Only this delivery.' }),
  cursor: CursorQuery,
})
const Position = z.tuple([Instant, z.uuid()])

const deliveryColumns =
  raw(`d.id, d.channel_id, coalesce(c.label, c.kind) as channel, d.type as kind, d.status,
  d.attempts, d.last_error, d.delivered_at, d.redelivery_of, d.step -> 'step' as step, d.alert_id, d.created_at,
  d.next_attempt_at, d.expires_at,
  coalesce((
    select jsonb_agg(jsonb_build_object(
      'attempt', a.attempt, 'at', private.iso(a.at), 'outcome', a.outcome, 'status_code', a.status_code,
      'duration_ms', a.duration_ms, 'error', a.error, 'request_id', a.request_id,
      'response_excerpt', case when ${isMine.text} then a.response_excerpt end) order by a.attempt)
    from watchpost.delivery_attempts a
    where a.delivery_id = d.id), '[]') as attempt_log`)

/** What was sent to one channel; part of the channels' routes. */
export const deliveries = resource<Env>()

deliveries.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/test',
    operationId: 'testChannel',
    tags: ['Channels'],
    summary: 'Send a test message and report what the receiver answered',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ChannelId, body: noBody },
    responses: {
      200: jsonResponse(Tested, 'The test, delivered or not.'),
      ...problems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const now = new Date()
    const notification = {
      type: 'channel.test',
      timestamp: now.toISOString(),
      alert: null,
      zone: null,
    } as const
    const [channel, deliveryId] = await write(c, async (sql) => {
      const [found, [begun]] = await Promise.all([
        findChannel(sql, id),
        sql<{
          id: string
        }>`select private.begin_test(${id}, ${JSON.stringify(notification)}) as id`,
      ])
      const own = ownChannel(found)
      if (own.status === 'unconfirmed') throw new ApiError('conflict', UNCONFIRMED)
      if (!begun?.id) throw notFound('channel')
      return [own, begun.id]
    })
    // Between two transactions: a slow receiver must hold neither a lock nor a connection.
    const { seal, public_url } = c.get('deps')
    const secrets = await unsealSecrets(channel, seal)
    const message = {
      id: deliveryId,
      notification,
      ...(await unsealReceiver(channel, seal)),
      secrets,
      now,
      language: channel.language,
      time_zone: channel.time_zone,
      public_url,
      remote_ref: null,
      acknowledge_url: null,
    }
    const outcome = await deliver(kindOf(channel), message, c.get('deps'))
    const delivery = await write(c, async (sql, last) => {
      const ended = sql`
        select private.end_test(${deliveryId}, ${outcome.outcome}, ${outcome.status ?? null},
          ${outcome.duration_ms}, ${outcome.error ?? null}, ${outcome.response_excerpt ?? null}, ${outcome.request_id ?? null})`
      const reading = sql<ChannelDelivery>`
        select ${deliveryColumns}
        from watchpost.deliveries d
        join watchpost.channels c on c.id = d.channel_id
        where d.id = ${deliveryId}`
      const [, [row]] = await last(Promise.all([ended, reading]))
      return row
    })
    if (!delivery) throw notFound('channel')
    return respond(c, Tested, { delivery }, 200)
  },
)

deliveries.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/deliveries',
    operationId: 'listChannelDeliveries',
    tags: ['Channels'],
    summary: 'List the deliveries of a channel with every attempt, newest first',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ChannelId, query: DeliveryQuery },
    responses: { 200: jsonResponse(DeliveryPage, 'A page of deliveries.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { limit, delivery_id, cursor } = c.req.valid('query')
    const filter = { list: 'deliveries', id }
    const [before, beforeId] = (await decodeCursor(filter, cursor, Position)) ?? []
    const [channel, rows] = await read(c, (sql) =>
      Promise.all([
        findChannel(sql, id),
        sql<ChannelDelivery>`
          select ${deliveryColumns}
          from watchpost.deliveries d
          join watchpost.channels c on c.id = d.channel_id
          where d.channel_id = ${id}
            and ${raw(delivery_id === undefined ? '' : 'd.id =')} ${delivery_id ?? true}
            and (d.created_at, d.id) < (${before ?? 'infinity'}::timestamptz, ${beforeId ?? LAST_UUID}::uuid)
          order by d.created_at desc, d.id desc
          limit ${limit + 1}`,
      ]),
    )
    if (!channel) throw notFound('channel')
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.created_at, last.id]) : null
    return respond(c, DeliveryPage, { deliveries: page, next_cursor }, 200)
  },
)

deliveries.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/recover',
    operationId: 'recoverChannel',
    tags: ['Channels'],
    summary: 'Send again everything that failed, expired or was cancelled since a time',
    description:
      `Oldest first, up to ${MAX_RECOVERED} messages. What was sent again before is left out. ` +
      'Where nothing can be sent the answer is 409 `nothing_to_send` with the reasons.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ChannelId, body: jsonBody(Recovery) },
    responses: {
      202: jsonResponse(Recovered, 'How many messages are sent again.'),
      ...problems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { since } = c.req.valid('json')
    const made = await write(c, async (sql) => {
      const [found, [row]] = await Promise.all([
        findChannel(sql, id),
        sql<{ made: z.infer<typeof Recovered> | null }>`
          select private.recover_channel(${id}, ${since}::timestamptz, ${MAX_RECOVERED}) as made`,
      ])
      ownChannel(found)
      return row?.made
    })
    if (!made) throw notFound('channel')
    return respond(c, Recovered, made, 202)
  },
)
