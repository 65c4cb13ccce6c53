import { randomUUID } from 'node:crypto'
import { execute, type GoContext, SafeHtml } from '../go-template.ts'

export type StandInList = {
  id: number
  uuid: string
  name: string
  type: string
  optin: string
  tags: string[]
  description: string
}
export type StandInSubscriber = {
  id: number
  uuid: string
  email: string
  name: string
  status: 'enabled' | 'disabled' | 'blocklisted'
  attribs: Record<string, unknown>
  updated_at: string
  subscriptions: Map<number, 'confirmed' | 'unconfirmed' | 'unsubscribed'>
}
export type StandInCampaign = {
  id: number
  uuid: string
  name: string
  subject: string
  from_email: string
  body: string
  altbody: string | null
  content_type: string
  headers: Record<string, string>[]
  tags: string[]
  list_ids: number[]
  template_id: number | null
  status: string
  to_send: number
  sent: number
  /** The last one whose mail was sent or failed: a paused campaign goes on behind it. */
  last_subscriber_id: number
  views: number
  clicks: number
  bounces: number
  started_at: string | null
  updated_at: string
}
export type StandInTemplate = {
  id: number
  name: string
  type: string
  subject: string
  body: string
}
export type StandInBounce = {
  id: number
  type: 'hard' | 'soft' | 'complaint'
  email: string
  subscriber_id: number
  campaign_id: number | null
  created_at: string
}
/** A mail as listmonk hands it to its SMTP server. */
export type StandInMessage = {
  from: string
  to: string
  subject: string
  html: string
  text: string
  headers: Record<string, string>
  campaign_id: number | null
}

/** Everything a stand-in knows. */
export class State {
  root = ''
  lists = new Map<number, StandInList>()
  /** The names of deleted lists, which campaigns keep. */
  deleted_lists = new Map<number, string>()
  subscribers = new Map<number, StandInSubscriber>()
  campaigns = new Map<number, StandInCampaign>()
  templates = new Map<number, StandInTemplate>()
  bounces: StandInBounce[] = []
  messages: StandInMessage[] = []
  #ids = 0

  constructor() {
    const id = this.nextId()
    const body = '<html><body>{{ template "content" . }}</body></html>'
    this.templates.set(id, { id, name: 'Default', type: 'campaign', subject: '', body })
  }

  deleteList(id: number) {
    const list = this.lists.get(id)
    if (list) this.deleted_lists.set(id, list.name)
    this.lists.delete(id)
  }

  nextId(): number {
    this.#ids += 1
    return this.#ids
  }

  byEmail(email: string): StandInSubscriber | undefined {
    const wanted = email.toLowerCase()
    return [...this.subscribers.values()].find((each) => each.email === wanted)
  }

  /** Who a campaign goes to: enabled, and not unsubscribed from its lists. */
  audience(campaign: StandInCampaign): StandInSubscriber[] {
    return [...this.subscribers.values()].filter(
      (subscriber) =>
        subscriber.status === 'enabled' &&
        campaign.list_ids.some((id) => {
          const status = subscriber.subscriptions.get(id)
          return (
            status === 'confirmed' ||
            (status && this.lists.get(id)?.optin === 'single' && status !== 'unsubscribed')
          )
        }),
    )
  }

  campaignMessage(campaign: StandInCampaign, subscriber: StandInSubscriber): StandInMessage {
    const unsubscribe = `${this.root}/subscription/${campaign.uuid}/${subscriber.uuid}`
    const context: GoContext = {
      fields: {
        Subscriber: subscriberFields(subscriber),
        Campaign: { UUID: campaign.uuid, Name: campaign.name, Subject: campaign.subject },
      },
      functions: {
        ...GENERIC,
        TrackLink: (url) => `${this.root}/link?url=${encodeURIComponent(String(url))}`,
        TrackView: () => new SafeHtml(`<img src="${this.root}/campaign/px.png" alt="">`),
        UnsubscribeURL: () => unsubscribe,
        MessageURL: () => `${this.root}/campaign/${campaign.uuid}/${subscriber.uuid}`,
        OptinURL: () => `${this.root}/subscription/optin/${subscriber.uuid}`,
      },
    }
    const content = new SafeHtml(execute(campaign.body, context, 'html'))
    const frame = this.templates.get(campaign.template_id ?? 1)?.body ?? ''
    const framed = { ...context, functions: { ...context.functions, template: () => content } }
    return {
      from: campaign.from_email,
      to: subscriber.email,
      subject: execute(campaign.subject, context, 'text'),
      html: execute(frame, framed, 'html'),
      text: execute(campaign.altbody ?? '', context, 'html'),
      headers: {
        'List-Unsubscribe': `<${unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        ...Object.fromEntries(
          campaign.headers.flatMap((set) =>
            Object.entries(set).map(([name, value]) => [name, execute(value, context, 'text')]),
          ),
        ),
      },
      campaign_id: campaign.id,
    }
  }
}

/** Functions every template of listmonk has. */
export const GENERIC: GoContext['functions'] = {
  Safe: (html) => new SafeHtml(String(html)),
  Date: () => new Date().toISOString(),
}

export function subscriberFields({ uuid, email, name, attribs }: StandInSubscriber) {
  const long = name.split(' ').filter((word) => Buffer.byteLength(word) > 2)
  return {
    UUID: uuid,
    Email: email,
    Name: name,
    FirstName: long[0] ?? name,
    LastName: long.at(-1) ?? name,
    Attribs: attribs,
  }
}

export function newSubscriber(id: number, email: string, name: string): StandInSubscriber {
  return {
    id,
    uuid: randomUUID(),
    email: email.toLowerCase(),
    name: name || nameOf(email),
    status: 'enabled',
    attribs: {},
    updated_at: new Date().toISOString(),
    subscriptions: new Map(),
  }
}

/** listmonk names who has no name after the address. */
function nameOf(email: string): string {
  const words = email.slice(0, email.indexOf('@')).split(/[^a-z0-9]+/i)
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(' ')
}
