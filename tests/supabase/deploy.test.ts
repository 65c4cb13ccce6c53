import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkSecrets, createReport, setPasswords } from '../../scripts/deploy/deploy.ts'
import { check, deploy, type Target, verify } from '../../scripts/deploy/deploy-supabase.ts'
import { type ManagementStub, startManagementStub } from '../../scripts/deploy/management-stub.ts'
import { proveUpload } from '../../scripts/deploy/prove-upload.ts'
import { ROOT } from '../../scripts/postgres/migrate.ts'
import type { StartedPostgres } from '../../scripts/postgres/postgres.ts'
import { startThrowawayPostgres } from '../../scripts/postgres/throwaway.ts'
import { migrateLikeSupabase, withClient } from '../../scripts/schema/schema.ts'
import { watchArguments } from '../support/attacks/arguments.ts'

/** What the project answers from outside, as PostgREST and the functions would. */
type Outside = { exposed: string[]; jobs_open: boolean; sources: unknown[] }

const SECRET = randomBytes(32).toString('hex')
let outside: Outside
let site: Server
let site_url: string
let folder: string
let server: StartedPostgres
let admin_url: string
let stub: ManagementStub

/** What was a secret of one of these deployments. */
const hidden: string[] = [SECRET]
let watching: ReturnType<typeof watchArguments>

beforeAll(async () => {
  watching = watchArguments()
  folder = await mkdtemp(join(tmpdir(), 'watchpost-deploy-'))
  server = await startThrowawayPostgres()
  admin_url = await migrateLikeSupabase(server.adminUrl)
  stub = await startManagementStub()
  site = createServer((request, response) => {
    const path = request.url ?? ''
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (path === '/functions/v1/jobs') {
      const known = request.headers.authorization === `Bearer ${SECRET}`
      return send(known || outside.jobs_open ? 200 : 401, {})
    }
    if (path === '/functions/v1/api/api/sources/health') {
      return send(200, { status: 'ok', sources: outside.sources })
    }
    const schema = String(request.headers['accept-profile'])
    if (path === '/rest/v1/accounts' && !outside.exposed.includes(schema)) {
      return send(406, { code: 'PGRST106', message: `Invalid schema: ${schema}` })
    }
    return send(200, {})
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const address = site.address()
  site_url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
})
afterAll(async () => {
  watching?.stop()
  site?.close()
  await stub?.stop()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  outside = { exposed: [], jobs_open: false, sources: [{ source: 'usgs' }] }
})

function secrets() {
  const login = (role: string) => {
    const url = new URL(admin_url)
    url.username = role
    url.password = randomBytes(12).toString('hex')
    hidden.push(url.password)
    return url.href
  }
  return {
    API_DATABASE_URL: login('watchpost_api'),
    JOBS_DATABASE_URL: login('watchpost_jobs'),
    SEAL_KEYS: randomBytes(32).toString('base64'),
    PUBLIC_URL: 'https://watchpost.example.com',
    JOBS_SECRET: SECRET,
  }
}

const target = (): Target => ({
  ref: 'abcdefghijklmnopqrst',
  project_url: site_url,
  database_url: `${admin_url}?sslmode=disable`,
  profile: stub.profile,
  token: `sbp_${'0'.repeat(40)}`,
  root: ROOT,
})

/** A clone with functions that do nothing, but are whole. */
async function makeProject(names: string[]): Promise<string> {
  const root = await mkdtemp(join(folder, 'project-'))
  await mkdir(join(root, 'functions'))
  const code = `import { Hono } from 'hono'\nDeno.serve(new Hono().get('*', (c) => c.json({})).fetch)`
  await writeFile(join(root, 'functions/supabase.ts'), code)
  await mkdir(join(root, 'supabase/functions'), { recursive: true })
  await symlink(join(ROOT, 'supabase/migrations'), join(root, 'supabase/migrations'))
  await writeFile(join(root, 'supabase/functions/deno.json'), '{"imports":{"hono":"npm:hono"}}')
  const config = ['project_id = "fixture"']
  for (const name of names) {
    const index = join(root, `supabase/functions/${name}/index.ts`)
    await mkdir(dirname(index))
    await writeFile(index, `import '../../../functions/supabase.ts'`)
    config.push(
      `[functions.${name}]`,
      'verify_jwt = false',
      `entrypoint = "./functions/${name}/index.ts"`,
      'import_map = "./functions/deno.json"',
    )
  }
  await writeFile(join(root, 'supabase/config.toml'), config.join('\n'))
  return root
}

function listen() {
  const lines: string[] = []
  const report = createReport((line) => lines.push(line.trim().replaceAll(/ +/g, ' ')))
  return { report, lines }
}

describe('before a deployment', () => {
  test('what is missing is named, each with its way out', async () => {
    const { report, lines } = listen()
    await check(report, { profile: stub.profile, token: 'none' }, join(folder, 'none'))
    const missing = lines.filter((line) => line.startsWith('MISSING'))
    expect(missing.map((line) => line.split(' ')[1])).toEqual([
      'secrets',
      'project',
      'login',
      'database',
    ])
    for (const line of missing)
      expect(line).toMatch(/docs\/deploy.md|--remote|supabase login|--database-url/)
  }, 60_000)

  test.each([
    ['PUBLIC_URL', 'http://watchpost.example.com', 'PUBLIC_URL must be an https'],
    ['JOBS_SECRET', 'short', 'JOBS_SECRET must have'],
    ['SEAL_KEYS', 'MARK', 'SEAL_KEYS must hold keys'],
    ['DATABASE_URL', 'postgres://postgres:MARK@db/postgres', 'DATABASE_URL is an administrator'],
  ])('a bad %s is named and not shown', (name, value, said) => {
    const { report, lines } = listen()
    const given = { ...secrets(), [name]: value }
    const needed = {
      platform: { AUTH_ISSUER: 'https://a.supabase.co/auth/v1' },
      needs: ['CONTACT'],
    }
    expect(checkSecrets(report, '.env.supabase', given, needed)).toBe(false)
    expect(lines.join()).toContain('CONTACT is not set')
    expect(lines.join()).toContain(said)
    expect(lines.join()).not.toContain('MARK')
  })
})

describe('a deployment', () => {
  test('sets the logins, the secrets and the functions, and finds them well', async () => {
    const env_file = join(folder, '.env.supabase')
    const given = secrets()
    await writeFile(
      env_file,
      Object.entries(given)
        .map((pair) => pair.join('='))
        .join('\n'),
    )
    const { report, lines } = listen()
    const root = await makeProject(['api', 'jobs'])
    await deploy(report, { ...target(), root }, given, env_file)
    expect(Object.fromEntries(stub.secrets)).toEqual(given)
    expect(stub.uploads.map(({ slug }) => slug).sort()).toEqual(['api', 'jobs'])
    expect(lines).toContain('ok login watchpost_api, with a new password')
    for (const url of [given.API_DATABASE_URL, given.JOBS_DATABASE_URL]) {
      await withClient(url, (client) => client.query('select 1'))
    }
    await verify(report, target(), given, 1)
    // What the stub does not know is how a project's settings are written.
    expect(
      lines.filter((line) => line.startsWith('MISSING')).map((line) => line.slice(0, 16)),
    ).toEqual(['MISSING settings'])
    const again = listen()
    await setPasswords(again.report, admin_url, given)
    expect(again.lines).toContain('ok login watchpost_api')
  }, 60_000)

  test.each<[string, Partial<Outside>, RegExp]>([
    ['an exposed schema', { exposed: ['support'] }, /MISSING exposure support can be reached/],
    ['an open jobs function', { jobs_open: true }, /MISSING jobs without the secret: 200/],
    ['a service without database', { sources: [] }, /MISSING health .* cannot reach the database/],
  ])('is not called good with %s', async (_, change, said) => {
    outside = { ...outside, ...change }
    const { report, lines } = listen()
    await verify(report, target(), secrets(), 1)
    expect(lines.join('\n')).toMatch(said)
  })
})

test('a deployment shows no secret to whoever lists the programs of the machine', async () => {
  const database_url = `${admin_url}?sslmode=disable`
  const { report, lines } = listen()
  await check(report, { ...target(), database_url }, join(folder, '.env.supabase'))
  expect(lines.join('\n')).toContain('migration(s) to apply')
  hidden.push(`:${new URL(admin_url).password}@`, `sbp_${'0'.repeat(40)}`)
  const seen = watching.seen()
  for (const verb of ['db push', 'secrets set', 'functions deploy', 'projects list']) {
    expect(seen.some((line) => line.includes(`supabase ${verb}`))).toBe(true)
  }
  expect(seen.filter((line) => hidden.some((secret) => line.includes(secret)))).toEqual([])
})

describe('the proof of the upload', () => {
  async function project(change: (root: string) => Promise<unknown>) {
    const root = await makeProject(['api'])
    await change(root)
    const { report, lines } = listen()
    return { whole: await proveUpload(report, root), said: lines.join('\n') }
  }

  test('ours is whole: what the CLI uploads type-checks and starts', async () => {
    const { report, lines } = listen()
    expect(await proveUpload(report), lines.join('\n')).toBe(true)
  }, 180_000)

  test('a whole one starts', async () => {
    expect(await project(async () => {})).toMatchObject({ whole: true })
  }, 60_000)

  test.each<[string, (root: string) => Promise<unknown>, RegExp]>([
    [
      'a type error',
      (root) =>
        writeFile(join(root, 'functions/supabase.ts'), 'const n: number = "one"; export { n }'),
      /not assignable/,
    ],
    [
      'a file that is not uploaded',
      async (root) => {
        await cp(join(root, 'functions'), join(root, 'shared'), { recursive: true })
        await writeFile(
          join(root, 'functions/supabase.ts'),
          `const name = '../shared/' + 'supabase.ts'; await import(name)`,
        )
      },
      /did not start/,
    ],
    [
      'no import map',
      (root) =>
        writeFile(
          join(root, 'supabase/config.toml'),
          'project_id = "w"\n[functions.api]\nverify_jwt = false\nentrypoint = "./functions/api/index.ts"\n',
        ),
      /no import map/,
    ],
  ])(
    '%s is found',
    async (_, change, said) => {
      const { whole, said: words } = await project(change)
      expect(whole).toBe(false)
      expect(words).toMatch(said)
    },
    60_000,
  )
})
