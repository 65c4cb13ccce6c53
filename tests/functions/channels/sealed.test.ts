import { expect, test } from 'vitest'
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
