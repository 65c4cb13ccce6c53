import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkLicense, readLicense } from '../../../hub/license/license.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const DAY_MS = 86_400_000
let folder: string
let hub: TestHub
const vendor = (...args: string[]) =>
  execFileSync(process.execPath, ['scripts/license.ts', ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim()
const keyFile = (name: string) => join(folder, `${name}.jwk`)
const issue = (tier: string, ...more: string[]) =>
  vendor('issue', '--key', keyFile('a'), '--tier', tier, '--customer', 'Demir AŞ', ...more)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-license-'))
  const keys = ['a', 'b'].map((name) => JSON.parse(vendor('keygen', '--key', keyFile(name))))
  vendor('keygen', '--key', keyFile('stranger'))
  const license_keys = join(folder, 'keys.json')
  await writeFile(license_keys, JSON.stringify({ keys }))
  hub = await startHub({ config: { license_keys } })
})
afterAll(async () => {
  await hub.close()
  await rm(folder, { recursive: true })
})

const put = (license: string) => hub.call('PUT', 'license', { license })
const get = async () => (await hub.call('GET', 'license')).json()
const create = (number: number) =>
  hub.call('POST', 'projects/create', { slug: `p-${number}`, name: `Project ${number}` })

test('without a key the Free tier applies, and every tier is listed', async () => {
  expect(await get()).toMatchObject({
    tier: 'free',
    max_projects: 1,
    status: 'none',
    tiers: [
      { tier: 'free', max_projects: 1 },
      { tier: 'starter', max_projects: 3 },
      { tier: 'pro', max_projects: 10 },
      { tier: 'enterprise', max_projects: null },
    ],
  })
})

test('the private key is for its owner alone, and the public one names no secret', () => {
  expect(statSync(keyFile('a')).mode & 0o777).toBe(0o600)
  expect(() => vendor('keygen', '--key', keyFile('a'))).toThrow(/already exists/)
  expect(() => issue('gold')).toThrow(/--tier/)
})

describe('a key that does not count is refused and the one before stays', () => {
  beforeAll(async () => {
    expect((await put(issue('starter'))).status).toBe(200)
  })
  const altered = (key: string) => {
    const [head, , signature] = key.split('.')
    const claims = { tier: 'enterprise', customer: 'Demir AŞ', exp: 4_000_000_000 }
    return [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
  }
  const forged = async (alg: string, kid: string) => {
    const { privateKey } = await generateKeyPair('Ed25519')
    const claims = { tier: 'pro', customer: 'x' }
    const header = { alg, kid }
    return new SignJWT(claims).setProtectedHeader(header).setExpirationTime('1y').sign(privateKey)
  }
  const kidOf = (key: string): string =>
    JSON.parse(Buffer.from(key.split('.')[0] ?? '', 'base64url').toString()).kid

  test.each<[string, () => string | Promise<string>]>([
    ['an altered one', () => altered(issue('starter'))],
    ['one of another pair under our kid', () => forged('Ed25519', kidOf(issue('pro')))],
    [
      'one with an unknown kid',
      () => vendor('issue', '--key', keyFile('stranger'), '--tier', 'pro', '--customer', 'x'),
    ],
    [
      'one that says alg none',
      () => {
        const head = { alg: 'none', kid: kidOf(issue('pro')) }
        return `${Buffer.from(JSON.stringify(head)).toString('base64url')}.${issue('pro').split('.')[1]}.`
      },
    ],
    [
      'one signed with the public key as a secret',
      async () => {
        const key = issue('pro')
        const jwk = await exportJWK((await generateKeyPair('Ed25519')).publicKey)
        return new SignJWT({ tier: 'pro', customer: 'x' })
          .setProtectedHeader({ alg: 'HS256', kid: kidOf(key) })
          .setExpirationTime('1y')
          .sign(new TextEncoder().encode(JSON.stringify(jwk).padEnd(64)))
      },
    ],
    ['plain text', () => 'give me enterprise'],
    ['half of one', () => issue('pro').slice(0, 90)],
  ])('%s', async (_, make) => {
    const refused = await put(await make())
    expect(refused.status).toBe(422)
    const { errors } = await refused.json()
    expect(errors).toMatchObject([{ path: 'license', code: 'refused' }])
    expect(await get()).toMatchObject({ tier: 'starter', status: 'valid' })
  })
})

test('a refusal and the time of grace are told in the language that is asked for', async () => {
  const headers = { 'Accept-Language': 'tr' }
  const refused = await hub.call('PUT', 'license', { license: 'none' }, headers)
  expect((await refused.json()).errors[0].message).toMatch(/^Bu bir lisans anahtarı değil/)
  const key = issue('pro')
  const { valid_until } = await checkLicense(key, hub.config)
  const later = new Date(Date.parse(valid_until ?? '') + DAY_MS)
  const { status, reason } = await checkLicense(key, hub.config, later)
  expect(status).toBe('grace')
  expect(reason?.en).toMatch(
    /^The license expired on \d+ [A-Z][a-z]+ \d{4}\. Everything keeps working/,
  )
  expect(reason?.tr).toMatch(/^Lisansın süresi \d+ \p{Lu}\p{Ll}+ \d{4} tarihinde doldu\. /u)
})

test('line breaks that a mail put into a key do not matter, and both vendor keys count', async () => {
  const key = vendor('issue', '--key', keyFile('b'), '--tier', 'pro', '--customer', 'x')
  const broken = await put(key.replace(/(.{60})/g, '$1\r\n'))
  expect(await broken.json()).toMatchObject({ tier: 'pro', max_projects: 10, status: 'valid' })
})

test('Starter refuses the fourth project, Pro the eleventh, Enterprise none unless its key says', async () => {
  const refusesAt = async (number: number) => {
    const refused = await create(number)
    expect(refused.status).toBe(402)
    expect((await refused.json()).code).toBe('license_limit')
  }
  await put(issue('starter'))
  for (let i = 1; i <= 3; i += 1) expect((await create(i)).status).toBe(201)
  await refusesAt(4)
  await put(issue('pro'))
  for (let i = 4; i <= 10; i += 1) expect((await create(i)).status).toBe(201)
  await refusesAt(11)
  await put(issue('enterprise', '--max-projects', '11'))
  expect((await create(11)).status).toBe(201)
  await refusesAt(12)
  expect(await (await put(issue('enterprise'))).json()).toMatchObject({ max_projects: null })
  expect((await create(12)).status).toBe(201)
})

test('two creations at once do not both find the last place free', async () => {
  await put(issue('enterprise', '--max-projects', '13'))
  const answers = await Promise.all([create(13), create(14), create(15)])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 402, 402])
})

test('14 days of grace, then the limits of Free: surplus projects read-only, nothing lost', async () => {
  const key = issue('pro', '--days', '30')
  await put(key)
  const at = async (days: number) =>
    checkLicense(key, hub.config, new Date(Date.now() + days * DAY_MS))
  expect(await at(29)).toMatchObject({ status: 'valid', tier: 'pro', reason: null })
  expect(await at(31)).toMatchObject({ status: 'grace', tier: 'pro', max_projects: 10 })
  expect(await at(43)).toMatchObject({ status: 'grace' })
  expect(await at(45)).toMatchObject({ status: 'expired', tier: 'free', max_projects: 1 })

  const lists = async () => (await hub.call('GET', 'projects/list')).json()
  const before = await lists()
  await hub.call('DELETE', 'license')
  const after = await lists()
  expect(after.projects).toHaveLength(13)
  expect(after.projects.map((project: { read_only: boolean }) => project.read_only)).toEqual([
    false,
    ...Array(12).fill(true),
  ])
  const refused = await hub.call('POST', 'projects/update', { slug: 'p-2', name: 'Other' })
  expect(refused.status).toBe(402)
  expect((await hub.call('POST', 'projects/update', { slug: 'p-1', icp: 'x' })).status).toBe(200)
  await put(key)
  expect((await lists()).projects.map((p: { name: string }) => p.name)).toEqual(
    before.projects.map((p: { name: string }) => p.name),
  )
  expect((await hub.call('POST', 'projects/update', { slug: 'p-2', name: 'Other' })).status).toBe(
    200,
  )
})

test('a clock that was set back does not void a fresh key', async () => {
  const key = issue('pro')
  const earlier = new Date(Date.now() - 3 * DAY_MS)
  expect(await checkLicense(key, hub.config, earlier)).toMatchObject({ status: 'valid' })
})

test('a key kept from before that no longer counts says why, and Free holds', async () => {
  await put(issue('pro'))
  const empty = join(folder, 'none.json')
  await writeFile(empty, '{"keys": []}')
  expect(await readLicense({ ...hub.config, license_keys: empty })).toMatchObject({
    tier: 'free',
    status: 'refused',
    reason: { en: expect.stringContaining('does not know') },
  })
})
