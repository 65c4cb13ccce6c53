import { randomUUID } from 'node:crypto'
import type { Hono } from 'hono'
import { z } from 'zod'
import { body, type Env, Ids, idOf, paged, Refusal } from './listmonk-http.ts'
import { newSubscriber, type StandInSubscriber, type State } from './listmonk-state.ts'

/** Lists, and who is on them. */
export function lists(app: Hono<Env>, state: State, permissions: string[] | undefined) {
  const show = (id: number) => {
    const list = state.lists.get(id)
    if (!list) throw new Refusal(400, 'List not found')
    const members = [...state.subscribers.values()].filter((each) => each.subscriptions.has(id))
    return {
      ...list,
      status: 'active',
      subscriber_count: members.length,
      created_at: NOW,
      updated_at: NOW,
    }
  }
  app.get('/api/lists', (c) => {
    const tags = c.req.queries('tag') ?? []
    // Without this permission listmonk shows none, and refuses nothing.
    const isSeen = !permissions || permissions.includes('lists:get_all')
    const found = [...state.lists.values()].filter(
      (list) => isSeen && tags.every((tag) => list.tags.includes(tag)),
    )
    return paged(
      c,
      found.map((list) => show(list.id)),
    )
  })
  app.get('/api/lists/:id', (c) => c.json({ data: show(idOf(c)) }))
  app.post('/api/lists', async (c) => {
    const { name, ...rest } = await body(
      c,
      z.object({
        name: z.string().default(''),
        type: z.string().default('private'),
        optin: z.enum(['single', 'double']).default('single'),
        tags: z.array(z.string()).default([]),
        description: z.string().default(''),
      }),
    )
    if (!name) throw new Refusal(400, 'Invalid name')
    if (!['private', 'public', 'temporary'].includes(rest.type)) {
      throw new Refusal(500, `Error creating List: ${notIn('list_type', rest.type)}`)
    }
    const id = state.nextId()
    state.lists.set(id, { id, uuid: randomUUID(), name, ...rest, tags: rest.tags.map(tagOf) })
    return c.json({ data: show(id) })
  })
  app.delete('/api/lists/:id', (c) => {
    const id = idOf(c)
    state.deleteList(id)
    for (const subscriber of state.subscribers.values()) subscriber.subscriptions.delete(id)
    return c.json({ data: true })
  })
}

/** What Postgres says of a value that an enum does not have. */
export function notIn(type: string, value: string): string {
  return `pq: invalid input value for enum ${type}: "${value}"`
}

/** listmonk puts a dash for each space of a tag. */
export function tagOf(tag: string): string {
  return tag.replace(/\s+/g, '-')
}

const Status = z.enum(['enabled', 'disabled', 'blocklisted'])
const Subscription = z.enum(['confirmed', 'unconfirmed', 'unsubscribed'])

const NOW = '2026-01-01T00:00:00.000000Z'

/** The SQL expressions the hub asks with; anything else is what Postgres would not prepare. */
function condition(expression: string): (subscriber: StandInSubscriber) => boolean {
  const tests = expression.split(/ and (?=(?:[^']*'[^']*')*[^']*$)/i).map((part) => {
    if (part.trim() === 'false') return () => false
    const match =
      /^\s*(lower\()?subscribers\.(email|status|updated_at)\)? (=|>=) '((?:[^']|'')*)'\s*$/.exec(
        part,
      )
    if (!match) throw new Refusal(400, `Error preparing subscriber query: pq: ${part}`)
    const [, , column = '', operator, quoted = ''] = match
    const literal = quoted.replaceAll("''", "'")
    return (subscriber: StandInSubscriber) => {
      const value = String(Reflect.get(subscriber, column))
      return operator === '=' ? value === literal : value >= literal
    }
  })
  return (subscriber) => tests.every((one) => one(subscriber))
}

/** Subscribers, global to one listmonk, and their bounces. */
export function subscribers(app: Hono<Env>, state: State, permissions: string[] | undefined) {
  const show = (subscriber: StandInSubscriber) => {
    const { subscriptions, ...rest } = subscriber
    const subscribed = [...subscriptions].flatMap(([id, subscription_status]) => {
      const list = state.lists.get(id)
      if (!list) return []
      const tags = list.tags.length > 0 ? list.tags : null
      return [{ ...list, tags, status: 'active', subscription_status }]
    })
    return { ...rest, created_at: NOW, lists: subscribed }
  }
  const get = (id: number) => {
    const subscriber = state.subscribers.get(id)
    if (!subscriber) throw new Refusal(400, `Subscriber (${id}: ) not found`)
    return subscriber
  }
  const Input = z.object({
    email: z.string().default(''),
    name: z.string().default(''),
    status: z.string().default('enabled'),
    lists: Ids.default([]),
    attribs: z.record(z.string(), z.unknown()).default({}),
    preconfirm_subscriptions: z.boolean().default(false),
  })
  const statusOf = (status: string, doing: string) => {
    const known = Status.safeParse(status)
    if (known.success) return known.data
    throw new Refusal(500, `Error ${doing} Subscriber: ${notIn('subscriber_status', status)}`)
  }
  const valid = (email: string) => {
    if (!/^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/.test(email)) throw new Refusal(400, 'Invalid email.')
  }

  app.get('/api/subscribers', (c) => {
    const expression = c.req.query('query') ?? ''
    if (expression && permissions && !permissions.includes('subscribers:sql_query')) {
      throw new Refusal(403, 'Permission denied: subscribers:sql_query')
    }
    const matches = expression ? condition(expression) : () => true
    const list_ids = (c.req.queries('list_id') ?? []).map(Number)
    const status = c.req.query('subscription_status')
    const found = [...state.subscribers.values()].filter((subscriber) => {
      const on = list_ids.map((id) => subscriber.subscriptions.get(id)).filter(Boolean)
      if (list_ids.length && !on.some((one) => !status || one === status)) return false
      return matches(subscriber)
    })
    return paged(c, found.map(show), null)
  })
  app.post('/api/subscribers', async (c) => {
    const input = await body(c, Input)
    valid(input.email)
    if (state.byEmail(input.email)) throw new Refusal(409, 'E-mail already exists.')
    const subscriber = newSubscriber(state.nextId(), input.email, input.name)
    subscriber.attribs = input.attribs
    subscriber.status = statusOf(input.status, 'creating')
    const confirmed = input.preconfirm_subscriptions ? 'confirmed' : 'unconfirmed'
    for (const id of input.lists)
      if (state.lists.has(id)) subscriber.subscriptions.set(id, confirmed)
    state.subscribers.set(subscriber.id, subscriber)
    return c.json({ data: show(subscriber) })
  })
  app.put('/api/subscribers/lists', async (c) => {
    const { ids, action, target_list_ids, status } = await body(
      c,
      z.object({
        ids: Ids,
        action: z.string(),
        target_list_ids: Ids,
        status: z.string().default('unconfirmed'),
      }),
    )
    if (ids.length === 0) throw new Refusal(400, 'No IDs given.')
    if (target_list_ids.length === 0) throw new Refusal(400, 'No lists given.')
    if (!['add', 'remove', 'unsubscribe'].includes(action)) {
      throw new Refusal(400, 'Invalid action.')
    }
    const violated = (of: string) =>
      `Error updating Subscribers: pq: insert or update on table "subscriber_lists" violates foreign key constraint "subscriber_lists_${of}_id_fkey"`
    if (action === 'add') {
      const known = Subscription.safeParse(status)
      if (!known.success) {
        const fault = notIn('subscription_status', status)
        throw new Refusal(500, `Error updating Subscribers: ${fault}`)
      }
      if (ids.some((id) => !state.subscribers.has(id)))
        throw new Refusal(500, violated('subscriber'))
      if (target_list_ids.some((id) => !state.lists.has(id)))
        throw new Refusal(500, violated('list'))
      for (const one of ids.map(get)) {
        for (const id of target_list_ids) one.subscriptions.set(id, known.data)
      }
      return c.json({ data: true })
    }
    for (const one of ids.flatMap((id) => state.subscribers.get(id) ?? [])) {
      for (const id of target_list_ids) {
        if (action === 'remove') one.subscriptions.delete(id)
        else if (one.subscriptions.has(id)) one.subscriptions.set(id, 'unsubscribed')
      }
    }
    return c.json({ data: true })
  })
  app.put('/api/subscribers/blocklist', async (c) => {
    const { ids } = await body(c, z.object({ ids: Ids }))
    if (ids.length === 0) throw new Refusal(400, 'One or more IDs are invalid: ids')
    for (const one of ids.flatMap((id) => state.subscribers.get(id) ?? [])) {
      block(one)
      one.updated_at = new Date().toISOString()
    }
    return c.json({ data: true })
  })
  app.get('/api/subscribers/:id', (c) => c.json({ data: show(get(idOf(c))) }))
  app.put('/api/subscribers/:id', async (c) => {
    const input = await body(c, Input)
    valid(input.email)
    const subscriber = state.subscribers.get(idOf(c))
    if (!subscriber) throw new Refusal(400, `Subscriber (0: ${input.email}) not found`)
    const holder = state.byEmail(input.email)
    if (holder && holder !== subscriber) {
      const key = `Key (email)=(${input.email}) already exists.`
      const rule = 'pq: duplicate key value violates unique constraint "subscribers_email_key".'
      throw new Refusal(500, `Error updating Subscriber: ${rule} ${key}`)
    }
    const fresh = input.preconfirm_subscriptions ? 'confirmed' : 'unconfirmed'
    const kept = new Map(input.lists.map((id) => [id, subscriber.subscriptions.get(id) ?? fresh]))
    Object.assign(subscriber, {
      email: input.email.toLowerCase(),
      name: input.name,
      attribs: input.attribs,
    })
    subscriber.status = statusOf(input.status, 'updating')
    subscriber.subscriptions = kept
    subscriber.updated_at = new Date().toISOString()
    return c.json({ data: show(subscriber) })
  })
  app.delete('/api/subscribers/:id', (c) => {
    state.subscribers.delete(idOf(c))
    return c.json({ data: true })
  })
  app.get('/api/bounces', (c) => {
    const campaign_id = Number(c.req.query('campaign_id') ?? 0)
    const found = state.bounces.filter((each) => !campaign_id || each.campaign_id === campaign_id)
    const rows = found.map(({ campaign_id: id, ...bounce }) => {
      const campaign = state.campaigns.get(id ?? 0)
      return {
        ...bounce,
        source: 'stand-in',
        meta: {},
        campaign: campaign ? { id: campaign.id, name: campaign.name } : null,
      }
    })
    return paged(c, rows)
  })
}

/** Blocklisting takes somebody off every list. listmonk notes its time only where an admin does it. */
export function block(subscriber: StandInSubscriber) {
  subscriber.status = 'blocklisted'
  for (const id of subscriber.subscriptions.keys()) subscriber.subscriptions.set(id, 'unsubscribed')
}
