import { createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import DKIM from 'nodemailer/lib/dkim'
import { z } from 'zod'
import type { Paths } from '../../config.ts'
import { readSetting, type Setting, writeSetting } from '../../ops/settings.ts'
import { type TxtResolver, txtRecords } from './sender-dns.ts'

const Key = z.strictObject({
  selector: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
  /** PKCS #8 in PEM. */
  private_key: z.string().refine(isRsa, 'must be an RSA key in PEM'),
  created_at: z.string(),
  /** Mails are signed with it; from when its record was seen in the DNS, or a person said so. */
  signs: z.boolean(),
})
export type DkimKey = z.infer<typeof Key>

/** dkim.json: one key for each domain that senders are of. */
export const DkimKeys = z.strictObject({ keys: z.record(z.string().max(253), Key) })
export type DkimKeys = z.infer<typeof DkimKeys>
export const DKIM_KEYS: Setting<typeof DkimKeys> = {
  file: 'dkim.json',
  schema: DkimKeys,
  fallback: { keys: {} },
}

export const readDkim = (paths: Paths): Promise<DkimKeys> => readSetting(paths, DKIM_KEYS)

/** domainOfSender returns the domain that signs the mails of a sender. */
export const domainOfSender = (email: string) =>
  email.slice(email.lastIndexOf('@') + 1).toLowerCase()

function isRsa(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

/** makeKey makes a key for a domain, which replaces an earlier one and does not sign yet. */
export async function makeKey(paths: Paths, domain: string, now = new Date()): Promise<DkimKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const known = (await readDkim(paths)).keys
  const day = now.toISOString().slice(0, 10).replaceAll('-', '')
  // Mails on their way are still checked against the record of the earlier key.
  const selector = selectorAfter(known[domain]?.selector, `hub${day}`)
  const key: DkimKey = {
    selector,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    created_at: now.toISOString(),
    signs: false,
  }
  await writeSetting(paths, DKIM_KEYS, { keys: { ...known, [domain]: key } })
  return key
}

/** The first selector of a day has no letter behind it, the next ones b, c and so on. */
function selectorAfter(last: string | undefined, first: string): string {
  if (!last?.startsWith(first)) return first
  const before = last.slice(first.length)
  const letter = String.fromCodePoint((before.codePointAt(before.length - 1) ?? 0x61) + 1)
  return /[b-z]/.test(letter) ? `${first}${before.slice(0, -1)}${letter}` : `${last}b`
}

/** setSigning turns signing with a domain's key on or off. */
export async function setSigning(paths: Paths, domain: string, signs: boolean): Promise<void> {
  const { keys } = await readDkim(paths)
  const key = keys[domain]
  if (key) await writeSetting(paths, DKIM_KEYS, { keys: { ...keys, [domain]: { ...key, signs } } })
}

/** removeKey forgets the key of a domain: its mails are not signed any more. */
export async function removeKey(paths: Paths, domain: string): Promise<void> {
  const { [domain]: _, ...keys } = (await readDkim(paths)).keys
  await writeSetting(paths, DKIM_KEYS, { keys })
}

/** recordOf returns the DNS record to publish for a key (RFC 6376, 3.6.1). */
export function recordOf(domain: string, { selector, private_key }: DkimKey) {
  const der = createPublicKey(private_key).export({ type: 'spki', format: 'der' })
  const value = `v=DKIM1; k=rsa; p=${der.toString('base64')}`
  return { name: `${selector}._domainkey.${domain}`, value }
}

/** Whether the DNS has a key's record: `other` is another key under the same name. */
export type Published = 'present' | 'other' | 'missing' | 'unknown'

/** publishedAs looks a key's record up in the DNS. Offline is `unknown`. */
export async function publishedAs(
  domain: string,
  key: DkimKey,
  resolve?: TxtResolver,
): Promise<Published> {
  const { name, value } = recordOf(domain, key)
  const records = await txtRecords(name, resolve)
  if (records === undefined) return 'unknown'
  const keysOf = (record: string) => /(?:^|;)\s*p=([^;]*)/.exec(record)?.[1]?.replace(/\s/g, '')
  const found = records.map(keysOf).filter((one) => one !== undefined && one !== '')
  if (found.includes(keysOf(value))) return 'present'
  return found.length > 0 ? 'other' : 'missing'
}

/** Both headers of one-click unsubscribing must be signed (RFC 8058, 4). */
const SIGNED =
  'From:Reply-To:Subject:Date:Message-ID:To:MIME-Version:Content-Type:Content-Transfer-Encoding:In-Reply-To:References:List-Unsubscribe:List-Unsubscribe-Post'

/** signed returns a mail with the signature of its sender's domain (RFC 6376) above its headers. */
export async function signed(bytes: Buffer, domain: string, key: DkimKey): Promise<Buffer> {
  const signer = new DKIM({
    domainName: domain,
    keySelector: key.selector,
    privateKey: key.private_key,
    headerFieldNames: SIGNED,
  })
  const mail = await buffer(signer.sign(bytes))
  if (!/^dkim-signature:/i.test(mail.subarray(0, 15).toString('latin1'))) {
    throw new Error(`The mail could not be signed for ${domain}.`)
  }
  return mail
}
