import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import { type Card, cardOf, type Item, type Link, signOf, type Tone } from './card.ts'
import type { ChannelKind, Classification, Issue, Message, Style } from './channel.ts'
import { configIssues, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, quoted, retryAfter } from './classify.ts'
import type { SendResult } from './send.ts'
import { maskTarget } from './target.ts'
import { bytes, cut } from './text.ts'
import { WORDS } from './words.ts'

const HOSTS = ['.logic.azure.com', '.api.powerplatform.com']
const RETIRED = ['.webhook.office.com', 'outlook.office.com', 'outlook.office365.com']
const PAGES = ['teams.microsoft.com', 'make.powerautomate.com', 'flow.microsoft.com']
const WHERE =
  'In Teams, open the channel’s menu, Workflows, choose “Send webhook alerts to a channel”, and copy the URL at its end.'
/** Teams takes 28 KB. */
const MAX_BODY = 25_000
const MAX_LINE = 1_500
const PAUSE_SECONDS = 60

const TeamsConfig = z.strictObject({}, 'A Teams channel has no settings: leave config out.')

type Run = {
  type: 'TextRun'
  text: string
  weight?: 'Bolder'
  size?: 'Large' | 'Small'
  isSubtle?: true
}
type Element =
  | { type: 'RichTextBlock'; inlines: Run[]; spacing?: 'Medium' | 'None' }
  | { type: 'FactSet'; facts: { title: string; value: string }[] }
  | { type: 'TextBlock'; text: string; wrap: true; spacing: 'Small' }
  | { type: 'Container'; style: Look; bleed?: true; items: Element[] }
type Look = 'default' | 'attention' | 'warning' | 'good' | 'accent'

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

/** A channel of Microsoft Teams, by a workflow of Power Automate. What was sent cannot be changed, so updates follow. */
export const teams: ChannelKind = {
  kind: 'teams',
  schedule: 'message',
  updates: 'follow',
  pace: { messages: 60, per_seconds: 30 },
  check: ({ target, config }) => [...checkTarget(target), ...configIssues(TeamsConfig, config)],
  host: (target) => new URL(target).host,
  mask: maskTarget,
  fits: (notification, style) => bytes(bodyOf({ notification, ...style })) <= MAX_BODY,
  async render(message) {
    return {
      url: message.target,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': `Watchpost/${VERSION}` },
      body: bodyOf(message),
    }
  },
  classify,
}

function checkTarget(target: string): Issue[] {
  const url = URL.canParse(target) && target === target.trim() ? new URL(target) : null
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === ''
  if (!url || !isPlain) return [targetIssue('malformed', `Must be the URL of a workflow. ${WHERE}`)]
  const isAt = (hosts: string[]) =>
    hosts.some(
      (host) => url.hostname === host || (host.startsWith('.') && url.hostname.endsWith(host)),
    )
  if (isAt(RETIRED)) {
    const message = `This is an Office 365 connector, which Microsoft has switched off. ${WHERE}`
    return [targetIssue('retired_connector', message)]
  }
  if (isAt(PAGES)) {
    return [targetIssue('page', `This is a page, not the URL of a workflow. ${WHERE}`)]
  }
  if (!isAt(HOSTS))
    return [targetIssue('wrong_host', `${url.hostname} is not Power Automate. ${WHERE}`)]
  if (url.searchParams.get('sig')) return []
  const message = `The URL is not complete: its end, with sig=, is missing. ${WHERE}`
  return [targetIssue('incomplete_url', message)]
}

type Said = Style & Pick<Message, 'notification'> & Partial<Pick<Message, 'acknowledge_url'>>

function bodyOf(message: Said): string {
  const card = cardOf(message)
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'full' },
    body: elementsOf(card, message),
    ...(card.links.length > 0
      ? {
          actions: card.links.map(({ label, url }) => ({
            type: 'Action.OpenUrl',
            title: label,
            url,
          })),
        }
      : {}),
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return JSON.stringify({
    type: 'message',
    attachments: [{ contentType, contentUrl: null, content }],
  })
}

function elementsOf(card: Card, style: Style): Element[] {
  const shorten = (text: string) => shortened(text, style)
  const lines = [card.heading, card.text].filter((line) => line !== '')
  return [
    {
      type: 'Container',
      style: LOOKS[card.tone],
      bleed: true,
      items: [
        text({ text: shorten(`${signOf(card)} ${card.title}`), weight: 'Bolder', size: 'Large' }),
        ...lines.map((line) => text({ text: shorten(line) })),
      ],
    },
    ...(card.facts.length > 0
      ? [
          {
            type: 'FactSet' as const,
            facts: card.facts.map(({ name, value }) => ({ title: name, value: shorten(value) })),
          },
        ]
      : []),
    ...card.items.map((item) => itemOf(item, style)),
    text({ text: shorten(card.footer), size: 'Small', isSubtle: true }),
  ]
}

function itemOf(item: Item, style: Style): Element {
  const lines = [item.line, item.reason].filter((line) => line !== '')
  return {
    type: 'Container',
    style: 'default',
    items: [
      text({ text: shortened(`${signOf(item)} ${item.title}`, style), weight: 'Bolder' }),
      ...lines.map((line) => text({ text: shortened(line, style) })),
      { type: 'TextBlock', text: linksLine(item.links), wrap: true, spacing: 'Small' },
    ],
  }
}

/** Text of strangers stands in runs, where Markdown is not read. */
const text = (run: Omit<Run, 'type'>): Element => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', ...run }],
})

/** The labels are ours, and webLink leaves no bracket in a link. */
const linksLine = (links: readonly Link[]) =>
  links.map(({ label, url }) => `[${label}](${url})`).join(' · ')

const shortened = (line: string, { language }: Style) =>
  cut(line, MAX_LINE, { size: bytes, mark: WORDS[language].cut })

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status, body } = result
  const base = heard(result)
  // The workflow has accepted it; it does not say whether Teams has shown it.
  if (status === 200 || status === 202) return { ...base, outcome: 'ok' }
  const { code, message } = fieldsOf(JSON.stringify(fieldsOf(body).error ?? null))
  const said = quoted([code, message].filter(Boolean).join(': '))
  const error = `Power Automate answered HTTP ${status}${said ? `: ${said}` : ''}.`
  if (status === 429) {
    const hint = { retry_after_seconds: PAUSE_SECONDS, ...retryAfter(result, now) }
    return { ...base, ...hint, outcome: 'retry', throttled: true, counted: false, error }
  }
  if (code === 'WorkflowTriggerIsNotEnabled') {
    const way = 'Switch the workflow on in Power Automate, then the channel here.'
    return { ...base, outcome: 'disable_channel', error: `${error} ${way}` }
  }
  if ([401, 403, 404, 410].includes(status)) {
    const way = `The workflow is gone, or its URL has changed. ${WHERE}`
    return { ...base, outcome: 'disable_channel', error: `${error} ${way}` }
  }
  if (isTemporary(status)) return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
  return { ...base, outcome: 'fail_permanent', error }
}
