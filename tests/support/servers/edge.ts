import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, vi } from 'vitest'
import type { Limits } from '../../../functions/context.ts'
import { generateKey } from '../../../shared/key.ts'
import { createTestIssuer, ISSUER, type TestIssuer } from './issuer.ts'
import { startStandInPooler } from './pooler.ts'
import {
  type Ask,
  type Line,
  type Runtime,
  startDeno,
  startWorkers,
  type Target,
} from './runtimes.ts'

type AppRequest = Omit<Ask, 'headers'> & { headers: Record<string, string> }

/** What tests/support/service.ts needs of an app, on any platform. */
export type App = {
  request: (path: string, init: AppRequest) => Response | Promise<Response>
  close: () => Promise<void>
}

type EdgeOptions = {
  runtime: Exclude<Runtime, 'node'>
  api_url: string
  seal_key: string
  limits: Limits
  origin: string
  public_url: string
  issuer: TestIssuer
}

/** A platform that runs the API, and the listener of its log. */
type Platform = {
  target: Target
  hear: (onLine: (line: Line) => void) => void
  close: () => Promise<void>
}

/**
 * A platform takes seconds to start, so the files that run one after another in a process share
 * one. Each file still has its own database: cloned again under the name that the platform knows.
 */
type SharedPlatform = {
  database: string
  issuer: TestIssuer
  isInUse: boolean
  platform?: Promise<Platform>
}
let shared: SharedPlatform | undefined

/** claimShared returns the platform of this process, unless another file is using it. */
export async function claimShared(): Promise<SharedPlatform | undefined> {
  shared ??= {
    database: `test_edge_${randomBytes(6).toString('hex')}`,
    issuer: await createTestIssuer(),
    isInUse: false,
  }
  if (shared.isInUse) return undefined
  shared.isInUse = true
  return shared
}

/**
 * startEdge starts the API behind its edge entry, configured by variables with what a test on Node
 * passes directly.
 */
export async function startEdge({
  shared,
  address_header,
  lines,
  ...options
}: EdgeOptions & {
  shared: SharedPlatform | undefined
  /** The header in which a test states the client's address. */
  address_header: string
  lines: Line[]
}): Promise<App> {
  if (shared) shared.platform ??= startPlatform(options)
  const platform = await (shared?.platform ?? startPlatform(options))
  const { target } = platform
  if (shared) {
    // The connections to the previous database were closed, which the platform may not have noticed
    // yet.
    const headers = new Headers({
      Authorization: `Bearer ${generateKey()}`,
      [target.address_header]: '192.0.2.1',
    })
    const ask = () => target.fetch('/api/v1/me', { method: 'GET', headers })
    await vi.waitFor(async () => expect(await ask()).toMatchObject({ status: 401 }), 20_000)
  }
  const written = createLineWaiter()
  platform.hear((line) => {
    lines.push(line)
    written.note(String(line.request_id))
  })
  return {
    request: async (path, init) => {
      const headers = new Headers(init.headers)
      headers.set(target.address_header, headers.get(address_header) ?? '192.0.2.1')
      headers.delete(address_header)
      const answer = await target.fetch(path, { ...init, headers })
      const request_id = answer.headers.get('X-Request-Id')
      if (request_id) await written.wait(request_id)
      return answer
    },
    close: async () => {
      platform.hear(() => {})
      if (shared) shared.isInUse = false
      else await platform.close()
    },
  }
}

async function startPlatform(options: EdgeOptions): Promise<Platform> {
  const { runtime, api_url, limits } = options
  const keys = await serveKeys(options.issuer)
  let tell = (_: Line): void => {}
  const common = {
    variables: {
      SEAL_KEYS: options.seal_key,
      PUBLIC_URL: options.public_url,
      CONSOLE_ORIGINS: options.origin,
      AUTH_ISSUER: ISSUER,
      AUTH_JWKS_URL: keys.url,
      RATE_LIMIT_PRO: String(limits.pro),
      RATE_LIMIT_ENTERPRISE: String(limits.enterprise),
      RATE_LIMIT_ADDRESS: String(limits.address),
    },
    onLine: (line: Line) => tell(line),
  }
  // As Hyperdrive is between a Worker and its database.
  const pooler =
    runtime === 'workerd' ? await startStandInPooler([api_url], { size: 10 }) : undefined
  const target: Target =
    runtime === 'deno'
      ? await startDeno('api', {
          ...common,
          variables: { ...common.variables, API_DATABASE_URL: api_url },
        })
      : await startWorkers({
          ...common,
          databases: { API_DATABASE: pooler?.urlOf(api_url) ?? api_url },
          jobs: false,
        })
  return {
    target,
    hear: (onLine) => {
      tell = onLine
    },
    close: async () => {
      await target.close()
      await pooler?.stop()
      keys.close()
    },
  }
}

/** Serves the issuer's public keys, which the entry fetches. */
async function serveKeys({ jwks }: TestIssuer) {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(jwks))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (!address || typeof address === 'string') throw new Error('the keys have no port')
  return {
    url: `http://127.0.0.1:${address.port}/jwks.json`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Another process writes the line, so it may come after the answer it belongs to. */
function createLineWaiter() {
  const seen = new Set<string>()
  const waiting = new Map<string, () => void>()
  return {
    note: (id: string) => {
      seen.add(id)
      waiting.get(id)?.()
    },
    wait: async (id: string) => {
      if (seen.has(id)) return
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const timer = setTimeout(() => reject(new Error(`no line tells of request ${id}`)), 5_000)
      waiting.set(id, resolve)
      await promise.finally(() => clearTimeout(timer))
      waiting.delete(id)
    },
  }
}
