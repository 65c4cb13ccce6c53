import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ConfigError, readEdgeApi, readEdgeJobs } from '../../../functions/config.ts'
import { createService, type Person, type Service } from '../../support/service.ts'

const LEAST = {
  SEAL_KEYS: Buffer.alloc(32, 1).toString('base64'),
  PUBLIC_URL: 'https://watchpost.example.com/',
  AUTH_ISSUER: 'https://ref.supabase.co/auth/v1',
  API_DATABASE_URL: 'postgres://watchpost_api:a@localhost/postgres',
  JOBS_DATABASE_URL: 'postgres://watchpost_jobs:b@localhost/postgres',
}
const SECRET = 'x'.repeat(32)

test('only the entry files use names of their platform, and those of the edge are short', () => {
  const folder = resolve(import.meta.dirname, '../../../functions')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const code = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  const textOf = (file: string) => readFileSync(join(folder, file), 'utf8')
  const platforms =
    /\bDeno\.\w|EdgeRuntime|cloudflare:workers|cf-connecting-ip|process\.env|navigator\./
  expect(code.filter((file) => platforms.test(textOf(file))).sort()).toEqual([
    'cloudflare.ts',
    'node.ts',
    'supabase.ts',
  ])
  for (const entry of ['cloudflare.ts', 'supabase.ts'])
    expect(textOf(entry).split('\n').length - 1, entry).toBeLessThanOrEqual(30)
})

describe('readEdgeApi', () => {
  test('knows the login of the API alone, and sends statements without names', () => {
    const { JOBS_DATABASE_URL: _, ...least } = LEAST
    expect(readEdgeApi(least)).toMatchObject({
      database: { url: LEAST.API_DATABASE_URL, prepared: false },
      public_url: 'https://watchpost.example.com',
      auth: { jwks_url: 'https://ref.supabase.co/auth/v1/.well-known/jwks.json' },
      jobs: undefined,
    })
    expect(readEdgeApi({ ...least, PREPARED_STATEMENTS: 'on' }).database.prepared).toBe(true)
    const [url, secret] = ['https://jobs.example.com', SECRET]
    expect(readEdgeApi({ ...least, JOBS_URL: url, JOBS_SECRET: secret }).jobs).toEqual({
      url,
      secret,
    })
    expect(readEdgeApi({ ...least, JOBS_URL: url }).jobs).toBeUndefined()
    expect(readEdgeApi({ ...least, JOBS_SECRET: secret }).jobs).toBeUndefined()
  })

  test('passes over a platform’s bindings', () => {
    expect(() => readEdgeApi({ ...LEAST, JOBS: {}, HOST: { drain: 1 } })).not.toThrow()
  })

  test.each(['SEAL_KEYS', 'PUBLIC_URL', 'AUTH_ISSUER', 'API_DATABASE_URL'])(
    'without %s it starts nothing, and says so',
    (name) => {
      expect(() => readEdgeApi({ ...LEAST, [name]: '' })).toThrow(ConfigError)
      expect(() => readEdgeApi({ ...LEAST, [name]: '' })).toThrow(new RegExp(`^${name} is not set`))
    },
  )
})

describe('readEdgeJobs', () => {
  test('knows the login of the jobs alone, and how long a call lasts', () => {
    const { API_DATABASE_URL: _, AUTH_ISSUER: __, PUBLIC_URL: ___, ...least } = LEAST
    expect(readEdgeJobs({ ...least, JOBS_BUDGET_SECONDS: '1.5' })).toMatchObject({
      database: { url: LEAST.JOBS_DATABASE_URL, prepared: false },
      budget_ms: 1500,
      secret: undefined,
    })
    expect(readEdgeJobs({ ...least, FEEDS: 'none' }).feeds).toEqual([])
    expect(readEdgeJobs(least)).toMatchObject({ budget_ms: 40_000, public_url: null })
    expect(
      readEdgeJobs({ ...LEAST, JOBS_SECRET: SECRET, PREPARED_STATEMENTS: 'on' }),
    ).toMatchObject({
      ...{ secret: SECRET, public_url: 'https://watchpost.example.com' },
      database: { prepared: true },
    })
  })

  test.each([
    ['JOBS_SECRET', 'short'],
    ['JOBS_BUDGET_SECONDS', '0'],
    ['JOBS_BUDGET_SECONDS', '601'],
  ])('%s=%s is refused', (name, value) => {
    expect(() => readEdgeJobs({ ...LEAST, [name]: value })).toThrow(new RegExp(`^${name} must`))
  })
})

describe('the jobs are woken', () => {
  const wake = vi.fn()
  const zone = { label: 'A place', lat: 41, lon: 29 }
  let service: Service
  let person: Person
  beforeAll(async () => {
    service = await createService({ wake })
    person = await service.person()
  })
  afterAll(() => service?.close())
  beforeEach(() => void wake.mockClear())

  test('by a write', async () => {
    const answer = await service.request('POST', '/api/v1/zones', { key: person.key, body: zone })
    expect(answer.status).toBe(201)
    expect(wake).toHaveBeenCalledOnce()
  })

  test('by no read and by no write that was refused', async () => {
    const { key } = person
    const body = { ...zone, lat: 91 }
    expect((await service.request('GET', '/api/v1/zones', { key })).status).toBe(200)
    expect((await service.request('POST', '/api/v1/zones', { key, body })).status).toBe(422)
    expect((await service.request('POST', '/api/v1/zones', { body: zone })).status).toBe(401)
    const gone = `/api/v1/zones/${crypto.randomUUID()}`
    expect((await service.request('DELETE', gone, { key })).status).toBe(404)
    expect(wake).not.toHaveBeenCalled()
  })
})

test('behind a path every address that is answered begins with it', async () => {
  const service = await createService({ public_url: 'https://ref.supabase.co/functions/v1/api' })
  try {
    const { key } = await service.person()
    const body = { label: 'A place', lat: 41, lon: 29 }
    const { headers } = await service.request('POST', '/api/v1/zones', { key, body })
    expect(headers.get('Location')).toMatch(/^\/functions\/v1\/api\/api\/v1\/zones\/[0-9a-f-]{36}$/)
    const { text } = await service.request('GET', '/docs')
    expect(text).not.toMatch(/(href|src)="\//)
  } finally {
    await service.close()
  }
})
