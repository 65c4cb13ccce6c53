import { createECDH, randomBytes } from 'node:crypto'
import ece from 'http_ece'
import { importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { MAX_PUSH_BYTES, type SendRequest } from '../../../../functions/channels/transport/send.ts'
import { createPush, pushSender } from '../../../../functions/channels/transport/send-push.ts'
import { vapidKeys, vapidSubject } from '../../../../functions/channels/transport/vapid.ts'
import { createSeal } from '../../../../functions/seal.ts'

const NEVER = { ok: true, status: 201, headers: new Headers(), body: '', duration_ms: 1 } as const

function keyPair() {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return pair
}
const operator = keyPair()
const vapid = {
  public_key: operator.getPublicKey('base64url'),
  private_key: operator.getPrivateKey('base64url'),
  subject: 'mailto:ops@example.com',
}
const browser = keyPair()
const secret = randomBytes(16)

async function push(
  payload: string,
  change: { vapid?: Partial<typeof vapid>; p256dh?: string; topic?: null } = {},
) {
  const sent: SendRequest<string | Uint8Array>[] = []
  const send = pushSender({ ...vapid, ...change.vapid }, async (request) => {
    sent.push(request)
    return NEVER
  })
  const result = await send({
    transport: 'push',
    endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/s3cr3t',
    keys: {
      p256dh: change.p256dh ?? browser.getPublicKey('base64url'),
      auth: secret.toString('base64url'),
    },
    payload,
    ttl_seconds: 600,
    urgency: 'high',
    topic: change.topic === null ? null : 'alert-1',
  })
  return { result, sent }
}

/** What the browser reads (RFC 8291), by the implementation of the author of RFC 8188. */
function opened(body: string | Uint8Array): string {
  const options = { version: 'aes128gcm' as const, privateKey: browser, authSecret: secret }
  return ece.decrypt(Buffer.from(body), options).toString()
}

describe('a notification for a browser', () => {
  test('only the browser can read it, and its length tells nothing', async () => {
    const { sent } = await push('{"title":"Deprem: Kütahya"}')
    const [request] = sent
    if (!request) throw new Error('nothing was sent')
    expect(opened(request.body)).toBe('{"title":"Deprem: Kütahya"}')
    expect(request.body.length).toBe(4096)
    expect(request.headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      ttl: '600',
      urgency: 'high',
      topic: 'alert-1',
    })
  })

  test('that nothing takes the place of has no topic, and the length is left to who sends it', async () => {
    const [request] = (await push('{}', { topic: null })).sent
    expect(Object.keys(request?.headers ?? {}).sort()).toEqual([
      ...['authorization', 'content-encoding', 'content-type', 'ttl', 'urgency'],
    ])
  })

  test('the push service learns who sends it, for twelve hours and itself alone (RFC 8292)', async () => {
    const { sent } = await push('{}')
    const found = /^vapid t=([^,]+), k=(.+)$/.exec(sent[0]?.headers.authorization ?? '')
    expect(found?.[2]).toBe(vapid.public_key)
    const bytes = operator.getPublicKey()
    const key = await importJWK(
      {
        kty: 'EC',
        crv: 'P-256',
        x: bytes.subarray(1, 33).toString('base64url'),
        y: bytes.subarray(33).toString('base64url'),
      },
      'ES256',
    )
    const { payload } = await jwtVerify(found?.[1] ?? '', key)
    expect(payload).toMatchObject({
      aud: 'https://updates.push.services.mozilla.com',
      sub: 'mailto:ops@example.com',
    })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(12 * 3600)
  })

  test('the longest payload fits, one byte more does not', async () => {
    const longest = 'x'.repeat(MAX_PUSH_BYTES)
    expect(opened((await push(longest)).sent[0]?.body ?? '')).toBe(longest)
    const { result, sent } = await push(`${longest}x`)
    expect(result).toMatchObject({ ok: false, failure: 'refused' })
    expect(sent).toEqual([])
  })

  test('keys that do not fit are told without being shown', async () => {
    const other = keyPair().getPublicKey('base64url')
    for (const change of [{ vapid: { public_key: other } }, { p256dh: 'AAAA' }]) {
      const { result, sent } = await push('{}', change)
      expect(result).toMatchObject({ ok: false, failure: 'refused' })
      expect(JSON.stringify(result)).not.toContain(vapid.private_key)
      expect(JSON.stringify(result)).not.toContain(other)
      expect(sent).toEqual([])
    }
  })
})

describe('the key of the service', () => {
  const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map((key) =>
    key.toString('base64'),
  ) as [string, string]

  test('it is a pair that signs, and stays when a sealing key is put before the old one', async () => {
    const keys = await vapidKeys(createSeal([older]))
    expect(await vapidKeys(createSeal([newer, older]))).toEqual(keys)
    expect(await vapidKeys(createSeal([newer]))).not.toEqual(keys)
    const pair = createECDH('prime256v1')
    pair.setPrivateKey(Buffer.from(keys.private_key, 'base64url'))
    expect(pair.getPublicKey('base64url')).toBe(keys.public_key)
    const { sent } = await push('{}', { vapid: keys })
    expect(opened(sent[0]?.body ?? '')).toBe('{}')
  })

  test('it follows from the sealing key alone: browsers hear nothing of another pair', async () => {
    const { public_key } = await vapidKeys(createSeal([older]))
    expect(public_key).toBe(
      'BA3F0O_YlnxZHet_pvJ75Ln9EthxzjW0EUSCJVu3bnAqAyzfN5JzLI0UqmW4v-x49y-FFRTJFkZA8k7uv_WEuTQ',
    )
  })

  test('without a way to reach the operator nothing is sent', () => {
    const seal = createSeal([older])
    const send = async () => NEVER
    expect(
      createPush({ seal, contact: undefined, public_url: 'http://localhost:8787' }, send),
    ).toBeUndefined()
    expect(createPush({ seal, contact: 'ops@example.com', public_url: null }, send)).toBeDefined()
  })

  test.each([
    ['ops@example.com', null, 'mailto:ops@example.com'],
    ['https://example.com/contact', null, 'https://example.com/contact'],
    [undefined, 'https://watch.example.com', 'https://watch.example.com'],
    ['Ops, third floor', 'http://localhost:8787', undefined],
    ['ops@exa mple.com', null, undefined],
  ])('of %s and %s push services learn %s', (contact, public_url, subject) => {
    expect(vapidSubject({ contact, public_url })).toBe(subject)
  })
})
