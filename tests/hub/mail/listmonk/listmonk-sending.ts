import { randomUUID } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { execute, type GoContext } from '../go-template.ts'
import { body, type Env, Ids, idOf, paged, Refusal } from './listmonk-http.ts'
import { block, notIn, tagOf } from './listmonk-people.ts'
import {
  GENERIC,
  newSubscriber,
  type StandInCampaign,
  type StandInMessage,
  type State,
  subscriberFields,
} from './listmonk-state.ts'

const TRANSITIONS: Record<string, { from: string[]; message: string }> = {
  draft: { from: ['scheduled'], message: 'Only scheduled campaigns can be saved as drafts.' },
  scheduled: { from: ['draft', 'paused'], message: 'Only drafts can be scheduled.' },
  running: {
    from: ['paused', 'draft'],
    message: 'Only paused campaigns and drafts can be started.',
  },
  paused: { from: ['running'], message: 'Only active campaigns can be paused.' },
  cancelled: { from: ['running', 'paused'], message: 'Only active campaigns can be cancelled.' },
}

export type Deliver = (message: StandInMessage) => Promise<void>

/** Campaigns: made as drafts, compiled when saved, sent when running. */
export function campaigns(app: Hono<Env>, state: State, deliver: Deliver) {
  const get = (id: number) => {
    const campaign = state.campaigns.get(id)
    if (!campaign) throw new Refusal(400, 'Campaign not found')
    return campaign
  }
  const show = (campaign: StandInCampaign, no_body = false) => {
    const { list_ids, body: html, altbody, last_subscriber_id: _, ...rest } = campaign
    // The name stays when the list is deleted.
    const on = list_ids.flatMap((id): { id: number | null; name: string }[] => {
      const gone = state.deleted_lists.get(id)
      if (gone !== undefined) return [{ id: null, name: gone }]
      const list = state.lists.get(id)
      return list ? [{ id, name: list.name }] : []
    })
    return {
      ...rest,
      type: 'regular',
      attribs: {},
      lists: on,
      ...(no_body ? {} : { body: html, altbody }),
    }
  }
  const Input = z.object({
    name: z.string().default(''),
    subject: z.string().default(''),
    lists: Ids.default([]),
    from_email: z.string().default('No Reply <noreply@listmonk.example>'),
    content_type: z.string().default('richtext'),
    body: z.string().default(''),
    altbody: z.string().nullable().default(null),
    headers: z.array(z.record(z.string(), z.string())).default([]),
    tags: z.array(z.string()).default([]),
    messenger: z.string().default('email'),
    template_id: z.number().int().optional(),
  })
  const checked = async (c: Context<Env>) => {
    const { lists: list_ids, template_id = 1, messenger, ...input } = await body(c, Input)
    if (!input.name) throw new Refusal(400, 'Invalid length for name.')
    if (!input.subject) throw new Refusal(400, 'Invalid length for subject.')
    if (!/<.+@.+>|^[^\s@]+@[^\s@]+$/.test(input.from_email)) {
      throw new Refusal(400, 'Invalid `from_email`.')
    }
    if (list_ids.length === 0) throw new Refusal(400, 'Invalid list IDs.')
    if (messenger !== 'email') throw new Refusal(400, `Unknown messenger ${messenger}.`)
    return {
      ...input,
      tags: input.tags.map(tagOf),
      list_ids,
      template_id: state.templates.has(template_id) ? template_id : null,
    }
  }
  /** Templates are tried on nobody in particular, as listmonk compiles them on saving. */
  const compile = (campaign: StandInCampaign) => {
    try {
      state.campaignMessage(campaign, newSubscriber(0, 'nobody@listmonk.example', 'No Body'))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Refusal(400, `Error compiling campaign body: ${reason}`)
    }
  }

  app.get('/api/campaigns', (c) => {
    const tags = c.req.queries('tag') ?? []
    const found = [...state.campaigns.values()].filter((each) =>
      tags.every((tag) => each.tags.includes(tag)),
    )
    return paged(
      c,
      found.map((campaign) => show(campaign, c.req.query('no_body') === 'true')),
    )
  })
  app.get('/api/campaigns/:id', (c) =>
    c.json({ data: show(get(idOf(c)), c.req.query('no_body') === 'true') }),
  )
  app.post('/api/campaigns', async (c) => {
    const campaign: StandInCampaign = {
      ...(await checked(c)),
      id: state.nextId(),
      uuid: randomUUID(),
      status: 'draft',
      to_send: 0,
      sent: 0,
      last_subscriber_id: 0,
      views: 0,
      clicks: 0,
      bounces: 0,
      started_at: null,
      updated_at: new Date().toISOString(),
    }
    compile(campaign)
    state.campaigns.set(campaign.id, campaign)
    return c.json({ data: show(campaign) })
  })
  app.put('/api/campaigns/:id/status', async (c) => {
    const campaign = get(idOf(c))
    const { status } = await body(c, z.object({ status: z.string() }))
    const transition = TRANSITIONS[status]
    if (!transition)
      throw new Refusal(500, `Error updating Campaign: ${notIn('campaign_status', status)}`)
    if (status === 'scheduled' && campaign.status === 'draft') {
      throw new Refusal(400, 'Campaign needs a date to be scheduled.')
    }
    if (!transition.from.includes(campaign.status)) throw new Refusal(400, transition.message)
    campaign.status = status
    campaign.updated_at = new Date().toISOString()
    if (status === 'running') void run(state, campaign, deliver)
    return c.json({ data: show(campaign) })
  })
  app.put('/api/campaigns/:id', async (c) => {
    const campaign = get(idOf(c))
    if (!['draft', 'paused', 'scheduled'].includes(campaign.status)) {
      throw new Refusal(400, 'Cannot update a running or a finished campaign.')
    }
    const changed = { ...campaign, ...(await checked(c)) }
    compile(changed)
    Object.assign(campaign, changed)
    return c.json({ data: show(campaign) })
  })
  app.delete('/api/campaigns/:id', (c) => {
    state.campaigns.delete(get(idOf(c)).id)
    return c.json({ data: true })
  })
}

/** Sends a running campaign to whoever is on its lists at that moment; what fails is not counted. */
async function run(state: State, campaign: StandInCampaign, deliver: Deliver) {
  await new Promise((resolve) => setImmediate(resolve))
  const audience = state.audience(campaign)
  campaign.to_send = audience.length
  if (audience.length > 0) campaign.started_at ??= new Date().toISOString()
  for (const subscriber of audience.filter(({ id }) => id > campaign.last_subscriber_id)) {
    if (campaign.status !== 'running') return
    campaign.last_subscriber_id = subscriber.id
    const message = state.campaignMessage(campaign, subscriber)
    await deliver(message).then(
      () => {
        campaign.sent += 1
      },
      () => {},
    )
  }
  campaign.status = 'finished'
}

/** Templates of campaigns and of single mails. */
export function templates(app: Hono<Env>, state: State) {
  app.get('/api/templates', (c) => c.json({ data: [...state.templates.values()] }))
  app.post('/api/templates', async (c) => {
    const input = await body(
      c,
      z.object({
        name: z.string().default(''),
        type: z.string().default(''),
        subject: z.string().default(''),
        body: z.string().default(''),
      }),
    )
    if (!input.name) throw new Refusal(500, 'Internal Server Error')
    if (input.type === 'campaign' && !/\{\{\s*template "content" \.\s*\}\}/.test(input.body)) {
      throw new Refusal(
        400,
        'The placeholder {{ template "content" . }} should appear exactly once in the template.',
      )
    }
    if (input.type === 'tx' && !input.subject.trim())
      throw new Refusal(400, 'Missing field(s): subject')
    if (!['campaign', 'campaign_visual', 'tx'].includes(input.type)) {
      throw new Refusal(500, `Error creating Template: ${notIn('template_type', input.type)}`)
    }
    const template = { id: state.nextId(), ...input }
    state.templates.set(template.id, template)
    return c.json({ data: template })
  })
}

/** Mails to single subscribers. */
export function transactional(app: Hono<Env>, state: State, deliver: Deliver) {
  app.post('/api/tx', async (c) => {
    const input = await body(
      c,
      z.object({
        subscriber_emails: z.array(z.string()).default([]),
        subscriber_mode: z.enum(['default', 'fallback', 'external']).default('default'),
        template_id: z.number().int().default(0),
        from_email: z.string().default('No Reply <noreply@listmonk.example>'),
        subject: z.string().default(''),
        data: z.record(z.string(), z.unknown()).default({}),
        altbody: z.string().default(''),
        headers: z.array(z.record(z.string(), z.string())).default([]),
      }),
    )
    if (input.subscriber_emails.length === 0) {
      throw new Refusal(400, 'Invalid fields: send subscriber_emails OR subscriber_ids')
    }
    const template = state.templates.get(input.template_id)
    if (template?.type !== 'tx') throw new Refusal(400, `template ${input.template_id} not found`)
    for (const email of input.subscriber_emails) {
      const known = state.byEmail(email)
      if (!known && input.subscriber_mode === 'default')
        throw new Refusal(400, `Subscriber (0: ${email}) not found`)
      const subscriber = known ?? newSubscriber(0, email, '')
      const Tx = { Data: input.data, Subject: input.subject }
      const context: GoContext = {
        fields: { Subscriber: subscriberFields(subscriber), Tx },
        functions: GENERIC,
      }
      let message: StandInMessage
      try {
        message = {
          from: input.from_email,
          to: subscriber.email,
          subject: execute(input.subject || template.subject, context, 'text'),
          html: execute(template.body, context, 'html'),
          text: execute(input.altbody, context, 'text'),
          headers: Object.assign({}, ...input.headers),
          campaign_id: null,
        }
      } catch (error) {
        throw new Refusal(
          400,
          `Error rendering message: ${error instanceof Error ? error.message : error}`,
        )
      }
      // The answer does not wait for the mail server, and says nothing of it.
      void deliver(message).catch(() => {})
    }
    return c.json({ data: true })
  })
}

/** The pages a reader sees; only POST unsubscribes. */
export function publicPages(app: Hono<Env>, state: State) {
  const find = (c: Context<Env>) => {
    const uuid = c.req.param('subscriber')
    const subscriber = [...state.subscribers.values()].find((each) => each.uuid === uuid)
    const campaign = [...state.campaigns.values()].find(
      (each) => each.uuid === c.req.param('campaign'),
    )
    return { subscriber, campaign }
  }
  app.get('/subscription/:campaign/:subscriber', (c) => {
    return find(c).subscriber
      ? c.html('<form method="post"><button>Unsubscribe</button></form>')
      : c.notFound()
  })
  app.post('/subscription/wipe/:subscriber', (c) => {
    const { subscriber } = find(c)
    if (!subscriber) return c.html('<p>Not found</p>', 404)
    state.subscribers.delete(subscriber.id)
    return c.html('<p>Data removed</p>')
  })
  app.post('/subscription/:campaign/:subscriber', async (c) => {
    const { subscriber, campaign } = find(c)
    if (!subscriber) return c.html('<p>Not found</p>', 404)
    const { blocklist } = await c.req.parseBody()
    if (blocklist === 'true') block(subscriber)
    for (const id of campaign?.list_ids ?? []) {
      if (subscriber.subscriptions.has(id)) subscriber.subscriptions.set(id, 'unsubscribed')
    }
    return c.html('<p>Unsubscribed</p>')
  })
}
