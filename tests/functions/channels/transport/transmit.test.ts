/** Which way a request is sent, and why there was no answer. */
import { createECDH, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type AnyRequest,
  failedSend,
  type PushRequest,
  perform,
  type SendFailure,
  type SendRequest,
  transmit,
} from '../../../../functions/channels/transport/send.ts'
import {
  explain,
  guardedLookup,
  resolveAll,
} from '../../../../functions/channels/transport/send-node.ts'
import { createPush } from '../../../../functions/channels/transport/send-push.ts'
import {
  checkTarget,
  httpTwin,
  parseAllowList,
} from '../../../../functions/channels/transport/target.ts'
import { vapidKeys, vapidSubject } from '../../../../functions/channels/transport/vapid.ts'
import { createSeal } from '../../../../functions/seal.ts'

describe('a request is sent', () => {
  const by = (name: string) => async () => ({ ...failedSend('timeout'), message: name })
  const requestOf = (transport: string | undefined) => ({ transport }) as AnyRequest // safe: no more of it is read
  const all = { send: by('http'), mail: by('mail'), mqtt: by('mqtt'), push: by('push') }
  const messageOf = async (transport: string | undefined, transports: typeof all) => {
    const result = await transmit(requestOf(transport), transports)
    return result.ok ? 'sent' : `${result.failure}: ${result.message}`
  }

  test.each([undefined, 'http', 'mail', 'mqtt', 'push'])('by %s', async (transport) => {
    expect(await messageOf(transport, all)).toBe(`timeout: ${transport ?? 'http'}`)
  })

  test.each([
    [
      'mail',
      'This service cannot send mail. Its operator sets MAIL_FROM with SMTP_URL, or with RESEND_API_KEY where SMTP cannot be used.',
    ],
    [
      'mqtt',
      'MQTT needs the Node service: edge platforms cannot open the connection. Use a webhook, or run Watchpost on Node.',
    ],
    [
      'push',
      'This service cannot notify browsers. Its operator sets CONTACT to an email address, or PUBLIC_URL to an https address.',
    ],
  ])('not by %s where there is no such way, and says what to do', async (transport, words) => {
    const none = { send: by('http') } as typeof all // safe: the others may be absent
    expect(await messageOf(transport, none)).toBe(`refused: ${words}`)
  })
})

test.each<[SendFailure, string]>([
  ['refused', 'The target is not a public address, so nothing was sent.'],
  ['unresolvable', 'The target’s host name could not be resolved.'],
  ['unreachable', 'The target refused or dropped the connection.'],
  ['tls', 'The target’s TLS certificate is not valid for its host name.'],
  ['timeout', 'The target did not answer in time.'],
])('without an answer, %s is said as: %s', (failure, message) => {
  expect(failedSend(failure)).toEqual({ ok: false, failure, message, duration_ms: 0 })
  expect(failedSend(failure, 7).duration_ms).toBe(7)
})

const failed = (code: string) => Object.assign(new Error('failed'), { code })

test.each<[string, SendFailure]>([
  ['WATCHPOST_REFUSED', 'refused'],
  ['NOT_WATCHPOST_REFUSED', 'unreachable'],
  ['WATCHPOST_REFUSED_NOT', 'unreachable'],
  ['WATCHPOST_UNRESOLVABLE', 'unresolvable'],
  ['NOT_WATCHPOST_UNRESOLVABLE', 'unreachable'],
  ['WATCHPOST_UNRESOLVABLE_NOT', 'unreachable'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
  ['ERR_TLS_HANDSHAKE', 'tls'],
  ['NO_ERR_TLS', 'unreachable'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
  ['NO_ERR_SSL', 'unreachable'],
  ['EPROTO', 'tls'],
  ['EPROTOTYPE', 'unreachable'],
  ['NO_EPROTO', 'unreachable'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['NO_ETIMEDOUT', 'unreachable'],
  ['ETIMEDOUT_NOT', 'unreachable'],
  ['ECONNREFUSED', 'unreachable'],
])('an error with the code %s means: %s', (code, failure) => {
  expect(explain(failed(code))).toBe(failure)
  expect(explain(new TypeError('fetch failed', { cause: failed(code) }))).toBe(failure)
  expect(explain(new AggregateError([failed('ECONNREFUSED'), failed(code)]))).toBe(failure)
})

test.each([['ETIMEDOUT'], [{ code: 'ETIMEDOUT' }], [undefined], [new Error('ETIMEDOUT')]])(
  'what is no error with a code, %j, says nothing',
  (error) => {
    expect(explain(error)).toBe('unreachable')
  },
)

describe('a name is looked up', () => {
  const lookup = (resolve: () => Promise<string[]>, all: boolean) => {
    const allow = parseAllowList('10.0.0.0/8')
    const find = guardedLookup({ allow, resolve, is_plain: false })
    return new Promise<unknown[]>((done) =>
      find('a.example', { all }, (...found) =>
        done(found.map((one) => (one instanceof Error ? one.message : one))),
      ),
    )
  }
  const addresses = async () => ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']

  test('for all of its addresses, or for the first', async () => {
    const [first, second] = await addresses()
    expect(await lookup(addresses, true)).toEqual([
      null,
      [
        { address: first, family: 4 },
        { address: second, family: 6 },
      ],
    ])
    expect(await lookup(addresses, false)).toEqual([null, first, 4])
    expect(await lookup(async () => [second ?? ''], false)).toEqual([null, second, 6])
  })

  test.each([
    ['has no address', async () => [], 'unresolvable'],
    ['cannot be found', () => Promise.reject(new Error('away')), 'unresolvable'],
    ['leads inside', async () => ['93.184.215.14', '192.168.0.1'], 'refused'],
  ])('that %s is refused with no address', async (_, resolve, why) => {
    for (const all of [true, false]) expect(await lookup(resolve, all)).toEqual([why, ''])
  })

  test('by this machine with every address that it has', async () => {
    expect(await resolveAll('127.0.0.1')).toEqual(['127.0.0.1'])
    expect(await resolveAll('::1')).toEqual(['::1'])
  })
})

test('browsers are notified under the key that follows from the seal, made once', async () => {
  const seal = createSeal([Buffer.alloc(32, 1).toString('base64')])
  let made = 0
  const counted = {
    ...seal,
    macKeys: (...given: Parameters<typeof seal.macKeys>) => {
      made += 1
      return seal.macKeys(...given)
    },
  }
  const sent: SendRequest<string | Uint8Array>[] = []
  const send = createPush(
    { seal: counted, contact: 'ops@example.com', public_url: null },
    async (request) => {
      sent.push(request)
      return failedSend('timeout')
    },
  )
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  const keys = {
    p256dh: pair.getPublicKey('base64url'),
    auth: randomBytes(16).toString('base64url'),
  }
  const request: PushRequest = {
    transport: 'push',
    endpoint: 'https://push.example/1',
    keys,
    payload: '{}',
    ttl_seconds: 60,
    urgency: 'normal',
    topic: null,
  }
  for (let time = 0; time < 2; time += 1) await send?.(request)
  expect(made).toBe(1)
  expect(sent.map(({ url, method }) => [url, method])).toEqual([
    ['https://push.example/1', 'POST'],
    ['https://push.example/1', 'POST'],
  ])
  const { public_key } = await vapidKeys(seal)
  const [, token, key] =
    /^vapid t=([^,]+), k=(.+)$/.exec(sent[0]?.headers.authorization ?? '') ?? []
  expect(key).toBe(public_key)
  const claims = JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString())
  expect(claims.sub).toBe('mailto:ops@example.com')
  expect(await send?.({ ...request, keys: { ...keys, p256dh: 'AAAA' } })).toMatchObject({
    message:
      'The notification could not be encrypted for this browser. Let the browser subscribe again.',
  })
})

describe('an answer', () => {
  const answered = (...parts: number[][]) => {
    const body = new ReadableStream<Uint8Array>({
      start(to) {
        for (const part of parts) to.enqueue(new Uint8Array(part))
        to.close()
      },
    })
    return perform(async () => ({ status: 200, headers: [['x-a', 'b']], body }), { explain })
  }

  test('is read as text, however its letters are cut, and is timed in whole milliseconds', async () => {
    const result = await answered([0x61, 0xc3], [0xa7], [0x62])
    expect(result).toMatchObject({ ok: true, status: 200, body: 'a\u00e7b' })
    expect(Number.isInteger(result.duration_ms)).toBe(true)
    expect(result.duration_ms).toBeLessThan(10_000)
    expect(result.ok && result.headers.get('x-a')).toBe('b')
  })

  test('that does not come is explained, and timed too', async () => {
    const result = await perform(() => Promise.reject(failed('ETIMEDOUT')), { explain })
    expect(result).toEqual({ ...failedSend('timeout'), duration_ms: expect.any(Number) })
    expect(result.duration_ms).toBeLessThan(10_000)
  })
})

test.each([
  ['mqtts://a.example:8883/b', 'https://a.example:8883/b'],
  ['MQTT://a.example', 'http://a.example'],
  ['xmqtts://a.example/b', null],
  ['mqtts:a.example/b', null],
  ['https://a.example/?to=mqtt://b', null],
])('the broker %s is judged as %s', (target, twin) => {
  expect(httpTwin(target)).toBe(twin)
})

test('plain http where the operator permits none is refused with what to do', () => {
  const allow = parseAllowList('')
  expect(checkTarget('http://a.example/', { allow })).toMatchObject({
    code: 'plain_http',
    message:
      'Use https://. Plain http is only for hosts that the operator permits in ALLOW_PRIVATE_TARGETS.',
  })
})

test.each(['our ops@example.com', '@example.com', 'ops@', 'ops@a@b', 'http://ops.example'])(
  'push services are not told that %j is the operator',
  (contact) => {
    expect(vapidSubject({ contact, public_url: null })).toBeUndefined()
  },
)
