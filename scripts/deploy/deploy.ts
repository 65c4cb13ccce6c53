import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import pg from 'pg'
import { ConfigError, readEdgeApi, readEdgeJobs } from '../../functions/config.ts'
import { setLoginPasswords } from '../postgres/migrate.ts'

/** What both deployments share: their report, and their checks. */
export type Report = {
  /** Prints one line; if it is not ok, it is counted, and its text says what to do. */
  line: (what: string, ok: boolean, text: string) => boolean
  heading: (text: string) => void
  missing: () => number
}

export function createReport(print: (line: string) => void = console.log): Report {
  let missing = 0
  return {
    line: (what, ok, text) => {
      if (!ok) missing += 1
      print(`  ${ok ? 'ok     ' : 'MISSING'}  ${what.padEnd(12)}${text.replaceAll('\n', '\n  ')}`)
      return ok
    },
    heading: (text) => print(`\n${text}`),
    missing: () => missing,
  }
}

export type Environment = Record<string, string>

/** readEnvFile returns the variables for the target; none if the file does not exist. */
export async function readEnvFile(report: Report, path: string): Promise<Environment> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) {
    report.line(
      'secrets',
      false,
      `${path} does not exist: docs/deploy.md says what it must contain`,
    )
    return {}
  }
  const entries = Object.entries(parseEnv(text)).filter(([, value]) => value?.trim())
  // safe: entries without a value were left out
  return Object.fromEntries(entries) as Environment
}

/**
 * checkSecrets reports what the service would refuse to start with, and what must not be uploaded;
 * never a value.
 */
export function checkSecrets(
  report: Report,
  path: string,
  given: Environment,
  { platform, needs }: { platform: Environment; needs: string[] },
): boolean {
  if (Object.keys(given).length === 0) return false
  const problems = needs
    .filter((name) => !given[name])
    .map((name) => `${name} is not set. docs/deploy.md says what it is for.`)
  for (const readSome of [readEdgeApi, readEdgeJobs]) {
    try {
      readSome({ ...platform, ...given })
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(error.message)
    }
  }
  if (given.PUBLIC_URL && !given.PUBLIC_URL.startsWith('https://')) {
    problems.push(
      'PUBLIC_URL must be an https:// URL: the address at which people reach the service.',
    )
  }
  if (given.DATABASE_URL) {
    problems.push('DATABASE_URL is an administrator’s login and must not be uploaded.')
  }
  const names = Object.keys(given).sort().join(', ')
  const is_good = problems.length === 0
  const said = [...new Set(problems)].join(' ')
  return report.line('secrets', is_good, is_good ? names : `${path}: ${said}`)
}

/** checkSchema runs the same check as CI: sql/, migrations and advisors agree. */
export async function checkSchema(report: Report): Promise<boolean> {
  const script = join(import.meta.dirname, '../schema/check-schema.ts')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script])
    return report.line('schema', true, stdout.trim().replace('Schema: ', ''))
  } catch (error) {
    // safe: execFile adds it to its error
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return report.line('schema', false, `npm run check: ${`${stdout}${stderr}`.trim()}`)
  }
}

const LOGINS = [
  ['API_DATABASE_URL', 'watchpost_api', 'api'],
  ['JOBS_DATABASE_URL', 'watchpost_jobs', 'jobs'],
] as const

/**
 * setPasswords sets the passwords of the two logins to those of their URLs, if they cannot log in.
 */
export async function setPasswords(report: Report, adminUrl: string, given: Environment) {
  for (const [variable, role, name] of LOGINS) {
    const url = new URL(given[variable] ?? 'postgres:')
    // Supavisor expects the project after a dot: watchpost_api.<project ref>.
    if (decodeURIComponent(url.username).split('.')[0] !== role) {
      throw new Error(`${variable} does not log in as ${role}.`)
    }
    const problem = await loginProblem(url.href)
    if (!problem) {
      report.line('login', true, role)
      continue
    }
    await setLoginPasswords(adminUrl, { [name]: decodeURIComponent(url.password) })
    const still = await loginProblem(url.href)
    report.line('login', !still, still ? `${role}: ${still}` : `${role}, with a new password`)
  }
}

async function loginProblem(connectionString: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await client.end().catch(() => {})
  }
}

/** checkHealth asks the deployed service for its health; a fresh deployment may need a moment. */
export async function checkHealth(report: Report, base: string, tries = 10): Promise<boolean> {
  const url = `${base}/api/sources/health`
  let said = ''
  for (let i = 0; i < tries; i++) {
    if (i > 0) await new Promise((resolve) => setTimeout(resolve, 2_000))
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
      const body: unknown = await response.json().catch(() => undefined)
      const found = body && typeof body === 'object' && 'sources' in body ? body.sources : undefined
      if (response.ok && Array.isArray(found) && found.length > 0) {
        return report.line('health', true, `${url}: ${found.length} sources`)
      }
      said = response.ok
        ? 'it lists no source: the API cannot reach the database, or the jobs have never run'
        : `it answered ${response.status}`
    } catch (error) {
      said = error instanceof Error ? error.message : String(error)
    }
  }
  return report.line('health', false, `${url}: ${said}`)
}
