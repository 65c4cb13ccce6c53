import type { Channel, ChannelCreate, ChannelPatch } from '../../shared/channel.ts'
import { generateSecret, parseSecret } from '../../shared/signing.ts'
import type { Seal } from '../seal.ts'
import type { ChannelKind, Issue } from './channel.ts'
import { findKind } from './kinds.ts'
import type { AllowList } from './target.ts'

/** A channel as it is stored: its secrets sealed, a masked form beside each. */
export type SealedChannel = Omit<Channel, 'target' | 'config' | 'signing_secret'> & {
  target_sealed: string
  target_masked: string
  config_sealed: string | null
  config_masked: Channel['config']
  signing_secret_sealed: string | null
  /** Null when there was none, or its time is over. */
  previous_secret_sealed: string | null
}

/** What of a channel says whom to reach; these columns change together. */
export type SealedReceiver = Pick<
  SealedChannel,
  'target_sealed' | 'target_masked' | 'config_sealed' | 'config_masked'
>

/** kindOf is the kind of a stored channel. */
export function kindOf({ kind }: { kind: string }): ChannelKind {
  const found = findKind(kind)
  if ('issue' in found) throw new Error(`a stored channel has the kind "${kind}"`)
  return found.kind
}

/** checkCreate lists what is wrong with a new channel, beyond its form. */
export function checkCreate(fields: ChannelCreate, allow: AllowList): Issue[] {
  const { target, config, signing_secret } = fields
  const found = findKind(fields.kind)
  if ('issue' in found) return [found.issue]
  const issues = found.kind.check({ target, config: config ?? null, allow })
  if (signing_secret === undefined) return issues
  if (found.kind.kind !== 'webhook') {
    const message = 'Only webhooks are signed. Leave it out.'
    return [...issues, { path: 'signing_secret', code: 'not_signed', message }]
  }
  try {
    parseSecret(signing_secret)
  } catch (error) {
    const message = error instanceof Error ? error.message : 'It is malformed.'
    issues.push({ path: 'signing_secret', code: 'malformed', message })
  }
  return issues
}

/** secretFor is the signing secret of a new channel; null for a kind that signs nothing. */
export function secretFor({ kind, signing_secret }: ChannelCreate): string | null {
  return kind === 'webhook' ? (signing_secret ?? generateSecret()) : null
}

/** sealReceiver seals a target and its settings, and masks them. */
export async function sealReceiver(
  kind: ChannelKind,
  { target, config }: { target: string; config: Channel['config'] },
  { seal }: Seal,
): Promise<SealedReceiver> {
  return {
    target_sealed: await seal(target),
    target_masked: kind.mask(target),
    config_sealed: config && (await seal(JSON.stringify(config))),
    config_masked: maskConfig(config),
  }
}

/** unsealReceiver opens what sealReceiver sealed. */
export async function unsealReceiver(
  row: Pick<SealedReceiver, 'target_sealed' | 'config_sealed'>,
  { unseal }: Seal,
): Promise<{ target: string; config: Channel['config'] }> {
  return {
    target: await unseal(row.target_sealed),
    config: row.config_sealed === null ? null : JSON.parse(await unseal(row.config_sealed)),
  }
}

/** unsealSecrets are the secrets that sign, the current one first. */
export async function unsealSecrets(
  row: Pick<SealedChannel, 'signing_secret_sealed' | 'previous_secret_sealed'>,
  { unseal }: Seal,
): Promise<string[]> {
  const sealed = [row.signing_secret_sealed, row.previous_secret_sealed]
  return Promise.all(sealed.filter((secret) => secret !== null).map(unseal))
}

/** changeReceiver is a patch of target or settings, merged with what is stored; undefined for none. */
export async function changeReceiver(
  before: SealedChannel,
  patch: ChannelPatch,
  { seal, allow }: { seal: Seal; allow: AllowList },
): Promise<{ issues: Issue[] } | { receiver: SealedReceiver | undefined }> {
  if (patch.target === undefined && patch.config === undefined) return { receiver: undefined }
  const kind = kindOf(before)
  const stored = await unsealReceiver(before, seal)
  const merged = {
    target: patch.target ?? stored.target,
    config: patch.config === undefined ? stored.config : patch.config,
  }
  const issues = kind.check({ ...merged, allow })
  if (issues.length > 0) return { issues }
  return { receiver: await sealReceiver(kind, merged, seal) }
}

/** present is a stored channel on the wire; `is_open` shows the target and settings as they are. */
export async function present(
  row: SealedChannel,
  {
    is_open,
    seal,
    signing_secret = null,
  }: { is_open: boolean; seal: Seal; signing_secret?: string | null },
): Promise<Channel> {
  const { target_masked, config_masked, ...rest } = row
  const masked = { target: target_masked, config: config_masked }
  return { ...rest, ...(is_open ? await unsealReceiver(row, seal) : masked), signing_secret }
}

/** Keeps the names of settings and takes every value: a token is no less secret for being a number. */
function maskConfig(config: Channel['config']): Channel['config'] {
  if (config === null) return null
  const masked = Object.entries(config).map(([name, value]) => {
    const inner = typeof value === 'object' && value !== null && !Array.isArray(value)
    return [name, inner ? maskConfig({ ...value }) : '…']
  })
  return Object.fromEntries(masked)
}
