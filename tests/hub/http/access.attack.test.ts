import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readText } from '../../../hub/files.ts'
import { createHub } from '../../../hub/hub.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { compose, makeProject } from '../support/mission-help.ts'

/** Derivations of the password: they are what a guess costs. Real ones, of less work than the hub's. */
const derived = vi.hoisted(() => ({ count: 0, running: 0, most_at_once: 0 }))
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  type Done = (error: Error | null, key: Buffer) => void
  const scrypt = (password: string, salt: Buffer, length: number, cost: object, done: Done) => {
    derived.count += 1
    derived.running += 1
    derived.most_at_once = Math.max(derived.most_at_once, derived.running)
    crypto.scrypt(password, salt, length, { ...cost, N: 2 ** 12 }, (error, key) => {
      derived.running -= 1
      done(error, key)
    })
  }
  return { ...crypto, scrypt }
})

const PASSWORD = 'correct horse battery'
let secret = ''
let app: TestHub['app']
let hub: TestHub
let reopen: () => Promise<void>
const opened: { close: () => Promise<void> }[] = []

beforeAll(async () => {
  hub = await startHub()
  secret = (await readText(join(hub.paths.config_dir, 'proxy.secret')))?.trim() ?? ''
  expect(secret).toMatch(/^[\w-]{32}$/)
  // Another process of the same hub: what it counted in memory is gone, what it wrote stays.
  reopen = async () => {
    const next = await createHub(hub.config, { log: () => {}, restart: () => {} })
    opened.push(next)
    app = next.app
  }
  await reopen()
  const code = (await readText(join(hub.paths.config_dir, 'setup.code')))?.trim()
  const guesses = Array.from({ length: 40 }, (_, i) => setUp(`wrong-${i}`, 'another password'))
  expect(await tally(guesses)).toEqual({ 422: 4, 429: 36 })
  await reopen()
  // Two with the right code at once: one of them chose the password.
  const both = await Promise.all([setUp(code ?? '', PASSWORD), setUp(code ?? '', PASSWORD)])
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
})
beforeEach(() => reopen())
afterAll(async () => {
  for (const one of opened) await one.close()
  await hub.close()
})

type From = { peer?: string; headers?: Record<string, string> }
const request = (method: string, path: string, body?: unknown, from: From = {}) =>
  Promise.resolve(
    app.request(
      `/api/cockpit/${path}`,
      {
        method,
        headers: { host: 'localhost', 'content-type': 'application/json', ...from.headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      { incoming: { socket: { remoteAddress: from.peer ?? '127.0.0.1' } } },
    ),
  )
const setUp = (code: string, password: string) => request('POST', 'setup', { code, password })
const login = (password: string, from: From = {}) => request('POST', 'login', { password }, from)
/** As nginx passes on what somebody far away asks. */
const far = (address: string): From => ({
  headers: { 'x-real-ip': address, 'x-watchpost-proxy': secret },
})
const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''
const signedIn = (cookie: string) => request('GET', 'session', undefined, { headers: { cookie } })

async function tally(sent: Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (const { status, headers } of await Promise.all(sent)) {
    counts[status] = (counts[status] ?? 0) + 1
    if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  return counts
}

describe('a crowd of guesses', () => {
  test('at once is no more than as many in a row: 4 of 40 are judged', async () => {
    Object.assign(derived, { count: 0, most_at_once: 0 })
    const guesses = Array.from({ length: 40 }, (_, i) => login(`wrong ${i}`, far('203.0.113.7')))
    expect(await tally(guesses)).toEqual({ 422: 4, 429: 36 })
    expect(derived).toMatchObject({ count: 4, most_at_once: 1 })
  })

  test('from one IPv6 network counts as one address', async () => {
    const guesses = Array.from({ length: 20 }, (_, i) =>
      login('wrong', far(`2001:db8:1:2:${i + 1}::${i}`)),
    )
    expect((await tally(guesses))[422]).toBeLessThanOrEqual(4)
  })

  test('from many addresses neither locks out nor delays this machine and who is signed in', async () => {
    const cookie = cookieOf(await login(PASSWORD))
    const guesses = Array.from({ length: 60 }, (_, i) => login('wrong', far(`198.51.100.${i + 1}`)))
    const admin = login(PASSWORD)
    const changed = request(
      'POST',
      'password',
      { current: PASSWORD, password: PASSWORD },
      { headers: { cookie, ...far('192.0.2.1').headers } },
    )
    // The crowd's last guess is judged behind the admin's password. attempts.test.ts has the order of all.
    const ended: string[] = []
    void admin.then(() => ended.push('admin'))
    void Promise.all(guesses).then(() => ended.push('crowd'))
    expect((await admin).status).toBe(200)
    expect((await changed).status).toBe(200)
    const { 422: judged = 0, 429: refused = 0 } = await tally(guesses)
    expect({ judged, refused }).toEqual({ judged: 8, refused: 52 })
    await expect.poll(() => ended).toEqual(['admin', 'crowd'])
  })

  test('with wrong tokens is refused in the end, and the right one works meanwhile', async () => {
    const token = (await readText(join(hub.paths.config_dir, 'hub.token')))?.trim()
    const bearer = (shown: string): From => ({ headers: { authorization: `Bearer ${shown}` } })
    const guesses = Array.from({ length: 40 }, (_, i) =>
      request('GET', 'session', undefined, bearer(`wph_local_${i}`)),
    )
    expect(await tally(guesses)).toEqual({ 401: 31, 429: 9 })
    expect((await request('GET', 'session', undefined, bearer(token ?? ''))).status).toBe(200)
    const links = Array.from({ length: 40 }, (_, i) => request('POST', `u/wrong${i}`))
    expect(await tally(links)).toEqual({ 404: 31, 429: 9 })
  })
})

test('a local process that is not nginx cannot say for whom it asks', async () => {
  const forged = ['', 'guess', `${secret}x`]
  const guesses = Array.from({ length: 12 }, (_, i) => {
    const guess = forged[i % forged.length] ?? ''
    const headers = { 'x-real-ip': `203.0.113.${i + 50}`, 'x-watchpost-proxy': guess }
    return login('wrong', { headers })
  })
  expect(await tally(guesses)).toEqual({ 422: 4, 429: 8 })
  // Neither can somebody who has the header's secret, but comes from another machine.
  const remote = Array.from({ length: 12 }, (_, i) =>
    login('wrong', { ...far(`203.0.113.${i + 90}`), peer: '198.51.100.9' }),
  )
  expect(await tally(remote)).toEqual({ 422: 4, 429: 8 })
})

describe('a copied cookie', () => {
  test('is of no use after signing out, and a session outlives a restart', async () => {
    const cookie = cookieOf(await login(PASSWORD))
    const other = cookieOf(await login(PASSWORD))
    await reopen()
    expect((await signedIn(cookie)).status).toBe(200)
    await request('POST', 'logout', undefined, { headers: { cookie } })
    expect((await signedIn(cookie)).status).toBe(401)
    await reopen()
    expect((await signedIn(cookie)).status).toBe(401)
    expect((await signedIn(other)).status).toBe(200)
  })

  test('ends with a new password, and with signing out everywhere', async () => {
    const [copied, own] = [cookieOf(await login(PASSWORD)), cookieOf(await login(PASSWORD))]
    const changed = await request(
      'POST',
      'password',
      { current: PASSWORD, password: PASSWORD },
      { headers: { cookie: own } },
    )
    expect((await signedIn(copied)).status).toBe(401)
    const cookie = cookieOf(changed)
    const third = cookieOf(await login(PASSWORD))
    await request('POST', 'logout/everywhere', undefined, { headers: { cookie } })
    for (const one of [cookie, third]) expect((await signedIn(one)).status).toBe(401)
    expect((await signedIn(cookieOf(await login(PASSWORD)))).status).toBe(200)
  })

  test('ends the stream of events that was opened with it', async () => {
    const cookie = cookieOf(await login(PASSWORD))
    const headers = { cookie }
    const other = cookieOf(await login(PASSWORD))
    await makeProject(hub)
    const id = await compose(hub, 'docs', 'A manual')
    const streams = await Promise.all(
      [cookie, other].map(async (own) => {
        const from = { headers: { cookie: own } }
        const answer = await request('GET', `missions/${id}/events`, undefined, from)
        expect(answer.status).toBe(200)
        return { isOver: false, done: answer.text() }
      }),
    )
    for (const stream of streams) stream.done.then(() => Object.assign(stream, { isOver: true }))
    await request('POST', 'logout', undefined, { headers })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6000 })
    try {
      await vi.waitFor(() => expect(streams[0]?.isOver).toBe(true), 5000)
      expect(streams[1]?.isOver).toBe(false)
      await request('POST', 'logout/everywhere', undefined, { headers: { cookie: other } })
      vi.setSystemTime(Date.now() + 6000)
      await streams[1]?.done
    } finally {
      vi.useRealTimers()
    }
  })

  test('cannot be made from the files: they hold no token', async () => {
    const cookie = cookieOf(await login(PASSWORD))
    const kept = await readText(join(hub.paths.config_dir, 'sessions.json'))
    expect(kept).not.toContain(cookie.split('=')[1])
  })
})
