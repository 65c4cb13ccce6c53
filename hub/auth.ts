import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { ApiError } from '../shared/problem.ts'
import { authText } from './auth.text.ts'
import type { Paths } from './config.ts'
import { readText, writeWhole } from './files.ts'
import type { Ctx, Env } from './http.ts'
import { fieldText } from './problem.text.ts'
import { readSetting, type Setting, writeSetting } from './settings.ts'
import { said } from './words.ts'

const say = said(authText)

const derive = promisify<
  string,
  Buffer,
  number,
  { N: number; r: number; p: number; maxmem: number },
  Buffer
>(scrypt)

// OWASP's password storage recommendation for scrypt: 128 MiB and one thread a guess.
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const SESSION_DAYS = 30
const COOKIE = 'hub_session'

/** admin.json: what the password is checked against, and what sessions are signed with. */
const Admin = z.strictObject({
  salt: z.base64(),
  hash: z.base64(),
  /** A new one ends every session. */
  session_secret: z.base64(),
})
const ADMIN: Setting<z.ZodNullable<typeof Admin>> = {
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

/** startSession sets the cookie that the interface then sends with every request. */
export async function startSession(c: Ctx): Promise<void> {
  const admin = await readSetting(c.get('deps').config.paths, ADMIN)
  if (!admin) throw unauthenticated()
  const token = await new SignJWT()
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('admin')
    .setIssuedAt()
    .setExpirationTime(`${SESSION_DAYS}d`)
    .sign(Buffer.from(admin.session_secret, 'base64'))
  setCookie(c, COOKIE, token, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: c.req.header('x-forwarded-proto') === 'https',
    maxAge: SESSION_DAYS * 86_400,
  })
}

export function endSession(c: Ctx): void {
  deleteCookie(c, COOKIE, { path: '/' })
}

/** Refuses who is neither signed in nor shows the local token. */
export const authenticate: MiddlewareHandler<Env> = async (c, next) => {
  const { paths } = c.get('deps').config
  const [scheme, shown] = (c.req.header('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() === 'bearer' && shown) {
    const token = (await readText(authFiles(paths).token))?.trim()
    if (!token || !isSame(shown, token)) throw unauthenticated()
    c.set('caller', 'token')
    return next()
  }
  const cookie = getCookie(c, COOKIE)
  const admin = cookie ? await readSetting(paths, ADMIN) : null
  if (!cookie || !admin) throw unauthenticated()
  try {
    await jwtVerify(cookie, Buffer.from(admin.session_secret, 'base64'), {
      algorithms: ['HS256'],
      subject: 'admin',
    })
  } catch {
    throw unauthenticated()
  }
  c.set('caller', 'session')
  await next()
}

function unauthenticated(): ApiError {
  return new ApiError('unauthenticated', say.unauthenticated)
}

const FREE_ATTEMPTS = 3
const LONGEST_WAIT_SECONDS = 60
const FORGET_MS = 15 * 60_000
const MOST_ADDRESSES = 10_000

/**
 * Delays an address after failed attempts, twice as long each time: guessing becomes slow from
 * there, and the one admin is never locked out from elsewhere.
 */
export function createAttempts(now: () => number = Date.now) {
  const failed = new Map<string, { count: number; until: number; at: number }>()
  return {
    /** Throws 429 while an address has to wait. */
    check(address: string): void {
      const wait = Math.ceil(((failed.get(address)?.until ?? 0) - now()) / 1000)
      if (wait <= 0) return
      throw new ApiError('rate_limited', say.wait(wait), {
        headers: { 'Retry-After': String(wait) },
      })
    },
    failed(address: string): void {
      const before = failed.get(address)
      const count = before && now() - before.at < FORGET_MS ? before.count + 1 : 1
      const beyond = count - FREE_ATTEMPTS
      const seconds = beyond > 0 ? Math.min(2 ** beyond, LONGEST_WAIT_SECONDS) : 0
      failed.delete(address)
      failed.set(address, { count, until: now() + seconds * 1000, at: now() })
      const [oldest] = failed.keys()
      if (failed.size > MOST_ADDRESSES && oldest !== undefined) failed.delete(oldest)
    },
    succeeded(address: string): void {
      failed.delete(address)
    },
  }
}
