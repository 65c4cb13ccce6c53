import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { LINK_PURPOSES, type LinkPurpose, readLink, signLink } from '../../functions/links.ts'
import { createSeal } from '../../functions/seal.ts'

const OLD = Buffer.alloc(32, 1).toString('base64')
const NEW = Buffer.alloc(32, 2).toString('base64')
const seal = createSeal([OLD])
const public_url = 'https://watchpost.test/base'
const now = new Date('2026-05-01T12:00:00Z')
const expires_at = new Date('2026-05-03T12:00:00Z')

const ids = { channel_id: randomUUID(), confirmation_id: randomUUID(), alert_id: randomUUID() }

async function tokenOf(purpose: LinkPurpose, key = seal): Promise<string> {
  const link = await signLink({ seal: key, public_url }, { purpose, subject: ids, expires_at })
  const { origin, pathname, searchParams } = new URL(link)
  expect(origin + pathname).toBe(`${public_url}/links/${purpose}`)
  return searchParams.get('token') ?? ''
}

test('a link says what was signed, until it expires', async () => {
  const { confirmation_id: _, ...subject } = ids
  const purpose = 'acknowledge'
  const token = await tokenOf(purpose)
  expect(await readLink(seal, { purpose, token, now })).toEqual({ subject, is_expired: false })
  const before = new Date(expires_at.getTime() - 1)
  expect(await readLink(seal, { purpose, token, now: before })).toMatchObject({ is_expired: false })
  const late = await readLink(seal, { purpose, token, now: expires_at })
  expect(late).toEqual({ subject, is_expired: true })
})

test('a link is short enough for every message, and has only characters that no program changes', async () => {
  expect(await tokenOf('acknowledge')).toMatch(/^[\w-]{92}$/)
})

test('a link that was sent is read for ever after: its form does not change', async () => {
  const subject = {
    alert_id: '11111111-1111-1111-1111-111111111111',
    channel_id: '22222222-2222-2222-2222-222222222222',
  }
  const given = { purpose: 'acknowledge', subject, expires_at } as const
  const link = await signLink({ seal, public_url }, given)
  expect(new URL(link).searchParams.get('token')).toBe(
    'AWn3OMARERERERERERERERERERERIiIiIiIiIiIiIiIiIiIiIixaYhtcyw0X9s3-9_tydNzGUb_iqlH7BVUVmJGER8Go',
  )
})
test('a link is good for its own purpose only', async () => {
  for (const signed of LINK_PURPOSES) {
    const token = await tokenOf(signed)
    for (const purpose of LINK_PURPOSES) {
      const read = await readLink(seal, { purpose, token, now })
      expect([signed, purpose, read !== null]).toEqual([signed, purpose, signed === purpose])
    }
  }
})

test('a changed, cut or invented token is no link', async () => {
  const purpose = 'unsubscribe'
  const bytes = Buffer.from(await tokenOf(purpose), 'base64url')
  const read = (token: string) => readLink(seal, { purpose, token, now })
  for (const index of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(await read(changed.toString('base64url')), `byte ${index}`).toBeNull()
  }
  const signed = bytes.toString('base64url')
  for (const token of ['', 'x', signed.slice(0, -2), `${signed}AA`, `${signed}é`, 'A'.repeat(92)])
    expect(await read(token), token).toBeNull()
  expect(await read(signed)).not.toBeNull()
  for (const token of [` ${signed}`, `${signed}\n`, `${signed}=`, `=${signed}`])
    expect(await read(token), token).toBeNull()
})

test('a link of another form is none, even with our signature', async () => {
  const purpose = 'acknowledge'
  const bytes = Buffer.from(await tokenOf(purpose), 'base64url')
  const [key] = await seal.macKeys(`link ${purpose}`)
  if (!key) throw new Error('no key')
  const signed = async (form: number) => {
    const body = Buffer.from(bytes.subarray(0, -32))
    body[0] = form
    const mac = Buffer.from(await crypto.subtle.sign('HMAC', key, body))
    return Buffer.concat([body, mac]).toString('base64url')
  }
  const read = async (form: number) => readLink(seal, { purpose, token: await signed(form), now })
  expect(await read(bytes[0] ?? 0)).not.toBeNull()
  expect(await read((bytes[0] ?? 0) + 1)).toBeNull()
})

test.each(['', 'x', `${ids.alert_id}0`, `0${ids.alert_id}`, ids.alert_id.replace(/.$/, 'g')])(
  'a link names ids, and %j is none',
  async (alert_id) => {
    const subject = { ...ids, alert_id }
    const signed = signLink({ seal, public_url }, { purpose: 'acknowledge', subject, expires_at })
    await expect(signed).rejects.toThrow(`"${alert_id}" is not a UUID`)
  },
)

test('a link outlives a rotation for as long as its key is kept', async () => {
  const purpose = 'confirm-address'
  const token = await tokenOf(purpose)
  const both = createSeal([NEW, OLD])
  expect(await readLink(both, { purpose, token, now })).not.toBeNull()
  expect(await readLink(createSeal([NEW]), { purpose, token, now })).toBeNull()
  const newer = await tokenOf(purpose, both)
  expect(await readLink(createSeal([NEW]), { purpose, token: newer, now })).not.toBeNull()
  expect(await readLink(seal, { purpose, token: newer, now })).toBeNull()
})

test('the key of a link is not the sealing key, and each purpose has its own', async () => {
  const body = Buffer.from('the same for all')
  const macs = new Set<string>()
  for (const purpose of ['link acknowledge', 'link unsubscribe', 'acknowledge']) {
    const [key] = await seal.macKeys(purpose)
    if (!key) throw new Error('no key')
    macs.add(Buffer.from(await crypto.subtle.sign('HMAC', key, body)).toString('hex'))
  }
  const raw = await crypto.subtle.importKey(
    'raw',
    Buffer.from(OLD, 'base64'),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  macs.add(Buffer.from(await crypto.subtle.sign('HMAC', raw, body)).toString('hex'))
  expect(macs.size).toBe(4)
})
