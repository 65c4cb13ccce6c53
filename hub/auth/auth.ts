import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import PQueue from 'p-queue'
import { z } from 'zod'
import type { Paths } from '../config.ts'
import { writeWhole } from '../files.ts'
import { fieldText } from '../i18n/problem.text.ts'
import { readSetting, type Setting, writeSetting } from '../ops/settings.ts'

const derive = promisify<
  string,
  Buffer,
  number,
  { N: number; r: number; p: number; maxmem: number },
  Buffer
>(scrypt)

// OWASP's password storage recommendation for scrypt: 128 MiB and one thread per attempt.
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }

/** admin.json: the password's hash and the secret of the sessions. */
const Admin = z.strictObject({
  salt: z.base64(),
  hash: z.base64(),
  /** Sessions are stored as an HMAC under this secret, so a new secret ends all of them. */
  session_secret: z.base64(),
})
type Admin = z.infer<typeof Admin>
export const ADMIN: Setting<z.ZodNullable<typeof Admin>> = {
  file: 'admin.json',
  schema: Admin.nullable(),
  fallback: null,
}

export const Password = z
  .string()
  .min(10, fieldText.en.short_password)
  .max(200)
  .meta({ description: 'The admin’s password, 10 to 200 characters.' })

/** Whether the admin password has been set. */
export async function isSetUp(paths: Paths): Promise<boolean> {
  return (await readSetting(paths, ADMIN)) !== null
}

const writes = new PQueue({ concurrency: 1 })

/** Replaces admin.json, one change at a time: none may bring back what another has just replaced. */
export function changeAdmin(
  paths: Paths,
  work: (known: Admin | null) => Admin | null,
): Promise<Admin | null> {
  return writes.add(async () => {
    const known = await readSetting(paths, ADMIN)
    const next = work(known)
    return next === known ? known : writeSetting(paths, ADMIN, next)
  })
}

export const newSessionSecret = () => randomBytes(32).toString('base64')

/** setPassword stores a scrypt hash of the password and ends all sessions. Returns their new secret. */
export async function setPassword(paths: Paths, password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password.normalize('NFKC'), salt, 32, COST)
  const session_secret = newSessionSecret()
  const next = { salt: salt.toString('base64'), hash: hash.toString('base64'), session_secret }
  await changeAdmin(paths, () => next)
  return session_secret
}

/**
 * The secret of the sessions that a right password may begin; undefined for a wrong one. A session of a
 * password that is replaced meanwhile is void.
 */
export async function secretFor(paths: Paths, password: string): Promise<string | undefined> {
  const admin = await readSetting(paths, ADMIN)
  if (!admin) return undefined
  const salt = Buffer.from(admin.salt, 'base64')
  const hash = await derive(password.normalize('NFKC'), salt, 32, COST)
  return timingSafeEqual(hash, Buffer.from(admin.hash, 'base64')) ? admin.session_secret : undefined
}

/** A salted scrypt hash of a member's password, as it is stored. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password.normalize('NFKC'), salt, 32, COST)
  return `scrypt:${salt.toString('base64')}:${hash.toString('base64')}`
}

/**
 * Whether this is the password behind a hash. Without one it works as long, so that the time of an
 * answer does not tell which e-mails are known.
 */
export async function isHashOf(stored: string | undefined, password: string): Promise<boolean> {
  const [kind, salt = '', hash = ''] = (stored ?? '').split(':')
  const derived = await derive(password.normalize('NFKC'), Buffer.from(salt, 'base64'), 32, COST)
  const expected = Buffer.from(hash, 'base64')
  return (
    kind === 'scrypt' && expected.length === derived.length && timingSafeEqual(derived, expected)
  )
}

/** The files of the one-time set-up code and the local token. */
export const authFiles = (paths: Paths) => ({
  setup_code: join(paths.config_dir, 'setup.code'),
  token: join(paths.config_dir, 'hub.token'),
})

/** makeSetupCode writes a new set-up code, which lets the admin choose a password once. */
export async function makeSetupCode(paths: Paths): Promise<string> {
  const code = randomBytes(10)
    .toString('hex')
    .replace(/(.{5})(?=.)/g, '$1-')
  await writeWhole(authFiles(paths).setup_code, `${code}\n`)
  return code
}

/** Compares two texts in constant time. */
export function isSame(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
