import { isSame } from '../../shared/same.ts'
import type { Channel, ChannelCreate, ChannelPatch } from '../../shared/schemas/channel.ts'
import { generateSecret, parseSecret } from '../../shared/signing.ts'
import type { Seal } from '../seal.ts'
import type { AnyKind, Issue } from './channel.ts'
import { findKind } from './kinds.ts'
import { checkPlainHttp, type Resolve } from './transport/plain-http.ts'
import { MISSING_TRANSPORTS, type Transports } from './transport/send.ts'
import type { AllowList } from './transport/target.ts'

/** Stands for every value in a masked config. */
const MASK = '…'

/** A signing secret before a rotation, and until when it still signs. */
export type FormerSecret = { sealed: string; until: string }

/** A stored channel: its secrets are sealed, and target and config are also stored masked. */
export type SealedChannel = Omit<Channel, 'target' | 'config' | 'signing_secret'> & {
  target_sealed: string
  target_masked: string
  config_sealed: string | null
  config_masked: Channel['config']
  signing_secret_sealed: string | null
  /** Those of the last rotations that still sign, the newest first. */
  former_secrets_sealed: FormerSecret[]
}

/** The columns that say where a channel sends; they always change together. */
type SealedReceiver = Pick<
  SealedChannel,
  'target_sealed' | 'target_masked' | 'config_sealed' | 'config_masked'
>

/** The kind of a stored channel. */
export function kindOf({ kind }: { kind: string }): AnyKind {
  const found = findKind(kind)
  if ('issue' in found) throw new Error(`a stored channel has the kind "${kind}"`)
  return found.kind
}

/** Validates a new channel beyond its schema; returns the issues. */
export function checkCreate(
  fields: ChannelCreate,
  { allow, ...transports }: Omit<Transports, 'send'> & { allow: AllowList },
): Issue[] {
  const { target, config, signing_secret } = fields
  const found = findKind(fields.kind)
  if ('issue' in found) return [found.issue]
  const { transport } = found.kind
  if (transport && !transports[transport]) {
    return [{ path: 'kind', code: 'unavailable_kind', message: MISSING_TRANSPORTS[transport] }]
  }
  const issues = [
    ...found.kind.check({ target, config: config ?? null, allow }),
    ...maskedIssues(found.kind, target),
  ]
  if (signing_secret === undefined) return issues
  if (found.kind.kind !== 'webhook') {
    const message = 'Only webhooks have a signing secret. Leave it out.'
    return [...issues, { path: 'signing_secret', code: 'not_signed', message }]
  }
  try {
    parseSecret(signing_secret)
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The secret is malformed.'
    issues.push({ path: 'signing_secret', code: 'malformed', message })
  }
  return issues
}

/** The signing secret of a new channel; null for a kind that does not sign. */
export function secretFor({ kind, signing_secret }: ChannelCreate): string | null {
  return kind === 'webhook' ? (signing_secret ?? generateSecret()) : null
}

/** Seals and masks a target and its config. */
export async function sealReceiver(
  kind: AnyKind,
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

/** Opens what sealReceiver sealed. */
export async function unsealReceiver(
  row: Pick<SealedReceiver, 'target_sealed' | 'config_sealed'>,
  { unseal }: Seal,
): Promise<{ target: string; config: Channel['config'] }> {
  return {
    target: await unseal(row.target_sealed),
    config: row.config_sealed === null ? null : JSON.parse(await unseal(row.config_sealed)),
  }
}

/** The signing secrets in use, the current one first. */
export async function unsealSecrets(
  row: Pick<SealedChannel, 'signing_secret_sealed' | 'former_secrets_sealed'>,
  { unseal }: Seal,
): Promise<string[]> {
  const sealed = [
    row.signing_secret_sealed,
    ...row.former_secrets_sealed.map(({ sealed }) => sealed),
  ]
  return Promise.all(sealed.filter((secret) => secret !== null).map(unseal))
}

/**
 * Applies a patch of target or config to what is stored. What is sent back masked stays as it is. `receiver` is
 * undefined when neither changes.
 */
export async function changeReceiver(
  before: SealedChannel,
  patch: ChannelPatch,
  { seal, ...network }: { seal: Seal; allow: AllowList; resolve?: Resolve | undefined },
): Promise<{ issues: Issue[] } | { receiver: SealedReceiver | undefined }> {
  if (patch.target === undefined && patch.config === undefined) return { receiver: undefined }
  const kind = kindOf(before)
  const stored = await unsealReceiver(before, seal)
  const { target = stored.target, config = stored.config } = patch
  const merged = {
    target: target === before.target_masked ? stored.target : target,
    // safe: what replaces a mask in a config is of this config
    config: unmask(config, stored.config) as Channel['config'],
  }
  if (isSame(merged, stored)) return { receiver: undefined }
  const issues = [
    ...kind.check({ ...merged, allow: network.allow }),
    ...maskedIssues(kind, merged.target),
  ]
  if (merged.target !== stored.target)
    issues.push(...(await checkPlainHttp(merged.target, network)))
  if (issues.length > 0) return { issues }
  return { receiver: await sealReceiver(kind, merged, seal) }
}

/** A stored channel in the form of the API; with `is_open` its target and config are not masked. */
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

/** Keeps the names in a config and masks every value, whatever its type. */
function maskConfig(config: Channel['config']): Channel['config'] {
  if (config === null) return null
  const masked = Object.entries(config).map(([name, value]) => {
    const inner = typeof value === 'object' && value !== null && !Array.isArray(value)
    return [name, inner ? maskConfig({ ...value }) : MASK]
  })
  return Object.fromEntries(masked)
}

/** Puts the stored values back where a config has masks. */
function unmask(given: unknown, stored: unknown): unknown {
  if (given === MASK && stored !== undefined) return stored
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const fields = Object.entries(given).map(([name, value]) => {
    const has = typeof stored === 'object' && stored !== null && Object.hasOwn(stored, name)
    return [name, unmask(value, has ? Reflect.get(stored, name) : undefined)]
  })
  return Object.fromEntries(fields)
}

/** Only a masked target is its own mask. */
function maskedIssues(kind: AnyKind, target: string): Issue[] {
  if (kind.mask(target) !== target) return []
  const message = 'This target is masked. Send the whole of it, as its owner knows it.'
  return [{ path: 'target', code: 'masked', message }]
}
