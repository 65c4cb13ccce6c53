import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { z } from 'zod'
import { createOperatorApp } from '../../../scripts/operator/app.ts'
import { createOperatorLink } from '../../../scripts/operator/sessions.ts'
import { asOperator } from '../../../scripts/postgres/accounts.ts'
import { createService, type Service } from '../../support/service.ts'

const HOST = '127.0.0.1:8788'
/** The operator. */
export const NAME = 'Ayşe'

export let service: Service
let folder: string
export let app: ReturnType<typeof createOperatorApp>
export const logged: Record<string, unknown>[] = []

/** Serves the operator page of a service of its own. */
export function useOperatorPage(): void {
  beforeAll(async () => {
    service = await createService()
    folder = await mkdtemp(join(tmpdir(), 'watchpost-operator-'))
    await writeFile(join(folder, 'index.html'), '<title>Operator</title>')
    app = createOperatorApp({
      adminUrl: service.database.adminUrl,
      public_url: 'https://watchpost.test',
      log: (line) => void logged.push(line),
      folder,
    })
  })
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
    await service?.close()
  })
}

export type Headers = Record<string, string | undefined>
export type Signed = { cookie: string; page: string }

/** Asks the page, as its own script would unless `headers` say otherwise. */
export async function ask(method: string, path: string, headers: Headers = {}, body?: unknown) {
  const sent = {
    host: HOST,
    ...(method === 'GET' ? {} : { origin: `http://${HOST}`, 'content-type': 'application/json' }),
    ...headers,
  }
  const given = Object.entries(sent).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  const answer = await app.request(path, {
    method,
    headers: Object.fromEntries(given),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json')
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: isJson ? JSON.parse(text) : text,
  }
}

export const credentials = ({ cookie, page }: Signed) => ({ cookie, 'x-operator-page': page })

/** A new link for the operator. */
export async function newLink(): Promise<string> {
  const { token } = await asOperator(service.database.adminUrl, (client) =>
    createOperatorLink(client, { name: NAME }),
  )
  return token
}

/** Signs the operator in. */
export async function signIn(): Promise<Signed> {
  const answer = await ask('POST', '/api/sign-in', {}, { token: await newLink() })
  expect(answer.status).toBe(200)
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return { cookie, page: z.object({ page: z.string() }).parse(answer.body).page }
}

/** What operators did, the newest first. */
export async function acts() {
  return service.database.query(
    'select operator, via, action, target_id, details from watchpost.operator_acts order by at desc, id',
  )
}

/** A feed that is polled once a day. */
export async function aFeed(): Promise<string> {
  const source = `feed-${randomBytes(4).toString('hex')}`
  await service.database.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds, next_poll_at)
    values ($1, 'A feed', 'Nobody', '{flood}', 86400, now() + interval '1 day')`,
    [source],
  )
  return source
}

/** A job that has failed for good. */
export async function deadJob(): Promise<string> {
  const [row] = await service.database.query<{ id: string }>(
    `insert into pgboss.job (name, data, policy, source_name, source_output)
    values ('dead', '{"source": "usgs"}', 'standard', 'match', '{"message": "It broke.\\n  at line 1"}') returning id`,
  )
  return row?.id ?? ''
}

/** The feeds of which a poll waits in the queue. */
export async function duePolls(): Promise<{ source: string }[]> {
  await service.database.query('select private.enqueue_due()')
  return service.database.query(
    `select data ->> 'source' as source from pgboss.job where name = 'ingest'`,
  )
}

/** What everybody is told about a feed. */
export async function healthOf(source: string) {
  const { body } = await service.request('GET', '/api/sources/health')
  const { sources } = body as { sources: { source: string; status: string; error: string }[] } // safe: 200
  return sources.find((one) => one.source === source)
}
