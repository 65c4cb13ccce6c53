import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type AllowList, checkTarget, parseAllowList } from './channels/transport/target.ts'
import type { Tiles } from './console-settings.ts'
import type { Limits } from './context.ts'
import type { AnyFeed } from './feeds/feed.ts'
import { FEED_SETTINGS, findFeed, KNOWN_FEEDS, type Selection, selectFeeds } from './feeds/feeds.ts'
import { type MailSettings, parseSender, parseSmtpUrl } from './mail/settings.ts'
import { OPERATOR_VARIABLES, type OperatorSettings, operatorOf } from './node/operator-settings.ts'
import { createSeal, type Seal } from './seal.ts'
import type { Issuer } from './sign-in/sessions.ts'
import { TRACING_VARIABLES, type TracingSettings, tracingOf } from './tracing/settings.ts'

export type CidrRange = [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/** The configuration of a long-running service. */
export type Config = {
  host: string
  port: number
  /** Undefined when only the jobs run. */
  api_database_url: string | undefined
  jobs_database_url: string
  /** The login for LISTEN, which needs a session of its own. */
  listen_database_url: string
  prepared_statements: boolean
  seal: Seal
  public_url: string
  /** The issuer of session tokens; undefined when Watchpost signs people in itself, on a plain Postgres. */
  auth: Issuer | undefined
  origins: string[]
  /** Tiles under the console's map; null for the map that comes with it. */
  tiles: Tiles | null
  trusted_proxies: CidrRange[]
  allow: AllowList
  /** How to send mail; undefined when there is no way. */
  mail: MailSettings | undefined
  limits: Limits
  feeds: AnyFeed[]
  /** Selected feeds that lack a setting. */
  disabled_feeds: Selection['disabled']
  contact: string | undefined
  /** Called while all is well; undefined when there is none. */
  heartbeat_url: string | undefined
  /** Where the metrics are: on a port of their own, or else beside the API, which needs the token. */
  metrics: { port: number | undefined; token: string | undefined } | undefined
  /** Where the operator page is; undefined where it is off. */
  operator: OperatorSettings | undefined
  /** How traces are sent; undefined where they are not. */
  tracing: TracingSettings | undefined
  log: 'json' | 'text'
}

/** What runs in a process: the API and the jobs, or the jobs alone. */
type Mode = 'serve' | 'jobs'

/** A database URL and whether to use prepared statements. */
type Login = { url: string; prepared: boolean }

/** The configuration of the API on an edge platform. */
export type EdgeApi = Pick<
  Config,
  | 'seal'
  | 'public_url'
  | 'origins'
  | 'tiles'
  | 'trusted_proxies'
  | 'allow'
  | 'mail'
  | 'limits'
  | 'contact'
> & {
  database: Login
  auth: Issuer
  /** How to run the jobs by HTTP; undefined when they are run another way. */
  jobs: { url: string; secret: string } | undefined
}

/** The configuration of the jobs on an edge platform. */
export type EdgeJobs = Pick<
  Config,
  'seal' | 'allow' | 'mail' | 'feeds' | 'disabled_feeds' | 'contact' | 'heartbeat_url'
> & {
  database: Login
  public_url: string | null
  budget_ms: number
  /** The bearer token for running the jobs by HTTP; undefined when HTTP is not used. */
  secret: string | undefined
}

/** Names every invalid variable and what it must be. Never contains a value, which may be secret. */
export class ConfigError extends Error {}

const PostgresUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol),
    'must be a URL of the form postgres://user:password@host:port/database',
  )

const PerMinute = z.coerce
  .number({ error: 'must be a whole number above 0' })
  .int('must be a whole number above 0')
  .positive('must be a whole number above 0')

/** The settings of the feeds; each is validated by its feed. */
const FeedEnvironment = z.object(
  Object.fromEntries(
    Object.entries(FEED_SETTINGS).map(([name, { schema }]) => [name, schema.optional()]),
  ),
)

const Environment = z.object({
  ...FeedEnvironment.shape,
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce
    .number({ error: 'must be a port between 0 and 65535' })
    .int('must be a port between 0 and 65535')
    .min(0, 'must be a port between 0 and 65535')
    .max(65535, 'must be a port between 0 and 65535')
    .default(8787),
  API_DATABASE_URL: PostgresUrl.optional(),
  JOBS_DATABASE_URL: PostgresUrl.optional(),
  LISTEN_DATABASE_URL: PostgresUrl.optional(),
  DATABASE_URL: PostgresUrl.optional(),
  PREPARED_STATEMENTS: z
    .enum(['on', 'off'], { error: 'must be "on" or "off"' })
    .transform((word) => word === 'on')
    .optional(),
  SEAL_KEYS: parsedAs(
    z.string({
      error: 'is not set. It takes 32 random bytes in base64, e.g. from `openssl rand -base64 32`',
    }),
    (text) => createSeal(splitList(text)),
    'must hold keys of 32 bytes in base64',
  ),
  PUBLIC_URL: parsedAs(
    z.string(),
    baseUrl,
    'must be an http or https URL without a query',
  ).optional(),
  AUTH_ISSUER: parsedAs(
    z.string(),
    baseUrl,
    'must be an http or https URL without a query',
  ).optional(),
  AUTH_JWKS_URL: parsedAs(
    z.string(),
    baseUrl,
    'must be an http or https URL without a query',
  ).optional(),
  AUTH_PUBLISHABLE_KEY: z.string().optional(),
  CONSOLE_ORIGINS: parsedAs(
    z.string().default(''),
    (text) => splitList(text).map(origin),
    'must hold origins such as https://console.example.com',
  ),
  TILE_URL: parsedAs(
    z.string(),
    tileUrl,
    'must be an http or https URL of raster tiles with {z}, {x} and {y}, such as https://tiles.example.com/{z}/{x}/{y}.png',
  ).optional(),
  TILE_ATTRIBUTION: z.string().max(300, 'must have at most 300 characters').optional(),
  TRUSTED_PROXIES: parsedAs(
    z.string().default(''),
    (text) => splitList(text).map(range),
    'must hold addresses or CIDR ranges',
  ),
  ALLOW_PRIVATE_TARGETS: parsedAs(
    z.string().default(''),
    parseAllowList,
    'must hold addresses, CIDR ranges or host names',
  ),
  SMTP_URL: parsedAs(
    z.string(),
    parseSmtpUrl,
    'must be of the form smtps://user:password@host:port, or smtp://… for STARTTLS; only smtp://host:port?tls=none, without a password, is not encrypted',
  ).optional(),
  MAIL_FROM: parsedAs(
    z.string(),
    parseSender,
    'must be an address, or a name and an address: Watchpost <alerts@example.com>',
  ).optional(),
  RESEND_API_KEY: z.string().optional(),
  RESEND_URL: parsedAs(
    z.string().default('https://api.resend.com'),
    baseUrl,
    'must be an http or https URL without a query',
  ),
  RATE_LIMIT_PRO: PerMinute.default(600),
  RATE_LIMIT_ENTERPRISE: PerMinute.default(6000),
  RATE_LIMIT_ADDRESS: PerMinute.default(600),
  FEEDS: parsedAs(
    z.string(),
    (text) => (text === 'none' ? [] : splitList(text).map((name) => findFeed(name).source)),
    `must name known feeds: ${KNOWN_FEEDS.map(({ source }) => source).join(', ')}`,
  ).optional(),
  CONTACT: z.string().optional(),
  JOBS_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  JOBS_URL: parsedAs(
    z.string(),
    baseUrl,
    'must be an http or https URL without a query',
  ).optional(),
  JOBS_BUDGET_SECONDS: z.coerce
    .number({ error: 'must be a number of seconds' })
    .positive('must be a number of seconds')
    .max(600, 'must be at most 600')
    .default(40),
  HEARTBEAT_URL: z.string().optional(),
  METRICS_PORT: z.coerce
    .number({ error: 'must be a port between 1 and 65535' })
    .int('must be a port between 1 and 65535')
    .min(1, 'must be a port between 1 and 65535')
    .max(65535, 'must be a port between 1 and 65535')
    .optional(),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  ...OPERATOR_VARIABLES.shape,
  ...TRACING_VARIABLES.shape,
  LOG: z.enum(['json', 'text'], { error: 'must be "json" or "text"' }).default('json'),
})

/** The names of all variables, for the test that .env.example lists them. */
export const VARIABLES = Object.keys(Environment.shape)

/** Reads the environment. Throws a ConfigError that names every invalid variable. */
export function readConfig(environment: Record<string, string | undefined>, mode: Mode): Config {
  const data = read(environment)
  return {
    ...common(data),
    host: data.HOST,
    port: data.PORT,
    api_database_url: mode === 'serve' ? apiLogin(data) : undefined,
    jobs_database_url: jobsLogin(data),
    listen_database_url: data.LISTEN_DATABASE_URL ?? jobsLogin(data),
    prepared_statements: data.PREPARED_STATEMENTS ?? true,
    public_url: data.PUBLIC_URL ?? `http://${urlHost(data.HOST)}:${data.PORT}`,
    auth: issuer(data),
    metrics: metricsOf(data),
    operator: operatorOf(data, { port: data.PORT }),
    tracing: tracingOf(data),
    log: data.LOG,
  }
}

function metricsOf({ METRICS_PORT: port, METRICS_TOKEN: token }: z.infer<typeof Environment>) {
  return port === undefined && token === undefined ? undefined : { port, token }
}

/** Reads the environment of the API on an edge platform. Throws a ConfigError. */
export function readEdgeApi(environment: Record<string, unknown>): EdgeApi {
  const data = read(environment)
  const auth = issuer(data)
  if (!auth) {
    throw new ConfigError(
      'AUTH_ISSUER is not set. It names who signs people in, e.g. https://<project>.supabase.co/auth/v1.',
    )
  }
  const { PUBLIC_URL: public_url, JOBS_URL: url, JOBS_SECRET: secret } = data
  if (!public_url)
    throw new ConfigError(
      'PUBLIC_URL is not set. It is the address at which people reach the service.',
    )
  return {
    ...common(data),
    database: { url: apiLogin(data), prepared: data.PREPARED_STATEMENTS ?? false },
    public_url,
    auth,
    jobs: url && secret ? { url, secret } : undefined,
  }
}

/** Reads the environment of the jobs on an edge platform. Throws a ConfigError. */
export function readEdgeJobs(environment: Record<string, unknown>): EdgeJobs {
  const data = read(environment)
  return {
    ...common(data),
    database: { url: jobsLogin(data), prepared: data.PREPARED_STATEMENTS ?? false },
    public_url: data.PUBLIC_URL ?? null,
    budget_ms: data.JOBS_BUDGET_SECONDS * 1000,
    secret: data.JOBS_SECRET,
  }
}

type Data = z.infer<typeof Environment>

function read(environment: Record<string, unknown>): Data {
  // Compose files and dashboards set an empty value for "not set". A value that is not text is a
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
  const { feeds, disabled } = selectFeeds(data.FEEDS ?? null, FeedEnvironment.parse(data))
  return {
    seal: data.SEAL_KEYS,
    origins: data.CONSOLE_ORIGINS,
    tiles: tilesOf(data),
    trusted_proxies: data.TRUSTED_PROXIES,
    allow: data.ALLOW_PRIVATE_TARGETS,
    mail: mail(data),
    limits: {
      pro: data.RATE_LIMIT_PRO,
      enterprise: data.RATE_LIMIT_ENTERPRISE,
      address: data.RATE_LIMIT_ADDRESS,
    },
    feeds,
    disabled_feeds: disabled,
    contact: data.CONTACT,
    heartbeat_url: heartbeat(data),
  }
}

/** Judged by the rules for targets of channels, as each call will be. */
function heartbeat({ HEARTBEAT_URL: url, ALLOW_PRIVATE_TARGETS: allow }: Data): string | undefined {
  if (url === undefined || checkTarget(url, { allow }).ok) return url
  throw new ConfigError(
    'HEARTBEAT_URL must be an https URL without a user name. ALLOW_PRIVATE_TARGETS permits a private host, and http there.',
  )
}

function mail({ SMTP_URL: smtp, RESEND_API_KEY: key, RESEND_URL: url, MAIL_FROM: from }: Data) {
  if (!smtp && !key) return undefined
  if (!from)
    throw new ConfigError(
      'MAIL_FROM is not set. It is the sender of mail, e.g. Watchpost <alerts@example.com>.',
    )
  return { from, smtp, api: key ? { url, key } : undefined } satisfies MailSettings
}

function apiLogin({ API_DATABASE_URL: url }: Data): string {
  if (url) return url
  throw new ConfigError('API_DATABASE_URL is not set. The API logs in with it as watchpost_api.')
}

function jobsLogin({ JOBS_DATABASE_URL: url, DATABASE_URL: admin }: Data): string {
  if (url) return url
  if (admin) return withJobsRole(admin)
  throw new ConfigError('JOBS_DATABASE_URL is not set. The jobs log in with it as watchpost_jobs.')
}

/** Whoever makes a map of the world wants to be named on it. */
function tilesOf({ TILE_URL: url, TILE_ATTRIBUTION: attribution }: Data): Tiles | null {
  if (url && attribution) return { url, attribution }
  if (url) {
    throw new ConfigError(
      'TILE_ATTRIBUTION is not set. TILE_URL needs it: whom to name on the map, e.g. OpenStreetMap contributors.',
    )
  }
  if (attribution) throw new ConfigError('TILE_URL is not set. TILE_ATTRIBUTION needs it.')
  return null
}

function tileUrl(text: string): string {
  const { protocol, username, password } = new URL(text)
  if (!/^https?:$/.test(protocol) || username || password) throw new Error('protocol')
  if (!['{z}', '{x}', '{y}'].every((part) => text.includes(part))) throw new Error('parts')
  return text
}

function issuer(data: Data): Issuer | undefined {
  const { AUTH_ISSUER: issuer, AUTH_JWKS_URL: jwks_url, AUTH_PUBLISHABLE_KEY: key } = data
  if (issuer) {
    return {
      issuer,
      jwks_url: jwks_url ?? `${issuer}/.well-known/jwks.json`,
      publishable_key: key ?? null,
    }
  }
  if (jwks_url) throw new ConfigError('AUTH_ISSUER is not set. AUTH_JWKS_URL needs it.')
  if (key) throw new ConfigError('AUTH_ISSUER is not set. AUTH_PUBLISHABLE_KEY needs it.')
  return undefined
}

/** A host for use in a URL: IPv6 in brackets, and localhost for a wildcard address. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Parses the text; a failure becomes `sentence`, because the original error might contain the value. */
function parsedAs<S extends z.ZodType<string>, T>(
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

function splitList(text: string): string[] {
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

function range(text: string): CidrRange {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.parse(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** Makes an administrator's URL assume the role watchpost_jobs, so that it has only the jobs' rights. */
function withJobsRole(text: string): string {
  const url = new URL(text)
  if (decodeURIComponent(url.username) === 'watchpost_jobs') return text
  url.searchParams.set('options', '-c role=watchpost_jobs')
  return url.href
}
