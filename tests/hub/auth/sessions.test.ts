import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { setPassword } from '../../../hub/auth/auth.ts'
import { addressOf, clientOf } from '../../../hub/auth/caller.ts'
import {
  isKnownDevice,
  isStillLetIn,
  rememberDevice,
  startSession,
} from '../../../hub/auth/sessions.ts'
import type { Ctx, Env } from '../../../hub/http/http.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { ofAdmin } from '../support/members.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await setPassword(hub.paths, PASSWORD)
})
afterAll(() => hub.close())

const PASSWORD = 'correct horse battery'
const DAY_MS = 86_400_000
const request = (path: string, init: RequestInit = {}) =>
  hub.app.request(`/api/cockpit/${path}`, {
    ...init,
    headers: { host: 'localhost:8770', 'content-type': 'application/json', ...init.headers },
  })
/** Begins a session as a right password does, without the work that makes guessing slow. */
const door = new Hono<Env>()
door.post('/', async (c) => {
  c.set('deps', hub.deps)
  await startSession(c, member ?? (await ofAdmin(hub)))
  return c.text('')
})
/** Who signs in; undefined: the single admin. */
let member: { id: string; session_epoch: number } | undefined
const signIn = async (headers: Record<string, string> = {}) =>
  (await door.request('/', { method: 'POST', headers })).headers.get('set-cookie') ?? ''
const session = async (headers: Record<string, string>) =>
  (await request('session', { headers })).status
const withCookie = (setCookie: string) => ({ cookie: setCookie.split(';')[0] ?? '' })
const stored = () => join(hub.paths.config_dir, 'sessions.json')
type Stored = { sessions: { id: string; ends_at: string }[] }
const readStored = async (): Promise<Stored> => JSON.parse(await readFile(stored(), 'utf8'))

describe('a session', () => {
  test('begins with the password', async () => {
    const body = JSON.stringify({ password: PASSWORD })
    const answer = await request('login', { method: 'POST', body })
    expect(answer.status).toBe(200)
    expect(await session(withCookie(answer.headers.get('set-cookie') ?? ''))).toBe(200)
    await rm(stored())
  })

  test('of a password that was replaced while it was checked is void', async () => {
    const add = vi.spyOn(hub.deps.audit, 'add')
    add.mockImplementationOnce(async () => void (await setPassword(hub.paths, 'another password')))
    const body = JSON.stringify({ password: PASSWORD })
    const answer = await request('login', { method: 'POST', body })
    expect(await session(withCookie(answer.headers.get('set-cookie') ?? ''))).toBe(401)
    await setPassword(hub.paths, PASSWORD)
  })

  test('lasts 30 days, in a cookie that no script and no other site can use', async () => {
    const cookie = await signIn()
    expect(cookie).toMatch(/^hub_session=[\w-]{43}; /)
    const parts = cookie.split('; ').slice(1)
    expect(parts.sort()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Strict'])
    expect(await signIn({ 'x-forwarded-proto': 'https' })).toContain('; Secure')
    expect(await signIn({ 'x-forwarded-proto': 'http' })).not.toContain('Secure')
    const [first] = (await readStored()).sessions
    const left = Date.parse(first?.ends_at ?? '') - Date.now()
    expect(left / DAY_MS).toBeGreaterThan(29.9)
    expect(left / DAY_MS).toBeLessThanOrEqual(30)
    expect(JSON.stringify(await readStored())).not.toContain(cookie.split(/[=;]/)[1])
  })

  test('is over at its end, and removed at the next sign-in', async () => {
    const headers = withCookie(await signIn())
    expect(await session(headers)).toBe(200)
    const { sessions } = await readStored()
    const old = sessions.map((one) => ({ ...one, ends_at: new Date().toISOString() }))
    await writeFile(stored(), JSON.stringify({ sessions: old }))
    expect(await session(headers)).toBe(401)
    await signIn()
    expect((await readStored()).sessions).toHaveLength(1)
  })

  test('of a member counts as long as the member has its number, whatever the list says', async () => {
    const admins = withCookie(await signIn())
    const [made] = await hub.query<{ id: string; session_epoch: number }>(
      `insert into hub.members (email, name, role, password_hash, joined_at)
      values ('ece@x.example', 'Ece', 'seller', 'x', now()) returning id, session_epoch`,
    )
    member = made
    const headers = withCookie(await signIn())
    member = undefined
    await signIn()
    const ids = (await readStored()).sessions.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect([await session(headers), await session(admins)]).toEqual([200, 200])
    await hub.query('update hub.members set session_epoch = session_epoch + 1')
    expect([await session(headers), await session(admins)]).toEqual([401, 200])
    await rm(stored())
  })

  test('that begins with others at the same moment loses none of them', async () => {
    const cookies = await Promise.all(Array.from({ length: 5 }, () => signIn()))
    const let_in = await Promise.all(cookies.map((cookie) => session(withCookie(cookie))))
    expect(let_in).toEqual(cookies.map(() => 200))
    await rm(stored())
  })

  test('ends in this browser alone, or in all', async () => {
    const [one, two, three] = [
      withCookie(await signIn()),
      withCookie(await signIn()),
      withCookie(await signIn()),
    ]
    const left = await request('logout', { method: 'POST', headers: one })
    expect(left.headers.get('set-cookie')).toMatch(/^hub_session=; Max-Age=0; Path=\//)
    expect(await Promise.all([one, two, three].map(session))).toEqual([401, 200, 200])
    const all = await request('logout/everywhere', { method: 'POST', headers: two })
    expect(all.headers.get('set-cookie')).toMatch(/^hub_session=; Max-Age=0; Path=\//)
    expect(await Promise.all([two, three].map(session))).toEqual([401, 401])
    expect((await readStored()).sessions).toEqual([])
    expect(await session(withCookie(await signIn()))).toBe(200)
  })

  test('is not valid under a new secret, even if its row came back', async () => {
    const headers = withCookie(await signIn())
    const before = await readFile(stored(), 'utf8')
    await request('logout/everywhere', { method: 'POST', headers })
    await writeFile(stored(), before)
    expect(await session(headers)).toBe(401)
  })

  test('is one of a hundred: the oldest ends for the next', async () => {
    const oldest = withCookie(await signIn())
    const { sessions } = await readStored()
    const ends_at = new Date(Date.now() + DAY_MS).toISOString()
    const others = (count: number) =>
      Array.from({ length: count }, (_, nth) => ({ id: `${nth}`, ends_at }))
    const mine = sessions.at(-1)
    await writeFile(stored(), JSON.stringify({ sessions: [mine, ...others(98)] }))
    await signIn()
    expect(await session(oldest)).toBe(200)
    expect((await readStored()).sessions).toHaveLength(100)
    await signIn()
    expect(await session(oldest)).toBe(401)
    expect((await readStored()).sessions).toHaveLength(100)
  })

  test('of a damaged file is none, and everybody signs in again', async () => {
    await writeFile(stored(), '{"sessions": 1}')
    expect(await session(withCookie('hub_session=x'))).toBe(401)
    expect(await session(withCookie(await signIn()))).toBe(200)
  })
})

test('a request that is still open goes on as long as its session counts', async () => {
  const { root_db } = hub.deps
  let deps = hub.deps
  const open = new Hono<Env>()
  open.onError((error, c) => c.text(error.message, 500))
  open.get('/', async (c) => {
    c.set('deps', deps)
    return c.json(await isStillLetIn(c))
  })
  const asked = async (headers: Record<string, string>) =>
    (await open.request('/', { headers })).text()
  const headers = withCookie(await signIn())
  expect(await asked(headers)).toBe('true')
  expect(await asked({})).toBe('false')
  await request('logout', { method: 'POST', headers })
  expect(await asked(headers)).toBe('false')
  // That the database is away says nothing about the session.
  const away = () => Promise.reject(new Error('away'))
  deps = { ...hub.deps, root_db: { ...root_db, transaction: away } }
  const [made] = await hub.query<{ id: string; session_epoch: number }>(
    `insert into hub.members (email, name, role, password_hash, joined_at)
     values ('open@x.example', 'Open', 'reader', 'x', now()) returning id, session_epoch`,
  )
  member = made
  const members = withCookie(await signIn())
  member = undefined
  expect(await asked(members)).toBe('away')
  deps = hub.deps
  expect(await asked(members)).toBe('true')
})

describe('the local token', () => {
  test('counts as a bearer alone, whatever the case of the word', async () => {
    const token = (await readFile(join(hub.paths.config_dir, 'hub.token'), 'utf8')).trim()
    const as = (authorization: string) => session({ authorization })
    expect(await as(`Bearer ${token}`)).toBe(200)
    expect(await as(`bearer ${token}`)).toBe(200)
    for (const wrong of [`Basic ${token}`, token, `Bearer ${token}x`, 'Bearer', 'Bearer ']) {
      expect(await as(wrong), wrong).toBe(401)
    }
  })

  test('is no password: after 30 wrong ones its address waits', async () => {
    const authorization = 'Bearer wrong'
    const codes: number[] = []
    for (let nth = 0; nth < 40; nth += 1) codes.push(await session({ authorization }))
    expect(codes.filter((code) => code === 401).length).toBeGreaterThan(20)
    expect(codes.at(-1)).toBe(429)
  })
})

describe('the address of a client', () => {
  const SECRET = 'secret of the proxy'
  const ctx = (peer: string | undefined, headers: Record<string, string>, caller?: string) =>
    // safe: these are all that is read of it
    ({
      env: peer === undefined ? undefined : { incoming: { socket: { remoteAddress: peer } } },
      get: (name: string) => (name === 'deps' ? { proxy_secret: SECRET } : caller),
      req: { header: (name: string) => headers[name] },
    }) as unknown as Ctx
  const proven = { 'x-watchpost-proxy': SECRET, 'x-real-ip': '203.0.113.9' }

  test.each<[string | undefined, Record<string, string>, string]>([
    ['127.0.0.1', proven, '203.0.113.9'],
    ['::1', proven, '203.0.113.9'],
    ['::ffff:127.0.0.1', proven, '203.0.113.9'],
    ['127.0.0.1', { ...proven, 'x-watchpost-proxy': 'wrong' }, '127.0.0.1'],
    ['127.0.0.1', { 'x-real-ip': '203.0.113.9' }, '127.0.0.1'],
    ['127.0.0.1', { 'x-watchpost-proxy': SECRET }, '127.0.0.1'],
    ['127.0.0.1', { ...proven, 'x-real-ip': 'nobody' }, '127.0.0.1'],
    ['198.51.100.7', proven, '198.51.100.7'],
    ['::12', proven, '::12'],
    [undefined, {}, 'unknown'],
  ])('%s with %j is %s', (peer, headers, address) => {
    expect(addressOf(ctx(peer, headers))).toBe(address)
  })

  test('has a place kept when it is this machine or signed in', () => {
    const kept = (peer: string, headers = {}, caller?: string) =>
      clientOf(ctx(peer, headers, caller)).is_reserved
    expect(kept('127.0.0.1')).toBe(true)
    expect(kept('198.51.100.7')).toBe(false)
    expect(kept('198.51.100.7', {}, 'session')).toBe(true)
    expect(kept('127.0.0.1', proven)).toBe(false)
    expect(clientOf(ctx('127.0.0.1', proven)).address).toBe('203.0.113.9')
  })
})

test('a browser is known to a member until the password changes, and to nobody else', async () => {
  const known = new Hono<Env>()
  const ece = { id: 'ece', password_hash: 'one' }
  known.post('/', (c) => {
    rememberDevice(c, ece)
    return c.text('')
  })
  known.get('/', (c) =>
    c.json(
      [ece, { ...ece, password_hash: 'two' }, { ...ece, id: 'max' }].map((one) =>
        isKnownDevice(c, one),
      ),
    ),
  )
  const remember = async (headers: Record<string, string> = {}) =>
    (await known.request('/', { method: 'POST', headers })).headers.get('set-cookie') ?? ''
  const cookie = await remember()
  expect(cookie.split('; ').slice(1).sort()).toEqual([
    'HttpOnly',
    'Max-Age=31536000',
    'Path=/api/cockpit/login',
    'SameSite=Strict',
  ])
  expect(await remember({ 'x-forwarded-proto': 'https' })).toContain('; Secure')
  const answer = await known.request('/', { headers: withCookie(cookie) })
  expect(await answer.json()).toEqual([true, false, false])
})
