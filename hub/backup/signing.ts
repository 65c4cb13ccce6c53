import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import type { Paths } from '../config.ts'
import { makeOnce, readText } from '../files.ts'
import { bilingual } from '../i18n/words.ts'
import { backupText } from './backup.text.ts'
import { BackupError } from './manifest.ts'

const say = bilingual(backupText)
const CONTEXT = 'watchpost-hub backup 1\n'

/**
 * Who made an archive: this machine, another one whose key is named, or unknown. The key proves
 * that the hub's own user on this machine had exactly this manifest and, by its checksums, every
 * file; it does not protect against somebody who has taken over that user.
 */
export type Origin = { kind: 'here' | 'elsewhere' | 'unsigned'; signer: string | null }

/** signature.json, the second file of an archive. */
const Signature = z.strictObject({
  key: z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9+/]+=*$/),
  signature: z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9+/]+=*$/),
})

const keyFile = (paths: Paths) => join(paths.config_dir, 'backup.key')

/** The machine's signing key, created once; it is never part of a backup. */
async function machineKey(paths: Paths): Promise<KeyObject> {
  const pem = await makeOnce(keyFile(paths), () =>
    generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  )
  return createPrivateKey(pem)
}

/**
 * The public half of the machine's key; root, who inspects archives too, must not create the
 * service's key.
 */
async function ownKey(paths: Paths): Promise<Buffer | undefined> {
  const pem = await readText(keyFile(paths))
  return pem === undefined ? undefined : publicOf(createPrivateKey(pem))
}

const publicOf = (key: KeyObject) => createPublicKey(key).export({ format: 'der', type: 'spki' })

/** A key's fingerprint, for people to compare. */
function fingerprint(der: Buffer): string {
  const hex = createHash('sha256').update(der).digest('hex').slice(0, 32)
  return hex.replace(/.{4}(?=.)/g, '$& ')
}

/** The fingerprint by which another hub recognises this hub's archives. */
export async function ownFingerprint(paths: Paths): Promise<string> {
  return fingerprint(publicOf(await machineKey(paths)))
}

/** signManifest returns the text of signature.json. */
export async function signManifest(paths: Paths, manifest: Buffer): Promise<string> {
  const key = await machineKey(paths)
  const signature = sign(null, Buffer.concat([Buffer.from(CONTEXT), manifest]), key)
  const signed = {
    key: publicOf(key).toString('base64'),
    signature: signature.toString('base64'),
  } satisfies z.infer<typeof Signature>
  return `${JSON.stringify(signed)}\n`
}

/** originOf returns who signed the manifest; throws if the signature does not match it. */
export async function originOf(
  paths: Paths,
  manifest: Buffer,
  text: string | undefined,
): Promise<Origin> {
  if (text === undefined) return { kind: 'unsigned', signer: null }
  const der = signer(manifest, text)
  if (!der) throw new BackupError(say.wrong_signature)
  const isOurs = (await ownKey(paths))?.equals(der) ?? false
  return { kind: isOurs ? 'here' : 'elsewhere', signer: fingerprint(der) }
}

function signer(manifest: Buffer, text: string): Buffer | undefined {
  try {
    const { key, signature } = Signature.parse(JSON.parse(text))
    const der = Buffer.from(key, 'base64')
    const opened = createPublicKey({ key: der, format: 'der', type: 'spki' })
    if (opened.asymmetricKeyType !== 'ed25519') return undefined
    const content = Buffer.concat([Buffer.from(CONTEXT), manifest])
    const isRight = verify(null, content, opened, Buffer.from(signature, 'base64'))
    return isRight ? opened.export({ format: 'der', type: 'spki' }) : undefined
  } catch {
    return undefined
  }
}

/** The sentence to type before restoring an archive that this machine did not sign. */
export const TRUST = say.trust.en

/** isTrusted returns whether the sentence was typed, in either language. */
export function isTrusted(typed: string | undefined): boolean {
  const given = typed?.trim().replace(/\s+/g, ' ')
  return given === say.trust.en || given === say.trust.tr
}
