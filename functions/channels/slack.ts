import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import type { ChannelKind, Classification, Issue, Style } from './channel.ts'
import { configIssues, httpsUrl, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, quoted, retryAfter } from './classify.ts'
import { type Card, cardOf, type Link, signOf } from './message/card.ts'
import { escapeMarkup, shortenBy } from './message/text.ts'
import type { SendResult } from './transport/send.ts'
import { maskTarget } from './transport/target.ts'

const HOSTS = ['hooks.slack.com', 'hooks.slack-gov.com']
const PATH = /^\/services\/T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]+$/
const WHERE =
  'In Slack, open your app at api.slack.com/apps, then Incoming Webhooks, then Add New Webhook to Workspace, and paste its URL: https://hooks.slack.com/services/T…/B…/….'

/** Slack's limits, and what of them we use. */
const MAX_BLOCKS = 48
const MAX_HEADER = 140
const MAX_SECTION = 2_800
const MAX_FIELD = 1_900
const MAX_FIELDS = 10
/** Slack refuses messages whose blocks have about 13,200 characters together (msg_blocks_too_long). */
const MAX_TEXT = 12_000
const MAX_FALLBACK = 300

const SlackConfig = z.strictObject({}, 'A Slack channel has no settings: leave config out.')

type Text = { type: 'plain_text' | 'mrkdwn'; text: string; emoji?: false; verbatim?: true }
type Block =
  | { type: 'header'; text: Text }
  | { type: 'section'; text?: Text; fields?: Text[] }
  | { type: 'context'; elements: Text[] }

/** An incoming webhook of Slack. It answers without the id of the message, so updates follow. */
export const slack: ChannelKind = {
  kind: 'slack',
  schedule: 'message',
  pace: { messages: 1, per_seconds: 1 },
  check: ({ target, config }) => [...checkTarget(target), ...configIssues(SlackConfig, config)],
  host: (target) => new URL(target).host,
  mask: maskTarget,
  fits(notification, style) {
    const blocks = blocksOf(cardOf({ notification, ...style }), style)
    return blocks.length <= MAX_BLOCKS && sizeOf(blocks) <= MAX_TEXT
  },
  async render(message) {
    const card = cardOf(message)
    const fallback = `${signOf(card)} ${card.title}${card.heading ? ` (${card.heading})` : ''}`
    return {
      url: message.target,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': `Watchpost/${VERSION}` },
      body: JSON.stringify({
        text: escapeMarkup(shorten(fallback, MAX_FALLBACK, message)),
        mrkdwn: false,
        unfurl_links: false,
        unfurl_media: false,
        blocks: blocksOf(card, message),
      }),
    }
  },
  classify,
}

function checkTarget(target: string): Issue[] {
  const url = httpsUrl(target)
  if (!url) return [targetIssue('malformed', `Must be the URL of an incoming webhook. ${WHERE}`)]
  if (HOSTS.includes(url.host) && /^\/(workflows|triggers)\//.test(url.pathname)) {
    const message = `This URL starts a workflow of Slack, which takes only the fields it was made for. ${WHERE}`
    return [targetIssue('workflow_url', message)]
  }
  if (HOSTS.includes(url.host)) {
    if (PATH.test(url.pathname)) return []
    const message = `The URL is not complete: it must have three parts after /services/. ${WHERE}`
    return [targetIssue('incomplete_url', message)]
  }
  const isPage = url.host === 'slack.com' || url.host.endsWith('.slack.com')
  const what = isPage ? 'This is a page of Slack, not a webhook.' : `${url.host} is not Slack.`
  return [targetIssue('wrong_host', `${what} ${WHERE}`)]
}

function blocksOf(card: Card, style: Style): Block[] {
  const title = `${signOf(card)} ${card.title}`
  const lines = [
    // A header that is cut is repeated whole.
    ...(title.length > MAX_HEADER ? [card.title] : []),
    ...(card.heading ? [card.heading] : []),
    ...(card.text ? [card.text] : []),
  ]
  return [
    { type: 'header', text: plain(shorten(title, MAX_HEADER, style)) },
    ...section(lines.join('\n'), style),
    ...fieldsBlock(card, style),
    ...linksBlock(card.links),
    ...card.items.flatMap((item): Block[] => [
      ...section([`${signOf(item)} ${item.title}`, item.line, item.reason].join('\n'), style),
      ...linksBlock(item.links),
    ]),
    { type: 'context', elements: [plain(shorten(card.footer, MAX_FIELD, style))] },
  ]
}

function section(text: string, style: Style): Block[] {
  return text ? [{ type: 'section', text: plain(shorten(text, MAX_SECTION, style)) }] : []
}

function fieldsBlock({ facts }: Card, style: Style): Block[] {
  const fields = facts.slice(0, MAX_FIELDS).map(({ name, value }): Text => {
    const text = `*${name}*\n${escapeMarkup(shorten(value, MAX_FIELD, style))}`
    return { type: 'mrkdwn', text, verbatim: true }
  })
  return fields.length > 0 ? [{ type: 'section', fields }] : []
}

/** The only markup with links: the labels are ours, and webLink leaves no character that ends one. */
function linksBlock(links: readonly Link[]): Block[] {
  if (links.length === 0) return []
  const text = links.map(({ label, url }) => `<${escapeMarkup(url)}|${label}>`).join(' · ')
  return [{ type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] }]
}

/** Text of strangers stands in plain_text, where neither `<!channel>` nor `*` nor a name means anything. */
const plain = (text: string): Text => ({ type: 'plain_text', text, emoji: false })

const shorten = shortenBy((text) => escapeMarkup(text).length)

const sizeOf = (blocks: readonly Block[]) =>
  blocks.reduce((sum, block) => {
    const texts =
      'elements' in block ? block.elements : [block.text, 'fields' in block && block.fields]
    return sum + texts.flat().reduce((all, text) => all + (text ? text.text.length : 0), 0)
  }, 0)

/** What the names of Slack's errors mean for the channel, with the way out. */
const GONE = new Map(
  Object.entries({
    no_service: 'the webhook was removed or its app was uninstalled',
    no_service_id: 'the webhook was removed or its app was uninstalled',
    no_active_hooks: 'the webhook is switched off',
    no_team: 'the workspace does not exist any more',
    team_disabled: 'the workspace is switched off',
    invalid_token: 'the webhook is not valid any more',
    token_revoked: 'the webhook is not valid any more',
    channel_is_archived: 'the Slack channel was archived',
    channel_not_found: 'the Slack channel does not exist any more',
    user_not_found: 'the person the webhook belonged to does not exist any more',
  }),
)
const REFUSED = new Map(
  Object.entries({
    action_prohibited: 'an admin of the workspace does not permit it',
    posting_to_general_channel_denied: 'only some people may post to #general',
  }),
)

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status, body } = result
  const base = heard(result)
  if (status === 200 && body.trim() === 'ok') return { ...base, outcome: 'ok' }
  const { ok, error: named } = fieldsOf(body)
  if (status === 200 && ok === true) return { ...base, outcome: 'ok' }
  const said = quoted(named ?? body)
  const error = `Slack answered HTTP ${status}${said ? `: ${said}` : ''}.`
  const gone = GONE.get(said)
  if (gone) {
    const way = 'Make another incoming webhook in Slack and set it as the target.'
    return { ...base, outcome: 'disable_channel', error: `${error} That is, ${gone}. ${way}` }
  }
  const refused = REFUSED.get(said)
  if (refused) {
    return { ...base, outcome: 'fail_permanent', error: `${error} That is, ${refused}.` }
  }
  if (status === 429 || said === 'rate_limited') {
    const hint = { retry_after_seconds: 1, ...retryAfter(result, now) }
    return { ...base, ...hint, outcome: 'retry', throttled: true, counted: false, error }
  }
  // A 200 that is not Slack's may come from something between us and Slack.
  if (status === 200 || isTemporary(status)) {
    return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
  }
  return { ...base, outcome: 'fail_permanent', error }
}
