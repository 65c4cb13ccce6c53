import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
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

// OWASP's password storage recommendation for scrypt: 128 MiB and one thread a guess.
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }

/** admin.json: what the password is checked against, and what sessions are known by. */
const Admin = z.strictObject({
  salt: z.base64(),
  hash: z.base64(),
  /** Sessions are known by their HMAC under it: a new one ends every session. */
  session_secret: z.base64(),
})
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

/** Whether somebody has chosen the admin's password. */
export async function isSetUp(paths: Paths): Promise<boolean> {
  return (await readSetting(paths, ADMIN)) !== null
}

/** setPassword keeps only a scrypt hash, and ends every session. */
export async function setPassword(paths: Paths, password: string): Promise<void> {
  const salt = randomBytes(16)
  const hash = await derive(password.normalize('NFKC'), salt, 32, COST)
  await writeSetting(paths, ADMIN, {
    salt: salt.toString('base64'),
    hash: hash.toString('base64'),
    session_secret: randomBytes(32).toString('base64'),
  })
}

export async function isPassword(paths: Paths, password: string): Promise<boolean> {
  const admin = await readSetting(paths, ADMIN)
  if (!admin) return false
  const salt = Buffer.from(admin.salt, 'base64')
  const hash = await derive(password.normalize('NFKC'), salt, 32, COST)
  return timingSafeEqual(hash, Buffer.from(admin.hash, 'base64'))
}

/** Where the one-time set-up code and the local token are kept. */
export const authFiles = (paths: Paths) => ({
  setup_code: join(paths.config_dir, 'setup.code'),
  token: join(paths.config_dir, 'hub.token'),
})

/** makeSetupCode makes the code with which the first admin password is chosen. */
export async function makeSetupCode(paths: Paths): Promise<string> {
  const code = randomBytes(10)
    .toString('hex')
    .replace(/(.{5})(?=.)/g, '$1-')
  await writeWhole(authFiles(paths).setup_code, `${code}\n`)
  return code
}

/** Equal texts, compared in a time that tells nothing of them. */
export function isSame(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
