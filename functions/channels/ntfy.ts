import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import type { ChannelKind, Classification, Issue, Style } from './channel.ts'
import { configIssues, type Given, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, quoted, retryAfter } from './classify.ts'
import { type Card, cardOf, signOf, type Tone } from './message/card.ts'
import { linesOf } from './message/lines.ts'
import { bytes, shortenBy } from './message/text.ts'
import type { SendResult } from './transport/send.ts'
import { checkTarget as checkUrl, maskTarget } from './transport/target.ts'

const TOPIC = /^\/([-\w]{1,64})$/
const WHERE = 'Send the URL of your topic, such as https://ntfy.sh/my-topic.'
/** A longer one silently becomes an attachment at 4,096 bytes. */
const MAX_MESSAGE = 3_900
const MAX_TITLE = 400

const NtfyConfig = z
  .strictObject(
    {
      token: z
        .string()
        .regex(
          /^tk_\w{10,60}$/,
          'Must be an access token: tk_…, from Account, Access Tokens in ntfy.',
        )
        .optional(),
      username: z
        .string()
        .regex(
          /^[-\w.+@]{1,64}$/,
          'Must be the name of a user of the server, as you sign in there.',
        )
        .optional(),
      password: z
        .string()
        .regex(/^\P{Cc}{1,200}$/u, 'Must be the password of that user, on one line.')
        .optional(),
    },
    'An ntfy channel has a token, or a username and a password, and no other settings.',
  )
  .superRefine(({ token, username, password }, context) => {
    const issue = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (username !== undefined && password === undefined) {
      issue('password', 'Send the password of this user, or an access token in config.token alone.')
    }
    if (password !== undefined && username === undefined) {
      issue('username', 'Send the user whose password this is.')
    }
    if (token !== undefined && (username ?? password) !== undefined) {
      issue('token', 'Send either a token, or username and password.')
    }
  })

function authorizationOf({
  token,
  username,
  password,
}: z.infer<typeof NtfyConfig>): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (username === undefined) return {}
  const bytes = new TextEncoder().encode(`${username}:${password}`)
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` }
}

const PRIORITIES: Record<Tone, number> = {
  extreme: 5,
  severe: 4,
  moderate: 3,
  low: 2,
  minor: 2,
  over: 2,
  blind: 4,
  well: 3,
  test: 3,
}

/** A topic of ntfy. From server 2.16 on an update replaces the first message; before that it follows. */
export const ntfy: ChannelKind = {
  kind: 'ntfy',
  schedule: 'message',
  pace: { messages: 1, per_seconds: 5 },
  check: (given) => [...checkTarget(given), ...configIssues(NtfyConfig, given.config)],
  host: (target) => new URL(target).host,
  mask: maskTarget,
  fits(notification, style) {
    return bytes(linesOf(cardOf({ notification, ...style }), { hasLinks: true })) <= MAX_MESSAGE
  },
  async render(message) {
    const config = NtfyConfig.parse(message.config ?? {})
    const url = new URL(message.target)
    const card = cardOf(message)
    const { type, alert } = message.notification
    // One that got worse is a message of its own: what is replaced makes no sound.
    const isOne = alert !== null && type !== 'alert.digest' && type !== 'alert.escalated'
    return {
      url: `${url.origin}/`,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `Watchpost/${VERSION}`,
        ...authorizationOf(config),
      },
      body: JSON.stringify({
        topic: url.pathname.slice(1),
        title: shorten(`${signOf(card)} ${card.title}`, MAX_TITLE, message),
        message: textOf(card, message),
        priority: PRIORITIES[card.tone],
        ...(card.url ? { click: card.url } : {}),
        ...(card.links.length > 0 ? { actions: actionsOf(card) } : {}),
        ...(isOne ? { sequence_id: String(alert.id) } : {}),
      }),
    }
  },
  classify,
}

function checkTarget({ target, allow }: Given): Issue[] {
  const checked = checkUrl(target, { allow })
  if (!checked.ok) return [targetIssue(checked.code, `${checked.message} ${WHERE}`)]
  const { pathname, search, hash } = checked.url
  if (TOPIC.test(pathname) && search === '' && hash === '') return []
  const message = `The URL has to end in the name of the topic: up to 64 letters, digits, _ and -, and nothing after it. ${WHERE}`
  return [targetIssue('no_topic', message)]
}

const textOf = (card: Card, style: Style) =>
  shorten(linesOf(card, { hasLinks: card.items.length > 0 }), MAX_MESSAGE, style)

const actionsOf = ({ links }: Card) =>
  links.slice(-3).map(({ label, url }) => ({ action: 'view', label, url }))

const shorten = shortenBy(bytes)

const DAILY_QUOTA = 42908
const TOO_MANY_FAILURES = 42909

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status, body } = result
  const base = heard(result)
  const { id, code, error: named } = fieldsOf(body)
  if (status === 200 && typeof id === 'string') return { ...base, outcome: 'ok', remote_ref: id }
  if (status === 200) {
    const error = `What answered is not ntfy. ${WHERE}`
    return { ...base, outcome: 'fail_permanent', error }
  }
  const said = quoted(named)
  const error = `ntfy answered HTTP ${status}${said ? `: ${said}` : ''}.`
  if (status === 429) {
    const hint = { retry_after_seconds: secondsFor(code, now), ...retryAfter(result, now) }
    // ntfy counts by address, which all channels of this service share.
    return {
      ...base,
      ...hint,
      outcome: 'retry',
      throttled: true,
      throttles: 'host',
      counted: false,
      error,
    }
  }
  if ((status === 401 || status === 403) && code !== undefined) {
    const way =
      'Set config.token, or config.username and config.password, to somebody who may publish to the topic.'
    return { ...base, outcome: 'disable_channel', error: `${error} ${way}` }
  }
  if (status === 507) {
    const way = 'A topic whose name begins with "up" needs a subscriber first; choose another name.'
    return { ...base, outcome: 'fail_permanent', error: `${error} ${way}` }
  }
  if (isTemporary(status)) return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
  return { ...base, outcome: 'fail_permanent', error }
}

/** The quota of a day begins again at midnight UTC; the bucket of requests gets one every 5 seconds. */
function secondsFor(code: unknown, now: Date): number {
  if (code === TOO_MANY_FAILURES) return 300
  if (code !== DAILY_QUOTA) return 10
  const day = 86_400
  return day - (Math.floor(now.getTime() / 1000) % day) + 60
}
