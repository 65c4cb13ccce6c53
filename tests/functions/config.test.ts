import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError, readConfig, urlHost } from '../../functions/config.ts'
import { VARIABLES } from '../../functions/environment.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

const KEY = Buffer.alloc(32, 1).toString('base64')
const LEAST = {
  API_DATABASE_URL: 'postgres://watchpost_api:a@localhost/postgres',
  JOBS_DATABASE_URL: 'postgres://watchpost_jobs:b@localhost/postgres',
  SEAL_KEYS: KEY,
}

describe('.env.example', async () => {
  const text = await readFile(resolve(import.meta.dirname, '../../.env.example'), 'utf8')
  const listed = [...text.matchAll(/^#?([A-Z][A-Z_]+)=(.*)$/gm)].map(([, name, value]) => ({
    name: name ?? '',
    value: value ?? '',
  }))

  test('lists every variable there is, and no other', () => {
    expect(listed.map(({ name }) => name).sort()).toEqual([...VARIABLES].sort())
  })

  test('sets nothing by default, and explains each group in a sentence', () => {
    const groups = text.trim().split('\n\n').slice(1)
    for (const group of groups) expect(group).toMatch(/^# .+\n(# .+\n)*#[A-Z]/)
    expect(text).not.toMatch(/^[A-Z_]+=/m)
  })

  test('shows values that are accepted', () => {
    const shown = Object.fromEntries(listed.map(({ name, value }) => [name, value]))
    expect(() => readConfig({ ...shown, SEAL_KEYS: KEY }, 'serve')).not.toThrow()
  })
})

describe('readConfig', () => {
  test('needs two logins and a key; the rest has defaults', () => {
    const config = readConfig(LEAST, 'serve')
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8787,
      public_url: 'http://127.0.0.1:8787',
      prepared_statements: true,
      origins: [],
      trusted_proxies: [],
      limits: { pro: 600, enterprise: 6000, address: 600 },
      contact: undefined,
      log: 'json',
    })
    expect(config.feeds.map(({ source }) => source)).toContain('usgs')
    expect(config.allow.ranges).toEqual([])
  })

  test('takes each variable for what it names', () => {
    const config = readConfig(
      {
        ...LEAST,
        ...{ HOST: 'localhost', PORT: '80', PREPARED_STATEMENTS: 'off', CONTACT: 'ops@a.example' },
        CONSOLE_ORIGINS: 'https://a.example, https://b.example',
        TRUSTED_PROXIES: '10.0.0.1, ::1, 10.0.0.0/8',
        ...{ RATE_LIMIT_PRO: '1', RATE_LIMIT_ENTERPRISE: '2', RATE_LIMIT_ADDRESS: '3' },
        ...{ FEEDS: 'emsc', LOG: 'text', HEARTBEAT_URL: 'https://a.example/beat' },
        ...{ METRICS_PORT: '9000', METRICS_TOKEN: 'x'.repeat(16) },
      },
      'serve',
    )
    expect(config).toMatchObject({
      ...{ host: 'localhost', port: 80, public_url: 'http://localhost:80', log: 'text' },
      api_database_url: LEAST.API_DATABASE_URL,
      jobs_database_url: LEAST.JOBS_DATABASE_URL,
      ...{ prepared_statements: false, contact: 'ops@a.example' },
      origins: ['https://a.example', 'https://b.example'],
      limits: { pro: 1, enterprise: 2, address: 3 },
      heartbeat_url: 'https://a.example/beat',
      metrics: { port: 9000, token: 'x'.repeat(16) },
    })
    expect(config.feeds.map(({ source }) => source)).toEqual(['emsc'])
    expect(config.trusted_proxies.map(([network, bits]) => `${network}/${bits}`)).toEqual([
      ...['10.0.0.1/32', '::1/128', '10.0.0.0/8'],
    ])
  })

  test('has metrics where either their port or their token is set', () => {
    const read = (given: object) => readConfig({ ...LEAST, ...given }, 'serve').metrics
    expect(read({})).toBeUndefined()
    expect(read({ METRICS_PORT: '9000' })).toEqual({ port: 9000, token: undefined })
    const METRICS_TOKEN = 'x'.repeat(16)
    expect(read({ METRICS_TOKEN })).toEqual({ port: undefined, token: METRICS_TOKEN })
  })

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', 'localhost'],
    ['::', 'localhost'],
    ['fd00::1', '[fd00::1]'],
    ['watch.example', 'watch.example'],
  ])('listening on %s it is reached at %s', (host, shown) => {
    expect(urlHost(host)).toBe(shown)
  })

  test.each([
    ['PORT', 'secret-port'],
    ['PORT', '70000'],
    ['API_DATABASE_URL', 'secret:5432/postgres'],
    ['JOBS_DATABASE_URL', 'mysql://secret@localhost'],
    ['LISTEN_DATABASE_URL', 'secret'],
    ['DATABASE_URL', 'secret'],
    ['PREPARED_STATEMENTS', 'secret'],
    ['SEAL_KEYS', 'secretsecret'],
    ['SEAL_KEYS', `${KEY},secret`],
    ['PUBLIC_URL', 'ftp://secret.example.com'],
    ['PUBLIC_URL', 'https://user:secret@example.com'],
    ['CONSOLE_ORIGINS', 'https://secret.example.com/path'],
    ['CONSOLE_ORIGINS', '*'],
    ['JOBS_DATABASE_URL', 'xpostgres://secret@localhost'],
    ['JOBS_DATABASE_URL', 'postgresqlx://secret@localhost'],
    ['PUBLIC_URL', 'xhttps://secret.example.com'],
    ['PUBLIC_URL', 'httpsx://secret.example.com'],
    ['PUBLIC_URL', 'https://example.com/#secret'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'xhttps://secret.example.com'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'httpsx://secret.example.com'],
    ['AUTH_ISSUER', 'secret'],
    ['AUTH_ISSUER', 'https://auth.example.com/?secret'],
    ['AUTH_JWKS_URL', 'ftp://secret.example.com'],
    ['TRUSTED_PROXIES', '10.0.0.0/99'],
    ['TRUSTED_PROXIES', 'secret.example.com'],
    ['ALLOW_PRIVATE_TARGETS', 'https://secret'],
    ['RATE_LIMIT_PRO', '0'],
    ['RATE_LIMIT_ENTERPRISE', '1.5'],
    ['RATE_LIMIT_ADDRESS', 'secret'],
    ['FEEDS', 'usgs,secret'],
    ['CAP_URLS', 'ftp://secret.example.com'],
    ['METEOALARM_COUNTRIES', 'https://secret'],
    ['METEOALARM_AREAS', 'ftp://secret.example.com'],
    ['LOG', 'secret'],
  ])('%s=%s stops the start and is named without its value', (name, value) => {
    const read = () => readConfig({ ...LEAST, [name]: value }, 'serve')
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(new RegExp(`^${name} [^.]+\\.`))
    try {
      read()
    } catch (error) {
      const parts = value.split(',').filter((part) => part !== 'usgs' && part.length > 1)
      for (const part of parts) expect(String(error)).not.toContain(part)
    }
  })

  test('listens with the login of the jobs, unless another way to the database is given', () => {
    const direct = 'postgres://watchpost_jobs:b@db.internal/postgres'
    expect(readConfig(LEAST, 'serve').listen_database_url).toBe(LEAST.JOBS_DATABASE_URL)
    const given = { ...LEAST, LISTEN_DATABASE_URL: direct }
    expect(readConfig(given, 'serve')).toMatchObject({
      listen_database_url: direct,
      jobs_database_url: LEAST.JOBS_DATABASE_URL,
    })
  })

  test('names every mistake at once, each in a sentence', () => {
    expect(() => readConfig({ ...LEAST, PORT: 'x', LOG: 'x' }, 'serve')).toThrow(
      'PORT must be a port between 0 and 65535. LOG must be "json" or "text".',
    )
    expect(() => readConfig({ PORT: 'x', LOG: 'x' }, 'serve')).toThrow(
      /^PORT .*\. SEAL_KEYS is not set\. .*\. LOG /,
    )
  })

  test('sends prepared statements unless they are switched off', () => {
    const read = (word: string) =>
      readConfig({ ...LEAST, PREPARED_STATEMENTS: word }, 'serve').prepared_statements
    expect([read('on'), read('off')]).toEqual([true, false])
  })

  test('has the operator page beside its own port', () => {
    expect(readConfig({ ...LEAST, PORT: '9000' }, 'serve').operator).toMatchObject({ port: 9001 })
  })

  test('an empty variable counts as not set', () => {
    expect(readConfig({ ...LEAST, PORT: '', PUBLIC_URL: ' ' }, 'serve').port).toBe(8787)
    expect(() => readConfig({ ...LEAST, SEAL_KEYS: '' }, 'serve')).toThrow('SEAL_KEYS is not set')
  })

  test('the API needs its own login, the jobs alone do not', () => {
    const { API_DATABASE_URL, ...rest } = LEAST
    expect(() => readConfig(rest, 'serve')).toThrow('API_DATABASE_URL is not set')
    expect(readConfig(rest, 'jobs').api_database_url).toBeUndefined()
    expect(readConfig({ ...rest, API_DATABASE_URL }, 'jobs').api_database_url).toBeUndefined()
    expect(() => readConfig({ SEAL_KEYS: KEY }, 'jobs')).toThrow('JOBS_DATABASE_URL is not set')
  })

  test('another issuer has its keys in the usual place or where it is said', () => {
    const issuer = 'https://project.supabase.co/auth/v1'
    expect(readConfig(LEAST, 'serve').auth).toBeUndefined()
    expect(readConfig({ ...LEAST, AUTH_ISSUER: issuer }, 'serve').auth).toEqual({
      issuer,
      jwks_url: `${issuer}/.well-known/jwks.json`,
      publishable_key: null,
    })
    const jwks_url = 'https://keys.example.com/jwks.json'
    const both = { ...LEAST, AUTH_ISSUER: issuer, AUTH_JWKS_URL: jwks_url }
    expect(readConfig(both, 'serve').auth).toEqual({
      issuer,
      jwks_url,
      publishable_key: null,
    })
    const keyed = { ...LEAST, AUTH_ISSUER: issuer, AUTH_PUBLISHABLE_KEY: 'sb_publishable_1' }
    expect(readConfig(keyed, 'serve').auth?.publishable_key).toBe('sb_publishable_1')
    expect(() => readConfig({ ...LEAST, AUTH_PUBLISHABLE_KEY: 'sb_1' }, 'serve')).toThrow(
      'AUTH_ISSUER is not set',
    )
    expect(() => readConfig({ ...LEAST, AUTH_JWKS_URL: jwks_url }, 'serve')).toThrow(
      'AUTH_ISSUER is not set',
    )
  })

  test('a public address loses its last slash, and an IPv6 host gets its brackets', () => {
    const given = { ...LEAST, PUBLIC_URL: 'https://example.com/watch/' }
    expect(readConfig(given, 'serve').public_url).toBe('https://example.com/watch')
    expect(readConfig({ ...given, PUBLIC_URL: 'https://a.example//' }, 'serve').public_url).toBe(
      'https://a.example',
    )
    expect(readConfig({ ...LEAST, HOST: '::1' }, 'serve').public_url).toBe('http://[::1]:8787')
    expect(readConfig({ ...LEAST, HOST: '0.0.0.0' }, 'serve').public_url).toBe(
      'http://localhost:8787',
    )
  })
})

describe('an administrator’s login for the jobs', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  test('takes the role of the jobs', async () => {
    const config = readConfig({ SEAL_KEYS: KEY, DATABASE_URL: database.adminUrl }, 'jobs')
    const client = new pg.Client({ connectionString: config.jobs_database_url })
    await client.connect()
    try {
      const { rows } = await client.query('select current_user, session_user')
      expect(rows).toEqual([{ current_user: 'watchpost_jobs', session_user: 'postgres' }])
    } finally {
      await client.end()
    }
  })

  test('is left as it is when it is the jobs’ own', () => {
    const config = readConfig({ SEAL_KEYS: KEY, DATABASE_URL: database.jobsUrl }, 'jobs')
    expect(config.jobs_database_url).toBe(database.jobsUrl)
  })
})

describe('traces', () => {
  const read = (given: Record<string, string>) =>
    readConfig({ ...LEAST, ...given }, 'serve').tracing
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector.example.com:4318/otlp//'
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT }

  test('go nowhere unless an address is set, and nowhere when they are switched off', () => {
    expect(read({})).toBeUndefined()
    expect(read({ ...given, OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
    expect(read({ ...given, OTEL_SDK_DISABLED: 'false' })).toBeDefined()
  })

  test('go to the usual path below the address, as the standard says', () => {
    expect(read(given)).toEqual({
      url: 'http://collector.example.com:4318/otlp/v1/traces',
      protocol: 'http/protobuf',
      service_name: undefined,
      sampler: 'parentbased_always_on',
      ratio: 1,
    })
  })

  test('go to the address of traces as it is written', () => {
    const url = 'https://traces.example.com/here/'
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = url
    expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT })?.url).toBe(url)
    const settings = {
      ...{ ...given, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SERVICE_NAME: 'mine' },
      ...{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_TRACES_SAMPLER: 'traceidratio' },
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    }
    expect(read(settings)).toEqual({
      ...{ url, protocol: 'http/json', service_name: 'mine' },
      ...{ sampler: 'traceidratio', ratio: 0.25 },
    })
  })
})

describe('tiles', () => {
  const TILE_URL = 'https://tiles.example.com/{z}/{x}/{y}.png'
  test('need somebody to thank, and an address that names a tile', () => {
    const read = (given: Record<string, string>) =>
      readConfig({ ...LEAST, ...given }, 'serve').tiles
    expect(read({})).toBeNull()
    const given = { TILE_URL, TILE_ATTRIBUTION: '© Makers' }
    expect(read(given)).toEqual({ url: TILE_URL, attribution: '© Makers' })
    const near = 'http://tiles.internal/{z}/{x}/{y}.png'
    expect(read({ ...given, TILE_URL: near })?.url).toBe(near)
    expect(() => read({ TILE_URL })).toThrow(/^TILE_ATTRIBUTION is not set/)
    expect(() => read({ TILE_ATTRIBUTION: '© Makers' })).toThrow(/^TILE_URL is not set/)
    expect(() => read({ TILE_ATTRIBUTION: '©'.repeat(301) })).toThrow(
      'TILE_ATTRIBUTION must have at most 300 characters.',
    )
    expect(read({ TILE_URL, TILE_ATTRIBUTION: '©'.repeat(300) })?.attribution).toHaveLength(300)
    for (const url of [
      'https://tiles.example.com/{z}/{x}.png',
      'https://tiles.example.com/{z}/{y}.png',
      'https://tiles.example.com/{x}/{y}.png',
      'xhttps://tiles.example.com/{z}/{x}/{y}.png',
      'httpsx://tiles.example.com/{z}/{x}/{y}.png',
      'https://user:secret@tiles.example.com/{z}/{x}/{y}.png',
      'ftp://tiles.example.com/{z}/{x}/{y}.png',
    ]) {
      expect(() => read({ ...given, TILE_URL: url })).toThrow(/^TILE_URL must be an http or https/)
    }
  })
})
