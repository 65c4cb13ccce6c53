import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestHarness } from 'wrangler'
import { checkHealth, createReport } from '../../scripts/deploy/deploy.ts'
import { check, deploy, hyperdriveId } from '../../scripts/deploy/deploy-cloudflare.ts'
import { ROOT } from '../../scripts/postgres/migrate.ts'
import type { StartedPostgres } from '../../scripts/postgres/postgres.ts'
import { startThrowawayPostgres } from '../../scripts/postgres/throwaway.ts'
import { migrateLikeSupabase, withClient } from '../../scripts/schema/schema.ts'
import {
  type CloudflareStub,
  startCloudflareStub,
  type Upload,
} from '../support/servers/cloudflare.ts'
import { createProcesses } from '../support/servers/processes.ts'

const ID = { API_DATABASE: 'a'.repeat(32), JOBS_DATABASE: 'b'.repeat(32) }
const HOST = 'db.abcdefghijklmnopqrst.supabase.co'

let stub: CloudflareStub
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-cloudflare-'))
  stub = await startCloudflareStub()
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', stub.url)
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'token')
  vi.stubEnv('CLOUDFLARE_ACCOUNT_ID', 'account')
  vi.stubEnv('HOME', folder)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await stub?.stop()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  stub.hyperdrives[ID.API_DATABASE] = { user: 'watchpost_api', host: HOST, disabled: true }
  stub.hyperdrives[ID.JOBS_DATABASE] = { user: 'watchpost_jobs', host: HOST, disabled: true }
})

const ours = () => readFile(join(ROOT, 'wrangler.toml'), 'utf8')

/** Our wrangler.toml as somebody has it who made both Hyperdrives; it stands elsewhere, so paths are whole. */
async function configured(): Promise<string> {
  let toml = await ours()
  for (const [binding, id] of Object.entries(ID)) {
    toml = toml.replace(new RegExp(`(binding = "${binding}"\\nid = ")0+`), `$1${id}`)
  }
  return toml
    .replace('main = "', `main = "${ROOT}/`)
    .replace(
      'node scripts/build/static.ts dist/static',
      `node ${ROOT}/scripts/build/static.ts ${folder}/static`,
    )
    .replace('directory = "dist/static"', `directory = "${folder}/static"`)
}

function listen() {
  const lines: string[] = []
  const report = createReport((line) => lines.push(line.trim().replaceAll(/ +/g, ' ')))
  return { report, lines }
}

async function linesOf(toml: string): Promise<string[]> {
  const config = join(folder, 'wrangler.toml')
  await writeFile(config, toml)
  const { report, lines } = listen()
  await check(report, join(folder, 'none'), config)
  return lines.filter((line) => line.includes('hyperdrive '))
}

describe('before a deployment', () => {
  test('wrangler.toml names a Hyperdrive for each Worker', async () => {
    const toml = await ours()
    expect(hyperdriveId(toml, 'API_DATABASE')).toMatch(/^[0-9a-f]{32}$/)
    expect(hyperdriveId(toml, 'JOBS_DATABASE')).toMatch(/^[0-9a-f]{32}$/)
    expect(hyperdriveId(toml, 'OTHER')).toBeUndefined()
  })

  test('two Hyperdrives that do not cache and go straight to the database are accepted', async () => {
    expect(await linesOf(await configured())).toEqual([
      'ok hyperdrive JOBS_DATABASE: no cache, direct',
      'ok hyperdrive API_DATABASE: no cache, direct',
    ])
  })

  test('an id that was never put in is told with the command that makes one', async () => {
    const lines = await linesOf(await ours())
    expect(lines).toHaveLength(2)
    for (const line of lines)
      expect(line).toMatch(/no id yet: .* hyperdrive create .* --caching-disabled/)
  })

  test('a cache, a pooler and another login are refused, each with its way out', async () => {
    stub.hyperdrives[ID.API_DATABASE] = {
      user: 'watchpost_api',
      host: 'aws-0-eu-central-1.pooler.supabase.com',
      disabled: false,
    }
    stub.hyperdrives[ID.JOBS_DATABASE] = { user: 'postgres', host: HOST, disabled: true }
    const [jobs = '', api = ''] = await linesOf(await configured())
    expect(jobs).toMatch(/^MISSING .* logs in as postgres, not watchpost_jobs$/)
    expect(api).toMatch(/^MISSING .* hyperdrive update a{32} --caching-disabled; .* is a pooler/)
  })

  test('--do changes nothing while something is missing', async () => {
    const processes = await createProcesses()
    try {
      const env = {
        CLOUDFLARE_API_BASE_URL: stub.url,
        CLOUDFLARE_API_TOKEN: 'token',
        CLOUDFLARE_ACCOUNT_ID: 'account',
        HOME: folder,
      }
      const told = processes.run('scripts/deploy/deploy-cloudflare.ts', ['--do'], env)
      expect(await told.ended).toBe(1)
      expect(told.stdout()).toMatch(/MISSING +secrets[^\n]* does not exist/)
      expect(told.stdout()).toMatch(/MISSING +database +--database-url/)
      expect(told.stderr()).toContain('Nothing was changed. Supply what is missing first.')
      expect(stub.changes).toEqual([])
    } finally {
      await processes.close()
    }
  }, 120_000)
})

describe('a deployment', () => {
  let server: StartedPostgres
  let admin_url: string
  let given: Record<string, string>
  let lines: string[]

  beforeAll(async () => {
    server = await startThrowawayPostgres()
    admin_url = await migrateLikeSupabase(server.adminUrl)
    const login = (role: string) => {
      const url = new URL(admin_url)
      url.username = role
      url.password = randomBytes(12).toString('hex')
      return url.href
    }
    given = {
      API_DATABASE_URL: login('watchpost_api'),
      JOBS_DATABASE_URL: login('watchpost_jobs'),
      SEAL_KEYS: randomBytes(32).toString('base64'),
      PUBLIC_URL: 'https://watchpost.example.com',
      AUTH_ISSUER: 'https://abcdefghijklmnopqrst.supabase.co/auth/v1',
      // Time for the feeds to be registered and none to be polled.
      JOBS_BUDGET_SECONDS: '0.001',
    }
    const config = join(folder, 'deployed.toml')
    await writeFile(config, await configured())
    const told = listen()
    lines = told.lines
    await deploy(told.report, admin_url, given, config)
  }, 120_000)
  afterAll(() => server?.stop())

  const uploadOf = (name: string) => stub.uploads.find((upload) => upload.name === name)
  const bindingsOf = (name: string) =>
    Object.fromEntries(
      (uploadOf(name)?.metadata.bindings ?? []).map(({ name, ...binding }) => [name, binding]),
    )

  test('gives the logins their passwords', async () => {
    expect(lines).toContain('ok login watchpost_api, with a new password')
    expect(lines).toContain('ok login watchpost_jobs, with a new password')
    for (const url of [given.API_DATABASE_URL, given.JOBS_DATABASE_URL]) {
      await withClient(url ?? '', (client) => client.query('select 1'))
    }
  })

  test('uploads the jobs before the API that calls them, each with its own database', () => {
    const secret = (name: string) => ({ type: 'secret_text', text: given[name] })
    const secrets = {
      SEAL_KEYS: secret('SEAL_KEYS'),
      PUBLIC_URL: secret('PUBLIC_URL'),
      AUTH_ISSUER: secret('AUTH_ISSUER'),
      JOBS_BUDGET_SECONDS: secret('JOBS_BUDGET_SECONDS'),
    }
    expect(stub.uploads.map(({ name }) => name)).toEqual(['watchpost-jobs', 'watchpost-api'])
    expect(bindingsOf('watchpost-jobs')).toEqual({
      ...secrets,
      JOBS_DATABASE: { type: 'hyperdrive', id: ID.JOBS_DATABASE },
    })
    expect(bindingsOf('watchpost-api')).toEqual({
      ...secrets,
      API_DATABASE: { type: 'hyperdrive', id: ID.API_DATABASE },
      ASSETS: { type: 'assets' },
      JOBS: { type: 'service', service: 'watchpost-jobs', entrypoint: 'Jobs' },
    })
    expect(stub.schedules).toEqual({ 'watchpost-jobs': [{ cron: '* * * * *' }] })
  })

  test.each(['watchpost-jobs', 'watchpost-api'])(
    '%s weighs no more than 800 KiB, compressed',
    (name) => {
      const code = [...(uploadOf(name)?.modules ?? [])].filter(([file]) => !file.endsWith('.map'))
      const bytes = gzipSync(code.map(([, text]) => text).join('')).length
      expect(bytes).toBeLessThan(800 * 1024)
      expect(bytes).toBeGreaterThan(400 * 1024)
    },
  )

  test('sends no login of the database anywhere', () => {
    const passwords = [given.API_DATABASE_URL, given.JOBS_DATABASE_URL, admin_url].map(
      (url) => new URL(url ?? '').password,
    )
    expect(passwords.filter((password) => password.length > 8)).not.toEqual([])
    for (const sent of stub.sent) {
      expect(passwords.filter((word) => word.length > 8 && sent.includes(word))).toEqual([])
    }
  })

  test('the uploaded Workers run: the jobs register the feeds and the API lists them', async () => {
    const workers = await run(['watchpost-jobs', 'watchpost-api'].map(uploadOf), given)
    try {
      const options = { cron: '* * * * *', scheduledTime: new Date() }
      await workers.harness.getWorker('watchpost-jobs').scheduled(options)
      const { report, lines: seen } = listen()
      expect(await checkHealth(report, workers.url, 1), seen.join('\n')).toBe(true)
    } finally {
      await workers.harness.close()
    }
  }, 60_000)
})

/** What was uploaded, as the platform would start it. */
async function run(uploads: (Upload | undefined)[], given: Record<string, string>) {
  vi.stubEnv('CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_API_DATABASE', given.API_DATABASE_URL)
  vi.stubEnv('CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_JOBS_DATABASE', given.JOBS_DATABASE_URL)
  const workers = []
  for (const upload of uploads) {
    if (!upload) throw new Error('a Worker was not uploaded')
    const { name, metadata, modules } = upload
    const home = join(folder, name)
    await mkdir(home)
    for (const [file, text] of modules) await writeFile(join(home, file), text)
    const of = (type: string) => metadata.bindings.filter((binding) => binding.type === type)
    workers.push({
      config: {
        name,
        main: join(home, metadata.main_module),
        compatibility_date: String(metadata.compatibility_date),
        compatibility_flags: ['nodejs_compat'],
        hyperdrive: of('hyperdrive').map(({ name: binding, id }) => ({ binding, id: String(id) })),
        services: of('service').map(({ name: binding, service, entrypoint }) => ({
          binding,
          service: String(service),
          entrypoint: String(entrypoint),
        })),
        vars: Object.fromEntries(of('secret_text').map(({ name, text }) => [name, String(text)])),
      },
    })
  }
  // The first is the one that is reached.
  const harness = createTestHarness({ root: folder, workers: workers.toReversed() })
  const { url } = await harness.listen()
  return { harness, url: String(url).replace(/\/$/, '') }
}
