import { expect, test, vi } from 'vitest'
import {
  changeReceiver,
  checkCreate,
  kindOf,
  present,
  type SealedChannel,
  sealReceiver,
  secretFor,
  unsealReceiver,
  unsealSecrets,
} from '../../../functions/channels/sealed.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import type { Seal } from '../../../functions/seal.ts'
import { messageOf } from './samples.ts'

// Sealing is tested elsewhere: here it only has to be seen whether something is sealed.
const seal: Seal = {
  macKeys: async () => [],
  seal: async (text: string) => `sealed(${text})`,
  unseal: async (text: string) => {
    const [, inner] = /^sealed\((.*)\)$/s.exec(text) ?? []
    if (inner === undefined) throw new Error(`${text} is not sealed`)
    return inner
  },
}
const allow = parseAllowList(undefined)
const webhook = kindOf({ kind: 'webhook' })
const target = 'https://hooks.example.com/in?token=s3cr3t'
const config = { headers: { 'X-Key': 's3cr3t' }, list: ['s3cr3t'] } as never // safe: any config is masked alike

async function stored(): Promise<SealedChannel> {
  const row = { kind: 'webhook', signing_secret_sealed: null, former_secrets_sealed: [] }
  const receiver = await sealReceiver(webhook, { target, config }, seal)
  return { ...row, ...receiver } as unknown as SealedChannel // safe: all that is read here
}

test('what is stored of a receiver is sealed, or masked value by value', async () => {
  const row = await stored()
  expect(row.target_sealed).toBe(`sealed(${target})`)
  expect(row.target_masked).not.toContain('s3cr3t')
  expect(row.config_sealed).toBe(`sealed(${JSON.stringify(config)})`)
  expect(row.config_masked).toEqual({ headers: { 'X-Key': '…' }, list: '…' })
  expect(await unsealReceiver(row, seal)).toEqual({ target, config })
})

test('a channel without a config has none, neither sealed nor masked', async () => {
  const row = await sealReceiver(webhook, { target, config: null }, seal)
  expect([row.config_sealed, row.config_masked]).toEqual([null, null])
  expect(await unsealReceiver(row, seal)).toEqual({ target, config: null })
})

test('only who may see a channel open is shown its target and config', async () => {
  const row = await stored()
  const masked = await present(row, { is_open: false, seal })
  expect(JSON.stringify([masked.target, masked.config])).not.toContain('s3cr3t')
  expect(masked.signing_secret).toBeNull()
  const open = await present(row, { is_open: true, seal, signing_secret: 'whsec_1' })
  expect(open).toMatchObject({ target, config, signing_secret: 'whsec_1' })
})

test('the signing secrets in use are the current one and then the former ones', async () => {
  const former = ['b', 'c'].map((text) => ({ sealed: `sealed(${text})`, until: '' }))
  const row = { signing_secret_sealed: 'sealed(a)', former_secrets_sealed: former }
  expect(await unsealSecrets(row, seal)).toEqual(['a', 'b', 'c'])
  const unsigned = { signing_secret_sealed: null, former_secrets_sealed: [] }
  expect(await unsealSecrets(unsigned, seal)).toEqual([])
})

test('what is sent back as it was shown changes nothing', async () => {
  const row = await stored()
  const shown = await present(row, { is_open: false, seal })
  const unchanged = { receiver: undefined }
  const { target, config } = shown
  expect(await changeReceiver(row, { target, config }, { seal, allow })).toEqual(unchanged)
  expect(await changeReceiver(row, {}, { seal, allow })).toEqual(unchanged)
})

test('a masked value keeps the stored one while the rest of the patch changes', async () => {
  const row = await stored()
  const next = 'https://hooks.example.com/other'
  const patch = { target: next, config: { headers: { 'X-Key': '…' } } as never }
  const found = await changeReceiver(row, patch, { seal, allow })
  if (!('receiver' in found) || !found.receiver) throw new Error(JSON.stringify(found))
  expect(await unsealReceiver(found.receiver, seal)).toEqual({
    target: next,
    config: { headers: { 'X-Key': 's3cr3t' } },
  })
})

test('a changed target is checked as a new one is', async () => {
  const row = await stored()
  const patch = { target: 'nothing', config: { headers: { 'X-Key': '…' } } } as never
  const found = await changeReceiver(row, patch, { seal, allow })
  expect(found).toMatchObject({ issues: [expect.objectContaining({ path: 'target' })] })
})

test('a new channel cannot have a target that is only a mask', async () => {
  const { target_masked } = await stored()
  const fields = { kind: 'webhook', target: target_masked } as never // safe: what it reads
  const codes = checkCreate(fields, { allow } as never).map(({ code }) => code)
  expect(codes).toContain('masked')
})

test('only webhooks sign: others are given no secret and take none', () => {
  expect(secretFor({ kind: 'webhook', target } as never)).toMatch(/^whsec_/)
  expect(secretFor({ kind: 'webhook', target, signing_secret: 'whsec_x' } as never)).toBe('whsec_x')
  expect(secretFor({ kind: 'slack', target } as never)).toBeNull()
  const discord = messageOf('discord')
  const fields = { kind: 'discord', target: discord.target, signing_secret: 'whsec_x' } as never
  expect(checkCreate(fields, { allow } as never)).toMatchObject([{ code: 'not_signed' }])
  const wrong = { kind: 'webhook', target, signing_secret: 'nothing' } as never
  expect(checkCreate(wrong, { allow } as never)).toMatchObject([
    { path: 'signing_secret', code: 'malformed' },
  ])
})

test('a kind that is unknown is refused, and stored it is a fault', () => {
  expect(checkCreate({ kind: 'pigeon', target } as never, { allow } as never)).toMatchObject([
    { path: 'kind' },
  ])
  expect(() => kindOf({ kind: 'pigeon' })).toThrow('pigeon')
})

test('a kind that this service cannot send by is refused, with what its operator does', () => {
  const fields = { kind: 'email', target: 'ops@example.com' } as never // safe: what it reads
  expect(checkCreate(fields, { allow })).toEqual([
    {
      path: 'kind',
      code: 'unavailable_kind',
      message:
        'This service cannot send mail. Its operator sets MAIL_FROM with SMTP_URL, or with RESEND_API_KEY where SMTP cannot be used.',
    },
  ])
  expect(checkCreate(fields, { allow, mail: async () => Promise.reject() })).toEqual([])
  const push = { kind: 'webpush', target: 'https://updates.push.services.mozilla.com/a' } as never
  expect(checkCreate(push, { allow, mail: async () => Promise.reject() })).toMatchObject([
    { path: 'kind', message: expect.stringContaining('cannot notify browsers') },
  ])
})

test('what is wrong with a new channel is said of each field', () => {
  const of = (fields: object) => checkCreate(fields as never, { allow }) // safe: what it reads
  const ntfy = { kind: 'ntfy', target: 'https://ntfy.sh/watch', signing_secret: 'whsec_x' }
  const message = 'Only webhooks have a signing secret. Leave it out.'
  expect(of(ntfy)).toEqual([{ path: 'signing_secret', code: 'not_signed', message }])
  expect(of({ kind: 'webhook', target: 'https://hooks.example.com/…' })).toContainEqual({
    path: 'target',
    code: 'masked',
    message: 'This target is masked. Send the whole of it, as its owner knows it.',
  })
  const headers = { 'X-Key': 'a\nb' }
  const paths = of({ kind: 'webhook', target, config: { headers } }).map(({ path }) => path)
  expect(paths).toEqual(['config.headers.X-Key'])
  expect(of({ kind: 'webhook', target, config: { headers: { 'X-Key': 'a' } } })).toEqual([])
})

test('a target of plain http is looked up where it changes, and only there', async () => {
  const inside = parseAllowList('10.0.0.0/8')
  const resolve = vi.fn(async () => ['93.184.215.14'])
  const row = await stored()
  const plain = await sealReceiver(webhook, { target: 'http://a.example/in', config }, seal)
  const before = { ...row, ...plain }
  const network = { seal, allow: inside, resolve }
  const headers = { 'X-Key': 'other' }
  const found = await changeReceiver(before, { config: { headers } } as never, network)
  if (!('receiver' in found) || !found.receiver) throw new Error(JSON.stringify(found))
  expect(await unsealReceiver(found.receiver, seal)).toEqual({
    target: 'http://a.example/in',
    config: { headers },
  })
  expect(resolve).not.toHaveBeenCalled()
  const plainly = { target: 'http://b.example/in', config: null } as never
  expect(await changeReceiver(before, plainly, network)).toMatchObject({
    issues: [{ path: 'target', code: 'plain_http' }],
  })
  expect(resolve.mock.calls).toEqual([['b.example']])
})

test('only the target of a channel changes, and a mask where nothing is stored stays one', async () => {
  const row = await stored()
  const first = { ...row, ...(await sealReceiver(webhook, { target, config: null }, seal)) }
  const next = 'https://hooks.example.com/other'
  const moved = await changeReceiver(first, { target: next } as never, { seal, allow })
  expect(moved).toMatchObject({ receiver: { target_sealed: `sealed(${next})` } })
  const odd = { headers: { 'X-Key': '…', 'X-New': '…', 'X-More': 'b' } }
  const found = await changeReceiver(row, { config: odd } as never, { seal, allow })
  expect(found).toMatchObject({ issues: [{ path: 'config.headers.X-New' }] })
  const none = await changeReceiver(first, { config: odd } as never, { seal, allow })
  expect(none).toMatchObject({ issues: [{ path: 'config.headers.X-Key' }, expect.anything()] })
})

test('of a config the names are shown, whatever the values are', async () => {
  const values = { a: null, b: ['x'], c: { d: 7, e: { f: 'y' } }, g: false } as never
  const { config_masked } = await sealReceiver(webhook, { target, config: values }, seal)
  expect(config_masked).toEqual({ a: '…', b: '…', c: { d: '…', e: { f: '…' } }, g: '…' })
})

test('whoever may not see a channel open is shown masks', async () => {
  const shown = await present(await stored(), { is_open: false, seal })
  expect(shown.target).toBe('https://hooks.example.com/…')
  expect(shown.config).toEqual({ headers: { 'X-Key': '…' }, list: '…' })
})
