import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import type { ChannelKind, Classification, Issue, Style } from './channel.ts'
import { configIssues, httpsUrl, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, retryAfter } from './classify.ts'
import { type Card, cardOf, type Link, signOf, type Tone } from './message/card.ts'
import { bytes, shortenBy } from './message/text.ts'
import type { SendResult } from './transport/send.ts'
import { maskTarget } from './transport/target.ts'

const HOSTS = /^[a-z0-9.-]+\.(environment\.api\.powerplatform\.com|logic\.azure\.com)$/
/** Office 365 connectors, which Microsoft has switched off. */
const FORMER_HOSTS = /^(.+\.webhook\.office\.com|outlook\.office(365)?\.com)$/
const PAGES = /^(.+\.)?(teams\.microsoft\.com|teams\.cloud\.microsoft|make\.powerautomate\.com)$/
const PATH = /\/workflows\/[^/]+\/triggers\/[^/]+\/paths\/invoke\/?$/
const WHERE =
  'In Teams, open the menu of the channel, then Workflows, choose “Send webhook alerts to a channel”, and paste the whole URL that it shows: https://….environment.api.powerplatform.com/…&sig=….'
const ANYONE = 'In the trigger of the workflow, set “Who can trigger the flow?” to Anyone, save it'

/** Microsoft names 28 KB for the message; others have seen refusals from 21 KB of JSON. */
const MAX_BYTES = 20_000
/** The largest parts of a message, in bytes of JSON. An event's title, of at most 500 characters, is never cut. */
const MAX_TITLE = 2_100
const MAX_TEXT = 4_000
const MAX_REASON = 1_500
const MAX_LINE = 600
const MAX_VALUE = 500
const MAX_FOOTER = 1_000

const TeamsConfig = z.strictObject({}, 'A Teams channel has no settings: leave config out.')

type Run = {
  type: 'TextRun'
  text: string
  size?: 'Large' | 'Small'
  weight?: 'Bolder'
  isSubtle?: true
}
type Look = 'default' | 'accent' | 'good' | 'warning' | 'attention'
type Spacing = 'None' | 'Small' | 'Medium'
type Element =
  | { type: 'RichTextBlock'; inlines: Run[]; spacing?: Spacing }
  | { type: 'TextBlock'; text: string; wrap: true; spacing: Spacing }
  | { type: 'Container'; items: Element[]; style: Look; bleed: true }
  | { type: 'Container'; items: Element[]; separator: true; spacing: Spacing }

/** The trigger of a workflow that posts an Adaptive Card. It answers before Teams shows the card, without its id. */
export const teams: ChannelKind = {
  kind: 'teams',
  schedule: 'message',
  // Four at once, as its connectors allowed, and one a second in the long run.
  pace: { messages: 4, per_seconds: 4 },
  check: ({ target, config }) => [...checkTarget(target), ...configIssues(TeamsConfig, config)],
  host: (target) => new URL(target).host,
  mask: maskTarget,
  fits: (notification, style) =>
    bytes(bodyOf(cardOf({ notification, ...style }), style)) <= MAX_BYTES,
  async render(message) {
    return {
      url: message.target,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': `Watchpost/${VERSION}` },
      body: bodyOf(cardOf(message), message),
    }
  },
  classify,
}

function checkTarget(target: string): Issue[] {
  const url = httpsUrl(target)
  if (!url) {
    return [targetIssue('malformed', `Must be the URL of a workflow's webhook. ${WHERE}`)]
  }
  if (FORMER_HOSTS.test(url.host)) {
    const message = `This is a connector of Office 365, which Microsoft has switched off. Make a workflow instead. ${WHERE}`
    return [targetIssue('retired_connector', message)]
  }
  if (PAGES.test(url.host)) {
    return [targetIssue('page', `This is a page of Microsoft, not a webhook. ${WHERE}`)]
  }
  if (!HOSTS.test(url.host)) {
    const message = `${url.host} is not a host of Teams workflows. ${WHERE}`
    return [targetIssue('wrong_host', message)]
  }
  if (!PATH.test(url.pathname)) {
    const message = `The URL is not complete: it must have /workflows/…/triggers/…/paths/invoke. ${WHERE}`
    return [targetIssue('incomplete_url', message)]
  }
  if (url.searchParams.get('sig')) return []
  const message = url.searchParams.has('amp;sig')
    ? 'The URL was copied from HTML: write “&” where it has “&amp;”.'
    : `The URL has no signature (sig=…). Copy all of it. Where it has none at all: ${ANYONE} and copy its new URL.`
  return [targetIssue('incomplete_url', message)]
}

const LOOKS: Record<Tone, Look> = {
  minor: 'default',
  low: 'default',
  moderate: 'warning',
  severe: 'attention',
  extreme: 'attention',
  over: 'good',
  blind: 'warning',
  well: 'good',
  test: 'accent',
}

function bodyOf(card: Card, style: Style): string {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    // The newest that workflows post.
    version: '1.4',
    lang: style.language,
    msteams: { width: 'Full' },
    body: elementsOf(card, style),
    ...(card.links.length > 0 ? { actions: card.links.map(actionOf) } : {}),
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return JSON.stringify({
    type: 'message',
    attachments: [{ contentType, contentUrl: null, content }],
  })
}

function elementsOf(card: Card, style: Style): Element[] {
  const text = (given: string, limit: number): Run => ({
    type: 'TextRun',
    text: plain(given, limit, style),
  })
  const title = ({ tone, title }: { tone: Tone; title: string }): Run => ({
    ...text(`${signOf({ tone })} ${title}`, MAX_TITLE),
    weight: 'Bolder',
  })
  const head = [
    line([{ ...title(card), size: 'Large' }]),
    ...(card.heading ? [line([text(card.heading, MAX_LINE)], 'None')] : []),
    ...(card.text ? [line([text(card.text, MAX_TEXT)], 'Small')] : []),
  ]
  return [
    { type: 'Container', items: head, style: LOOKS[card.tone], bleed: true },
    ...card.facts.map(({ name, value }, index) =>
      line(
        [{ ...text(`${name}: `, MAX_VALUE), weight: 'Bolder' }, text(value, MAX_VALUE)],
        index === 0 ? 'Medium' : 'None',
      ),
    ),
    ...card.items.map(
      (item): Element => ({
        type: 'Container',
        separator: true,
        spacing: 'Medium',
        items: [
          line([title(item)]),
          line([{ ...text(item.line, MAX_LINE), isSubtle: true }], 'None'),
          line([text(item.reason, MAX_REASON)], 'Small'),
          { type: 'TextBlock', text: linksText(item.links), wrap: true, spacing: 'Small' },
        ],
      }),
    ),
    line([{ ...text(card.footer, MAX_FOOTER), size: 'Small', isSubtle: true }], 'Medium'),
  ]
}

/** A paragraph. The text of strangers stands in TextRun only, which has no Markdown, unlike TextBlock and Fact. */
const line = (inlines: Run[], spacing?: Spacing): Element => ({
  type: 'RichTextBlock',
  inlines,
  ...(spacing ? { spacing } : {}),
})

const actionOf = ({ label, url }: Link) => ({ type: 'Action.OpenUrl', title: label, url })

/** The only Markdown: the labels are ours, and webLink leaves no character that ends a link. */
const linksText = (links: readonly Link[]): string =>
  links.map(({ label, url }) => `[${label}](${url})`).join(' · ')

/**
 * Power Automate makes mentions of <at>…</at>, and every text of a card may have dates like {{DATE(…)}}. Neither is one
 * with a word joiner within.
 */
const harmless = (text: string): string =>
  text.replace(/<(?=\s*\/?\s*at\b)/gi, '<\u2060').replace(/\{(?=\{)/g, '{\u2060')

const shorten = shortenBy((text) => bytes(JSON.stringify(text)) - 2)

const plain = (text: string, limit: number, style: Style): string =>
  shorten(harmless(text), limit, style)

/** What the codes and statuses of Power Automate mean for the channel, with the way out. */
const GONE = new Map<string | number, string>([
  [
    'WorkflowTriggerIsNotEnabled',
    'the workflow is switched off or was deleted. Switch it on in Teams under Workflows, or make another and set its URL as the target',
  ],
  [
    'DirectApiAuthorizationRequired',
    `the workflow takes requests of your organisation only. ${ANYONE}, and set its new URL as the target`,
  ],
  [
    401,
    'the signature in the URL is not valid. Copy the URL of the workflow again and set it as the target',
  ],
  [
    403,
    'the workflow does not permit the request. Ask whoever runs Power Automate in your organisation',
  ],
  [404, 'the workflow does not exist any more. Make another and set its URL as the target'],
  [410, 'the workflow does not exist any more. Make another and set its URL as the target'],
])
const DEFAULT_WAIT_SECONDS = 60

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status, body } = result
  const base = heard(result)
  if (status === 200 || status === 202) return { ...base, outcome: 'ok' }
  const code = codeOf(body)
  const error = `The workflow answered HTTP ${status}${code ? `: ${code}` : ''}.`
  const gone = GONE.get(code) ?? GONE.get(status)
  if (gone) return { ...base, outcome: 'disable_channel', error: `${error} That is, ${gone}.` }
  if (status === 429) {
    const hint = { retry_after_seconds: DEFAULT_WAIT_SECONDS, ...retryAfter(result, now) }
    return { ...base, ...hint, outcome: 'retry', throttled: true, counted: false, error }
  }
  if (isTemporary(status)) return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
  return { ...base, outcome: 'fail_permanent', error }
}

/** The name of the error. Its sentence is left out: it may repeat parts of the URL. */
function codeOf(body: string): string {
  const { error } = fieldsOf(body)
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : ''
  return typeof code === 'string' && /^[A-Za-z]{1,100}$/.test(code) ? code : ''
}
