import { randomUUID } from 'node:crypto'
import type { Hono } from 'hono'
import { z } from 'zod'
import { body, type Env, Ids, idOf, paged, Refusal } from './listmonk-http.ts'
import { newSubscriber, type StandInSubscriber, type State } from './listmonk-state.ts'

/** Lists, and who is on them. */
export function lists(app: Hono<Env>, state: State) {
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
    const found = [...state.lists.values()].filter((list) =>
      tags.every((tag) => list.tags.includes(tag)),
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
        type: z.enum(['private', 'public', 'temporary']).default('private'),
        optin: z.enum(['single', 'double']).default('single'),
        tags: z.array(z.string()).default([]),
        description: z.string().default(''),
      }),
    )
    if (!name) throw new Refusal(400, 'Invalid name')
    const id = state.nextId()
    state.lists.set(id, { id, uuid: randomUUID(), name, ...rest })
    return c.json({ data: show(id) })
  })
  app.delete('/api/lists/:id', (c) => {
    const id = idOf(c)
    state.lists.delete(id)
    for (const subscriber of state.subscribers.values()) subscriber.subscriptions.delete(id)
    return c.json({ data: true })
  })
}

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
      return list ? [{ ...list, subscription_status }] : []
    })
    return { ...rest, created_at: NOW, lists: subscribed }
  }
  const get = (id: number) => {
    const subscriber = state.subscribers.get(id)
    if (!subscriber) throw new Refusal(400, 'Subscriber not found')
    return subscriber
  }
  const Input = z.object({
    email: z.string().default(''),
    name: z.string().default(''),
    status: z.enum(['enabled', 'disabled', 'blocklisted']).default('enabled'),
    lists: Ids.default([]),
    attribs: z.record(z.string(), z.unknown()).default({}),
  })
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
    return paged(c, found.map(show))
  })
  app.post('/api/subscribers', async (c) => {
    const input = await body(c, Input)
    valid(input.email)
    if (state.byEmail(input.email)) throw new Refusal(409, 'E-mail already exists.')
    const subscriber = newSubscriber(state.nextId(), input.email, input.name)
    subscriber.attribs = input.attribs
    subscriber.status = input.status
    for (const id of input.lists)
      if (state.lists.has(id)) subscriber.subscriptions.set(id, 'confirmed')
    state.subscribers.set(subscriber.id, subscriber)
    return c.json({ data: show(subscriber) })
  })
  app.put('/api/subscribers/lists', async (c) => {
    const { ids, action, target_list_ids, status } = await body(
      c,
      z.object({
        ids: Ids,
        action: z.enum(['add', 'remove', 'unsubscribe']),
        target_list_ids: Ids,
        status: z.enum(['confirmed', 'unconfirmed', 'unsubscribed']).default('unconfirmed'),
      }),
    )
    if (ids.length === 0 || target_list_ids.length === 0) throw new Refusal(400, 'No IDs given.')
    for (const subscriber of ids.map(get)) {
      for (const id of target_list_ids) {
        if (action === 'add') subscriber.subscriptions.set(id, status)
        if (action === 'remove') subscriber.subscriptions.delete(id)
        if (action === 'unsubscribe') subscriber.subscriptions.set(id, 'unsubscribed')
      }
    }
    return c.json({ data: true })
  })
  app.put('/api/subscribers/blocklist', async (c) => {
    const { ids } = await body(c, z.object({ ids: Ids }))
    if (ids.length === 0) throw new Refusal(400, 'One or more IDs are invalid: ids')
    for (const subscriber of ids.map(get)) block(subscriber)
    return c.json({ data: true })
  })
  app.put('/api/subscribers/:id', async (c) => {
    const subscriber = get(idOf(c))
    const input = await body(c, Input)
    valid(input.email)
    const kept = new Map(
      input.lists.map((id) => [id, subscriber.subscriptions.get(id) ?? 'confirmed']),
    )
    Object.assign(subscriber, {
      email: input.email.toLowerCase(),
      name: input.name,
      attribs: input.attribs,
    })
    subscriber.status = input.status
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

/** Blocklisting takes somebody off every list. */
export function block(subscriber: StandInSubscriber) {
  subscriber.status = 'blocklisted'
  subscriber.updated_at = new Date().toISOString()
  for (const id of subscriber.subscriptions.keys()) subscriber.subscriptions.set(id, 'unsubscribed')
}
