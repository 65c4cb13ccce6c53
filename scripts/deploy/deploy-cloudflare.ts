import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { migrate, ROOT } from '../postgres/migrate.ts'
import { environment, readArguments, runMain } from '../start/arguments.ts'
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

const HELP = `npm run deploy:cloudflare -- [options]

  (no option)           checks the requirements and bundles both Workers; changes nothing
  --do                  deploys the database, the logins, the Worker "jobs", then "api", and checks that it works
  --database-url URL    the administrator's login, direct or in session mode (or DATABASE_URL)
  --env-file FILE       the secrets of the Workers (default .env.cloudflare)`

/**
 * The jobs come first, because the API is bound to them. Each logs in through its own Hyperdrive.
 */
const WORKERS = [
  { name: 'jobs', binding: 'JOBS_DATABASE', login: 'watchpost_jobs' },
  { name: 'api', binding: 'API_DATABASE', login: 'watchpost_api' },
] as const
const NEEDED = ['SEAL_KEYS', 'PUBLIC_URL', 'AUTH_ISSUER']
// Workers log in through Hyperdrive; these URLs only set the passwords.
const LOGINS = ['API_DATABASE_URL', 'JOBS_DATABASE_URL']
const PLATFORM = {
  API_DATABASE_URL: 'postgres://watchpost_api@hyperdrive.invalid/postgres',
  JOBS_DATABASE_URL: 'postgres://watchpost_jobs@hyperdrive.invalid/postgres',
}

export async function check(report: Report, env_file: string, config: string) {
  report.heading('Requirements')
  const given = await readEnvFile(report, env_file)
  checkSecrets(report, env_file, given, { platform: PLATFORM, needs: NEEDED })
  const is_known = await checkLogin(report)
  const toml = await readFile(config, 'utf8').catch(() => '')
  for (const worker of WORKERS) await checkHyperdrive(report, worker, { toml, is_known })
  return given
}

async function checkLogin(report: Report): Promise<boolean> {
  try {
    await wrangler(['whoami', '--json'])
    return report.line('login', true, 'wrangler is logged in')
  } catch {
    return report.line('login', false, 'node_modules/.bin/wrangler login, or CLOUDFLARE_API_TOKEN')
  }
}

const Hyperdrive = z.object({
  origin: z.object({ host: z.string(), user: z.string() }),
  caching: z.object({ disabled: z.boolean().optional() }).optional(),
})

/** Hyperdrive's cache does not know row-level security: one caller would get another's rows. */
async function checkHyperdrive(
  report: Report,
  { name, binding, login }: (typeof WORKERS)[number],
  { toml, is_known }: { toml: string; is_known: boolean },
): Promise<boolean> {
  const create = `node_modules/.bin/wrangler hyperdrive create watchpost-${name} --caching-disabled --connection-string "postgres://${login}:<password>@<direct host>:5432/postgres", then put its id into wrangler.toml`
  const id = hyperdriveId(toml, binding)
  if (!/^[0-9a-f]{32}$/.test(id ?? '') || /^0+$/.test(id ?? '')) {
    return report.line('hyperdrive', false, `${binding} has no id yet: ${create}`)
  }
  if (!is_known) return report.line('hyperdrive', true, `${binding} is ${id} (not checked)`)
  const { stdout } = await wrangler(['hyperdrive', 'get', String(id)])
  const found = Hyperdrive.parse(JSON.parse(stdout.slice(stdout.indexOf('{'))))
  const problems = [
    found.caching?.disabled !== true &&
      `it caches answers: node_modules/.bin/wrangler hyperdrive update ${id} --caching-disabled`,
    found.origin.user.split('.')[0] !== login && `it logs in as ${found.origin.user}, not ${login}`,
    found.origin.host.includes('pooler') &&
      `${found.origin.host} is a pooler: Hyperdrive pools itself and needs the direct host`,
  ].filter((problem) => problem !== false)
  const is_good = problems.length === 0
  return report.line(
    'hyperdrive',
    is_good,
    `${binding}: ${is_good ? 'no cache, direct' : problems.join('; ')}`,
  )
}

export function hyperdriveId(toml: string, binding: string): string | undefined {
  const tables = toml.split(/^(?=\[)/m)
  const table = tables.find(
    (text) => /^\[\[[\w.]*hyperdrive\]\]/.test(text) && text.includes(`"${binding}"`),
  )
  return table?.match(/^\s*id\s*=\s*"([^"]*)"/m)?.[1]
}

/** Bundles both Workers as they would be uploaded. */
export async function bundle(report: Report, config: string): Promise<boolean> {
  report.heading('Bundling the two Workers on this machine')
  if (!existsSync(config)) return report.line('bundle', false, 'wrangler.toml does not exist')
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bundle-'))
  try {
    for (const { name } of WORKERS) {
      const outdir = join(folder, name)
      const { stdout } = await wrangler([
        ...['deploy', '--dry-run', '--config', config, '--env', name],
        ...['--outdir', outdir],
      ])
      const size = stdout.match(/gzip: ([\d.]+ \w+)/)?.[1]
      report.line('bundle', Boolean(size), size ? `${name}: ${size} gzip` : `${name}: ${stdout}`)
    }
    return true
  } catch (error) {
    return report.line('bundle', false, error instanceof Error ? error.message : String(error))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function deploy(report: Report, adminUrl: string, given: Environment, config: string) {
  report.heading('Deploying')
  const applied = await migrate(adminUrl)
  report.line('database', true, `${applied.length} migration(s) applied`)
  if (LOGINS.every((name) => given[name])) await setPasswords(report, adminUrl, given)
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-secrets-'))
  try {
    const file = join(folder, 'secrets.json')
    const secrets = Object.entries(given).filter(([name]) => !LOGINS.includes(name))
    await writeFile(file, JSON.stringify(Object.fromEntries(secrets)), { mode: 0o600 })
    for (const { name } of WORKERS) {
      await wrangler(['deploy', '--config', config, '--env', name, '--secrets-file', file])
      report.line('worker', true, `${name} deployed with its secrets`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function wrangler(args: string[]): Promise<{ stdout: string }> {
  try {
    return await promisify(execFile)(join(ROOT, 'node_modules/.bin/wrangler'), args, {
      cwd: ROOT,
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', FORCE_COLOR: '0' },
      maxBuffer: 64 * 1024 * 1024,
    })
  } catch (error) {
    // safe: execFile adds both to its error
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`wrangler ${args.slice(0, 2).join(' ')}: ${`${stderr}\n${stdout}`.trim()}`)
  }
}

const MISSING = '\nNothing was changed. Supply what is missing first.'

async function main() {
  const { values } = readArguments(
    {
      options: {
        do: { type: 'boolean', default: false },
        'database-url': { type: 'string' },
        'env-file': { type: 'string', default: '.env.cloudflare' },
        help: { type: 'boolean', default: false },
      },
    },
    'See npm run deploy:cloudflare -- --help',
  )
  if (values.help) return console.log(HELP)
  const config = join(ROOT, 'wrangler.toml')
  const database_url = values['database-url'] ?? environment().DATABASE_URL
  const report = createReport()
  const given = await check(report, join(process.cwd(), values['env-file']), config)
  const where = '--database-url: an administrator’s login, direct or in session mode (port 5432)'
  report.line('database', Boolean(database_url), database_url ? 'given' : where)
  if (values.do && report.missing() > 0) throw new Error(MISSING)
  await checkSchema(report)
  const missing = report.missing()
  const is_bundled = await bundle(report, config)
  if (!values.do) {
    report.heading(
      missing > 0
        ? `Nothing was changed. Before npm run deploy:cloudflare -- --do, supply what is missing: ${missing}`
        : 'Nothing was changed. Everything is ready for npm run deploy:cloudflare -- --do',
    )
    process.exitCode = is_bundled ? 0 : 1
    return
  }
  if (report.missing() > 0 || !database_url || !given.PUBLIC_URL) {
    throw new Error(MISSING)
  }
  await deploy(report, database_url, given, config)
  report.heading('Checking it from outside')
  // The first cron run, which registers the feeds, comes within a minute.
  await checkHealth(report, given.PUBLIC_URL, 45)
  if (report.missing() > 0) throw new Error('\nIt is deployed, but some checks failed.')
  report.heading('Deployed.')
}

if (import.meta.main) await runMain(main)
