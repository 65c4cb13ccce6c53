import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BASE } from '../../../hub/app.ts'
import { roleFor, ruleFor } from '../../../hub/auth/roles.ts'
import { includes, ROLES, type Role } from '../../../hub/db/actor.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { cookieOf, joinAs, keyWith } from '../support/members.ts'
import { makeProject } from '../support/mission-help.ts'

type Route = { method: string; path: string; isPublic: boolean }
let hub: TestHub
let routes: Route[] = []
const cookies: Record<Role, string> = { admin: '', seller: '', reader: '' }
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  for (const role of ROLES) cookies[role] = (await joinAs(hub, role)).cookie
  const { paths } = await (await hub.call('GET', 'spec')).json()
  routes = Object.entries<Record<string, { security?: unknown[] }>>(paths).flatMap(
    ([full, operations]) =>
      Object.entries(operations).map(([method, { security }]) => ({
        method: method.toUpperCase(),
        path: full.slice(BASE.length + 1).replaceAll(/\{\w+\}/g, 'x'),
        isPublic: security?.length === 0,
      })),
  )
})
afterAll(() => hub.close())

/** The answer to a body that no route takes, as `status code`. */
async function ask({ method, path }: Route, headers: Record<string, string>): Promise<string> {
  const answer = await hub.app.request(`${BASE}/${path}`, {
    method,
    headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { body: '{"nonsense":true}' }),
  })
  const isProblem = answer.headers.get('content-type')?.startsWith('application/problem+json')
  if (isProblem) return `${answer.status} ${(await answer.json()).code}`
  await answer.body?.cancel()
  return `${answer.status}`
}

const closed = () => routes.filter(({ isPublic }) => !isPublic)
/** They end the sessions of the others; and what takes no session, only a key. */
const isApart = ({ path }: Route) => path.startsWith('logout') || path === 'mcp'

test('every route has its role', () => {
  const without = closed().filter(({ path }) => !ruleFor(path))
  expect(without.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  expect(closed().length).toBeGreaterThan(110)
})

test('a route that is named nowhere needs an admin', () => {
  expect(roleFor('GET', 'something/new')).toBe('admin')
  expect(roleFor('POST', 'leadsx')).toBe('admin')
  for (const path of ['mean', 'sessions', 'specs', 'searches', 'projects', 'licenses']) {
    expect(roleFor('GET', path), path).toBe('admin')
  }
  expect(roleFor('HEAD', 'leads/list')).toBe('reader')
})

/** What only an admin reads: who has access, what was done, where copies are, and other people's data. */
const ADMIN_READS = [
  ...['backup/download', 'backups', 'doctor', 'model/download', 'people/erasures'],
  'projects/archives',
  ...['agents', 'audit', 'audit/export', 'branding', 'keys', 'members', 'models'].map(
    (name) => `settings/${name}`,
  ),
  ...['prompts', 'prompts/x', 'system', 'webhooks', 'webhooks/deliveries'].map(
    (name) => `settings/${name}`,
  ),
  'suppression',
]

test('reading needs a reader, writing a seller, what is the hub’s own an admin', () => {
  const of = (role: Role) =>
    closed()
      .filter(({ method, path }) => roleFor(method, path) === role)
      .map(({ method, path }) => `${method} ${path}`)
  const writing = of('reader').filter((name) => !name.startsWith('GET '))
  expect(writing.sort()).toEqual([
    'POST logout',
    'POST logout/everywhere',
    'POST mcp',
    'POST password',
    'POST projects/brand/preview',
    'POST projects/select',
  ])
  const ofAdmins = of('admin').filter((name) => name.startsWith('GET '))
  expect(ofAdmins.sort()).toEqual(ADMIN_READS.map((path) => `GET ${path}`))
  const foreign = /^(settings|people|backups?|model|doctor|license)\b/
  expect(of('seller').filter((name) => foreign.test(name.split(' ')[1] ?? ''))).toEqual([])
  expect(of('seller').filter((name) => name.startsWith('GET '))).toEqual(['GET leads/export'])
})

describe.each(ROLES)('a member with the role %s', (role) => {
  test('gets 403 where the role does not suffice, and never where it does', async () => {
    const wrong: string[] = []
    for (const route of closed()) {
      if (isApart(route) || route.path === 'backup/run') continue
      const isAllowed = includes(role, roleFor(route.method, route.path))
      const answer = await ask(route, { cookie: cookies[role] })
      if ((answer === '403 forbidden') === isAllowed || /^(401|5)/.test(answer)) {
        wrong.push(`${route.method} ${route.path}: ${answer}`)
      }
    }
    expect(wrong).toEqual([])
  })
})

test('a key does what its scope says, and one that proposes nothing else', async () => {
  const answers: Record<string, string[]> = {}
  const some: [string, string][] = [
    ['GET', 'leads/list'],
    ['GET', 'leads/export'],
    ['POST', 'lead/quick_add'],
    ['POST', 'lead/note'],
    ['POST', 'draft/create'],
    ['POST', 'sequence/create'],
    ['POST', 'mission/compose'],
    ['POST', 'draft/approve'],
    ['POST', 'sequence/stop'],
    ['POST', 'draft/send'],
    ['POST', 'lead/delete'],
    ['POST', 'people/erase'],
    ['GET', 'settings/models'],
  ]
  for (const scope of ['read', 'propose', 'write', 'admin'] as const) {
    const authorization = `Bearer ${await keyWith(hub, scope)}`
    answers[scope] = []
    for (const [method, path] of some) {
      const answer = await ask({ method, path, isPublic: false }, { authorization })
      if (answer !== '403 forbidden') answers[scope].push(`${method} ${path}`)
    }
  }
  const names = some.map(([method, path]) => `${method} ${path}`)
  expect(answers.read).toEqual(['GET leads/list'])
  expect(answers.propose).toEqual([names[0], ...names.slice(2, 7)])
  expect(answers.write).toEqual(names.slice(0, 11))
  expect(answers.admin).toEqual(names)
})

test('a key that is no admin’s does not sign the admin out', async () => {
  const admin = await cookieOf(hub)
  const signOut = async (key: string) =>
    hub.call('POST', 'logout/everywhere', undefined, { authorization: `Bearer ${key}` })
  const session = () => ask({ method: 'GET', path: 'session', isPublic: false }, { cookie: admin })
  for (const scope of ['read', 'propose', 'write'] as const) {
    expect((await signOut(await keyWith(hub, scope))).status, scope).toBe(403)
    expect(await session(), scope).toBe('200')
  }
  expect((await signOut(await keyWith(hub, 'admin'))).status).toBe(200)
  expect(await session()).toBe('401 unauthenticated')
})

test('a revoked or expired key is 401', async () => {
  const route = { method: 'GET', path: 'leads/list', isPublic: false }
  for (const column of ['revoked_at', 'expires_at']) {
    const key = await keyWith(hub, 'admin')
    const as = () => ask(route, { authorization: `Bearer ${key}` })
    expect(await as()).toBe('200')
    await hub.query(`update hub.api_keys set ${column} = now() where hint = $1`, [key.slice(-4)])
    expect(await as()).toBe('401 unauthenticated')
  }
})

test('the last use of a key is written down once a minute, and not again before', async () => {
  const key = await keyWith(hub, 'read', 'Counted')
  const used = async (before: string | null) => {
    await hub.query(
      "update hub.api_keys set last_used_at = now() - $1::interval where name = 'Counted'",
      [before],
    )
    const headers = { authorization: `Bearer ${key}` }
    expect(await ask({ method: 'GET', path: 'leads/list', isPublic: false }, headers)).toBe('200')
    const [row] = await hub.query<{ is_now: boolean }>(
      `select coalesce(last_used_at > now() - interval '10 seconds', false) as is_now
       from hub.api_keys where name = 'Counted'`,
    )
    return row?.is_now
  }
  expect(await used(null)).toBe(true)
  expect(await used('50 seconds')).toBe(false)
  expect(await used('61 seconds')).toBe(true)
})

test('of the keys one is revoked, and no other with it', async () => {
  await keyWith(hub, 'read', 'Goes')
  const open = async () =>
    await hub.query<{ id: string; name: string }>(
      'select id, name from hub.api_keys where revoked_at is null order by id',
    )
  const before = await open()
  const goes = before.find(({ name }) => name === 'Goes')
  const revoke = () => hub.call('POST', 'settings/keys/revoke', { id: goes?.id })
  expect([(await revoke()).status, (await revoke()).status]).toEqual([200, 404])
  expect(await open()).toEqual(before.filter((one) => one !== goes))
})

test('PostgreSQL itself refuses a reader every write', async () => {
  const reader = hub.deps.db.as({ kind: 'member', id: null, name: 'Reader', role: 'reader' })
  const write = reader.transaction('*', (sql) => sql`update hub.projects set name = 'x'`)
  await expect(write).rejects.toMatchObject({ code: 'forbidden' })
  const seller = hub.deps.db.as({ kind: 'member', id: null, name: 'Seller', role: 'seller' })
  const invite = seller.transaction(
    '*',
    (sql) => sql`insert into hub.members (email, role) values ('a@b.example', 'admin')`,
  )
  await expect(invite).rejects.toThrow()
  const promote = await seller.transaction(
    '*',
    (sql) => sql`update hub.members set role = 'admin' returning id`,
  )
  expect(promote).toEqual([])
})

test('the session of a removed member ends at once, and the admin’s stays', async () => {
  const admin = await cookieOf(hub)
  const { id, cookie } = await joinAs(hub, 'seller', 'Somebody else')
  const as = (cookie: string) =>
    ask({ method: 'GET', path: 'leads/list', isPublic: false }, { cookie })
  expect([await as(admin), await as(cookie)]).toEqual(['200', '200'])
  await hub.query('update hub.members set removed_at = now() where id = $1', [id])
  expect([await as(admin), await as(cookie)]).toEqual(['200', '401 unauthenticated'])
  await hub.query('update hub.members set removed_at = null where id = $1', [id])
  expect(await as(cookie)).toBe('200')
  await hub.query('update hub.members set session_epoch = session_epoch + 1 where id = $1', [id])
  expect(await as(cookie)).toBe('401 unauthenticated')
})
