import { z } from 'zod'
import { Alert } from '../../shared/schemas/alert.ts'
import { parseMailAddress } from '../mail/address.ts'
import type { ChannelKind, Classification, Issue, Message, Style } from './channel.ts'
import { configIssues, type Given, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, quoted, retryAfter } from './classify.ts'
import { type Card, cardOf, colourOf, type Item, type Link, signOf } from './message/card.ts'
import { LINK_WORDS } from './message/link-words.ts'
import { bytes, characters, escapeMarkup, oneLine, shortenBy } from './message/text.ts'
import type { MailRequest, MailStage, SendResult } from './transport/send.ts'

const MAX_SUBJECT = 150
/** Gmail cuts off what is longer than 102 kB. */
const MAX_BYTES = 90_000

const EmailConfig = z.strictObject({}, 'An e-mail channel has no settings: leave config out.')

/** Mail to one address, which has to confirm that it wants it. Mails about an alert are one thread. */
export const email: ChannelKind<MailRequest> = {
  kind: 'email',
  transport: 'mail',
  schedule: 'message',
  pace: { messages: 1, per_seconds: 2 },
  check: ({ target, config, allow }) => [
    ...addressIssues(target, allow),
    ...configIssues(EmailConfig, config),
  ],
  // All mail goes through the server of the operator, whatever the address.
  host: () => 'mail',
  mask: (target) => `…${target.slice(target.lastIndexOf('@'))}`,
  fits(notification, style) {
    const card = cardOf({ notification, ...style })
    return bytes(htmlOf(card, style, null)) + bytes(textOf(card, style, null)) <= MAX_BYTES
  },
  async render(message) {
    const { id, notification, target, now, unsubscribe_url = null } = message
    const timestamp = new Date(notification.timestamp)
    const common = {
      transport: 'mail',
      id,
      to: addressOf(target),
      date: Number.isNaN(timestamp.getTime()) ? now : timestamp,
    } as const
    if (notification.type === 'channel.confirmation') {
      return { ...common, ...confirmationOf(message) }
    }
    const card = cardOf(message)
    return {
      ...common,
      ...threadOf(message, card),
      text: textOf(card, message, unsubscribe_url),
      html: htmlOf(card, message, unsubscribe_url),
      unsubscribe_url,
    }
  },
  classify,
}

function addressIssues(target: string, allow: Given['allow']): Issue[] {
  const parsed = parseMailAddress(target, allow)
  return parsed.ok ? [] : [targetIssue(parsed.code, parsed.message)]
}

/** As it was accepted when it was saved; what the operator permits may have changed since. */
function addressOf(target: string): string {
  const domain = target.slice(target.lastIndexOf('@') + 1)
  const parsed = parseMailAddress(target, { ranges: [], names: new Set([domain.toLowerCase()]) })
  if (!parsed.ok) throw new Error('a stored address is not valid')
  return parsed.address
}

const shorten = shortenBy(characters)

const Told = z.object({ id: z.string(), event: Alert.shape.event.pick({ title: true }) })

/** The subject is that of the first mail about the alert, because mail programs make threads of equal subjects. */
function threadOf(
  message: Message,
  card: Card,
): Pick<MailRequest, 'subject' | 'thread' | 'is_reply'> {
  const subject = (text: string) => shorten(oneLine(text), MAX_SUBJECT, message)
  const { type, zone, drill, alert } = message.notification
  if (!type.startsWith('alert.') || type === 'alert.digest') {
    const part = card.heading && type === 'alert.digest' ? ` (${card.heading})` : ''
    return { subject: subject(`${card.title}${part}`), thread: null, is_reply: false }
  }
  const told = Told.parse(alert)
  const is_reply = type !== 'alert.raised'
  // Of a drill the mark comes first, in the words of the channel.
  const first = drill
    ? subject(`${card.title}${zone ? ` (${zone.label})` : ''}`)
    : subject(`${zone ? `${zone.label}: ` : ''}${told.event.title}`)
  return { subject: is_reply ? `Re: ${first}` : first, thread: `alert-${told.id}`, is_reply }
}

/** Nothing in it comes from whoever asked for it: it goes to people who may not know them. */
function confirmationOf({
  confirm_url,
  public_url,
  language,
}: Message): Pick<
  MailRequest,
  'subject' | 'text' | 'html' | 'thread' | 'is_reply' | 'unsubscribe_url'
> {
  if (!confirm_url || !public_url) throw new Error('a confirmation without a link')
  const { subject, text, link, ignore } = LINK_WORDS[language].confirmation
  const asked = text(new URL(public_url).host)
  return {
    subject,
    text: `${asked}\n\n${link}:\n${confirm_url}\n\n${ignore}\n`,
    html: page(
      language,
      `<p>${escapeMarkup(asked)}</p>\n<p>${anchor({ label: link, url: confirm_url })}</p>\n<p>${escapeMarkup(ignore)}</p>`,
    ),
    thread: null,
    is_reply: false,
    unsubscribe_url: null,
  }
}

function textOf(card: Card, { language }: Style, unsubscribe_url: string | null): string {
  const links = (all: readonly Link[]) => all.map(({ label, url }) => `${label}: ${url}`)
  const parts = [
    [card.heading, `${signOf(card)} ${card.title}`],
    [card.text],
    card.facts.map(({ name, value }) => `${name}: ${value}`),
    ...card.items.map((item) => [
      `${signOf(item)} ${item.title}`,
      item.line,
      item.reason,
      ...links(item.links),
    ]),
    links(card.links),
    [card.footer],
    unsubscribe_url
      ? links([{ label: LINK_WORDS[language].unsubscribe, url: unsubscribe_url }])
      : [],
  ]
  const blocks = parts.map((lines) => lines.filter(Boolean).join('\n')).filter(Boolean)
  return `${blocks.join('\n\n')}\n`
}

function htmlOf(card: Card, { language }: Style, unsubscribe_url: string | null): string {
  const rows = card.facts.map(
    ({ name, value }) =>
      `<tr><th align="left" valign="top" style="padding:2px 16px 2px 0;font-weight:600">${escapeMarkup(name)}</th><td style="padding:2px 0">${escapeMarkup(value)}</td></tr>`,
  )
  const stop = { label: LINK_WORDS[language].unsubscribe, url: unsubscribe_url ?? '' }
  const parts = [
    paragraph(card.heading, 'margin:0 0 4px;font-size:14px;opacity:0.75'),
    `<h1 style="margin:0 0 12px;padding-left:12px;border-left:4px solid ${hex(card)};font-size:20px;line-height:1.3">${escapeMarkup(card.title)}</h1>`,
    paragraph(card.text),
    rows.length > 0
      ? `<table role="presentation" cellspacing="0">\n${rows.join('\n')}\n</table>`
      : '',
    ...card.items.map(itemHtml),
    linksHtml(card.links),
    paragraph(card.footer, 'margin:24px 0 0;font-size:13px;opacity:0.75'),
    unsubscribe_url ? `<p style="font-size:13px">${anchor(stop)}</p>` : '',
  ]
  return page(language, parts.filter(Boolean).join('\n'))
}

function itemHtml(item: Item): string {
  return [
    `<h2 style="margin:20px 0 4px;padding-left:12px;border-left:4px solid ${hex(item)};font-size:16px">${escapeMarkup(item.title)}</h2>`,
    paragraph(item.line, 'margin:0;font-size:14px;opacity:0.75'),
    paragraph(item.reason, 'margin:4px 0'),
    linksHtml(item.links),
  ].join('\n')
}

const hex = (toned: Pick<Card, 'tone'>) => `#${colourOf(toned).toString(16).padStart(6, '0')}`

const paragraph = (text: string, style = 'margin:0 0 12px') =>
  text ? `<p style="${style}">${escapeMarkup(text)}</p>` : ''

const linksHtml = (links: readonly Link[]) =>
  links.length > 0 ? `<p style="margin:12px 0">${links.map(anchor).join(' &nbsp; ')}</p>` : ''

const anchor = ({ label, url }: Link) =>
  `<a href="${escapeMarkup(url).replaceAll('"', '&quot;')}">${escapeMarkup(label)}</a>`

const page = (language: Style['language'], body: string) =>
  `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>
<body style="margin:0;padding:16px;max-width:640px;font:16px/1.5 system-ui,sans-serif">
${body}
</body>
</html>
`

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) {
    // The server of the operator: every mail has to wait for it.
    const gone = noAnswer(result)
    return gone.outcome === 'retry' ? { ...gone, throttled: true, throttles: 'host' } : gone
  }
  if (result.stage) return classifySmtp(result, result.stage)
  return classifyApi(result, now)
}

type Answer = Extract<SendResult, { ok: true }>

/** Replies of RFC 5321 with the codes of RFC 3463. */
function classifySmtp(result: Answer, stage: MailStage): Classification {
  const { status, body } = result
  const said = { ...heard(result) }
  if (status >= 200 && status < 300) return { ...said, outcome: 'ok' }
  const answer = quoted(body)
  if (stage === 'connection' || stage === 'sender') {
    // A login or sender that is refused is for the operator to mend, not a fault of this address.
    const error = `This service’s mail server refused ${stage === 'sender' ? 'the sender' : 'the login'}: ${answer}`
    return { ...said, outcome: 'retry', throttled: true, throttles: 'host', error }
  }
  if (status < 500) {
    const error = `The mail server wants to be asked again later: ${answer}`
    return { ...said, outcome: 'retry', throttled: status === 421, error }
  }
  const [, code = ''] = body.match(/^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})/) ?? []
  if (isUnknownMailbox(status, code, stage)) {
    return { ...said, outcome: 'disable_channel', error: `The address takes no mail: ${answer}` }
  }
  return { ...said, outcome: 'fail_permanent', error: `The mail was refused: ${answer}` }
}

/** 5.1.x: no such mailbox or domain; 5.2.1: switched off. 5.7.x is about us and not about the address. */
function isUnknownMailbox(status: number, code: string, stage: MailStage): boolean {
  if (/^5\.1\.|^5\.2\.1$/.test(code)) return true
  return stage === 'recipient' && code === '' && [550, 551, 553].includes(status)
}

/** Resend's answers: https://resend.com/docs/api-reference/errors */
function classifyApi(result: Answer, now: Date): Classification {
  const { status, body } = result
  const said = { ...heard(result) }
  if (status >= 200 && status < 300) return { ...said, outcome: 'ok' }
  const { name, message } = fieldsOf(body)
  const answer = `HTTP ${status} ${quoted(name)} ${quoted(message)}`.trim()
  const error = `The mail API of this service answered ${answer}`
  if (status === 429) {
    const waits = retryAfter(result, now)
    return {
      ...said,
      ...waits,
      outcome: 'retry',
      throttled: true,
      throttles: 'host',
      counted: false,
      error,
    }
  }
  // A request with the same key is under way; or a key, sender or quota that the operator has to mend.
  const isOperators = status === 401 || status === 403
  if (isTemporary(status) || name === 'concurrent_idempotent_requests' || isOperators) {
    const waits = retryAfter(result, now)
    const host = isOperators ? { throttled: true, throttles: 'host' as const } : {}
    return { ...said, ...waits, ...host, outcome: 'retry', error }
  }
  if (status === 422 && /[`"'\s]to[`"'\s]/.test(String(message ?? ''))) {
    return {
      ...said,
      outcome: 'disable_channel',
      error: `The address is refused: ${quoted(message)}`,
    }
  }
  return { ...said, outcome: 'fail_permanent', error }
}
