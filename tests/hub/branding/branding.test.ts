import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { brandingWarnings, mailBranding } from '../../../hub/branding/branding.ts'
import { OWN_LOOK } from '../../../hub/branding/own-look.ts'
import { MailBranding } from '../../../hub/mail/render/slots.ts'
import { contrast } from '../../../shared/colour.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let folder: string
let hub: TestHub
let enterprise: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-branding-'))
  const { privateKey, publicKey } = await generateKeyPair('Ed25519')
  const license_keys = join(folder, 'keys.json')
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'test' }]
  await writeFile(license_keys, JSON.stringify({ keys }))
  enterprise = await new SignJWT({ tier: 'enterprise', customer: 'Demir' })
    .setProtectedHeader({ alg: 'Ed25519', kid: 'test' })
    .setExpirationTime('1y')
    .sign(privateKey)
  hub = await startHub({ key: 'public', config: { license_keys } })
})
afterAll(async () => {
  await hub.close()
  await rm(folder, { recursive: true })
})

const url = (type: string, content: string | Uint8Array) =>
  `data:image/${type};base64,${Buffer.from(content).toString('base64')}`
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)])
const colors = { primary: '#0F766E', accent: '#9a5b12' }
const put = (logo: string | null, more = {}) =>
  hub.call('PUT', 'settings/branding', { name: 'Demir', logo, colors, ...more })
const publicLook = async () =>
  (await hub.app.request('/api/cockpit/branding', { headers: { host: 'localhost' } })).json()

test('without an Enterprise license it is 402 and our own look stays', async () => {
  const refused = await put(null)
  expect(refused.status).toBe(402)
  expect((await refused.json()).code).toBe('license_limit')
  expect(await publicLook()).toEqual({ branding: OWN_LOOK })
})

describe('with an Enterprise license', () => {
  beforeAll(async () => {
    await hub.call('PUT', 'license', { license: enterprise })
  })

  test('it is in use at once, also for who is not signed in', async () => {
    const changed = await put(url('png', PNG))
    expect(changed.status).toBe(200)
    expect(await changed.json()).toMatchObject({ applies: true, warnings: [] })
    const { branding } = await publicLook()
    expect(branding).toEqual({
      name: 'Demir',
      logo: url('png', PNG),
      colors: { primary: '#0f766e', accent: '#9a5b12' },
    })
    expect(MailBranding.parse(mailBranding(branding))).toMatchObject({
      name: 'Demir',
      logo: url('png', PNG),
      color: '#0f766e',
    })
  })

  test('a license that ends hides it and keeps it', async () => {
    await hub.call('DELETE', 'license')
    expect((await publicLook()).branding).toEqual(OWN_LOOK)
    const kept = await (await hub.call('GET', 'settings/branding')).json()
    expect(kept).toMatchObject({ applies: false, branding: { name: 'Demir' } })
    await hub.call('PUT', 'license', { license: enterprise })
    expect((await publicLook()).branding.name).toBe('Demir')
  })

  test.each([
    ['a PNG', url('png', PNG)],
    ['a JPEG', url('jpeg', Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(9)]))],
  ])('%s is taken', async (_, logo) => {
    expect((await put(logo)).status).toBe(200)
  })

  test.each([
    ['a drawing', url('svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a script', url('svg+xml', '<svg><script>alert(1)</script></svg>')],
    ['text that says PNG', url('png', '<svg/>')],
    ['a GIF', url('gif', 'GIF89a')],
    ['a link to a picture', 'https://example.com/logo.png'],
    ['more than 200 KB', url('png', Buffer.concat([PNG, Buffer.alloc(200 * 1024)]))],
  ])('a logo with %s is 422 and names the way out', async (_, logo) => {
    const refused = await put(logo)
    expect(refused.status).toBe(422)
    expect((await refused.json()).errors).toMatchObject([{ path: 'logo', code: 'custom' }])
  })

  test('a logo is refused in the language of who sends it', async () => {
    const body = { ...OWN_LOOK, logo: url('png', '<svg/>') }
    const headers = { 'Accept-Language': 'tr' }
    const refused = await hub.call('PUT', 'settings/branding', body, headers)
    expect((await refused.json()).errors[0].message).toMatch(/türü PNG olarak belirtilmiş/)
  })

  test('a colour that is none is 422', async () => {
    const refused = await put(null, { colors: { ...colors, accent: 'red' } })
    expect((await refused.json()).errors).toMatchObject([{ path: 'colors.accent' }])
  })

  test('colours that are hard to read, and a logo that mails cannot show, are warned of', () => {
    const warned = brandingWarnings({
      name: 'x',
      logo: url('png', Buffer.concat([PNG, Buffer.alloc(40_000)])),
      colors: { primary: '#ffff00', accent: '#101010' },
    })
    expect(warned.map(({ en }) => en)).toEqual([
      expect.stringContaining('#ffff00 has a contrast of 1.1 on white'),
      expect.stringContaining('#101010 has a contrast of 1.0 on a dark page'),
      expect.stringContaining('Mails are sent without this logo'),
    ])
    expect(warned[0]?.tr).toMatch(/^#ffff00 .* 1,1; .* 4,5 gerekir/)
    expect(brandingWarnings(OWN_LOOK)).toEqual([])
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  })
})
