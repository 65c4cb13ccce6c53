import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkLicense } from '../../../hub/license/license.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const DAY_S = 86_400
let hub: TestHub
let pair: CryptoKeyPair
let other: CryptoKeyPair
beforeAll(async () => {
  hub = await startHub()
  pair = await generateKeyPair('Ed25519')
  other = await generateKeyPair('ES256')
  const keys = [
    { ...(await exportJWK(pair.publicKey)), kid: 'vendor' },
    { ...(await exportJWK(other.publicKey)), kid: 'curve' },
  ]
  hub.config.license_keys = join(hub.paths.data_dir, 'keys.json')
  await writeFile(hub.config.license_keys, JSON.stringify({ keys }))
})
afterAll(() => hub.close())

const seconds = () => Math.floor(Date.now() / 1000)
const sign = (
  claims: Record<string, unknown>,
  { kid = 'vendor', alg = 'Ed25519', key = pair.privateKey } = {},
) =>
  new SignJWT({ tier: 'pro', customer: 'Demir AŞ', exp: seconds() + DAY_S, ...claims })
    .setProtectedHeader({ alg, kid })
    .sign(key)
const check = async (claims: Record<string, unknown>, options = {}) =>
  checkLicense(await sign(claims, options), hub.config)

describe('a license that ran out', () => {
  test('by the clock of today is in grace for 14 days, and then Free', async () => {
    const exp = seconds() - DAY_S
    const grace = await check({ exp })
    expect(grace).toMatchObject({ status: 'grace', tier: 'pro', max_projects: 10 })
    expect(grace.valid_until).toBe(new Date(exp * 1000).toISOString())
    const expired = await check({ exp: seconds() - 15 * DAY_S })
    expect(expired).toMatchObject({
      status: 'expired',
      tier: 'free',
      max_projects: 1,
      customer: 'Demir AŞ',
      reason: { en: expect.stringContaining('The limits of the Free tier apply') },
    })
  })

  test('changes at these very moments', async () => {
    const exp = seconds()
    const key = await sign({ exp })
    const at = async (s: number, ms: number) =>
      (await checkLicense(key, hub.config, new Date((exp + s) * 1000 + ms))).status
    expect(await at(0, 0)).toBe('valid')
    expect(await at(0, 1)).toBe('grace')
    expect(await at(14 * DAY_S, 0)).toBe('grace')
    expect(await at(14 * DAY_S, 1)).toBe('expired')
  })
})

test('a license tells its tier, its customer and its own limit', async () => {
  expect(await check({})).toMatchObject({ status: 'valid', customer: 'Demir AŞ', reason: null })
  const limits = async (claims: Record<string, unknown>) => (await check(claims)).max_projects
  expect(await limits({ tier: 'starter' })).toBe(3)
  expect(await limits({ tier: 'pro' })).toBe(10)
  expect(await limits({ tier: 'enterprise' })).toBeNull()
  expect(await limits({ tier: 'starter', max_projects: 7 })).toBe(7)
  expect(await limits({ tier: 'starter', max_projects: null })).toBeNull()
})

describe('refused as no license', () => {
  const words = async (claims: Record<string, unknown>, options = {}) => {
    const { tier, max_projects, status, reason } = await check(claims, options)
    expect({ tier, max_projects, status }).toEqual({
      tier: 'free',
      max_projects: 1,
      status: 'refused',
    })
    return reason?.en
  }
  const NO_KEY = 'This is not a license key. Paste the whole key, exactly as you received it.'

  test.each([
    ['the tier that needs none', { tier: 'free' }],
    ['an unknown tier', { tier: 'gold' }],
    ['no customer', { customer: '' }],
    ['a customer of more than 200 letters', { customer: 'x'.repeat(201) }],
    ['no project', { max_projects: 0 }],
    ['half a project', { max_projects: 1.5 }],
  ])('one with %s', async (_, claims) => {
    expect(await words(claims)).toBe(NO_KEY)
  })

  test('one of a kind of key that the vendor does not sign with', async () => {
    const options = { kid: 'curve', alg: 'ES256', key: other.privateKey }
    expect(await words({}, options)).toBe(NO_KEY)
  })

  test('one of an unknown key, an altered one, and what is none: each in its words', async () => {
    expect(await words({}, { kid: 'stranger' })).toBe(
      'The license was signed with a key that this release does not know. Ask for a new license.',
    )
    const [head, , signature] = (await sign({})).split('.')
    const payload = Buffer.from(JSON.stringify({ tier: 'enterprise' })).toString('base64url')
    const altered = await checkLicense([head, payload, signature].join('.'), hub.config)
    expect(altered.reason?.en).toMatch(/^The license’s signature is wrong/)
    for (const text of ['', 'x', 'a.b.c']) {
      expect((await checkLicense(text, hub.config)).reason?.en, text).toBe(NO_KEY)
    }
  })
})

test('the public keys that cannot be read are no fault of the license', async () => {
  const config = { ...hub.config, license_keys: join(hub.paths.data_dir, 'none.json') }
  await expect(checkLicense(await sign({}), config)).rejects.toThrow()
})
