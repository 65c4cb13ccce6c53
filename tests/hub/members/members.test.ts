import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAttempts } from '../../../hub/auth/attempts.ts'
import { setPassword } from '../../../hub/auth/auth.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { cookieOf, joinAs } from '../support/members.ts'

const PASSWORD = 'a long enough one'
let hub: TestHub
let admin = ''
beforeAll(async () => {
  hub = await startHub()
  await setPassword(hub.paths, 'correct horse battery')
  admin = await cookieOf(hub)
})
afterAll(() => hub.close())

type Answer = { status: number; cookie: string; body: Record<string, unknown> }
async function ask(
  method: string,
  path: string,
  { cookie = '', body, address = '127.0.0.1' }: Partial<Ask> = {},
): Promise<Answer> {
  const answer = await hub.app.request(
    `/api/cockpit/${path}`,
    {
      method,
      headers: { host: 'localhost', cookie, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    },
    { incoming: { socket: { remoteAddress: address } } },
  )
  const cookies = answer.headers.getSetCookie().map((one) => one.split(';')[0])
  return { status: answer.status, cookie: cookies.join('; '), body: await answer.json() }
}
type Ask = { cookie: string; body: object; address: string }

const as = (cookie: string) => ({
  get: (path: string) => ask('GET', path, { cookie }),
  post: (path: string, body: object) => ask('POST', path, { cookie, body }),
})
async function invite(email: string, role = 'seller') {
  const made = await as(admin).post('settings/members', { email, role })
  expect(made.status).toBe(201)
  const { member, link } = made.body as { member: { id: string }; link: string }
  expect(link).toMatch(/^http:\/\/localhost\/hub\/join#[\w-]{43}$/)
  return { id: member.id, secret: link.split('#')[1] ?? '' }
}
const accept = (secret: string, name = 'Ece') =>
  ask('POST', 'invitation/accept', { body: { secret, name, password: PASSWORD } })
const signIn = (email: string, password = PASSWORD, more: Partial<Ask> = {}) =>
  ask('POST', 'login', { ...more, body: { email, password } })
const statusOf = async (cookie: string) => (await as(cookie).get('projects/list')).status

describe('an invitation', () => {
  test('becomes a member with a session, once', async () => {
    expect((await as('').get('health')).body).toMatchObject({ has_members: false })
    const { id, secret } = await invite('Ece@Demir.Example')
    const look = await ask('POST', 'invitation/look', { body: { secret } })
    expect(look.body).toEqual({ email: 'ece@demir.example', name: null, role: 'seller' })
    const stored = await hub.query<{ link_hash: string }>('select link_hash from hub.members')
    expect(JSON.stringify(stored)).not.toContain(secret)
    const [joined, again] = await Promise.all([accept(secret), accept(secret)])
    expect([joined.status, again.status].sort()).toEqual([200, 404])
    const { cookie } = joined.status === 200 ? joined : again
    expect((await as(cookie).get('me')).body).toEqual({
      me: { kind: 'member', id, name: 'Ece', email: 'ece@demir.example', role: 'seller' },
    })
    expect((await as('').get('health')).body).toMatchObject({ has_members: true })
    expect((await accept(secret)).status).toBe(404)
  })

  test('does not work when it was withdrawn, is too old, or another was made', async () => {
    const { id, secret } = await invite('late@demir.example')
    await hub.query('update hub.members set link_ends_at = now() where id = $1', [id])
    expect((await accept(secret)).status).toBe(404)
    const renewed = await as(admin).post('settings/members/link', { id })
    const next = String(Reflect.get(renewed.body, 'link')).split('#')[1] ?? ''
    expect((await accept(secret)).status).toBe(404)
    const withdrawn = await as(admin).post('settings/members/withdraw', { id })
    expect(withdrawn.body).toMatchObject({ member: { status: 'removed' } })
    expect((await accept(next)).status).toBe(404)
    expect((await as(admin).post('settings/members/withdraw', { id })).status).toBe(404)
    // The address is free again.
    await invite('late@demir.example')
  })

  test('and a new link work for seven days, and their end is shown until then', async () => {
    const { id } = await invite('week@demir.example')
    const seen = async () => {
      const { members } = (await as(admin).get('settings/members')).body as {
        members: { id: string; link_ends_at: string | null }[]
      }
      return members.find((one) => one.id === id)?.link_ends_at ?? null
    }
    const days = async () => (Date.parse((await seen()) ?? '') - Date.now()) / 86_400_000
    expect(await days()).toBeCloseTo(7, 2)
    await hub.query('update hub.members set link_ends_at = now() where id = $1', [id])
    expect(await seen()).toBeNull()
    await as(admin).post('settings/members/link', { id })
    expect(await days()).toBeCloseTo(7, 2)
  })

  test('takes a password of 10 to 200 characters', async () => {
    const { secret } = await invite('long@demir.example')
    const accept = (length: number) =>
      ask('POST', 'invitation/accept', {
        body: { secret, name: 'Long', password: 'p'.repeat(length) },
      })
    for (const length of [9, 201]) {
      expect((await accept(length)).body, `${length}`).toMatchObject({
        errors: [{ path: 'password' }],
      })
    }
    expect((await accept(200)).status).toBe(200)
  })

  test('leads to the address that the browser has, also behind a proxy', async () => {
    const linkFor = async (email: string, headers: Record<string, string>) => {
      const answer = await hub.app.request('/api/cockpit/settings/members', {
        method: 'POST',
        headers: { cookie: admin, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ email, role: 'reader' }),
      })
      return String((await answer.json()).link).split('#')[0]
    }
    const host = 'localhost'
    const plain = await linkFor('plain@demir.example', { host })
    expect(plain).toBe('http://localhost/hub/join')
    const proxied = { host, 'x-forwarded-proto': 'https' }
    expect(await linkFor('proxied@demir.example', proxied)).toBe('https://localhost/hub/join')
  })

  test('of somebody who has joined leaves the member, and there is none twice', async () => {
    const { id } = await joinAs(hub, 'reader', 'Has joined')
    const { post } = as(admin)
    expect((await post('settings/members/withdraw', { id })).status).toBe(409)
    await post('settings/members/link', { id })
    const withdrawn = await post('settings/members/withdraw', { id })
    expect(withdrawn.body).toMatchObject({ member: { status: 'no_password', link_ends_at: null } })
    expect((await post('settings/members/withdraw', { id })).status).toBe(409)
  })

  test('is made once for an address, by an admin, and for an address', async () => {
    const twice = { email: 'ECE@demir.example', role: 'reader' }
    expect((await as(admin).post('settings/members', twice)).status).toBe(409)
    const wrong = await as(admin).post('settings/members', { email: 'ece@', role: 'reader' })
    expect(wrong.body).toMatchObject({ errors: [{ path: 'email' }] })
    const { cookie } = await joinAs(hub, 'seller', 'Not an admin')
    const refused = await as(cookie).post('settings/members', {
      email: 'x@y.example',
      role: 'admin',
    })
    expect(refused.body).toMatchObject({
      status: 403,
      detail: expect.stringMatching(/^Only an admin/),
    })
  })
})

describe('a member', () => {
  test('signs in with e-mail and password, and the single admin as before', async () => {
    expect((await signIn('ECE@demir.example')).status).toBe(200)
    const wrong = await signIn('ece@demir.example', 'not the right one')
    const unknown = await signIn('nobody@demir.example', 'not the right one')
    expect([wrong.status, unknown.status]).toEqual([422, 422])
    expect(wrong.body.errors).toEqual(unknown.body.errors)
    const alone = { body: { password: 'correct horse battery' } }
    const single = await ask('POST', 'login', alone)
    expect((await as(single.cookie).get('me')).body).toMatchObject({
      me: { kind: 'admin', id: null, role: 'admin' },
    })
    // The admin's password is none of a member.
    expect((await signIn('ece@demir.example', 'correct horse battery')).status).toBe(422)
  })

  test('changes the own password, which ends the other sessions and nobody else’s', async () => {
    const [one, two] = [await signIn('ece@demir.example'), await signIn('ece@demir.example')]
    const guessed = { current: 'not the right one', password: 'another long one' }
    const refused = await as(one.cookie).post('password', guessed)
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: 'current' }] } })
    expect(await statusOf(two.cookie)).toBe(200)
    const change = { current: PASSWORD, password: 'another long one' }
    const changed = await as(one.cookie).post('password', change)
    expect(changed.status).toBe(200)
    const left = [one.cookie, two.cookie, changed.cookie, admin].map(statusOf)
    expect(await Promise.all(left)).toEqual([401, 401, 200, 200])
    expect((await signIn('ece@demir.example')).status).toBe(422)
    const back = { current: 'another long one', password: PASSWORD }
    expect((await as(changed.cookie).post('password', back)).status).toBe(200)
  })

  test('signs out everywhere, and nobody else with them', async () => {
    const { id, cookie } = await joinAs(hub, 'seller', 'Signs out')
    const [row] = await hub.query<{ id: string; session_epoch: number }>(
      'select id, session_epoch from hub.members where id = $1',
      [id],
    )
    const second = row ? await cookieOf(hub, row) : ''
    expect((await as(second).post('logout/everywhere', {})).status).toBe(200)
    expect(await Promise.all([cookie, second, admin].map(statusOf))).toEqual([401, 401, 200])
  })

  test('loses password and sessions when an admin makes a new link', async () => {
    const { cookie } = await signIn('ece@demir.example')
    const { body } = await as(admin).get('settings/members')
    const members = body.members as { id: string; email: string }[]
    const id = members.find(({ email }) => email === 'ece@demir.example')?.id
    const renewed = await as(admin).post('settings/members/link', { id })
    expect(renewed.body).toMatchObject({ member: { status: 'no_password' } })
    expect(await statusOf(cookie)).toBe(401)
    expect((await signIn('ece@demir.example')).status).toBe(422)
    const secret = String(Reflect.get(renewed.body, 'link')).split('#')[1] ?? ''
    await hub.query("update hub.members set joined_at = '2026-01-01Z' where id = $1", [id])
    expect((await accept(secret, 'Ece Demir')).status).toBe(200)
    const after = await hub.query('select name, joined_at from hub.members where id = $1', [id])
    expect(after).toEqual([{ name: 'Ece Demir', joined_at: new Date('2026-01-01Z') }])
  })

  test('has a new role from the next request on', async () => {
    const { id, cookie } = await joinAs(hub, 'admin', 'Second admin')
    expect((await as(cookie).get('settings/members')).status).toBe(200)
    await as(admin).post('settings/members/change', { id, role: 'reader' })
    expect((await as(cookie).get('settings/members')).status).toBe(403)
    expect((await as(cookie).get('projects/list')).status).toBe(200)
    expect((await as(cookie).post('lead/quick_add', {})).body).toMatchObject({
      code: 'forbidden',
      detail: expect.stringMatching(/ask an admin/i),
    })
  })

  test('has a project of their own open', async () => {
    await hub.query("insert into hub.projects (slug, name) values ('one', 'One'), ('two', 'Two')")
    const { cookie } = await joinAs(hub, 'reader', 'Reads another project')
    const active = async (cookie: string) => (await as(cookie).get('projects/active')).body
    await as(admin).post('projects/select', { slug: 'one' })
    expect((await as(cookie).post('projects/select', { slug: 'two' })).status).toBe(200)
    expect(await active(admin)).toMatchObject({ project: { slug: 'one' } })
    expect(await active(cookie)).toMatchObject({ project: { slug: 'two' } })
  })

  test('has a name without blanks around it and on one line', async () => {
    const { id } = await joinAs(hub, 'reader', 'Zoe')
    const rename = (name: string) => as(admin).post('settings/members/change', { id, name })
    expect((await rename('  Zoe Z ')).body).toMatchObject({ member: { name: 'Zoe Z' } })
    for (const name of ['', '   ', 'Zoe\nZ', 'z'.repeat(121)]) {
      expect((await rename(name)).body, name).toMatchObject({ errors: [{ path: 'name' }] })
    }
    const { members } = (await as(admin).get('settings/members')).body as {
      members: { email: string; name: string | null; removed_at: string | null }[]
    }
    const names = members.map(({ email, name, removed_at }) => [
      removed_at === null ? 0 : 1,
      (name ?? email).toLowerCase(),
    ])
    expect(names).toEqual(
      names.toSorted(([a, one], [b, two]) =>
        a === b ? (String(one) < String(two) ? -1 : 1) : Number(a) - Number(b),
      ),
    )
    expect(new Set(names.map(([group]) => group)).size).toBe(2)
  })

  test('is removed, and not by themself', async () => {
    const { id, cookie } = await joinAs(hub, 'admin', 'Third admin')
    for (const [path, body] of [
      ['remove', { id }],
      ['link', { id }],
      ['change', { id, role: 'reader' }],
    ] as const) {
      expect((await as(cookie).post(`settings/members/${path}`, body)).status, path).toBe(409)
    }
    const removed = await as(admin).post('settings/members/remove', { id })
    expect(removed.body).toMatchObject({ member: { status: 'removed', name: 'Third admin' } })
    expect(await statusOf(cookie)).toBe(401)
    expect((await as(admin).post('settings/members/remove', { id })).status).toBe(404)
    const [row] = await hub.query('select name, password_hash from hub.members where id = $1', [id])
    expect(row).toEqual({ name: 'Third admin', password_hash: null })
    expect((await as(admin).post('settings/members/change', { id, name: 'x' })).status).toBe(404)
    expect((await as(admin).post('settings/members/link', { id })).status).toBe(404)
  })
})

test('what happens to one member, or with one link, happens to no other', async () => {
  await joinAs(hub, 'seller', 'Bystander')
  await invite('open@bystander.example')
  const others = (id: string) =>
    hub.query(
      `select email, name, role, password_hash, session_epoch, link_hash, joined_at, removed_at
       from hub.members where id <> $1 order by id`,
      [id],
    )
  const { id, secret } = await invite('one@demir.example')
  const before = await others(id)
  expect((await ask('POST', 'invitation/look', { body: { secret: 'wrong' } })).status).toBe(404)
  expect((await accept('wrong')).status).toBe(404)
  const { cookie } = await accept(secret, 'One')
  const { post } = as(admin)
  expect((await post('settings/members/change', { id, name: 'Two' })).status).toBe(200)
  expect((await post('settings/members/change', { id, role: 'reader' })).status).toBe(200)
  const changed = { current: PASSWORD, password: 'another long one' }
  const next = await as(cookie).post('password', changed)
  expect(next.status).toBe(200)
  expect((await as(next.cookie).post('logout/everywhere', {})).status).toBe(200)
  for (const act of ['link', 'withdraw', 'remove']) {
    expect((await post(`settings/members/${act}`, { id })).status, act).toBe(200)
  }
  expect(await others(id)).toEqual(before)
})

test('who signs in as a member does not so clear what they guessed at the admin’s password', async () => {
  // The clock stands still, so that the wait does not end.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { secret } = await invite('guess@demir.example', 'reader')
  const { cookie } = await accept(secret)
  const from = { address: '10.9.0.1' }
  const guess = (nth: number) =>
    ask('POST', 'login', { ...from, body: { password: `a guess of mine ${nth}` } })
  for (let nth = 0; nth < 4; nth += 1) expect((await guess(nth)).status).toBe(422)
  expect((await signIn('guess@demir.example', PASSWORD, from)).status).toBe(200)
  const own = { current: PASSWORD, password: PASSWORD }
  expect((await ask('POST', 'password', { ...from, cookie, body: own })).status).toBe(200)
  expect((await guess(4)).status).toBe(429)
})

describe('guessing at one account from many addresses', () => {
  const wait = async (work: Promise<unknown>) =>
    work.then(
      () => 0,
      (error: { headers?: Record<string, string> }) => Number(error.headers?.['Retry-After']),
    )

  test('waits, a little, and never who signed in from this browser before', async () => {
    const attempts = createAttempts(() => 0)
    let address = 0
    const guess = (is_known: boolean, right = false) => {
      address += 1
      const client = { address: `10.1.0.${address}`, is_reserved: false }
      return attempts.attempt(client, async () => right, {
        account: { name: 'ece@demir.example', is_known },
      })
    }
    for (let nth = 0; nth < 11; nth += 1) expect(await guess(false)).toBe(false)
    expect(await wait(guess(false, true))).toBe(1)
    expect(await guess(true, true)).toBe(true)
    // Another account is not slowed by it.
    const other = attempts.attempt({ address: '10.2.0.1', is_reserved: false }, async () => true, {
      account: { name: 'other@demir.example', is_known: false },
    })
    expect(await other).toBe(true)
  })

  test('waits 8 seconds at most', async () => {
    let now = 0
    const attempts = createAttempts(() => now)
    let longest = 0
    for (let nth = 0; nth < 40; nth += 1) {
      const client = { address: `10.3.0.${nth}`, is_reserved: false }
      const seconds = await wait(
        attempts.attempt(client, async () => false, { account: { name: 'e', is_known: false } }),
      )
      longest = Math.max(longest, seconds)
      now += seconds * 1000
    }
    expect(longest).toBe(8)
  })
})
