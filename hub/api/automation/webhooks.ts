import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import { generateSecret } from '../../../shared/signing.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { everywhere } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { NEWEST, Position, positionOf } from '../../http/page.ts'
import { bilingual } from '../../i18n/words.ts'
import { TEST } from '../../webhooks/deliver.ts'
import { seal } from '../../webhooks/seal.ts'
import { requireTarget } from '../../webhooks/target.ts'
import { webhooksText } from '../../webhooks/webhooks.text.ts'
import { Slug } from '../projects/projects.ts'

const say = bilingual(webhooksText)

export const EVENTS = [
  'mission.done',
  'mission.failed',
  'draft.to_approve',
  'draft.sent',
  'mail.replied',
  'mail.bounced',
  'mail.opted_out',
] as const
const MAX_WEBHOOKS = 50
/** How long the former secret signs beside the new one. */
const BOTH_HOURS = 24

const Webhook = z
  .object({
    id: z.uuid(),
    label: z.string(),
    url: z.string(),
    project: z.string().nullable().meta({ description: 'Null: the events of all projects.' }),
    events: z.array(z.enum(EVENTS)),
    allow_private: z.boolean(),
    enabled: z.boolean(),
    disabled_reason: z.enum(['gone', 'failing']).nullable().meta({
      description:
        '`gone`: the receiver answered 410; `failing`: all attempts of a delivery failed.',
    }),
    created_at: z.string(),
  })
  .meta({ id: 'HubWebhook' })
type Webhook = z.infer<typeof Webhook>
const Attempt = z.object({
  at: z.string(),
  status: z.int().nullable(),
  failure: z.enum(['refused', 'unreachable', 'timeout', 'secret']).nullable().meta({
    description:
      '`refused`: the address is not allowed; `secret`: rotate the secret on this machine.',
  }),
  answer: z.string().nullable(),
  duration_ms: z.int(),
})
const Delivery = z
  .object({
    id: z.uuid().meta({ description: 'The `webhook-id` of the message.' }),
    webhook_id: z.uuid(),
    event: z.string(),
    data: z.record(z.string(), z.unknown()),
    state: z.enum(['queued', 'sending', 'succeeded', 'failed']),
    attempts: z.array(Attempt),
    next_at: z.string().nullable(),
    redelivery_of: z.uuid().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'HubDelivery' })

const All = z.object({ webhooks: z.array(Webhook) })
const One = z.object({ webhook: Webhook })
const Secret = z.object({
  webhook: Webhook,
  secret: z
    .string()
    .meta({ description: 'Checks the signatures (Standard Webhooks). Shown once.' }),
})
const OneDelivery = z.object({ delivery: Delivery })
const Deliveries = z.object({ deliveries: z.array(Delivery), next_cursor: NextCursor })
const Ref = { id: z.uuid().meta({ description: 'The id of a webhook.' }) }
const Fields = {
  label: z.string().trim().min(1).max(120),
  url: z.string().trim().min(1).max(2000),
  project: Slug.nullable().meta({ description: 'Null: the events of all projects.' }),
  events: z.array(z.enum(EVENTS)).min(1).max(EVENTS.length),
  allow_private: z.boolean().meta({
    description: 'Lets the address be in a private network, and plain http there.',
  }),
}

const columns = raw(`
  webhook.id, webhook.label, webhook.url, project.slug as project, webhook.events,
  webhook.allow_private, webhook.enabled, webhook.disabled_reason, webhook.created_at`)
const deliveryColumns = raw(`
  delivery.id, delivery.webhook_id, delivery.event, delivery.data, delivery.state,
  case when delivery.state = 'queued' then delivery.next_at end as next_at, delivery.redelivery_of,
  delivery.created_at,
  (
    select coalesce(jsonb_agg(jsonb_build_object(
      'at', private.iso(a.at), 'status', a.status, 'failure', a.failure, 'answer', a.answer,
      'duration_ms', a.duration_ms) order by a.position), '[]')
    from hub.webhook_attempts as a where a.delivery_id = delivery.id
  ) as attempts`)

async function requireWebhook(sql: Sql, id: string): Promise<Webhook> {
  const [webhook] = await sql<Webhook>`
    select ${columns} from hub.webhooks as webhook
    left join hub.projects as project on project.id = webhook.project_id
    where webhook.id = ${id}`
  if (!webhook) throw new ApiError('not_found', say.absent)
  return webhook
}

async function requireDelivery(sql: Sql, id: string): Promise<z.infer<typeof Delivery>> {
  const [delivery] = await sql<z.infer<typeof Delivery>>`
    select ${deliveryColumns} from hub.webhook_deliveries as delivery where delivery.id = ${id}`
  if (!delivery) throw new ApiError('not_found', say.no_delivery)
  return delivery
}

async function projectId(sql: Sql, slug: string | null): Promise<string | null> {
  if (slug === null) return null
  const [project] = await sql<{ id: string }>`select id from hub.projects where slug = ${slug}`
  if (!project) throw invalid([{ path: 'project', code: 'not_found', message: say.no_project }])
  return project.id
}

/** The addresses that are told what happens, their deliveries and attempts. */
export const webhooks = resource<Env>()

webhooks.openapi(
  createRoute({
    method: 'get',
    path: '/webhooks',
    operationId: 'listWebhooks',
    tags: ['Automation'],
    summary: 'List the webhooks',
    responses: { 200: jsonResponse(All, 'All of them.'), ...problems() },
  }),
  async (c) => {
    const rows = await everywhere(
      c.get('deps').db,
      (sql) => sql<Webhook>`
        select ${columns} from hub.webhooks as webhook
        left join hub.projects as project on project.id = webhook.project_id
        order by webhook.created_at, webhook.id`,
    )
    return answer(c, All, { webhooks: rows }, 200)
  },
)

webhooks.openapi(
  createRoute({
    method: 'post',
    path: '/webhooks',
    operationId: 'createWebhook',
    tags: ['Automation'],
    summary: 'Make a webhook',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...Fields,
          project: Fields.project.default(null),
          allow_private: Fields.allow_private.default(false),
        }),
      ),
    },
    responses: { 201: jsonResponse(Secret, 'Made.'), ...problems(409, 422) },
  }),
  async (c) => {
    const { label, url, project, events, allow_private } = c.req.valid('json')
    requireTarget(url, { allow_private })
    const { db, config } = c.get('deps')
    const secret = generateSecret()
    const sealed = await seal(config.paths, secret)
    const webhook = await everywhere(db, async (sql) => {
      const [row] = await sql<{ count: number }>`select count(*)::int as count from hub.webhooks`
      if ((row?.count ?? 0) >= MAX_WEBHOOKS) throw new ApiError('conflict', say.many(MAX_WEBHOOKS))
      const [made] = await sql<{ id: string }>`
        insert into hub.webhooks (label, url, project_id, events, allow_private, secret)
        values (${label}, ${url}, ${await projectId(sql, project)}, ${[...new Set(events)]},
          ${allow_private}, ${sealed})
        returning id`
      return requireWebhook(sql, made?.id ?? '')
    })
    return answer(c, Secret, { webhook, secret }, 201, {
      Location: '/api/cockpit/settings/webhooks',
    })
  },
)

webhooks.openapi(
  createRoute({
    method: 'post',
    path: '/webhooks/change',
    operationId: 'changeWebhook',
    tags: ['Automation'],
    summary: 'Change a webhook, or enable it again',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...Ref,
          ...z.object(Fields).partial().shape,
          enabled: z.boolean().optional(),
        }),
      ),
    },
    responses: { 200: jsonResponse(One, 'Changed.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id, project, ...change } = c.req.valid('json')
    const webhook = await everywhere(c.get('deps').db, async (sql) => {
      const before = await requireWebhook(sql, id)
      const next = {
        ...before,
        ...change,
        project: project === undefined ? before.project : project,
      }
      requireTarget(next.url, next)
      await sql`
        update hub.webhooks set label = ${next.label}, url = ${next.url},
          project_id = ${await projectId(sql, next.project)}, events = ${[...new Set(next.events)]},
          allow_private = ${next.allow_private}, enabled = ${next.enabled},
          disabled_reason = case when ${next.enabled} then null else disabled_reason end
        where id = ${id}`
      // What waits since then has all its attempts again, or the first would turn it off once more.
      if (next.enabled && !before.enabled) {
        await sql`
          update hub.webhook_deliveries set first_attempt_at = null
          where webhook_id = ${id} and state = 'queued'`
      }
      return requireWebhook(sql, id)
    })
    return answer(c, One, { webhook }, 200)
  },
)

webhooks.openapi(
  createRoute({
    method: 'post',
    path: '/webhooks/delete',
    operationId: 'deleteWebhook',
    tags: ['Automation'],
    summary: 'Delete a webhook with its deliveries',
    middleware: write,
    request: { body: jsonBody(z.strictObject(Ref)) },
    responses: { 200: jsonResponse(One, 'The deleted webhook.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('json')
    const webhook = await everywhere(c.get('deps').db, async (sql) => {
      const webhook = await requireWebhook(sql, id)
      await sql`delete from hub.webhooks where id = ${id}`
      return webhook
    })
    return answer(c, One, { webhook }, 200)
  },
)

webhooks.openapi(
  createRoute({
    method: 'post',
    path: '/webhooks/rotate',
    operationId: 'rotateWebhookSecret',
    tags: ['Automation'],
    summary: 'Make a new signing secret',
    description:
      'The former one signs beside it for 24 hours, so that the receiver can change over.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(Ref)) },
    responses: { 200: jsonResponse(Secret, 'The new secret.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const secret = generateSecret()
    const sealed = await seal(config.paths, secret)
    const webhook = await everywhere(db, async (sql) => {
      await requireWebhook(sql, id)
      await sql`
        update hub.webhooks set former_secret = secret, secret = ${sealed},
          former_until = now() + make_interval(hours => ${BOTH_HOURS})
        where id = ${id}`
      return requireWebhook(sql, id)
    })
    return answer(c, Secret, { webhook, secret }, 200)
  },
)

webhooks.openapi(
  createRoute({
    method: 'post',
    path: '/webhooks/test',
    operationId: 'testWebhook',
    tags: ['Automation'],
    summary: 'Send a marked test now, and show the answer',
    description: 'Answers 200 whatever the receiver said.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(Ref)) },
    responses: { 200: jsonResponse(OneDelivery, 'The delivery.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('json')
    const { db, webhooks } = c.get('deps')
    const made = await everywhere(db, async (sql) => {
      await requireWebhook(sql, id)
      const [row] = await sql<{ id: string }>`
        insert into hub.webhook_deliveries (webhook_id, event, data)
        values (${id}, ${TEST}, '{"test": true}')
        returning id`
      return row?.id ?? ''
    })
    await webhooks.now(made)
    const delivery = await everywhere(db, (sql) => requireDelivery(sql, made))
    return answer(c, OneDelivery, { delivery }, 200)
  },
)

webhooks.openapi(
  createRoute({
    method: 'get',
    path: '/webhooks/deliveries',
    operationId: 'listWebhookDeliveries',
    tags: ['Automation'],
    summary: 'List the deliveries of a webhook with their attempts, newest first',
    request: {
      query: z.strictObject({
        webhook_id: z.guid(),
        limit: integerParameter(1, 200, 50, 'Deliveries a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Deliveries, 'Kept for 30 days.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const after = await decodeCursor(filter, cursor, Position)
    const [at, last_id] = after ?? NEWEST
    const rows = await everywhere(c.get('deps').db, async (sql) => {
      await requireWebhook(sql, filter.webhook_id)
      return sql<z.infer<typeof Delivery> & { position: string }>`
        select ${deliveryColumns}, ${positionOf('delivery.created_at')} as position
        from hub.webhook_deliveries as delivery
        where delivery.webhook_id = ${filter.webhook_id}
          and (delivery.created_at, delivery.id) < (${at}::timestamptz, ${last_id}::uuid)
        order by delivery.created_at desc, delivery.id desc
        limit ${limit + 1}`
    })
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    return answer(c, Deliveries, { deliveries: page, next_cursor }, 200)
  },
)

webhooks.openapi(
  createRoute({
    method: 'post',
    path: '/webhooks/redeliver',
    operationId: 'redeliverWebhook',
    tags: ['Automation'],
    summary: 'Send a delivery again, as a new message',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({ id: z.uuid().meta({ description: 'The id of a delivery.' }) }),
      ),
    },
    responses: { 202: jsonResponse(OneDelivery, 'The new delivery.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('json')
    const { db, webhooks } = c.get('deps')
    const delivery = await everywhere(db, async (sql) => {
      await requireDelivery(sql, id)
      const [row] = await sql<{ id: string }>`
        insert into hub.webhook_deliveries (webhook_id, project_id, event, data, redelivery_of)
        select webhook_id, project_id, event, data, id from hub.webhook_deliveries where id = ${id}
        returning id`
      return requireDelivery(sql, row?.id ?? '')
    })
    webhooks.wake()
    return answer(c, OneDelivery, { delivery }, 202)
  },
)
