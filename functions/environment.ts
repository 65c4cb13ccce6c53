/** The variables of the service: what each must be, and its default. */
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { parseAllowList } from './channels/transport/target.ts'
import { FEED_SETTINGS, findFeed, KNOWN_FEEDS } from './feeds/feeds.ts'
import { parseSender, parseSmtpUrl } from './mail/settings.ts'
import { OPERATOR_VARIABLES } from './node/operator-settings.ts'
import { createSeal } from './seal.ts'
import { TRACING_VARIABLES } from './tracing/settings.ts'

export type CidrRange = [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

const PostgresUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^postgres(ql)?:/.test(new URL(text).protocol),
    'must be a URL of the form postgres://user:password@host:port/database',
  )

const PerMinute = z.coerce.number({ error: 'must be a whole number above 0' }).int().positive()

/** The settings of the feeds; each is validated by its feed. */
export const FeedEnvironment = z.object(
  Object.fromEntries(
    Object.entries(FEED_SETTINGS).map(([name, { schema }]) => [name, schema.optional()]),
  ),
)

/** Every variable of the service, what it must be, and what it is when it is not set. */
export const Environment = z.object({
  ...FeedEnvironment.shape,
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce
    .number({ error: 'must be a port between 0 and 65535' })
    .int()
    .min(0)
    .max(65535)
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
    .positive()
    .max(600, 'must be at most 600')
    .default(40),
  HEARTBEAT_URL: z.string().optional(),
  METRICS_PORT: z.coerce
    .number({ error: 'must be a port between 1 and 65535' })
    .int()
    .min(1)
    .max(65535)
    .optional(),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  ...OPERATOR_VARIABLES.shape,
  ...TRACING_VARIABLES.shape,
  LOG: z.enum(['json', 'text'], { error: 'must be "json" or "text"' }).default('json'),
})

/** The names of all variables, for the test that .env.example lists them. */
export const VARIABLES = Object.keys(Environment.shape)

/** The values of the variables. */
export type Data = z.infer<typeof Environment>

function tileUrl(text: string): string {
  const { protocol, username, password } = new URL(text)
  if (!/^https?:/.test(protocol) || username || password) throw new Error()
  if (!['{z}', '{x}', '{y}'].every((part) => text.includes(part))) throw new Error()
  return text
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
  if (!/^https?:/.test(url.protocol) || url.search || url.hash || url.username) throw new Error()
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
