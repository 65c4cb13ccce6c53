/** The API as an edge platform runs it: what it takes of the platform, and what it tells its log. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPool } from '../../../functions/db.ts'
import {
  createEdgeApi,
  memoize,
  supabaseVariables,
  withDbUrls,
  withoutFunctionName,
} from '../../../functions/edge/edge.ts'
import { createService, type Person, type Service, TEST_SEAL_KEY } from '../../support/service.ts'

type Platform = Parameters<typeof createEdgeApi>[1]

const ISSUER = 'https://ref.supabase.co/auth/v1'
let service: Service
let person: Person
let lines: Record<string, unknown>[]
let waiting: Promise<unknown>[]
const pools: { end: () => Promise<void> }[] = []
beforeAll(async () => {
  service = await createService()
  person = await service.person()
  // The first use of a key is noted after the answer.
  await service.request('GET', '/api/v1/zones', { key: person.key })
})
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await service?.close()
})
beforeEach(() => {
  lines = []
  waiting = []
  vi.spyOn(console, 'log').mockImplementation((line) => {
    if (String(line).startsWith('{')) lines.push(JSON.parse(line))
  })
})
afterEach(() => {
  vi.restoreAllMocks()
})

function connect(...[login, on_error]: Parameters<Platform['connect']>) {
  const pool = createPool({ ...login, on_error, max: 2 })
  pools.push(pool)
  return pool
}

function start(more: Partial<Platform> = {}, variables: Record<string, unknown> = {}) {
  const answer = createEdgeApi(
    {
      ...{ SEAL_KEYS: TEST_SEAL_KEY, PUBLIC_URL: 'https://watch.example', AUTH_ISSUER: ISSUER },
      ...{ API_DATABASE_URL: service.database.apiUrl, ...variables },
    },
    {
      connect,
      send: () => async () => ({ ok: false, failure: 'refused', message: 'No.', duration_ms: 1 }),
      address: () => () => '192.0.2.1',
      wait_until: (work) => void waiting.push(work),
      ...more,
    },
  )
  return async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${person.key}`, 'Content-Type': 'application/json' }
    const request = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
    return answer(new Request(`https://watch.example${path}`, request))
  }
}
const ZONE = { label: 'A place', lat: 41, lon: 29 }
const logged = (msg: string) => lines.filter((line) => line.msg === msg)

describe('the console', () => {
  test('is told where people sign in, with which key, and that links come by mail', async () => {
    const TILE_URL = 'https://tiles.example/{z}/{x}/{y}.png'
    const plain = await start()('GET', '/console.json')
    const nothing = { auth_url: ISSUER, auth_key: null, by: 'mail' }
    expect(await plain.json()).toEqual({ ...nothing, tiles: null })
    const variables = { AUTH_PUBLISHABLE_KEY: 'sb_publishable_1', TILE_URL, TILE_ATTRIBUTION: 'Us' }
    const told = await start({}, variables)('GET', '/console.json')
    const tiles = { url: TILE_URL, attribution: 'Us' }
    expect(await told.json()).toEqual({ ...nothing, auth_key: 'sb_publishable_1', tiles })
  })

  test('is the page of the platform with our headers, where the platform has it', async () => {
    const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'max-age=9' }
    const page = async () => new Response('<title>Console</title>', { headers })
    const shown = await start({ page })('GET', '/')
    expect([shown.status, await shown.text()]).toEqual([200, '<title>Console</title>'])
    expect(shown.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(shown.headers.get('Cache-Control')).toBe('no-cache')
    const policy = shown.headers.get('Content-Security-Policy') ?? ''
    expect(policy).toContain('https://ref.supabase.co')
    expect((await start()('GET', '/')).status).toBe(404)
  })

  test('may load the tiles of the map from where they are', async () => {
    const page = async () => new Response('')
    const variables = {
      TILE_URL: 'https://tiles.example/{z}/{x}/{y}.png',
      TILE_ATTRIBUTION: 'Us',
    }
    const policyOf = async (more: Record<string, string>) =>
      (await start({ page }, more)('GET', '/')).headers.get('Content-Security-Policy')
    expect(await policyOf(variables)).toContain('https://tiles.example')
    expect(await policyOf({})).not.toContain('tiles.example')
  })
})

describe('the jobs are run after a write', () => {
  const [JOBS_URL, JOBS_SECRET] = ['https://jobs.example/run', 'x'.repeat(32)]
  const byHttp = (status: number) =>
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('done', { status }))
  const write = async (...given: Parameters<typeof start>) => {
    const answer = await start(...given)('POST', '/api/v1/zones', ZONE)
    expect(answer.status).toBe(201)
    await Promise.all(waiting)
    return waiting.length
  }

  test('by the platform, which the call outlives', async () => {
    const call_jobs = vi.fn(async () => undefined)
    const fetched = byHttp(200)
    expect(await write({ call_jobs }, { JOBS_URL, JOBS_SECRET })).toBe(1)
    expect(call_jobs).toHaveBeenCalledOnce()
    expect(fetched).not.toHaveBeenCalled()
    expect(logged('waking the jobs')).toEqual([])
  })

  test('by HTTP with the secret, where the platform cannot', async () => {
    const fetched = byHttp(200)
    expect(await write({}, { JOBS_URL, JOBS_SECRET })).toBe(1)
    const headers = { Authorization: `Bearer ${JOBS_SECRET}` }
    expect(fetched.mock.calls).toEqual([[JOBS_URL, { method: 'POST', headers }]])
    expect(logged('waking the jobs')).toEqual([])
  })

  test('not at all, where nobody says how', async () => {
    expect(await write()).toBe(0)
  })

  test('and if that fails, the log says so and the write is answered', async () => {
    byHttp(503)
    await write({}, { JOBS_URL, JOBS_SECRET })
    const call_jobs = () => Promise.reject(new Error('is away'))
    await write({ call_jobs })
    expect(logged('waking the jobs')).toEqual([
      { msg: 'waking the jobs', error: 'Error: the jobs answered 503' },
      { msg: 'waking the jobs', error: 'Error: is away' },
    ])
  })
})

describe('the database', () => {
  test('knows the API by its name, and errors of idle connections are logged', async () => {
    let login: Parameters<Platform['connect']>[0] | undefined
    let fail: (error: Error) => void = () => undefined
    start({
      connect: (given, on_error) => {
        login = given
        fail = on_error
        return connect(given, on_error)
      },
    })
    expect(login).toEqual({
      ...{ url: service.database.apiUrl, prepared: false, application_name: 'watchpost-api' },
    })
    fail(new Error('terminated'))
    expect(lines).toEqual([{ msg: 'database connection', error: 'terminated' }])
  })

  test('is asked once whether its login keeps accounts apart', async () => {
    let connected = 0
    const ask = start({
      connect: (login, on_error) => {
        const pool = connect(login, on_error)
        const counted: typeof pool.connect = () => {
          connected += 1
          return pool.connect()
        }
        return { ...pool, connect: counted }
      },
    })
    const asked = async () => {
      connected = 0
      expect((await ask('GET', '/api/v1/zones')).status).toBe(200)
      return connected
    }
    const first = await asked()
    expect(await asked()).toBe(first - 1)
    expect(await asked()).toBe(first - 1)
  })

  test('answers nobody through a login that does not', async () => {
    const ask = start({}, { API_DATABASE_URL: service.database.adminUrl })
    for (let call = 0; call < 2; call += 1) {
      expect((await ask('GET', '/api/v1/zones')).status).toBe(503)
    }
    expect(JSON.stringify(lines)).toContain('bypasses row-level security')
  })
})

test('mail, requests and addresses are those of the platform, made of the settings', async () => {
  const given: unknown[] = []
  const asked = vi.fn(() => '192.0.2.7')
  const ask = start(
    {
      mail: (settings) => {
        given.push(settings)
        return undefined
      },
      send: ({ contact }) => {
        given.push(contact)
        return async () => ({ ok: false, failure: 'refused', message: 'No.', duration_ms: 1 })
      },
      address: ({ trusted_proxies }) => {
        given.push(trusted_proxies)
        return asked
      },
    },
    {
      ...{ CONTACT: 'ops@watch.example', MAIL_FROM: 'alerts@watch.example' },
      RESEND_API_KEY: 're_0123456789abcdef',
    },
  )
  expect(given).toMatchObject(['ops@watch.example', { from: expect.anything() }, expect.anything()])
  await ask('GET', '/status')
  expect((await ask('GET', '/api/v1/zones')).status).toBe(200)
  expect(asked).toHaveBeenCalled()
})

test('what is made of the environment is made once', () => {
  const make = vi.fn((environment: { name: string }) => ({ ...environment }))
  const once = memoize(make)
  const made = once({ name: 'a' })
  expect(once({ name: 'b' })).toBe(made)
  expect(made).toEqual({ name: 'a' })
  expect(make).toHaveBeenCalledOnce()
})

test('of the bindings of a Worker, those of Hyperdrive are also addresses', () => {
  const API_DATABASE = { connectionString: 'postgres://a' }
  const bindings = { API_DATABASE, LOG: 'json', ASSETS: {}, NONE: null, EMPTY: undefined }
  expect(withDbUrls(bindings)).toEqual({ ...bindings, API_DATABASE_URL: 'postgres://a' })
})

describe('on Supabase', () => {
  const URL_ = 'https://ref.supabase.co'
  test.each([
    ['https://ref.supabase.co/api/api/v1/zones?limit=2', '/api/v1/zones?limit=2'],
    ['https://ref.supabase.co/api', '/'],
    ['https://ref.supabase.co/api/', '/'],
  ])('a request to %s is one to %s', async (address, path) => {
    const headers = { 'x-a': 'b' }
    const request = withoutFunctionName(
      new Request(address, { method: 'POST', headers, body: 'c' }),
    )
    expect(request.url).toBe(`https://ref.supabase.co${path}`)
    expect([request.method, request.headers.get('x-a'), await request.text()]).toEqual([
      'POST',
      'b',
      'c',
    ])
  })

  test('the addresses follow from that of the project', () => {
    expect(supabaseVariables(URL_)).toEqual({
      PUBLIC_URL: 'https://ref.supabase.co/functions/v1/api',
      AUTH_ISSUER: 'https://ref.supabase.co/auth/v1',
      JOBS_URL: 'https://ref.supabase.co/functions/v1/jobs',
    })
  })

  const keyOf = (given: Record<string, string>) => {
    const { AUTH_PUBLISHABLE_KEY } = supabaseVariables(URL_, given)
    return AUTH_PUBLISHABLE_KEY
  }
  test('knows the publishable key of the project by its new name and its old one', () => {
    expect(keyOf({})).toBeUndefined()
    expect(keyOf({ SUPABASE_ANON_KEY: 'old' })).toBe('old')
    const both = {
      SUPABASE_ANON_KEY: 'old',
      SUPABASE_PUBLISHABLE_KEYS: '{"web":"1","default":"2"}',
    }
    expect(keyOf(both)).toBe('2')
    expect(keyOf({ ...both, SUPABASE_PUBLISHABLE_KEYS: '{"web":"1"}' })).toBe('1')
    expect(keyOf({ ...both, SUPABASE_PUBLISHABLE_KEYS: 'none' })).toBe('old')
  })
})
