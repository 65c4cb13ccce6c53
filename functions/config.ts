import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type AllowList, parseAllowList } from './channels/target.ts'
import type { Limits } from './context.ts'
import type { Feed } from './feeds/feed.ts'
import { usgs } from './feeds/usgs.ts'
import { createSeal, type Seal } from './seal.ts'
import type { Issuer } from './sessions.ts'

/** Every live feed there is: one line a feed. */
const KNOWN_FEEDS: readonly Feed[] = [usgs]

export type Range = [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/** All a long-running service is told from outside. */
export type Config = {
  host: string
  port: number
  /** Undefined where only the jobs run. */
  api_database_url: string | undefined
  jobs_database_url: string
  prepared_statements: boolean
  seal: Seal
  public_url: string
  /** Who signs people in; undefined: Watchpost itself, on a plain Postgres. */
  auth: Issuer | undefined
  origins: string[]
  trusted_proxies: Range[]
  allow: AllowList
  limits: Limits
  feeds: Feed[]
  contact: string | undefined
  log: 'json' | 'text'
}

/** What runs in a process: the API and the jobs, or the jobs alone. */
export type Mode = 'serve' | 'jobs'

/** A login and how it is used, as db.ts takes it. */
type Login = { url: string; names: boolean }

/** What the API is told where a platform calls it and nothing else runs. */
export type EdgeApi = Pick<
  Config,
  'seal' | 'public_url' | 'origins' | 'trusted_proxies' | 'allow' | 'limits'
> & {
  database: Login
  auth: Issuer
  /** Where the jobs are woken by HTTP; undefined where that is done otherwise, or not at all. */
  jobs: { url: string; secret: string } | undefined
}

/** What the jobs are told where a platform calls them. */
export type EdgeJobs = Pick<Config, 'seal' | 'allow' | 'feeds' | 'contact'> & {
  database: Login
  budget_ms: number
  /** What a call by HTTP has to show; undefined where none leads here. */
  secret: string | undefined
}

/** Every mistake of a configuration in one sentence, by variable; never a value, which may be a secret. */
export class ConfigError extends Error {}

const PostgresUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol),
    'is no URL of the form postgres://user:password@host:port/database',
  )

const PerMinute = z.coerce
  .number({ error: 'is no whole number above 0' })
  .int('is no whole number above 0')
  .positive('is no whole number above 0')

const Environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce
    .number({ error: 'is no port' })
    .int('is no port')
    .min(0, 'is no port')
    .max(65535, 'is no port')
    .default(8787),
  API_DATABASE_URL: PostgresUrl.optional(),
  JOBS_DATABASE_URL: PostgresUrl.optional(),
  DATABASE_URL: PostgresUrl.optional(),
  PREPARED_STATEMENTS: z
    .enum(['on', 'off'], { error: 'is neither "on" nor "off"' })
    .transform((word) => word === 'on')
    .optional(),
  SEAL_KEYS: said(
    z.string({
      error: 'is not set: 32 random bytes in base64, as `openssl rand -base64 32` gives',
    }),
    (text) => createSeal(words(text)),
    'holds a key that is not 32 bytes in base64',
  ),
  PUBLIC_URL: said(z.string(), baseUrl, 'is no http(s) URL without query').optional(),
  AUTH_ISSUER: said(z.string(), baseUrl, 'is no http(s) URL without query').optional(),
  AUTH_JWKS_URL: said(z.string(), baseUrl, 'is no http(s) URL without query').optional(),
  CONSOLE_ORIGINS: said(
    z.string().default(''),
    (text) => words(text).map(origin),
    'holds something that is no origin such as https://console.example.com',
  ),
  TRUSTED_PROXIES: said(
    z.string().default(''),
    (text) => words(text).map(range),
    'holds something that is no address and no CIDR range',
  ),
  ALLOW_PRIVATE_TARGETS: said(
    z.string().default(''),
    parseAllowList,
    'holds something that is no address, no CIDR range and no host name',
  ),
  RATE_LIMIT_PRO: PerMinute.default(600),
  RATE_LIMIT_ENTERPRISE: PerMinute.default(6000),
  RATE_LIMIT_ADDRESS: PerMinute.default(600),
  FEEDS: said(
    z.string().default(KNOWN_FEEDS.map(({ source }) => source).join()),
    (text) => (text === 'none' ? [] : [...new Set(words(text))].map(feed)),
    `holds an unknown feed; there is ${KNOWN_FEEDS.map(({ source }) => source).join(', ')}`,
  ),
  CONTACT: z.string().optional(),
  JOBS_SECRET: z.string().min(32, 'is shorter than 32 characters').optional(),
  JOBS_URL: said(z.string(), baseUrl, 'is no http(s) URL without query').optional(),
  JOBS_BUDGET_SECONDS: z.coerce
    .number({ error: 'is no number of seconds' })
    .positive('is no number of seconds')
    .max(600, 'is over 600')
    .default(40),
  LOG: z.enum(['json', 'text'], { error: 'is neither "json" nor "text"' }).default('json'),
})

/** Every variable there is, for the test that .env.example lists them all. */
export const VARIABLES = Object.keys(Environment.shape)

/** readConfig checks the environment once, or throws a ConfigError that names every bad variable. */
export function readConfig(environment: Record<string, string | undefined>, mode: Mode): Config {
  const data = read(environment)
  return {
    ...common(data),
    host: data.HOST,
    port: data.PORT,
    api_database_url: mode === 'serve' ? apiLogin(data) : undefined,
    jobs_database_url: jobsLogin(data),
    prepared_statements: data.PREPARED_STATEMENTS ?? true,
    public_url: data.PUBLIC_URL ?? `http://${urlHost(data.HOST)}:${data.PORT}`,
    auth: issuer(data),
    log: data.LOG,
  }
}

/** readEdgeApi is readConfig for an API that a platform calls: what no process listens for is needed. */
export function readEdgeApi(environment: Record<string, unknown>): EdgeApi {
  const data = read(environment)
  const auth = issuer(data)
  if (!auth) {
    throw new ConfigError(
      'AUTH_ISSUER is not set: who signs people in, such as https://<project>.supabase.co/auth/v1.',
    )
  }
  const { PUBLIC_URL: public_url, JOBS_URL: url, JOBS_SECRET: secret } = data
  if (!public_url) throw new ConfigError('PUBLIC_URL is not set: where people reach the service.')
  return {
    ...common(data),
    database: { url: apiLogin(data), names: data.PREPARED_STATEMENTS ?? false },
    public_url,
    auth,
    jobs: url && secret ? { url, secret } : undefined,
  }
}

/** readEdgeJobs is readConfig for jobs that a platform calls. */
export function readEdgeJobs(environment: Record<string, unknown>): EdgeJobs {
  const data = read(environment)
  return {
    ...common(data),
    database: { url: jobsLogin(data), names: data.PREPARED_STATEMENTS ?? false },
    budget_ms: data.JOBS_BUDGET_SECONDS * 1000,
    secret: data.JOBS_SECRET,
  }
}

type Data = z.infer<typeof Environment>

function read(environment: Record<string, unknown>): Data {
  // An empty variable is how a compose file or a panel says "not set". What is no text is a
  // platform's binding, not a variable.
  const given = Object.entries(environment).filter(
    ([, value]) => typeof value === 'string' && value.trim(),
  )
  const { data, error } = Environment.safeParse(Object.fromEntries(given))
  if (data) return data
  throw new ConfigError(
    error.issues.map(({ path, message }) => `${path.join('.')} ${message}.`).join(' '),
  )
}

function common(data: Data) {
  return {
    seal: data.SEAL_KEYS,
    origins: data.CONSOLE_ORIGINS,
    trusted_proxies: data.TRUSTED_PROXIES,
    allow: data.ALLOW_PRIVATE_TARGETS,
    limits: {
      pro: data.RATE_LIMIT_PRO,
      enterprise: data.RATE_LIMIT_ENTERPRISE,
      address: data.RATE_LIMIT_ADDRESS,
    },
    feeds: data.FEEDS,
    contact: data.CONTACT,
  }
}

function apiLogin({ API_DATABASE_URL: url }: Data): string {
  if (url) return url
  throw new ConfigError('API_DATABASE_URL is not set: how the API logs in (watchpost_api).')
}

function jobsLogin({ JOBS_DATABASE_URL: url, DATABASE_URL: admin }: Data): string {
  if (url) return url
  if (admin) return asJobs(admin)
  throw new ConfigError('JOBS_DATABASE_URL is not set: how the jobs log in (watchpost_jobs).')
}

function issuer({ AUTH_ISSUER: issuer, AUTH_JWKS_URL: jwks_url }: Data): Issuer | undefined {
  if (issuer) return { issuer, jwks_url: jwks_url ?? `${issuer}/.well-known/jwks.json` }
  if (jwks_url) throw new ConfigError('AUTH_ISSUER is not set: whose keys AUTH_JWKS_URL holds.')
  return undefined
}

/** A host as it stands in a URL: IPv6 in brackets, and "every address" as one that can be opened. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** A transform whose failure is our sentence: what it threw might repeat the value. */
function said<S extends z.ZodType<string>, T>(
  schema: S,
  read: (text: string) => T,
  sentence: string,
) {
  return schema.transform((text, context) => {
    try {
      return read(text)
    } catch {
      context.addIssue({ code: 'custom', message: sentence })
      return z.NEVER
    }
  })
}

function words(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

function baseUrl(text: string): string {
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) throw new Error()
  return url.href.replace(/\/+$/, '')
}

function origin(text: string): string {
  if (new URL(text).origin !== text) throw new Error()
  return text
}

function range(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.parse(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function feed(name: string): Feed {
  const found = KNOWN_FEEDS.find(({ source }) => source === name)
  if (!found) throw new Error()
  return found
}

/** An administrator's login takes the jobs' role, so that it can do no more than they. */
function asJobs(text: string): string {
  const url = new URL(text)
  if (decodeURIComponent(url.username) === 'watchpost_jobs') return text
  url.searchParams.set('options', '-c role=watchpost_jobs')
  return url.href
}
