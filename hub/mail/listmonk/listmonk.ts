import { z } from 'zod'
import { bilingual } from '../../i18n/words.ts'
import { escapeGo } from '../render/go-template.ts'
import type { Rendered } from '../render/render.ts'
import { serverText } from '../smtp/servers.text.ts'
import { type CallOptions, caller, ListmonkError, type ListmonkSettings } from './listmonk-call.ts'
import {
  Bounce,
  CAMPAIGN_STATUSES,
  Campaign,
  ListmonkList,
  Subscriber,
  Template,
} from './listmonk-rows.ts'

export {
  ListmonkError,
  type ListmonkFailure,
  ListmonkSettings,
} from './listmonk-call.ts'

/** The tag of every list and campaign of the hub in listmonk. */
export const HUB_TAG = 'watchpost'

/** The content of a campaign; `rendered` comes from `render(…, {target: 'listmonk'})`. */
export type CampaignInput = {
  /** Unique for the draft, so that a campaign created by an unclear call can be found again. */
  name: string
  list_ids: number[]
  from_email: string
  /** Where replies go; null: to the sender. */
  reply_to?: string | null
  rendered: Rendered
  tags?: string[]
  template_id: number
}

/** A mail to one subscriber; `rendered` comes from `personalise` and has our unsubscribe link. */
type TransactionalInput = {
  email: string
  from_email: string
  rendered: Rendered
  headers?: Record<string, string>
  template_id: number
}

/** The result of putting a recipient on a list; only `added` may get mail. */
type Subscribed = { kind: 'added' | 'blocklisted' | 'unsubscribed'; subscriber: Subscriber }

const PAGE_SIZE = 500
const BLOCKLISTED = "subscribers.status = 'blocklisted'"
/** The hub's templates in listmonk. They add nothing, because the mail is complete. */
const TEMPLATES = {
  campaign: { name: 'Watchpost campaign', body: '{{ template "content" . }}', subject: '' },
  tx: { name: 'Watchpost letter', body: '{{ Safe .Tx.Data.html }}', subject: '{{ .Tx.Subject }}' },
} as const

/** The subscriber attribute with a lead's first name; each project has its own. */
export function firstNameAttribute(slug: string): string {
  return `${HUB_TAG}_${slug.replaceAll('-', '_')}_first_name`
}

/** The attributes with a lead's name, company and own fields begin so; each draft has its own, as it was approved. */
export function ownAttribute(draft_id: string): string {
  return `${HUB_TAG}_${draft_id.slice(0, 8)}`
}

/** A string literal for the SQL expression of a subscriber query. */
export function sqlLiteral(text: string): string {
  if (text.includes('\0')) throw new RangeError('A search text must not hold a NUL character')
  return `'${text.replaceAll("'", "''")}'`
}

const { listmonk: say } = bilingual(serverText)

/** The part of listmonk's API that the hub uses. Every failed call throws a ListmonkError. */
export function listmonk(settings: ListmonkSettings, options: CallOptions = {}) {
  const call = caller(settings, options)

  /** All rows of a paged answer. */
  async function all<S extends z.ZodType>(
    path: string,
    row: S,
    query: Parameters<typeof call>[3] & object,
  ): Promise<z.output<S>[]> {
    // Behind the last page there is null.
    const results = z
      .array(row)
      .nullable()
      .transform((rows) => rows ?? [])
    const Page = z.object({ results, total: z.number().int() })
    const rows: z.output<S>[] = []
    for (let page = 1; ; page += 1) {
      const answer = await call('GET', path, Page, {
        query: { ...query.query, page, per_page: PAGE_SIZE },
      })
      rows.push(...answer.results)
      if (answer.results.length < PAGE_SIZE || rows.length >= answer.total) return rows
    }
  }

  async function findSubscriber(email: string): Promise<Subscriber | null> {
    const wanted = email.toLowerCase()
    const expression = `lower(subscribers.email) = ${sqlLiteral(wanted)}`
    const Page = z.object({ results: z.array(Subscriber) })
    const page = await call('GET', '/subscribers', Page, { query: { query: expression } })
    return page.results.find((each) => each.email.toLowerCase() === wanted) ?? null
  }

  return {
    /** The version; empty for a custom build. */
    async about() {
      return call('GET', '/about', z.object({ version: z.string() }), { bare: true })
    },

    getList: (id: number) => call('GET', `/lists/${id}`, ListmonkList),

    /** The list with this tag, created if there is none: private, single opt-in. */
    async ensureList(list: { name: string; tag: string; description?: string }) {
      const [known] = await all('/lists', ListmonkList, { query: { tag: list.tag } })
      if (known) return known
      return call('POST', '/lists', ListmonkList, {
        body: {
          name: list.name,
          type: 'private',
          optin: 'single',
          tags: [HUB_TAG, list.tag],
          description: list.description ?? '',
        },
      })
    },

    deleteList: (id: number) => call('DELETE', `/lists/${id}`, z.literal(true)),

    findSubscriber,

    /**
     * Puts a recipient on a list. Subscribers are global: an existing one keeps its name, gets the
     * attributes in addition to its own, and is not put back on any list after it has unsubscribed
     * from one of the hub's.
     */
    async subscribe(recipient: {
      email: string
      name: string
      list_id: number
      attribs: Record<string, unknown>
    }): Promise<Subscribed> {
      const { email, name, list_id, attribs } = recipient
      try {
        const subscriber = await call('POST', '/subscribers', Subscriber, {
          body: {
            email,
            name,
            status: 'enabled',
            lists: [list_id],
            attribs,
            preconfirm_subscriptions: true,
          },
        })
        return { kind: 'added', subscriber }
      } catch (error) {
        if (!(error instanceof ListmonkError) || error.status !== 409) throw error
      }
      const known = await findSubscriber(email)
      if (!known) {
        const message = say.invisible(email)
        throw new ListmonkError('refused', 'GET /subscribers', message, { status: 409 })
      }
      if (known.status !== 'enabled') return { kind: 'blocklisted', subscriber: known }
      const left = known.lists.some(
        (list) =>
          list.subscription_status === 'unsubscribed' &&
          (list.id === list_id || list.tags.includes(HUB_TAG)),
      )
      if (left) return { kind: 'unsubscribed', subscriber: known }
      await call('PUT', '/subscribers/lists', z.literal(true), {
        body: { ids: [known.id], action: 'add', target_list_ids: [list_id], status: 'confirmed' },
      })
      const lists = [...new Set([...known.lists.map((list) => list.id), list_id])]
      const subscriber = await call('PUT', `/subscribers/${known.id}`, Subscriber, {
        body: {
          email: known.email,
          name: known.name,
          status: known.status,
          lists,
          attribs: { ...known.attribs, ...attribs },
          preconfirm_subscriptions: true,
        },
      })
      return { kind: 'added', subscriber }
    },

    /** Everybody on a list, with their subscription. */
    async listMembers(list_id: number) {
      const members = await all('/subscribers', Subscriber, { query: { list_id } })
      return members.map((subscriber) => ({
        subscriber,
        subscription:
          subscriber.lists.find((list) => list.id === list_id)?.subscription_status ?? null,
      }))
    },

    removeFromList: (ids: number[], list_id: number) =>
      call('PUT', '/subscribers/lists', z.literal(true), {
        body: { ids, action: 'remove', target_list_ids: [list_id] },
      }),

    /** Blocks addresses for everything that this listmonk sends, also for other systems. */
    blocklist: (ids: number[]) =>
      call('PUT', '/subscribers/blocklist', z.literal(true), { body: { ids } }),

    deleteSubscriber: (id: number) => call('DELETE', `/subscribers/${id}`, z.literal(true)),

    /** How many are blocklisted. listmonk keeps no time of it: bounces and readers leave none. */
    async countBlocklisted(): Promise<number> {
      const query = { query: BLOCKLISTED, page: 1, per_page: 1 }
      const { total } = await call('GET', '/subscribers', z.object({ total: z.number().int() }), {
        query,
      })
      return total
    },

    /** Everybody who is blocklisted: they belong on the suppression list. */
    blocklisted: () => all('/subscribers', Subscriber, { query: { query: BLOCKLISTED } }),

    /** How many are on a list, whatever their subscription. */
    async countMembers(list_id: number): Promise<number> {
      const query = { list_id, page: 1, per_page: 1 }
      const { total } = await call('GET', '/subscribers', z.object({ total: z.number().int() }), {
        query,
      })
      return total
    },

    /** Those who unsubscribed from a list: they belong on the suppression list. */
    unsubscribed: (list_id: number) =>
      all('/subscribers', Subscriber, {
        query: { list_id, subscription_status: 'unsubscribed' },
      }),

    /** The id of the hub's template of this kind, created if there is none. */
    async ensureTemplate(type: keyof typeof TEMPLATES): Promise<number> {
      const { name, body, subject } = TEMPLATES[type]
      const known = await call('GET', '/templates', z.array(Template), { query: { no_body: true } })
      const found = known.find((template) => template.name === name && template.type === type)
      if (found) return found.id
      const made = await call('POST', '/templates', Template, {
        body: { name, type, body, subject },
      })
      return made.id
    },

    /** Creates a campaign as a draft, which sends nothing. */
    async createCampaign(input: CampaignInput): Promise<Campaign> {
      const campaign = await call('POST', '/campaigns', Campaign, {
        body: campaignBody(input),
      })
      if (campaign.status === 'draft') return campaign
      const message = say.no_draft(campaign.id, campaign.status)
      throw new ListmonkError('unclear', 'POST /campaigns', message)
    },

    updateCampaign: (id: number, input: CampaignInput) =>
      call('PUT', `/campaigns/${id}`, Campaign, { body: campaignBody(input) }),

    getCampaign: (id: number) =>
      call('GET', `/campaigns/${id}`, Campaign, { query: { no_body: true } }),

    /** The hub's campaign with this name, to find one that an unclear call created. */
    async findCampaign(name: string): Promise<Campaign | null> {
      const campaigns = await all('/campaigns', Campaign, {
        query: { tag: HUB_TAG, no_body: true },
      })
      return campaigns.find((campaign) => campaign.name === name) ?? null
    },

    /** Starts, pauses or cancels; throws listmonk's refusal with its reason. */
    async setCampaignStatus(id: number, status: 'running' | 'paused' | 'cancelled') {
      const Changed = z.object({ status: z.enum(CAMPAIGN_STATUSES) })
      return call('PUT', `/campaigns/${id}/status`, Changed, { body: { status } })
    },

    deleteCampaign: (id: number) => call('DELETE', `/campaigns/${id}`, z.literal(true)),

    /** Passes one mail to listmonk's mailer. An `unclear` failure may have sent it. */
    sendTransactional: (input: TransactionalInput) =>
      call('POST', '/tx', z.literal(true), {
        body: {
          subscriber_emails: [input.email],
          subscriber_mode: 'default',
          template_id: input.template_id,
          from_email: input.from_email,
          subject: escapeGo(input.rendered.subject),
          data: { html: input.rendered.html },
          altbody: escapeGo(input.rendered.text),
          content_type: 'html',
          messenger: 'email',
          headers: Object.entries(input.headers ?? {}).map(([name, value]) => ({ [name]: value })),
        },
      }),

    /** The bounces of one campaign, or all. */
    bounces: (campaign_id?: number) => all('/bounces', Bounce, { query: { campaign_id } }),
  }
}

export type Listmonk = ReturnType<typeof listmonk>

function campaignBody(input: CampaignInput) {
  return {
    name: input.name,
    subject: input.rendered.subject,
    lists: input.list_ids,
    from_email: input.from_email,
    type: 'regular',
    content_type: 'html',
    body: input.rendered.html,
    altbody: input.rendered.text,
    messenger: 'email',
    headers: input.reply_to ? [{ 'Reply-To': input.reply_to }] : [],
    template_id: input.template_id,
    tags: [HUB_TAG, ...(input.tags ?? [])],
  }
}
