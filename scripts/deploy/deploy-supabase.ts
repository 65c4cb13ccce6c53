import { join } from 'node:path'
import { z } from 'zod'
import { supabaseVariables } from '../../functions/edge/edge.ts'
import { ROOT } from '../postgres/migrate.ts'
import { supabase } from '../schema/supabase-cli.ts'
import { environment, readArguments, runMain, UsageError } from '../start/arguments.ts'
import {
  checkHealth,
  checkSchema,
  checkSecrets,
  createReport,
  type Environment,
  type Report,
  readEnvFile,
  setPasswords,
} from './deploy.ts'
import { proveUpload } from './prove-upload.ts'

const HELP = `npm run deploy:supabase -- [options]

  (no option)           checks the requirements and tries the upload on this machine; changes nothing
  --do                  deploys the database, logins, secrets, functions and settings, and checks that it works
  --remote REF          the project, 20 letters (or SUPABASE_PROJECT_REF)
  --database-url URL    the administrator's login, in session mode or direct (or DATABASE_URL)
  --env-file FILE       the secrets of the functions (default .env.supabase)
  --profile FILE        a profile of the CLI for another platform than supabase.com`

const NEEDED = ['API_DATABASE_URL', 'JOBS_DATABASE_URL', 'SEAL_KEYS', 'JOBS_SECRET']
const PRIVATE_SCHEMAS = ['watchpost', 'private', 'support', 'pgboss']

export type Target = {
  ref: string
  /** The project's address: https://<ref>.supabase.co */
  project_url: string
  /** The administrator's login. */
  database_url: string
  profile: string | undefined
  token: string | undefined
  /** The folder of the clone that is deployed. */
  root: string
}

const platformVariables = ({ project_url }: Partial<Target>) =>
  supabaseVariables(project_url ?? 'https://unknown.supabase.co')

/** check checks everything that a deployment needs, without changing anything. */
export async function check(report: Report, target: Partial<Target>, env_file: string) {
  report.heading('Requirements')
  const given = await readEnvFile(report, env_file)
  checkSecrets(report, env_file, given, { platform: platformVariables(target), needs: NEEDED })
  const { ref } = target
  report.line(
    'project',
    /^[a-z]{20}$/.test(ref ?? ''),
    /^[a-z]{20}$/.test(ref ?? '')
      ? String(ref)
      : '--remote <ref> is required: the 20 letters in the address of its dashboard',
  )
  if (await checkLogin(report, target)) await checkSealKeys(report, target, given)
  await checkMigrations(report, target)
  return given
}

async function checkLogin(report: Report, target: Partial<Target>): Promise<boolean> {
  try {
    await cli(target, ['projects', 'list'])
    return report.line('login', true, 'the CLI is logged in')
  } catch {
    return report.line(
      'login',
      false,
      'node_modules/.bin/supabase login, or SUPABASE_ACCESS_TOKEN from the dashboard (Account, Access Tokens)',
    )
  }
}

const Secrets = z.object({ secrets: z.array(z.object({ name: z.string(), value: z.string() })) })

/** Without the old sealing keys no channel could be opened, so a project must keep them. */
async function checkSealKeys(report: Report, target: Partial<Target>, given: Environment) {
  if (!target.ref || !given.SEAL_KEYS) return
  const { stdout } = await cli(target, ['secrets', 'list', remote(target), ...AS_JSON])
  const found = Secrets.safeParse(JSON.parse(stdout))
  const kept = found.data?.secrets.find(({ name }) => name === 'SEAL_KEYS')?.value
  if (!kept) return
  const keys = given.SEAL_KEYS.split(',')
  const digests = await Promise.all(keys.map((_, i) => sha256(keys.slice(i).join(','))))
  report.line(
    'SEAL_KEYS',
    digests.includes(kept),
    digests.includes(kept)
      ? 'holds the keys the project has'
      : 'the project has other keys: put new keys in front of them, separated by a comma; without the old keys no channel can be opened',
  )
}

async function checkMigrations(report: Report, target: Partial<Target>) {
  if (!target.database_url) {
    const where = 'dashboard, Connect, "Session pooler" (port 5432)'
    return report.line('database', false, `--database-url: ${where}, with the database password`)
  }
  try {
    const { stdout } = await push(target, ['--dry-run', ...AS_JSON])
    const { migrations } = z.object({ migrations: z.array(z.unknown()) }).parse(JSON.parse(stdout))
    return report.line('database', true, `${migrations.length} migration(s) to apply`)
  } catch (error) {
    return report.line('database', false, error instanceof Error ? error.message : String(error))
  }
}

/**
 * deploy changes the project; each step can be repeated, so an interrupted deployment is simply run
 * again.
 */
export async function deploy(report: Report, target: Target, given: Environment, env_file: string) {
  report.heading(`Deploying to ${target.ref}`)
  await push(target, ['--yes'])
  report.line('database', true, 'migrated')
  await setPasswords(report, target.database_url, given)
  await cli(target, ['secrets', 'set', '--env-file', env_file, remote(target), '--yes'])
  report.line('secrets', true, 'set')
  await cli(target, ['functions', 'deploy', '--use-api', remote(target), '--yes'])
  report.line('functions', true, 'deployed')
  try {
    const [site] = (given.CONSOLE_ORIGINS ?? '').split(',')
    const CONSOLE_URL = site?.trim() || (given.PUBLIC_URL ?? platformVariables(target).PUBLIC_URL)
    const env = { CONSOLE_URL }
    await cli(target, ['config', 'push', remote(target), '--yes'], env)
    report.line('settings', true, 'supabase/config.toml pushed')
  } catch (error) {
    report.line(
      'settings',
      false,
      `supabase config push: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/** verify checks from outside that the deployment works and exposes nothing that it should not. */
export async function verify(report: Report, target: Target, given: Environment, tries?: number) {
  report.heading('Checking it from outside')
  const functions = `${target.project_url}/functions/v1`
  const stranger = await fetch(`${functions}/jobs`, { method: 'POST' })
  const refused = [401, 403, 404].includes(stranger.status)
  report.line('jobs', refused, `without the secret: ${stranger.status}`)
  const ours = await fetch(`${functions}/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${given.JOBS_SECRET}` },
  })
  report.line('jobs', ours.ok, `with the secret: ${ours.status}`)
  await checkHealth(report, `${functions}/api`, tries)
  await checkExposure(report, target)
}

const Keys = z.object({
  keys: z.array(z.object({ api_key: z.string(), name: z.string(), type: z.string().nullish() })),
})

/** PostgREST must not serve any of our schemas, whatever the headers. */
async function checkExposure(report: Report, target: Target) {
  const { stdout } = await cli(target, ['projects', 'api-keys', remote(target), ...AS_JSON])
  const { keys } = Keys.parse(JSON.parse(stdout))
  const key =
    keys.find(({ name, type }) => type === 'publishable' || name === 'anon')?.api_key ?? ''
  const exposed: string[] = []
  for (const schema of PRIVATE_SCHEMAS) {
    const response = await fetch(`${target.project_url}/rest/v1/accounts`, {
      headers: { apikey: key, 'accept-profile': schema },
    })
    // PGRST106: the schema is not served; 404 and 503 mean that the Data API is off.
    const code = z.object({ code: z.string() }).safeParse(await response.json().catch(() => null))
    const closed = code.data?.code === 'PGRST106' || [404, 503].includes(response.status)
    if (!closed) exposed.push(schema)
  }
  const root = await fetch(`${target.project_url}/rest/v1/`, { headers: { apikey: key } })
  const listing = await root.text()
  if (/api_keys|match_memory|zone_versions/.test(listing)) exposed.push('GET /rest/v1/')
  report.line(
    'exposure',
    exposed.length === 0,
    exposed.length === 0
      ? 'PostgREST serves none of our schemas'
      : `${exposed.join(', ')} can be reached. In the dashboard, under Settings, Data API, remove every schema but "public"`,
  )
}

const AS_JSON = ['--output-format', 'json']
const remote = ({ ref }: Partial<Target>) => `--remote=${ref}`

function cli(
  target: Partial<Target>,
  args: string[],
  env: Record<string, string | undefined> = {},
) {
  const profile = target.profile ? ['--profile', target.profile] : []
  const token = target.token ? { SUPABASE_ACCESS_TOKEN: target.token } : {}
  return supabase([...args, ...profile], { env: { ...token, ...env }, cwd: target.root })
}

function push(target: Partial<Target>, args: string[]) {
  return supabase(['db', 'push', `--remote=${target.database_url}`, ...args], { cwd: target.root })
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(digest).toString('hex')
}

async function main() {
  const { values } = readArguments(
    {
      options: {
        do: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        remote: { type: 'string' },
        'database-url': { type: 'string' },
        'env-file': { type: 'string', default: '.env.supabase' },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    },
    'See npm run deploy:supabase -- --help',
  )
  if (values.help) return console.log(HELP)
  const env = environment()
  const ref = values.remote ?? env.SUPABASE_PROJECT_REF
  if (ref !== undefined && !/^[a-z]{20}$/.test(ref)) {
    throw new UsageError(`--remote must be a project ref of 20 lower-case letters, not ${ref}.`)
  }
  const target = {
    ref,
    project_url: `https://${ref}.supabase.co`,
    database_url: values['database-url'] ?? env.DATABASE_URL,
    profile: values.profile,
    token: undefined,
    root: ROOT,
  }
  const env_file = join(process.cwd(), values['env-file'])
  const report = createReport()
  const given = await check(report, target, env_file)
  await checkSchema(report)
  const missing = report.missing()
  const is_proven = await proveUpload(report)
  if (!values.do && !values.yes) {
    report.heading(
      missing > 0
        ? `Nothing was changed. Before npm run deploy:supabase -- --do, supply what is missing: ${missing}`
        : 'Nothing was changed. Everything is ready for npm run deploy:supabase -- --do',
    )
    process.exitCode = is_proven ? 0 : 1
    return
  }
  const { database_url } = target
  if (report.missing() > 0 || !ref || !database_url) {
    throw new Error('\nNothing was changed. Supply what is missing first.')
  }
  await deploy(report, { ...target, ref, database_url }, given, env_file)
  await verify(report, { ...target, ref, database_url }, given)
  if (report.missing() > 0) throw new Error('\nIt is deployed, but some checks failed.')
  report.heading(
    `Deployed. After the first deployment, run supabase/cron.sql in the SQL editor and continue with "The first account" in docs/deploy.md.`,
  )
}

if (import.meta.main) await runMain(main)
