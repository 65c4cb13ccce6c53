import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import type { ChannelKind, Classification, Issue, Message, NotificationType } from './channel.ts'
import { configIssues, maskKey, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, quoted, retryAfter } from './classify.ts'
import { cardOf, signOf, type Tone } from './message/card.ts'
import { linesOf } from './message/lines.ts'
import { characters, shortenBy, webLink } from './message/text.ts'
import { WORDS } from './message/words.ts'
import type { SendRequest, SendResult } from './transport/send.ts'

const HOST = 'api.pushover.net'
const KEY = /^[A-Za-z0-9]{30}$/
const WHERE =
  'Your user key is on the first page of pushover.net when you are signed in: 30 letters and digits.'
/** 1,024, 250, 512 and 100 characters; 5 % less where the text is long. */
const MAX_MESSAGE = 970
const MAX_TITLE = 240
const MAX_URL = 512

/** Pushover's limits of both times. */
const seconds = (message: string) => z.int(message).min(30, message).max(10_800, message)

const PushoverConfig = z.strictObject({
  app_token: z
    .string(
      'Send the API token of your application, from pushover.net/apps: 30 letters and digits.',
    )
    .regex(
      KEY,
      'Must be the API token of an application from pushover.net/apps: 30 letters and digits.',
    ),
  device: z
    .string()
    .regex(/^[\w-]{1,25}$/, 'Must be the name of a device as Pushover shows it.')
    .optional(),
  emergency: z
    .strictObject(
      {
        retry_seconds: seconds('The phone rings again every 30 to 10800 seconds.').default(60),
        expire_seconds: seconds(
          'The phone stops ringing after 30 to 10800 seconds, three hours at most.',
        ).default(3600),
      },
      'Must be {} for the defaults, or {"retry_seconds": 60, "expire_seconds": 3600}.',
    )
    .refine(({ retry_seconds, expire_seconds }) => retry_seconds <= expire_seconds, {
      path: ['expire_seconds'],
      message: 'Must not be less than retry_seconds.',
    })
    .optional(),
})
type Emergency = z.infer<typeof PushoverConfig>['emergency']

/** 1 passes the quiet hours of the phone, -1 makes no sound. */
const PRIORITIES: Record<Tone, number> = {
  extreme: 1,
  severe: 1,
  moderate: 0,
  low: -1,
  minor: -1,
  over: -1,
  blind: 0,
  well: -1,
  test: 0,
}

/** A person or group of Pushover. What was sent cannot be changed, so updates follow. */
export const pushover: ChannelKind = {
  kind: 'pushover',
  schedule: 'message',
  pace: { messages: 1, per_seconds: 1 },
  check: ({ target, config }) => {
    const issues = [...checkTarget(target), ...configIssues(PushoverConfig, config)]
    const { app_token } = PushoverConfig.safeParse(config).data ?? {}
    if (app_token !== target) return issues
    return [
      targetIssue(
        'same',
        `The target is the same as config.app_token; it has to be your user key. ${WHERE}`,
      ),
    ]
  },
  host: () => HOST,
  mask: maskKey,
  fits: (notification, style) => characters(textOf({ notification, ...style })) <= MAX_MESSAGE,
  async render(message) {
    const { app_token, device, emergency } = PushoverConfig.parse(message.config)
    const { type, alert } = message.notification
    if (alert && STOPS.includes(type) && (emergency || isReceipt(message.remote_ref))) {
      return post(`receipts/cancel_by_tag/${alert.id}`, new URLSearchParams({ token: app_token }))
    }
    const card = cardOf(message)
    const form = new URLSearchParams({
      token: app_token,
      user: message.target,
      title: shorten(`${signOf(card)} ${card.title}`, MAX_TITLE, message),
      message: withAcknowledgeLink(textOf(message), message),
      priority: String(PRIORITIES[card.tone]),
      ...(card.at ? { timestamp: String(Math.floor(Date.parse(card.at.ts) / 1000)) } : {}),
      ...(device ? { device } : {}),
    })
    if (card.url && card.url.length <= MAX_URL) {
      form.set('url', card.url)
      form.set('url_title', WORDS[message.language].links.map)
    }
    if (emergency && card.tone === 'extreme') ringUntilSeen(form, message, emergency)
    return post('messages', form)
  },
  classify,
}

/** What ends the ringing of an emergency. */
const STOPS: NotificationType[] = ['alert.acknowledged', 'alert.resolved']
const RINGS: NotificationType[] = ['alert.raised', 'alert.escalated']
/** What a message rings by; its `remote_ref`, as private.deliver_act looks for it. */
const RECEIPT = 'receipt:'
const isReceipt = (ref: string | null) => ref?.startsWith(RECEIPT) ?? false

/** Makes a message ring until somebody acknowledges it; Pushover then posts to the link, which records it. */
function ringUntilSeen(
  form: URLSearchParams,
  { notification: { type, alert }, acknowledge_url }: Message,
  { retry_seconds, expire_seconds }: NonNullable<Emergency>,
) {
  if (!alert || !RINGS.includes(type) || alert.resolved || alert.seen_at) return
  form.set('priority', '2')
  form.set('retry', String(retry_seconds))
  form.set('expire', String(expire_seconds))
  form.set('tags', String(alert.id))
  if (acknowledge_url) form.set('callback', acknowledge_url)
}

const post = (path: string, form: URLSearchParams): SendRequest => ({
  url: `https://${HOST}/1/${path}.json`,
  method: 'POST',
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': `Watchpost/${VERSION}`,
  },
  body: form.toString(),
})

/** The one link of a message leads to the map, so this one stands in the text, where it can be clicked as well. */
function withAcknowledgeLink(text: string, message: Message): string {
  const url = webLink(message.acknowledge_url)
  if (!url) return shorten(text, MAX_MESSAGE, message)
  const line = `\n${WORDS[message.language].links.acknowledge}: ${url}`
  return shorten(text, MAX_MESSAGE - characters(line), message) + line
}

function checkTarget(target: string): Issue[] {
  if (KEY.test(target)) return []
  const what = target.includes('@') ? 'This is a mail address.' : 'Must be a user or group key.'
  return [targetIssue('malformed', `${what} ${WHERE}`)]
}

/** Without the reasons of a digest: there is room for 1,024 characters only. */
function textOf(message: Parameters<typeof cardOf>[0]): string {
  const card = cardOf(message)
  const items = card.items.map((item) => ({ ...item, reason: '' }))
  return linesOf({ ...card, items }, { hasLinks: false })
}

const shorten = shortenBy(characters)

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status, body, headers } = result
  const base = heard(result)
  const { status: accepted, request, receipt, errors, token, user } = fieldsOf(body)
  if (status === 200 && accepted === 1) {
    const ref = typeof receipt === 'string' ? `${RECEIPT}${receipt}` : request
    return { ...base, outcome: 'ok', ...(typeof ref === 'string' ? { remote_ref: ref } : {}) }
  }
  const said = quoted(Array.isArray(errors) ? errors.join(', ') : '')
  const error = `Pushover answered HTTP ${status}${said ? `: ${said}` : ''}.`
  if (status === 429) {
    // The messages of the month are used up.
    const reset = Number(headers.get('x-limit-app-reset')) - now.getTime() / 1000
    const hint = {
      retry_after_seconds: reset > 0 ? Math.ceil(reset) : 3600,
      ...retryAfter(result, now),
    }
    return { ...base, ...hint, outcome: 'retry', throttled: true, counted: false, error }
  }
  if (token === 'invalid' || user === 'invalid') {
    const way =
      token === 'invalid' ? 'Set config.app_token to a token from pushover.net/apps.' : WHERE
    return { ...base, outcome: 'disable_channel', error: `${error} ${way}` }
  }
  if (status === 200 || isTemporary(status)) {
    return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
  }
  return { ...base, outcome: 'fail_permanent', error }
}
