import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createReport } from '../../scripts/deploy.ts'
import { check, hyperdriveId } from '../../scripts/deploy-cloudflare.ts'
import { ROOT } from '../../scripts/migrate.ts'

const ID = { API_DATABASE: 'a'.repeat(32), JOBS_DATABASE: 'b'.repeat(32) }
const HOST = 'db.abcdefghijklmnopqrst.supabase.co'

type Config = { user: string; host: string; disabled: boolean }
let configs: Record<string, Config>
let server: Server
let folder: string

/** Cloudflare's API, as far as a check asks it. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-cloudflare-'))
  server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://stub').pathname
    const found = configs[path.split('/').pop() ?? '']
    const others: Record<string, unknown> = {
      '/user/tokens/verify': { id: 'token', status: 'active' },
      '/user': { id: 'user', email: 'ops@example.com' },
      '/accounts': [{ id: 'account', name: 'Ours' }],
      '/memberships': [{ id: 'm', account: { id: 'account', name: 'Ours' }, roles: [] }],
    }
    const result = found
      ? {
          id: 'x',
          name: 'watchpost',
          origin: { host: found.host, user: found.user, port: 5432, database: 'postgres' },
          caching: { disabled: found.disabled },
        }
      : others[path]
    const result_info = { page: 1, per_page: 50, total_pages: 1, count: 1, total_count: 1 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result, result_info }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', `http://127.0.0.1:${port}`)
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'token')
  vi.stubEnv('CLOUDFLARE_ACCOUNT_ID', 'account')
  vi.stubEnv('HOME', folder)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  server?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  configs = {
    [ID.API_DATABASE]: { user: 'watchpost_api', host: HOST, disabled: true },
    [ID.JOBS_DATABASE]: { user: 'watchpost_jobs', host: HOST, disabled: true },
  }
})

async function linesOf(toml?: string): Promise<string[]> {
  const config = join(folder, 'wrangler.toml')
  let text = toml ?? (await readFile(join(ROOT, 'wrangler.toml'), 'utf8'))
  for (const [binding, id] of Object.entries(ID)) {
    if (!toml) text = text.replace(new RegExp(`(binding = "${binding}"\\nid = ")0+`), `$1${id}`)
  }
  await writeFile(config, text)
  const lines: string[] = []
  const report = createReport((line) => lines.push(line.trim().replaceAll(/ +/g, ' ')))
  await check(report, join(folder, 'none'), config)
  return lines.filter((line) => line.includes('hyperdrive '))
}

test('wrangler.toml names a Hyperdrive for each Worker', async () => {
  const toml = await readFile(join(ROOT, 'wrangler.toml'), 'utf8')
  expect(hyperdriveId(toml, 'API_DATABASE')).toMatch(/^[0-9a-f]{32}$/)
  expect(hyperdriveId(toml, 'JOBS_DATABASE')).toMatch(/^[0-9a-f]{32}$/)
  expect(hyperdriveId(toml, 'OTHER')).toBeUndefined()
})

test('two that do not cache and go straight to the database are good', async () => {
  expect(await linesOf()).toEqual([
    'ok hyperdrive JOBS_DATABASE: no cache, direct',
    'ok hyperdrive API_DATABASE: no cache, direct',
  ])
})

test('an id that was never put in is told with the command that makes one', async () => {
  const lines = await linesOf(await readFile(join(ROOT, 'wrangler.toml'), 'utf8'))
  expect(lines).toHaveLength(2)
  for (const line of lines)
    expect(line).toMatch(/no id yet: .* hyperdrive create .* --caching-disabled/)
})

test('a cache, a pooler and another login are refused, each with its way out', async () => {
  configs[ID.API_DATABASE] = {
    user: 'watchpost_api',
    host: 'aws-0-eu-central-1.pooler.supabase.com',
    disabled: false,
  }
  configs[ID.JOBS_DATABASE] = { user: 'postgres', host: HOST, disabled: true }
  const [jobs = '', api = ''] = await linesOf()
  expect(jobs).toMatch(/^MISSING .* logs in as postgres, not watchpost_jobs$/)
  expect(api).toMatch(/^MISSING .* hyperdrive update a{32} --caching-disabled; .* is a pooler/)
})
