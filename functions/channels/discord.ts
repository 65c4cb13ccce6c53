import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import type { ChannelKind, Classification, Issue, Message, Style } from './channel.ts'
import { configIssues, httpsUrl, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, quoted, retryAfter } from './classify.ts'
import { cardOf, colourOf, type Item, type Link } from './message/card.ts'
import { shortenBy, units } from './message/text.ts'
import type { SendResult } from './transport/send.ts'
import { maskTarget } from './transport/target.ts'

const HOSTS = ['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com']
const PATH = /^\/api(?:\/v\d+)?\/webhooks\/\d{15,25}\/[\w-]{20,}$/
const WHERE =
  'In Discord, open the channel’s settings, Integrations, Webhooks, and choose Copy Webhook URL: https://discord.com/api/webhooks/….'

/** Discord's limits, less 5 % for what it counts differently. */
const MAX_TITLE = 240
const MAX_DESCRIPTION = 1_500
const MAX_FIELD = 970
const MAX_FOOTER = 700
const MAX_CONTENT = 1_800
const MAX_EMBEDS = 10
/** Of all embeds of a message together. */
const MAX_TOTAL = 5_700

const DiscordConfig = z.strictObject(
  {
    thread_id: z
      .string()
      .regex(
        /^\d{15,25}$/,
        'Must be the number of a thread: right-click it in Discord and choose Copy Thread ID.',
      )
      .optional(),
  },
  'A Discord channel has only one setting: thread_id.',
)

type Embed = {
  title?: string
  url?: string
  description?: string
  color: number
  fields?: { name: string; value: string; inline: boolean }[]
  footer?: { text: string }
  timestamp?: string
}

/** A webhook of Discord. An update edits the first message; one that got worse is a message of its own. */
export const discord: ChannelKind = {
  kind: 'discord',
  schedule: 'message',
  pace: { messages: 5, per_seconds: 2 },
  check: ({ target, config }) => [...checkTarget(target), ...configIssues(DiscordConfig, config)],
  host: () => 'discord.com',
  mask: maskTarget,
  fits(notification, style) {
    const { embeds, content = '' } = bodyOf({ notification, ...style })
    return (
      embeds.length <= MAX_EMBEDS && sizeOf(embeds) <= MAX_TOTAL && content.length <= MAX_CONTENT
    )
  },
  async render(message) {
    const { thread_id } = DiscordConfig.parse(message.config ?? {})
    const isEdit = message.remote_ref !== null && message.notification.type !== 'alert.escalated'
    const url = new URL(message.target)
    if (isEdit) url.pathname += `/messages/${message.remote_ref}`
    if (!isEdit) url.searchParams.set('wait', 'true')
    if (thread_id) url.searchParams.set('thread_id', thread_id)
    return {
      url: url.href,
      method: isEdit ? 'PATCH' : 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': `Watchpost/${VERSION}` },
      body: JSON.stringify({ ...bodyOf(message), allowed_mentions: { parse: [] } }),
    }
  },
  classify,
}

function checkTarget(target: string): Issue[] {
  const url = httpsUrl(target)
  if (!url) return [targetIssue('malformed', `Must be the URL of a webhook of Discord. ${WHERE}`)]
  if (!HOSTS.includes(url.host)) {
    return [targetIssue('wrong_host', `${url.host} is not Discord. ${WHERE}`)]
  }
  if (/^\/channels\//.test(url.pathname)) {
    return [targetIssue('page', `This is the page of a channel, not a webhook. ${WHERE}`)]
  }
  if (/\/(slack|github)\/?$/.test(url.pathname)) {
    const message = `Leave out the end of the path, /slack or /github: Watchpost sends Discord’s own form. ${WHERE}`
    return [targetIssue('compatible_url', message)]
  }
  if (!PATH.test(url.pathname)) {
    return [targetIssue('incomplete_url', `The URL of the webhook is not complete. ${WHERE}`)]
  }
  if (url.search === '') return []
  return [
    targetIssue(
      'query',
      'Leave out what follows the question mark; a thread goes into config.thread_id.',
    ),
  ]
}

type Said = Style & Pick<Message, 'notification'> & Partial<Pick<Message, 'acknowledge_url'>>

function bodyOf(message: Said): { content?: string; embeds: Embed[] } {
  const card = cardOf(message)
  if (card.items.length > 0) {
    const content = [
      `**${escapeMarkdown(card.title)}**`,
      card.heading,
      card.text,
      linksLine(card.links),
    ]
    return {
      content: content.filter(Boolean).join('\n'),
      embeds: card.items.map((item, index) => ({
        ...embedOf(item, message),
        ...(index === card.items.length - 1 ? { footer: footerOf(card.footer, message) } : {}),
      })),
    }
  }
  const lines = [card.heading, card.text].map((line) => shorten(line, MAX_DESCRIPTION, message))
  return {
    embeds: [
      {
        title: shorten(card.title, MAX_TITLE, message),
        description: [...lines, linksLine(card.links)].filter(Boolean).join('\n'),
        color: colourOf(card),
        fields: card.facts.map(({ name, value, is_wide = false }) => ({
          name,
          value: shorten(value, MAX_FIELD, message),
          inline: !is_wide,
        })),
        footer: footerOf(card.footer, message),
        ...(card.at ? { timestamp: card.at.ts } : {}),
      },
    ],
  }
}

function embedOf(item: Item, style: Style): Embed {
  const lines = [item.line, item.reason].map((line) => shorten(line, 400, style))
  return {
    title: shorten(item.title, MAX_TITLE, style),
    description: [...lines, linksLine(item.links)].filter(Boolean).join('\n'),
    color: colourOf(item),
  }
}

const shortenPlain = shortenBy(units)

const footerOf = (text: string, style: Style) => ({ text: shortenPlain(text, MAX_FOOTER, style) })

/** The labels are ours, and webLink leaves no bracket in a link. */
const linksLine = (links: readonly Link[]) =>
  links.map(({ label, url }) => `[${label}](${url})`).join(' · ')

/** Everything that Discord reads as markup, links and mentions. */
const escapeMarkdown = (text: string) => text.replace(/[\\*_~`|>#<[\]()@-]/g, '\\$&')

const shortenEscaped = shortenBy((text) => escapeMarkdown(text).length)

const shorten = (text: string, limit: number, style: Style) =>
  escapeMarkdown(shortenEscaped(text, limit, style))

const sizeOf = (embeds: readonly Embed[]) =>
  embeds.reduce((sum, { title = '', description = '', fields = [], footer }) => {
    const named = fields.reduce((all, { name, value }) => all + name.length + value.length, 0)
    return sum + title.length + description.length + named + (footer?.text.length ?? 0)
  }, 0)

/** Codes of Discord that say that the webhook or what it belongs to is gone. */
const GONE: Record<number, string> = {
  10003: 'The channel or thread does not exist any more.',
  10015: 'The webhook was deleted.',
  50027: 'The webhook’s token is not valid.',
}
const UNKNOWN_MESSAGE = 10008
const NEEDS_THREAD = 220001

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status, body, headers } = result
  const base = heard(result)
  const { id, code, message, retry_after, global } = fieldsOf(body)
  if (status === 200 || status === 204) {
    // The last request that this minute allows: the next one has to wait.
    const reset = Number(headers.get('x-ratelimit-reset-after'))
    const isLast = headers.get('x-ratelimit-remaining') === '0' && reset > 0
    const rest = isLast ? { throttled: true, retry_after_seconds: Math.ceil(reset) } : {}
    return {
      ...base,
      ...rest,
      outcome: 'ok',
      ...(typeof id === 'string' ? { remote_ref: id } : {}),
    }
  }
  const said = quoted(message)
  const error = `Discord answered HTTP ${status}${said ? `: ${said}` : ''}.`
  if (status === 429) {
    const seconds = typeof retry_after === 'number' ? Math.max(Math.ceil(retry_after), 1) : 60
    const hint = {
      retry_after_seconds: seconds,
      ...(typeof retry_after === 'number' ? {} : retryAfter(result, now)),
    }
    // Without Discord's own words it is the wall before it, which judges the address of this service.
    const isShared = global === true || typeof retry_after !== 'number'
    const whose = isShared ? ({ throttles: 'host' } as const) : {}
    return { ...base, ...hint, ...whose, outcome: 'retry', throttled: true, counted: false, error }
  }
  if (code === UNKNOWN_MESSAGE) return { ...base, outcome: 'retry', is_gone: true, error }
  if (code === NEEDS_THREAD) {
    const way = 'This is a forum: name one of its threads in config.thread_id.'
    return { ...base, outcome: 'fail_permanent', error: `${error} ${way}` }
  }
  const gone = typeof code === 'number' ? GONE[code] : undefined
  if (gone || (typeof code === 'number' && [401, 403, 404].includes(status))) {
    const way = 'Make another webhook in Discord and set it as the target.'
    return {
      ...base,
      outcome: 'disable_channel',
      error: [error, gone, way].filter(Boolean).join(' '),
    }
  }
  if (status === 401 || status === 403) {
    const hint = { retry_after_seconds: 600, throttles: 'host' } as const
    return { ...base, ...hint, outcome: 'retry', throttled: true, error }
  }
  if (isTemporary(status)) return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
  return { ...base, outcome: 'fail_permanent', error }
}
