import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { generateSecret, parseSecret, sign, verify } from '../../shared/signing.ts'

const bytes = fc.uint8Array({ minLength: 24, maxLength: 64 })
const secret = bytes.map((key) => `whsec_${Buffer.from(key).toString('base64')}`)
const id = fc.uuid()
const body = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc.json({ noUnicodeString: false }),
)
const timestamp = fc.date({
  min: new Date('2001-01-01'),
  max: new Date('2099-01-01'),
  noInvalidDate: true,
})

const now = new Date('2026-03-01T12:00:00.000Z')
const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

describe('against the reference implementation', () => {
  test('our signature equals theirs, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(id, timestamp, body, secret, async (id, timestamp, body, secret) => {
        const ours = await sign({ id, timestamp, body, secrets: [secret] })
        expect(ours['webhook-signature']).toBe(new Webhook(secret).sign(id, timestamp, body))
        expect(ours['webhook-timestamp']).toBe(String(Math.floor(timestamp.getTime() / 1000)))
      }),
    )
  })

  test('they accept what we sign, with either secret of a rotation', async () => {
    await fc.assert(
      fc.asyncProperty(id, fc.json(), secret, secret, async (id, body, current, old) => {
        const headers = await sign({ id, timestamp: new Date(), body, secrets: [current, old] })
        expect(new Webhook(current).verify(body, headers)).toEqual(JSON.parse(body))
        expect(new Webhook(old).verify(body, headers)).toEqual(JSON.parse(body))
      }),
    )
  })

  test('we accept what they sign', async () => {
    await fc.assert(
      fc.asyncProperty(id, timestamp, body, secret, async (id, timestamp, body, secret) => {
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1000)),
          'webhook-signature': new Webhook(secret).sign(id, timestamp, body),
        }
        expect(await verify({ headers, body, secret, now: timestamp })).toEqual({ ok: true })
      }),
    )
  })
})

describe('verify', () => {
  const message = { id: 'msg_1', timestamp: now, body: '{"a":1}', secrets: [key] }

  test('refuses another body, another id, another secret', async () => {
    const headers = await sign(message)
    const no = { ok: false, reason: 'no_match' }
    expect(await verify({ headers, body: '{"a":2}', secret: key, now })).toEqual(no)
    expect(await verify({ headers, body: message.body, secret: generateSecret(), now })).toEqual(no)
    const renamed = { ...headers, 'webhook-id': 'msg_2' }
    expect(await verify({ headers: renamed, body: message.body, secret: key, now })).toEqual(no)
  })

  test.each([
    [300, { ok: true }],
    [301, { ok: false, reason: 'too_old' }],
    [-300, { ok: true }],
    [-301, { ok: false, reason: 'too_new' }],
  ])('judges a message %i seconds old', async (age, expected) => {
    const headers = await sign(message)
    const later = new Date(now.getTime() + age * 1000)
    expect(await verify({ headers, body: message.body, secret: key, now: later })).toEqual(expected)
  })

  test.each([
    ['webhook-id', undefined, 'missing_header'],
    ['webhook-signature', undefined, 'missing_header'],
    ['webhook-timestamp', undefined, 'missing_header'],
    ['webhook-timestamp', '1e9', 'bad_timestamp'],
    ['webhook-timestamp', '-5', 'bad_timestamp'],
    ['webhook-signature', 'v1,', 'no_match'],
    ['webhook-signature', 'v1,***', 'no_match'],
    ['webhook-signature', 'v1,****', 'no_match'],
    ['webhook-signature', 'v1,AAA*', 'no_match'],
    ['webhook-signature', 'v1,*AAA', 'no_match'],
    ['webhook-signature', 'garbage', 'no_match'],
  ])('says what is wrong with %s = %s', async (name, value, reason) => {
    const headers = { ...(await sign(message)), [name]: value }
    expect(await verify({ headers, body: message.body, secret: key, now })).toEqual({
      ok: false,
      reason,
    })
  })

  test('takes no signature under the name of another version', async () => {
    const headers = await sign(message)
    const renamed = headers['webhook-signature'].replace('v1,', 'v9,')
    const given = { ...headers, 'webhook-signature': renamed }
    expect(await verify({ headers: given, body: message.body, secret: key, now })).toEqual({
      ok: false,
      reason: 'no_match',
    })
  })

  test('finds the one signature that fits among others and unknown versions', async () => {
    const headers = await sign(message)
    const list = `v1a,xxxx v1,AAAA ${headers['webhook-signature']}`
    const many = new Headers({ ...headers, 'webhook-signature': list })
    expect(await verify({ headers: many, body: message.body, secret: key, now })).toEqual({
      ok: true,
    })
  })
})

describe('secrets', () => {
  test('a generated secret holds 32 random bytes', () => {
    expect(parseSecret(generateSecret())).toHaveLength(32)
    expect(generateSecret()).not.toBe(generateSecret())
  })

  test.each([
    ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=', 'begin with "whsec_"'],
    ['whsec_not base64!', 'base64'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo', 'base64'],
    [`whsec_${Buffer.alloc(23).toString('base64')}`, 'this one holds 23'],
    [`whsec_${Buffer.alloc(65).toString('base64')}`, 'this one holds 65'],
    ['whsec_', 'this one holds 0'],
  ])('%s is refused with the reason', (secret, reason) => {
    expect(() => parseSecret(secret)).toThrow(reason)
  })

  test('24 and 64 bytes are accepted', () => {
    expect(parseSecret(`whsec_${Buffer.alloc(24).toString('base64')}`)).toHaveLength(24)
    expect(parseSecret(`whsec_${Buffer.alloc(64).toString('base64')}`)).toHaveLength(64)
  })

  test('an id with a dot is refused, for it could be read as another id and timestamp', async () => {
    const message = { id: 'a.1', timestamp: now, body: '', secrets: [key] }
    await expect(sign(message)).rejects.toThrow('webhook-id')
  })

  test('signing without a secret fails loudly', async () => {
    await expect(sign({ id: 'a', timestamp: now, body: '', secrets: [] })).rejects.toThrow('secret')
  })
})
