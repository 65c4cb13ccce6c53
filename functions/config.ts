import { type AllowList, checkTarget } from './channels/transport/target.ts'
import type { Tiles } from './console-settings.ts'
import type { Limits } from './context.ts'
import { type CidrRange, type Data, Environment, FeedEnvironment } from './environment.ts'
import type { AnyFeed } from './feeds/feed.ts'
import { type Selection, selectFeeds } from './feeds/feeds.ts'
import type { MailSettings } from './mail/settings.ts'
import { type OperatorSettings, operatorOf } from './node/operator-settings.ts'
import type { Seal } from './seal.ts'
import type { Issuer } from './sign-in/sessions.ts'
import { type TracingSettings, tracingOf } from './tracing/settings.ts'

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

function metricsOf({ METRICS_PORT: port, METRICS_TOKEN: token }: Data) {
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

/** Makes an administrator's URL assume the role watchpost_jobs, so that it has only the jobs' rights. */
function withJobsRole(text: string): string {
  const url = new URL(text)
  if (decodeURIComponent(url.username) === 'watchpost_jobs') return text
  url.searchParams.set('options', '-c role=watchpost_jobs')
  return url.href
}
