/** Answers of the services that mean something for the channel, its host or the next message: all that is made of each. */
import { describe, expect, test } from 'vitest'
import type { Classification } from '../../../functions/channels/channel.ts'
import { CHANNEL_KINDS } from '../../../functions/channels/kinds.ts'
import { NOW } from './samples.ts'

type Headers_ = Record<string, string>

function meant(name: string, status: number, body: string | object = '', headers: Headers_ = {}) {
  const result = {
    ...({ ok: true, status, duration_ms: 1 } as const),
    headers: new Headers(headers),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
  const kind = CHANNEL_KINDS.get(name)
  if (!kind) throw new Error(`there is no ${name}`)
  const { error, ...rest } = kind.classify(result, NOW)
  return { error: error ?? '', ...rest, status: undefined }
}
const of = (name: string, ...answer: [number, (string | object)?, Headers_?]) => {
  const { error: _, status: __, ...rest } = meant(name, ...answer)
  return rest
}

const FREE = { throttled: false, counted: true }
const WAITS = { outcome: 'retry', throttled: true, counted: false } as const

describe('Discord', () => {
  const last = (remaining: string, reset: string) => ({
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset-after': reset,
  })

  test('lets the channel rest when it has taken the last request of its bucket, and only then', () => {
    const taken = (headers: Headers_) => of('discord', 204, '', headers)
    expect(taken(last('0', '1.4'))).toEqual({
      ...FREE,
      ...{ throttled: true, outcome: 'ok', retry_after_seconds: 2 },
    })
    for (const headers of [last('1', '1.4'), last('0', '0'), last('0', 'soon'), {}]) {
      expect(taken(headers)).toEqual({ ...FREE, outcome: 'ok' })
    }
  })

  test('says how long a webhook waits, and that others need not', () => {
    const body = { retry_after: 4.2, global: false }
    const waits = { ...WAITS, retry_after_seconds: 5 }
    expect(of('discord', 429, body)).toEqual(waits)
    // Its own number is the better one: the header belongs to the wall before it.
    expect(of('discord', 429, body, { 'retry-after': '90' })).toEqual(waits)
    expect(of('discord', 429, { ...body, global: true })).toEqual({ ...waits, throttles: 'host' })
  })

  test('behind its wall waits with all channels, a minute unless it says another time', () => {
    const waits = { ...WAITS, throttles: 'host' }
    expect(of('discord', 429, 'error code: 1015')).toEqual({ ...waits, retry_after_seconds: 60 })
    const told = of('discord', 429, '', { 'retry-after': '90' })
    expect(told).toEqual({ ...waits, retry_after_seconds: 90 })
  })

  test.each([401, 403, 404])('disables the channel with any code of its own at %i', (status) => {
    const { outcome, error } = meant('discord', status, { code: 50013, message: 'No' })
    expect(outcome).toBe('disable_channel')
    const said = `Discord answered HTTP ${status}: No. Make another webhook in Discord and set it as the target.`
    expect(error).toBe(said)
  })

  test('says that a channel or thread is gone, and what the wall forbids holds back all', () => {
    const gone = meant('discord', 400, { code: 10003, message: 'Unknown Channel' })
    expect(gone).toMatchObject({
      outcome: 'disable_channel',
      error: expect.stringContaining('The channel or thread does not exist any more.'),
    })
    for (const status of [401, 403]) {
      const held = { outcome: 'retry', retry_after_seconds: 600, throttles: 'host' }
      expect(of('discord', status, '<html>')).toEqual({ ...FREE, ...held, throttled: true })
    }
    expect(of('discord', 404, '<html>')).toEqual({ ...FREE, outcome: 'fail_permanent' })
  })
})

test.each(['no_service_id', 'user_not_found', 'token_revoked', 'team_disabled'])(
  'Slack disables the channel with %s, also in the form of its Web API',
  (named) => {
    expect(of('slack', 403, named).outcome).toBe('disable_channel')
    const { outcome, error } = meant('slack', 200, { ok: false, error: named })
    expect(outcome).toBe('disable_channel')
    expect(error).toMatch(/\. That is, the .* (set it as the target\.)$/)
  },
)

test('the code of a workflow is told only where it is a name', () => {
  const told = (code: unknown) => meant('teams', 400, { error: { code } }).error
  expect(told('a'.repeat(100))).toBe(`The workflow answered HTTP 400: ${'a'.repeat(100)}.`)
  for (const code of ['a'.repeat(101), 'sig=abc', 'https://x.example/?sig=abc', '', 7, { a: 1 }]) {
    expect(told(code)).toBe('The workflow answered HTTP 400.')
  }
})

describe('Telegram', () => {
  test('waits as long as it says, or as its wall says', () => {
    const wall = of('telegram', 429, '<html>', { 'retry-after': '90' })
    expect(wall).toEqual({ ...WAITS, retry_after_seconds: 90 })
    const body = { ok: false, error_code: 429, parameters: { retry_after: 2.5 } }
    const own = of('telegram', 429, body, { 'retry-after': '90' })
    expect(own).toEqual({ ...WAITS, retry_after_seconds: 3 })
  })

  test.each(['message to edit not found', "message can't be edited", 'MESSAGE_ID_INVALID'])(
    'sends anew what it cannot edit: %s',
    (why) => {
      const body = { ok: false, error_code: 400, description: `Bad Request: ${why}` }
      expect(of('telegram', 400, body)).toEqual({ ...FREE, outcome: 'retry', is_gone: true })
    },
  )

  test('remembers a message only with its chat', () => {
    const sent = (result: object) => of('telegram', 200, { ok: true, result })
    expect(sent({ message_id: 7, chat: { id: -100 } })).toEqual({
      ...FREE,
      ...{ outcome: 'ok', remote_ref: '-100/7' },
    })
    for (const result of [{ message_id: 7 }, { message_id: '7', chat: { id: 1 } }, { chat: {} }]) {
      expect(sent(result)).toEqual({ ...FREE, outcome: 'ok' })
    }
  })
})

test('ntfy waits with all channels at its host, as long as it says', () => {
  const waits = (code: number, headers = {}) => of('ntfy', 429, { code }, headers)
  const held = { ...WAITS, throttles: 'host' }
  expect(waits(42901)).toEqual({ ...held, retry_after_seconds: 10 })
  expect(waits(42909, { 'retry-after': '7' })).toEqual({ ...held, retry_after_seconds: 7 })
})

test('Pushover waits until the month begins, an hour where that is not known, or as it says', () => {
  const waits = (headers: Headers_) => of('pushover', 429, { status: 0 }, headers)
  const at = (seconds: number) => ({
    'x-limit-app-reset': String(NOW.getTime() / 1000 + seconds),
  })
  expect(waits(at(0.5))).toEqual({ ...WAITS, retry_after_seconds: 1 })
  for (const headers of [{}, at(0), at(-5), { 'x-limit-app-reset': 'soon' }]) {
    expect(waits(headers)).toEqual({ ...WAITS, retry_after_seconds: 3600 })
  }
  const told = waits({ ...at(5000), 'retry-after': '9' })
  expect(told).toEqual({ ...WAITS, retry_after_seconds: 9 })
})

describe('a broker', () => {
  test.each<[number, Classification['outcome'], RegExp]>([
    [1, 'fail_permanent', /does not speak MQTT 3\.1\.1/],
    [2, 'retry', /client identifier/],
    [3, 'retry', /not available/],
    [4, 'disable_channel', /user name or password/],
    [5, 'disable_channel', /does not permit this client/],
    [6, 'retry', /refused the connection with code 6\.$/],
  ])('that refuses with code %i: %s', (code, outcome, said) => {
    const { error, ...rest } = meant('mqtt', code)
    expect(rest).toEqual({ ...FREE, outcome, status: undefined })
    expect(error).toMatch(said)
  })
})

describe('the mail API', () => {
  test('that has something for the operator to mend holds back every mail', () => {
    for (const status of [401, 403]) {
      const held = of('email', status, {}, { 'retry-after': '60' })
      const host = { outcome: 'retry', throttled: true, throttles: 'host', retry_after_seconds: 60 }
      expect(held).toEqual({ ...FREE, ...host })
    }
    const busy = of('email', 503, {}, { 'retry-after': '60' })
    expect(busy).toEqual({ ...FREE, outcome: 'retry', retry_after_seconds: 60 })
  })

  test('blames an address only when it names the recipient', () => {
    const outcome = (message: string, status = 422) => of('email', status, { message }).outcome
    expect(outcome('Invalid `to` field.')).toBe('disable_channel')
    expect(outcome('The "to" field is not an address.')).toBe('disable_channel')
    expect(outcome('Invalid tone.')).toBe('fail_permanent')
    expect(outcome('Invalid `to` field.', 400)).toBe('fail_permanent')
  })
})

test('what a receiver says is told in one line of 200 characters', () => {
  const said = (message: string) => meant('discord', 400, { message }).error
  expect(said('a\n\tb\u0000 c ')).toBe('Discord answered HTTP 400: a b c.')
  expect(said('x'.repeat(201))).toBe(`Discord answered HTTP 400: ${'x'.repeat(200)}.`)
  expect(said(`${'x'.repeat(199)}😀`)).toBe(`Discord answered HTTP 400: ${'x'.repeat(199)}\ufffd.`)
})
