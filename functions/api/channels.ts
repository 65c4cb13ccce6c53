import { z } from 'zod'
import { ApiError, type Issue, invalid, notFound } from '../../shared/problem.ts'
import {
  createRoute,
  jsonBody,
  jsonResponse,
  noBody,
  pathId,
  resource,
  respond,
} from '../../shared/route.ts'
import { isSame } from '../../shared/same.ts'
import {
  CHANNEL_READ_ONLY,
  Channel,
  ChannelCreate,
  ChannelPatch,
} from '../../shared/schemas/channel.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  LAST_UUID,
  NextCursor,
  splitPage,
} from '../../shared/schemas/page.ts'
import { generateSecret } from '../../shared/signing.ts'
import { Instant } from '../../shared/time.ts'
import { authenticate, can } from '../auth.ts'
import {
  changeReceiver,
  checkCreate,
  kindOf,
  present,
  sealReceiver,
  secretFor,
  unsealSecrets,
} from '../channels/sealed.ts'
import { checkPlainHttp, plainHost } from '../channels/transport/plain-http.ts'
import type { Ctx, Env } from '../context.ts'
import { problems } from '../http.ts'
import { IdempotencyHeader, idempotent } from '../idempotency.ts'
import { read, write } from '../transaction.ts'
import {
  channelColumns,
  findChannel,
  ownChannel,
  requireAdmin,
  roleIn,
  type StoredChannel,
} from './channel-rows.ts'
import { askAddress, confirmations } from './confirmations.ts'
import { deliveries } from './deliveries.ts'
import { changedReadOnly } from './whole-thing.ts'

const RESTORE_DAYS = 30
const OLD_SECRET_HOURS = 24
const MAX_FORMER_SECRETS = 10

const ChannelId = z.object({
  id: pathId('The id of a channel.'),
})
const One = z.object({ channel: Channel })
const Page = z.object({ channels: z.array(Channel), next_cursor: NextCursor })
const ListQuery = z.strictObject({
  limit: integerParameter(1, 500, 100, 'The maximum number of channels on a page.'),
  cursor: CursorQuery,
})
const Position = z.tuple([Instant, z.uuid()])

export const channels = resource<Env>()
channels.route('/', deliveries)
channels.route('/', confirmations)

channels.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listChannels',
    tags: ['Channels'],
    summary:
      'List the channels that the caller owns or shares through an organisation, newest first',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: ListQuery },
    responses: { 200: jsonResponse(Page, 'A page of channels.'), ...problems() },
  }),
  async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const [before, beforeId] = (await decodeCursor({ list: 'channels' }, cursor, Position)) ?? []
    const rows = await read(
      c,
      (sql) => sql<StoredChannel>`
        select ${channelColumns}
        from unnest(private.my_tenants()) as mine (tenant_id)
        cross join lateral (
          select *
          from watchpost.channels
          where tenant_id = mine.tenant_id
            and deleted_at is null
            and (created_at, id) < (${before ?? 'infinity'}::timestamptz, ${beforeId ?? LAST_UUID}::uuid)
          order by created_at desc, id desc
          limit ${limit + 1}
        ) c
        order by c.created_at desc, c.id desc
        limit ${limit + 1}`,
    )
    const { page, last } = splitPage(rows, limit)
    return respond(
      c,
      Page,
      {
        channels: await Promise.all(page.map((row) => show(c, row))),
        next_cursor: last
          ? await encodeCursor({ list: 'channels' }, [last.created_at, last.id])
          : null,
      },
      200,
    )
  },
)

channels.openapi(
  createRoute({
    method: 'get',
    path: '/{id}',
    operationId: 'getChannel',
    tags: ['Channels'],
    summary: 'Get a channel',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ChannelId },
    responses: { 200: jsonResponse(One, 'The channel.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const row = await read(c, (sql) => findChannel(sql, id))
    if (!row) throw notFound('channel')
    return respond(c, One, { channel: await show(c, row) }, 200)
  },
)

channels.openapi(
  createRoute({
    method: 'post',
    path: '/',
    operationId: 'createChannel',
    tags: ['Channels'],
    summary: 'Create a channel',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { headers: IdempotencyHeader, body: jsonBody(ChannelCreate) },
    responses: {
      201: jsonResponse(One, 'The channel with its secret.'),
      ...problems(409, 413, 415, 422),
    },
  }),
  async (c) => {
    const fields = c.req.valid('json')
    const { seal, allow, resolve, ...transports } = c.get('deps')
    const issues = checkCreate(fields, { allow, ...transports })
    if (issues.length > 0) throw invalid(issues)
    if (plainHost(fields.target, { allow }) !== null) {
      // Names are looked up for known callers only.
      await authenticate(c)
      const refused = await checkPlainHttp(fields.target, { allow, resolve })
      if (refused.length > 0) throw invalid(refused)
    }
    const kind = kindOf(fields)
    const receiver = await sealReceiver(kind, { config: null, ...fields }, seal)
    const signing_secret = secretFor(fields)
    const secret_sealed = signing_secret && (await seal.seal(signing_secret))
    const { thing, status, replayed } = await idempotent(c, {
      create: async (sql) => {
        if (fields.org_id) requireAdmin(await roleIn(sql, fields.org_id))
        const [row] = await sql<StoredChannel>`
          insert into watchpost.channels as c (
            org_id, kind, label, target_sealed, target_masked, config_sealed, config_masked, enabled,
            signing_secret_sealed, messages, language, time_zone)
          values (
            ${fields.org_id ?? null}, ${kind.kind}, ${fields.label ?? null}, ${receiver.target_sealed},
            ${receiver.target_masked}, ${receiver.config_sealed}, ${receiver.config_masked},
            ${fields.enabled ?? true}, ${secret_sealed}, ${fields.messages ?? null}::text[],
            ${fields.language ?? 'en'}, ${fields.time_zone ?? 'UTC'})
          returning ${channelColumns}`
        if (!row) throw new Error('an insert returned no row')
        if (kind.kind === 'email') await askAddress(sql, row, c.get('deps'))
        return row
      },
      replay: findChannel,
    })
    const channel = await show(c, thing, replayed ? null : signing_secret)
    return respond(c, One, { channel }, status, { Location: `/api/v1/channels/${thing.id}` })
  },
)

channels.openapi(
  createRoute({
    method: 'patch',
    path: '/{id}',
    operationId: 'updateChannel',
    tags: ['Channels'],
    summary: 'Change, share, enable or disable a channel',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ChannelId, body: jsonBody(ChannelPatch) },
    responses: { 200: jsonResponse(One, 'The channel.'), ...problems(404, 409, 413, 415, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const patch = c.req.valid('json')
    const { org_id } = patch
    const [found, role] = await read(c, (sql) =>
      Promise.all([findChannel(sql, id), org_id ? roleIn(sql, org_id) : undefined]),
    )
    const before = ownChannel(found)
    const fixed = await fixedIssues(c, before, patch)
    if (fixed.length > 0) throw invalid(fixed)
    if (org_id && org_id !== before.org_id) requireAdmin(role)
    const change = await changeReceiver(before, patch, c.get('deps'))
    if ('issues' in change) throw invalid(change.issues)
    const { receiver } = change
    // What was read says the default where none are stored.
    const messages = isSame(patch.messages, before.messages) ? undefined : patch.messages
    const row = await write(c, async (sql) => {
      const [changed] = await sql<StoredChannel>`
        update watchpost.channels as c
        set label = case when ${patch.label !== undefined} then ${patch.label ?? null}::text else label end,
            org_id = case when ${patch.org_id !== undefined} then ${patch.org_id ?? null}::uuid else org_id end,
            target_sealed = coalesce(${receiver?.target_sealed ?? null}::text, target_sealed),
            target_masked = coalesce(${receiver?.target_masked ?? null}::text, target_masked),
            config_sealed = case when ${receiver !== undefined} then ${receiver?.config_sealed ?? null}::text
              else config_sealed end,
            config_masked = case when ${receiver !== undefined} then ${receiver?.config_masked ?? null}::jsonb
              else config_masked end,
            enabled = next.is_on,
            status = case when next.is_fresh then 'ok' when not next.is_on then 'disabled' else status end,
            disabled_reason = case when next.is_fresh then null
              when not next.is_on then coalesce(disabled_reason, 'It was switched off.')
              else disabled_reason end,
            messages = case when ${messages !== undefined} then ${messages ?? null}::text[] else messages end,
            language = coalesce(${patch.language ?? null}::text, language),
            time_zone = coalesce(${patch.time_zone ?? null}::text, time_zone),
            failures = case when next.is_fresh then 0 else failures end,
            failing_reason = case when next.is_fresh then null else failing_reason end,
            failing_since = case when next.is_fresh then null else failing_since end,
            paused_until = case when next.is_fresh then null else paused_until end
        from (
          -- A receiver that changed has not failed yet, and neither has one that is switched on again.
          select is_on, is_on and (not enabled or ${receiver !== undefined}) as is_fresh
          from watchpost.channels
          cross join lateral (select coalesce(${patch.enabled ?? null}::boolean, enabled) as is_on) given
          where id = ${id}
          for update of channels
        ) as next
        where id = ${id} and deleted_at is null
          and (${receiver === undefined} or (target_sealed = ${before.target_sealed}
            and config_sealed is not distinct from ${before.config_sealed}::text))
        returning ${channelColumns}`
      if (changed && receiver && before.kind === 'email')
        await askAddress(sql, changed, c.get('deps'))
      return changed
    })
    if (!row)
      throw new ApiError(
        'conflict',
        'The channel was changed in the meantime. Read it again and retry.',
      )
    return respond(c, One, { channel: await show(c, row) }, 200)
  },
)

channels.openapi(
  createRoute({
    method: 'delete',
    path: '/{id}',
    operationId: 'deleteChannel',
    tags: ['Channels'],
    summary: `Delete a channel; pending deliveries are cancelled, and it can be restored for ${RESTORE_DAYS} days`,
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ChannelId },
    responses: { 204: { description: 'Deleted.' }, ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    await write(c, async (sql, last) => {
      ownChannel(await findChannel(sql, id))
      await last(
        sql`update watchpost.channels set deleted_at = now() where id = ${id} and deleted_at is null`,
      )
    })
    return c.body(null, 204)
  },
)

channels.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/restore',
    operationId: 'restoreChannel',
    tags: ['Channels'],
    summary: `Restore a channel deleted in the last ${RESTORE_DAYS} days`,
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ChannelId, body: noBody },
    responses: { 200: jsonResponse(One, 'The channel.'), ...problems(404, 409, 413, 415, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const row = await write(c, async (sql, last) => {
      const [found] = await sql<StoredChannel>`
        select ${channelColumns}
        from watchpost.channels c
        where id = ${id}
          and (deleted_at is null or deleted_at > now() - make_interval(days => ${RESTORE_DAYS}))`
      ownChannel(found)
      const restored = Promise.all([
        sql`update watchpost.channels set deleted_at = null where id = ${id} and deleted_at is not null`,
        findChannel(sql, id),
      ])
      const [, channel] = await last(restored)
      return ownChannel(channel)
    })
    return respond(c, One, { channel: await show(c, row) }, 200)
  },
)

channels.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/rotate-secret',
    operationId: 'rotateChannelSecret',
    tags: ['Channels'],
    summary: `Rotate the signing secret; each old one also signs for ${OLD_SECRET_HOURS} more hours`,
    description: `The new secret is generated and shown once. At most ${MAX_FORMER_SECRETS} rotations in ${OLD_SECRET_HOURS} hours.`,
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: ChannelId, body: noBody },
    responses: {
      200: jsonResponse(One, 'The channel with its new secret.'),
      ...problems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const signing_secret = generateSecret()
    const sealed = await c.get('deps').seal.seal(signing_secret)
    const row = await write(c, async (sql, last) => {
      if (ownChannel(await findChannel(sql, id)).signing_secret_sealed === null) {
        throw new ApiError(
          'conflict',
          'Only webhooks have a signing secret, and this channel is not a webhook.',
        )
      }
      const updated = sql<StoredChannel>`
        update watchpost.channels as c
        set former_secrets_sealed = jsonb_build_array(jsonb_build_object(
              'sealed', signing_secret_sealed,
              'until', private.iso(now() + make_interval(hours => ${OLD_SECRET_HOURS}))))
            || private.living_secrets(former_secrets_sealed),
            signing_secret_sealed = ${sealed}
        where id = ${id} and deleted_at is null
          and jsonb_array_length(private.living_secrets(former_secrets_sealed)) < ${MAX_FORMER_SECRETS}
        returning ${channelColumns}`
      const [rotated] = await last(updated)
      if (!rotated) {
        throw new ApiError(
          'conflict',
          `The secret was rotated ${MAX_FORMER_SECRETS} times in the last ${OLD_SECRET_HOURS} hours, and each former one still signs. Wait until the first of them has expired.`,
        )
      }
      return ownChannel(rotated)
    })
    return respond(c, One, { channel: await show(c, row, signing_secret) }, 200)
  },
)

/** Issues for what only the service sets. The secret may be sent back as it was shown when it was made. */
async function fixedIssues(c: Ctx, before: StoredChannel, patch: ChannelPatch): Promise<Issue[]> {
  const { signing_secret = null, ...others } = patch
  const { seal } = c.get('deps')
  const issues = changedReadOnly(others, await show(c, before), CHANNEL_READ_ONLY)
  if (signing_secret === null) return issues
  const [current] = await unsealSecrets({ ...before, former_secrets_sealed: [] }, seal)
  if (signing_secret === current) return issues
  const message =
    'signing_secret is read-only, and this is not the current one. Leave it out; POST /channels/{id}/rotate-secret makes another.'
  return [...issues, { path: 'signing_secret', code: 'read_only', message }]
}

function show(c: Ctx, row: StoredChannel, signing_secret: string | null = null): Promise<Channel> {
  return present(row, { is_open: row.is_mine, seal: c.get('deps').seal, signing_secret })
}
