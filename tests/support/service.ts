import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { z } from 'zod'
import { createApp } from '../../functions/app.ts'
import type { SendMail, SendRequest, SendResult } from '../../functions/channels/transport/send.ts'
import { createPush } from '../../functions/channels/transport/send-push.ts'
import { type AllowList, parseAllowList } from '../../functions/channels/transport/target.ts'
import type { Deps, Limits, Scope } from '../../functions/context.ts'
import { createPool, type Database, sqlState } from '../../functions/db.ts'
import { createSeal, type Seal } from '../../functions/seal.ts'
import type { VerifySession } from '../../functions/sign-in/sessions.ts'
import { generateKey, keyHash, keyPrefix } from '../../shared/key.ts'
import { createTestDatabase, type TestDatabase } from './servers/database.ts'
import { type App, claimShared, startEdge } from './servers/edge.ts'
import { type Changes, createTestIssuer, type TestIssuer } from './servers/issuer.ts'
import { runtime } from './servers/runtimes.ts'

type Plan = 'free' | 'pro' | 'enterprise'
export type Account = { user_id: string; email: string; plan: Plan }
/** An account with a key of all scopes, which is enough for most tests. */
export type Person = Account & { key: string }
/** A person with a session as well. */
export type Signed = Person & { token: string }
type Role = 'admin' | 'member'
export type Answer = {
  status: number
  /** The parsed JSON, or undefined if there is none. */
  body: unknown
  text: string
  headers: Headers
}

type Request = {
  key?: string
  body?: unknown
  headers?: Record<string, string>
}

export type Service = {
  database: TestDatabase
  seal: Seal
  /** What was sent to receivers, and their next answers. */
  receiver: {
    requests: SendRequest[]
    answer: (request: SendRequest) => SendResult | Promise<SendResult>
  }
  /** Every log line. */
  lines: Record<string, unknown>[]
  request: (method: string, path: string, options?: Request) => Promise<Answer>
  account: (options?: { plan?: Plan; email?: string }) => Promise<Account>
  /** Creates an account with a key. */
  person: (options?: { plan?: Plan; email?: string }) => Promise<Person>
  /** Creates an account with a key and a session. */
  signed: (options?: { plan?: Plan; email?: string }) => Promise<Signed>
  key: (
    account: Pick<Account, 'user_id'>,
    options?: { scopes?: readonly Scope[]; expires_at?: Date; revoked?: boolean },
  ) => Promise<string>
  /** The issuer of the tests' tokens, for tests of tokens themselves. */
  issuer: TestIssuer
  /** A session token of an account, sent like a key. */
  session: (account: Pick<Account, 'user_id' | 'email'>, changes?: Changes) => Promise<string>
  /** Creates an organisation with its owner and members; returns its id. */
  organisation: (
    owner: Pick<Account, 'user_id'>,
    ...members: [account: Pick<Account, 'user_id'>, role: Role][]
  ) => Promise<string>
  /** Every route of the OpenAPI document. */
  routes: () => Promise<DocumentedRoute[]>
  /**
   * Runs one statement without a route, as the database sees the caller with this key. Returns how
   * many rows it affected, or the SQLSTATE of its refusal.
   */
  queryAs: (
    key: string | undefined,
    statement: string,
    values: unknown[],
    end: 'commit' | 'rollback',
  ) => Promise<number | string>
  /** A superuser's transaction that stays open until it is committed. */
  transaction: () => Promise<{
    query: (sql: string, values: unknown[]) => Promise<unknown>
    commit: () => Promise<void>
  }>
  close: () => Promise<void>
}

type DocumentedRoute = {
  method: string
  path: string
  is_public: boolean
  /** Whether it requires a session; keys are refused. */
  is_account: boolean
}

export const ORIGIN = 'https://console.watchpost.test'
export const PUBLIC_URL = 'https://watchpost.test'
/** The sealing key of every test service. */
export const TEST_SEAL_KEY = Buffer.alloc(32, 7).toString('base64')
/** The header in which a test states the client's address. */
export const ADDRESS_HEADER = 'x-test-address'

/** createService builds the whole API on its own database; only the outside world is replaced. */
export async function createService(
  options: {
    limits?: Partial<Limits>
    allow?: AllowList
    /** The addresses of names, instead of none; on Node alone. */
    resolve?: (host: string) => Promise<string[]>
    /** A different login than the test database's own. */
    api_url?: string
    /** Replaces the plain pool with which the app uses the database; only on Node. */
    connect?: (database: TestDatabase) => Database | Promise<Database>
    /** A database to be used and dropped, instead of a new clone of the template; on Node alone. */
    database?: TestDatabase
    /** Sends mail; without it the service has no mail server. On Node alone. */
    mail?: SendMail
    /** Replaces the test's own issuer. */
    verify_session?: VerifySession
    wake?: () => void
    /** How long an address has to wait that shows no valid credential; on Node alone. */
    address_limit?: Deps['address_limit']
    public_url?: string
    /**
     * A Deno or workerd that no other file uses, for tests that use up a per-minute limit of a
     * process.
     */
    own_platform?: true
    /** Traces the requests; on Node alone. */
    tracing?: Deps['tracing']
    /** Wakes who waits for changes; on Node alone. */
    news?: Deps['news']
    /** The static files; by default none. */
    asset?: Deps['asset']
  } = {},
): Promise<Service> {
  const where = runtime()
  const { limits: given_limits, api_url: given_url, public_url: given_public_url } = options
  const isPlain = !given_limits && !given_url && !given_public_url && !options.own_platform
  const shared = where !== 'node' && isPlain ? await claimShared() : undefined
  const database = options.database ?? (await createTestDatabase(shared?.database))
  const api_url = given_url ?? database.apiUrl
  const db = (await options.connect?.(database)) ?? createPool({ url: api_url, max: 4 })
  const seal_key = TEST_SEAL_KEY
  const seal = createSeal([seal_key])
  const issuer = shared?.issuer ?? (await createTestIssuer())
  const lines: Service['lines'] = []
  const receiver: Service['receiver'] = { requests: [], answer: () => sendResult(200, 'ok') }
  const limits = { pro: 100_000, enterprise: 100_000, address: 100_000, ...given_limits }
  const public_url = given_public_url ?? PUBLIC_URL
  const app: App =
    where === 'node'
      ? onNode({
          db,
          seal,
          verify_session: options.verify_session ?? issuer.verify_session,
          send: async (request) => {
            receiver.requests.push(request)
            return receiver.answer(request)
          },
          mail: options.mail,
          push: createPush({ seal, contact: undefined, public_url }, async () =>
            sendResult(201, ''),
          ),
          allow: options.allow ?? parseAllowList(undefined),
          resolve: options.resolve,
          limits,
          origins: [ORIGIN],
          public_url,
          address: (c) => c.req.header(ADDRESS_HEADER) ?? '192.0.2.1',
          address_limit: options.address_limit ?? (() => 0),
          asset: options.asset ?? (async () => undefined),
          wake: options.wake,
          tracing: options.tracing,
          news: options.news,
          log: (line) => void lines.push(line),
        })
      : await startEdge({
          shared,
          runtime: where,
          api_url,
          seal_key,
          limits,
          origin: ORIGIN,
          public_url,
          issuer,
          address_header: ADDRESS_HEADER,
          lines,
        })

  const request: Service['request'] = async (method, path, { key, body, headers } = {}) => {
    const answer = await app.request(path, {
      method,
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: parse(text), text, headers: answer.headers }
  }

  const account: Service['account'] = async ({ plan = 'pro', email } = {}) => {
    const user_id = randomUUID()
    const address = email ?? `${user_id.slice(0, 8)}@watchpost.test`
    await database.query(
      'insert into auth.users (id, email, email_confirmed_at) values ($1, $2, now())',
      [user_id, address],
    )
    await database.query('update watchpost.accounts set plan = $2 where user_id = $1', [
      user_id,
      plan,
    ])
    return { user_id, email: address, plan }
  }

  const key: Service['key'] = async ({ user_id }, { scopes, expires_at, revoked } = {}) => {
    const made = generateKey()
    await database.query(
      `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes, expires_at, revoked_at)
      values ($1, $2, $3, $4, $5, $6)`,
      [
        user_id,
        keyPrefix(made),
        await keyHash(made),
        scopes ?? ['read', 'write', 'ingest'],
        expires_at ?? null,
        revoked ? new Date() : null,
      ],
    )
    return made
  }

  const session: Service['session'] = async ({ user_id, email }, { claims, ...changes } = {}) => {
    const session_id = randomUUID()
    await database.query('insert into auth.sessions (id, user_id, aal) values ($1, $2, $3)', [
      session_id,
      user_id,
      claims?.aal ?? 'aal1',
    ])
    return issuer.token({ user_id, email }, { ...changes, claims: { session_id, ...claims } })
  }

  const person: Service['person'] = async (given) => {
    const made = await account(given)
    return { ...made, key: await key(made) }
  }

  return {
    database,
    seal,
    receiver,
    lines,
    request,
    account,
    key,
    issuer,
    session,
    person,
    signed: async (given) => {
      const made = await person(given)
      return { ...made, token: await session(made) }
    },
    organisation: async (owner, ...members) => {
      const [row] = await database.query<{ id: string }>(
        `insert into watchpost.organisations (name) values ('A team') returning id`,
      )
      const { id } = z.object({ id: z.uuid() }).parse(row)
      for (const [{ user_id }, role] of [[owner, 'owner'] as const, ...members]) {
        await database.query(
          `insert into watchpost.members (org_id, user_id, email, role, status, joined_at)
          select $1, user_id, email, $3, 'active', now() from watchpost.accounts where user_id = $2`,
          [id, user_id, role],
        )
      }
      return id
    },
    routes: async () => {
      const { paths } = parsed(await request('GET', '/api/v1/openapi.json'), 200, OpenApi)
      return Object.entries(paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, { security }]) => ({
          method: method.toUpperCase(),
          path,
          is_public: !security?.length,
          is_account: !!security?.length && !security.some((scheme) => 'key' in scheme),
        })),
      )
    },
    queryAs: async (made, statement, values, end) => {
      const connection = await db.connect()
      try {
        await connection.query('begin')
        if (made !== undefined) {
          await connection.query(
            `select set_config('request.jwt.claims', private.key_claims($1, $2, '{}'), true)`,
            [await keyHash(made), randomUUID()],
          )
        }
        await connection.query('set local role authenticated')
        const { rowCount } = await connection.query(statement, values)
        await connection.query(end)
        return rowCount ?? 0
      } catch (error) {
        await connection.query('rollback')
        const state = sqlState(error)
        if (state === undefined) throw error
        return state
      } finally {
        connection.release()
      }
    },
    transaction: async () => {
      const client = new pg.Client({ connectionString: database.adminUrl })
      client.on('error', () => {})
      await client.connect()
      await client.query('begin')
      return {
        query: (sql, values) => client.query(sql, values),
        commit: async () => {
          await client.query('commit')
          await client.end()
        },
      }
    },
    close: async () => {
      await app.close()
      await db.end()
      await database.drop()
    },
  }
}

function onNode(deps: Deps): App {
  const app = createApp(deps)
  return { request: (path, init) => app.request(path, init), close: async () => undefined }
}

const OpenApi = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ security: z.array(z.record(z.string(), z.unknown())).optional() }),
    ),
  ),
})

/** The token of an invite link; it follows `#`. */
export function tokenOfInvite(invite_url: string): string {
  return new URL(invite_url).hash.slice(1)
}

/**
 * parsed returns the body of an answer if it has this status and shape; otherwise it throws the
 * answer.
 */
export function parsed<S extends z.ZodType>(
  answer: Answer,
  status: number,
  schema: S,
): z.output<S> {
  if (answer.status !== status) {
    throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`)
  }
  return schema.parse(answer.body)
}

/** sendResult makes a receiver's answer. */
export function sendResult(status: number, body = ''): SendResult {
  return { ok: true, status, headers: new Headers(), body, duration_ms: 12 }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
