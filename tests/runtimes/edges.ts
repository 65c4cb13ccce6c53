import { expect } from 'vitest'
import { z } from 'zod'
import { generateKey, keyHash, keyPrefix } from '../../shared/key.ts'
import type { TestDatabase } from '../support/servers/database.ts'
import { ISSUER } from '../support/servers/issuer.ts'
import { type Line, startDeno, startWorkers, type Target } from '../support/servers/runtimes.ts'

export const SEAL_KEY = Buffer.alloc(32, 7).toString('base64')
const SECRET = 'a secret of the test, long enough for its purpose'

/** The API and the jobs of one platform, each as its own deployment, with one database. */
export type Edge = {
  /** One call of the jobs by the platform's clock. */
  run: () => Promise<void>
  /** One request to the API under a key. */
  ask: (key: string, method: string, path: string, body?: unknown) => Promise<Response>
  close: () => Promise<void>
}

type Start = (options: {
  database: TestDatabase
  budget_seconds: number
  onLine: (line: Line) => void
  variables?: Record<string, string>
}) => Promise<Edge>

const COMMON = {
  SEAL_KEYS: SEAL_KEY,
  PUBLIC_URL: 'https://watchpost.test',
  AUTH_ISSUER: ISSUER,
  FEEDS: 'none',
  ALLOW_PRIVATE_TARGETS: '127.0.0.1',
}

const deno: Start = async ({ database, budget_seconds, onLine, variables: given }) => {
  const variables = { ...COMMON, JOBS_SECRET: SECRET, ...given }
  const jobs = await startDeno('jobs', {
    variables: {
      ...variables,
      JOBS_DATABASE_URL: database.jobsUrl,
      JOBS_BUDGET_SECONDS: String(budget_seconds),
    },
    onLine,
  })
  const api = await startDeno('api', {
    variables: { ...variables, API_DATABASE_URL: database.apiUrl, JOBS_URL: jobs.url },
    onLine,
  })
  return {
    run: async () => {
      const headers = new Headers({ Authorization: `Bearer ${SECRET}` })
      const answer = await jobs.fetch('', { method: 'POST', headers, body: '{}' })
      expect(answer.status, jobs.said()).toBe(200)
    },
    ask: asker(api),
    close: async () => {
      await Promise.all([jobs.close(), api.close()])
    },
  }
}

const workerd: Start = async ({ database, budget_seconds, onLine, variables }) => {
  const workers = await startWorkers({
    variables: { ...COMMON, JOBS_BUDGET_SECONDS: String(budget_seconds), ...variables },
    databases: { API_DATABASE: database.apiUrl, JOBS_DATABASE: database.jobsUrl },
    onLine,
  })
  return { run: workers.scheduled, ask: asker(workers), close: workers.close }
}

export const EDGES: [name: string, start: Start][] = [
  ['Deno', deno],
  ['workerd', workerd],
]

function asker(api: Target): Edge['ask'] {
  return (key, method, path, body) => {
    const headers = new Headers({ Authorization: `Bearer ${key}` })
    if (body === undefined) return api.fetch(path, { method, headers })
    headers.set('Content-Type', 'application/json')
    return api.fetch(path, { method, headers, body: JSON.stringify(body) })
  }
}

/** Somebody of the Enterprise plan, with a key that may do everything. */
export async function createPerson(database: TestDatabase): Promise<{ id: string; key: string }> {
  const [row] = await database.query(
    `insert into auth.users (id, email, email_confirmed_at)
    values (gen_random_uuid(), 'somebody@watchpost.test', now()) returning id`,
  )
  const { id } = z.object({ id: z.uuid() }).parse(row)
  await database.query(`update watchpost.accounts set plan = 'enterprise' where user_id = $1`, [id])
  const key = generateKey()
  await database.query(
    `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes)
    values ($1, $2, $3, '{read,write,ingest}')`,
    [id, keyPrefix(key), await keyHash(key)],
  )
  return { id, key }
}
