import { beforeEach, describe, expect, test } from 'vitest'
import { createTenant } from '../../support/attacks/tenants.ts'
import {
  acts,
  aFeed,
  app,
  ask,
  credentials,
  deadJob,
  duePolls,
  type Headers,
  healthOf,
  logged,
  NAME,
  newLink,
  type Signed,
  service,
  signIn,
  useOperatorPage,
} from './operator-scene.ts'

useOperatorPage()

describe('a link', () => {
  test('makes one session, whose cookie no script and no other site gets', async () => {
    const token = await newLink()
    const first = await ask('POST', '/api/sign-in', {}, { token })
    expect(first.body).toEqual({
      ...{ operator: NAME, page: expect.stringMatching(/^[\w-]{43}$/) },
      expires_at: expect.stringMatching(/Z$/),
    })
    expect(first.headers.get('set-cookie')).toMatch(
      /^watchpost_operator_8788=[\w-]{43}; Path=\/; Expires=.*; HttpOnly; SameSite=Strict$/,
    )
    expect((await acts())[0]).toMatchObject({
      operator: NAME,
      via: 'page',
      action: 'operator.signed_in',
    })
    const again = await ask('POST', '/api/sign-in', {}, { token })
    expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null])
    expect(again.body.detail).toMatch(/was used or has expired/)
  })

  test('that has expired, or is none, makes no session', async () => {
    const token = await newLink()
    await service.database.query(
      'update watchpost.operator_sessions set expires_at = now() where link_hash is not null',
    )
    for (const wrong of [token, 'x', 'A'.repeat(43)]) {
      expect((await ask('POST', '/api/sign-in', {}, { token: wrong })).status).toBe(401)
    }
  })

  test('and a session are stored as hashes', async () => {
    const [token, signed] = [await newLink(), await signIn()]
    const rows = await service.database.query<{ row: string }>(
      'select s::text as row from watchpost.operator_sessions s',
    )
    const stored = JSON.stringify(rows)
    for (const secret of [token, signed.page, signed.cookie.split('=')[1] ?? '']) {
      expect(stored).not.toContain(secret)
    }
  })
})

describe('a session', () => {
  let signed: Signed
  beforeEach(async () => {
    signed = await signIn()
  })
  const session = (headers: Headers = credentials(signed)) => ask('GET', '/api/session', headers)

  test('needs both halves of its secret', async () => {
    const other = await signIn()
    expect((await session()).status).toBe(200)
    expect((await session({ cookie: signed.cookie })).status).toBe(401)
    expect((await session({ 'x-operator-page': signed.page })).status).toBe(401)
    expect((await session(credentials({ ...signed, page: other.page }))).status).toBe(401)
  })

  test.each([
    ['an hour without use', "used_at = now() - interval '61 minutes'"],
    ['twelve hours', 'expires_at = now()'],
  ])('ends after %s', async (_, change) => {
    await service.database.query(`update watchpost.operator_sessions set ${change}`)
    expect((await session()).status).toBe(401)
  })

  test('that is in use stays', async () => {
    await service.database.query(
      "update watchpost.operator_sessions set used_at = now() - interval '50 minutes' where session_hash is not null",
    )
    expect((await session()).status).toBe(200)
    const [row] = await service.database.query<{ fresh: boolean }>(
      "select max(used_at) > now() - interval '1 minute' as fresh from watchpost.operator_sessions",
    )
    expect(row?.fresh).toBe(true)
  })

  test('ends when its operator signs out', async () => {
    const out = await ask('POST', '/api/sign-out', credentials(signed))
    expect(out.status).toBe(204)
    expect(out.headers.get('set-cookie')).toMatch(/Max-Age=0/)
    expect((await session()).status).toBe(401)
    expect((await acts())[0]).toMatchObject({ operator: NAME, action: 'operator.signed_out' })
  })
})

describe('what another page sends is refused:', () => {
  test.each([
    ['under a name of its own', { host: 'attacker.example:8788' }],
    ['under a name that looks like ours', { host: '127.0.0.1.attacker.example' }],
    ['under no name', { host: undefined }],
  ])('%s, also the page itself', async (_, headers) => {
    for (const path of ['/', '/api/session']) {
      const answer = await ask('GET', path, { ...credentials(await signIn()), ...headers })
      expect([answer.status, answer.body.code]).toEqual([403, 'forbidden'])
    }
  })

  test.each([
    ['of another port', { origin: 'http://127.0.0.1:8787' }],
    ['of another site', { origin: 'https://attacker.example' }],
    ['that hides its origin', { origin: 'null' }],
    ['without an origin', { origin: undefined }],
    ['of the same site', { 'sec-fetch-site': 'same-site' }],
    ['of another site, says the browser', { 'sec-fetch-site': 'cross-site' }],
  ])('a write %s', async (_, headers) => {
    const person = await service.person()
    const path = `/api/accounts/${person.user_id}/plan`
    const own = credentials(await signIn())
    const answer = await ask('POST', path, { ...own, ...headers }, { plan: 'free' })
    expect(answer.status).toBe(403)
    const [row] = await service.database.query(
      'select plan from watchpost.accounts where user_id = $1',
      [person.user_id],
    )
    expect(row).toEqual({ plan: person.plan })
  })

  test('a read that the browser says is of another port', async () => {
    const headers = { ...credentials(await signIn()), 'sec-fetch-site': 'same-site' }
    expect((await ask('GET', '/api/session', headers)).status).toBe(403)
  })

  test('what a form can send', async () => {
    const headers = { ...credentials(await signIn()), 'content-type': 'text/plain' }
    expect((await ask('POST', '/api/jobs/redrive', headers, {})).status).toBe(415)
  })

  test.each(['localhost:9000', '[::1]:8788', '127.0.0.1'])('but not %s', async (host) => {
    const page = await ask('GET', '/', { host })
    expect([page.status, page.text]).toEqual([200, '<title>Operator</title>'])
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'/,
    )
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe/)
    expect(page.headers.get('access-control-allow-origin')).toBeNull()
  })
})

/** Each route that does something, with what it leaves in the acts. */
const ACTS: [
  string,
  (user: string, job: string, key: string) => [string, unknown],
  string,
  number,
][] = [
  ['plan', (user) => [`/api/accounts/${user}/plan`, { plan: 'free' }], 'account.plan_changed', 204],
  ['link', (user) => [`/api/accounts/${user}/link`, {}], 'sign_in_link.created', 201],
  ['revoke', (_, __, key) => [`/api/keys/${key}/revoke`, {}], 'key.revoked', 204],
  ['redrive', (_, job) => ['/api/jobs/redrive', { job }], 'queue.redriven', 200],
  [
    'discard',
    (_, job) => [`/api/jobs/${job}/discard`, { reason: 'Too old' }],
    'queue.discarded',
    204,
  ],
]

describe('every act', () => {
  let user: string
  let key: string
  let job: string
  beforeEach(async () => {
    ;({ user_id: user } = await service.person())
    const rows = await service.database.query<{ id: string }>(
      'select id from watchpost.api_keys where user_id = $1',
      [user],
    )
    key = rows[0]?.id ?? ''
    job = await deadJob()
  })

  test.each(ACTS)(
    '%s is recorded once, under the operator’s name',
    async (_, of, action, status) => {
      const headers = credentials(await signIn())
      const before = await acts()
      const [path, body] = of(user, job, key)
      expect((await ask('POST', path, headers, body)).status).toBe(status)
      const after = await acts()
      expect(after.slice(0, after.length - before.length)).toMatchObject([
        { operator: NAME, via: 'page', action },
      ])
      const shown = await ask('GET', '/api/acts', headers)
      expect(shown.body.acts[0]).toMatchObject({ operator: NAME, via: 'page', action })
    },
  )

  test.each(ACTS)('%s needs a session', async (_, of) => {
    const [path, body] = of(user, job, key)
    const before = await acts()
    expect((await ask('POST', path, {}, body)).status).toBe(401)
    expect(await acts()).toEqual(before)
  })

  test('that cannot be done says why, and is not recorded', async () => {
    const headers = credentials(await signIn())
    const before = await acts()
    const nobody = '00000000-0000-4000-8000-000000000000'
    const plan = await ask('POST', `/api/accounts/${nobody}/plan`, headers, { plan: 'free' })
    expect([plan.status, plan.body.detail]).toEqual([
      409,
      expect.stringMatching(/^There is no account/),
    ])
    const reason = await ask('POST', `/api/jobs/${job}/discard`, headers, { reason: ' ' })
    expect([reason.status, reason.body.errors[0].path]).toEqual([422, 'reason'])
    expect(await acts()).toEqual(before)
  })
})

describe('a feed', () => {
  test('that is paused is not polled, says why to everybody, and is polled at once when resumed', async () => {
    const [source, headers] = [await aFeed(), credentials(await signIn())]
    const before = await acts()
    const reason = 'It repeats itself'
    const act = (what: string, body = {}) =>
      ask('POST', `/api/feeds/${source}/${what}`, headers, body)
    expect((await act('pause', { reason })).status).toBe(204)
    expect(await healthOf(source)).toMatchObject({
      status: 'disabled',
      error: `Paused by an operator: ${reason}`,
    })
    const { body } = await ask('GET', '/api/feeds', headers)
    expect(body.feeds).toContainEqual(
      expect.objectContaining({ source, enabled: true, paused_at: expect.stringMatching(/Z$/) }),
    )
    await service.database.query('update watchpost.sources set next_poll_at = now()')
    expect(await duePolls()).not.toContainEqual({ source })

    const again = await act('pause', { reason })
    expect([again.status, again.body.detail]).toEqual([
      409,
      `The feed ${source} is paused already.`,
    ])
    await service.database.query(
      "update watchpost.sources set next_poll_at = now() + interval '1 day'",
    )
    expect((await act('resume')).status).toBe(204)
    expect(await duePolls()).toContainEqual({ source })
    expect((await healthOf(source))?.status).not.toBe('disabled')
    expect((await act('resume')).body.detail).toBe(`The feed ${source} is not paused.`)
    const after = await acts()
    expect(after.slice(0, after.length - before.length)).toMatchObject([
      { operator: NAME, via: 'page', action: 'feed.resumed', target_id: source },
      {
        operator: NAME,
        via: 'page',
        action: 'feed.paused',
        target_id: source,
        details: { reason },
      },
    ])
  })

  test('that only streams is not polled when it is resumed', async () => {
    const [source, headers] = [await aFeed(), credentials(await signIn())]
    await service.database.query(
      "update watchpost.sources set next_poll_at = 'infinity' where source = $1",
      [source],
    )
    await ask('POST', `/api/feeds/${source}/pause`, headers, { reason: 'Quiet' })
    expect((await ask('POST', `/api/feeds/${source}/resume`, headers, {})).status).toBe(204)
    const [row] = await service.database.query(
      'select isfinite(next_poll_at) as is_polled from watchpost.sources where source = $1',
      [source],
    )
    expect(row).toEqual({ is_polled: false })
  })

  test('that is off or unknown cannot be paused, and without a reason none can', async () => {
    const [source, headers] = [await aFeed(), credentials(await signIn())]
    await service.database.query('update watchpost.sources set enabled = false where source = $1', [
      source,
    ])
    const pause = (name: string, reason: string) =>
      ask('POST', `/api/feeds/${name}/pause`, headers, { reason })
    expect((await pause(source, 'Why')).body.detail).toMatch(/is off: FEEDS does not name it/)
    expect((await pause('nowhere', 'Why')).body.detail).toMatch(/^There is no feed "nowhere"/)
    const empty = await pause(source, ' ')
    expect([empty.status, empty.body.errors[0].path]).toEqual([422, 'reason'])
  })

  test.each(['pause', 'resume'])('needs a session to %s', async (act) => {
    const source = await aFeed()
    const sent = await ask('POST', `/api/feeds/${source}/${act}`, {}, { reason: 'Why' })
    expect([sent.status, (await healthOf(source))?.status]).toEqual([401, 'stale'])
  })
})

describe('the lists', () => {
  test('page by page, each thing once', async () => {
    const headers = credentials(await signIn())
    for (let n = 0; n < 55; n += 1) await deadJob()
    const ids: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const answer = await ask(
        'GET',
        `/api/jobs?queue=match${cursor && `&cursor=${cursor}`}`,
        headers,
      )
      expect(answer.status).toBe(200)
      ids.push(...answer.body.dead_jobs.map(({ id }: { id: string }) => id))
      cursor = answer.body.next_cursor
    }
    const [row] = await service.database.query<{ count: number }>(
      "select count(*)::integer from pgboss.job where name = 'dead' and source_name = 'match'",
    )
    expect(ids.length).toBeGreaterThan(50)
    expect(new Set(ids).size).toBe(row?.count)
    const forged = await ask('GET', '/api/jobs?cursor=x', headers)
    expect([forged.status, forged.body.code]).toEqual([400, 'invalid_cursor'])
  })

  test('accounts are found by a part of their address', async () => {
    const headers = credentials(await signIn())
    const { email, user_id } = await service.person()
    const part = encodeURIComponent(email.slice(2, 30).toUpperCase())
    const { body } = await ask('GET', `/api/accounts?search=${part}`, headers)
    expect(body.accounts).toMatchObject([{ email, user_id, plan: 'pro', keys: 1 }])
    expect((await ask('GET', '/api/accounts?search=%25', headers)).body.accounts).toEqual([])
    const one = await ask('GET', `/api/accounts/${user_id}`, headers)
    expect(one.body).toMatchObject({ account: { email }, keys: [{ state: 'works' }] })
  })

  test('health, feeds and queues tell what they should', async () => {
    const headers = credentials(await signIn())
    const { body: health } = await ask('GET', '/api/health', headers)
    expect(health.database.bytes).toBeGreaterThan(1_000_000)
    expect(health.database.migration).toMatch(/^\d{14}$/)
    expect(health.runs.map(({ name }: { name: string }) => name)).toEqual([
      ...['ingest', 'purge', 'heartbeat'],
    ])
    const { body: queues } = await ask('GET', '/api/queues', headers)
    expect(queues.queues).toContainEqual(
      expect.objectContaining({ queue: 'deliver', done_5min: 0 }),
    )
    expect((await ask('GET', '/api/feeds', headers)).status).toBe(200)
  })
})

test('no answer and no log line holds what belongs to an account: secrets, targets, zones and alerts', async () => {
  const tenant = await createTenant(service)
  const headers = credentials(await signIn())
  const { user_id } = tenant.person
  await ask('POST', `/api/accounts/${user_id}/plan`, headers, { plan: 'enterprise' })
  const answers: string[] = []
  for (const path of ['session', 'health', 'feeds', 'queues', 'jobs', 'accounts', 'acts']) {
    const answer = await ask('GET', `/api/${path}`, headers)
    expect(answer.status, path).toBe(200)
    answers.push(answer.text)
  }
  answers.push((await ask('GET', `/api/accounts/${user_id}`, headers)).text)
  const all = answers.join('\n') + JSON.stringify(logged)
  expect(all).toContain(user_id)
  expect(tenant.secrets.length).toBeGreaterThan(2)
  for (const secret of tenant.secrets) expect(all).not.toContain(secret)
  expect(all).not.toMatch(/zqsecret/)
  for (const kind of ['zone', 'channel', 'alert', 'delivery', 'feed_link'] as const) {
    for (const id of tenant.ids[kind]) expect(all, kind).not.toContain(id)
  }
})

test('nothing of it is at the public address', async () => {
  const paths = app.routes.map(({ path }) => path).filter((path) => !path.includes('*'))
  expect(paths.length).toBeGreaterThan(10)
  for (const path of paths) {
    const at = path
      .replace(':id', '00000000-0000-4000-8000-000000000000')
      .replace(':source', 'usgs')
    for (const method of ['GET', 'POST']) {
      const { status } = await service.request(method, at)
      expect([method, at, status]).toEqual([method, at, 404])
    }
  }
})
