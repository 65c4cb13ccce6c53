import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../postgres/migrate.ts'
import { findPort } from '../postgres/port.ts'
import { supabase } from '../schema/supabase-cli.ts'
import type { Report } from './deploy.ts'
import { type ManagementStub, startManagementStub, type Upload } from './management-stub.ts'

const NOBODY = {
  SUPABASE_ACCESS_TOKEN: `sbp_${'0'.repeat(40)}`,
  HOME: tmpdir(),
  PUBLIC_URL: 'https://watchpost.example.com',
}
const DENO = ['-A', '--node-modules-dir=manual', '--no-remote']
// Declares what the platform has in addition to Deno.
const PLATFORM =
  'declare var EdgeRuntime: { waitUntil: (work: Promise<unknown>) => void } | undefined'
/** TypeScript as Deno sets it: strict, modules only, and its own globals instead of a browser's. */
const TYPE_CHECK = [
  ...['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'],
  ...['--target', 'esnext', '--module', 'esnext', '--moduleResolution', 'bundler'],
  ...['--moduleDetection', 'force'],
  ...['--lib', 'esnext', '--types', 'node'],
]
const START_SECONDS = 20

/**
 * A request to each function, without a database, and the answers that show that the upload is
 * complete.
 */
const ASKED: Record<string, { method: string; path: string; answers: number[] }> = {
  api: { method: 'GET', path: '/api/api/sources/health', answers: [200] },
  jobs: { method: 'POST', path: '/jobs', answers: [401, 403, 404] },
}

/**
 * proveUpload lets Supabase's own CLI upload to a local server and starts what it has uploaded: a
 * file that is missing there would be missing on the platform too.
 */
export async function proveUpload(report: Report, cwd = ROOT): Promise<boolean> {
  report.heading('Uploading to this machine')
  if (!existsSync(join(cwd, 'supabase/functions'))) {
    return report.line('functions', false, 'supabase/functions does not exist')
  }
  const stub = await startManagementStub()
  try {
    await uploadFunctions(stub, cwd)
    let is_whole = stub.uploads.length > 0
    const checked = new Set<string>()
    for (const upload of stub.uploads) {
      const problem = await problemOf(upload, { folder: join(stub.folder, upload.slug), checked })
      const what = `${upload.slug}: ${upload.files.length} files`
      is_whole =
        report.line('upload', !problem, problem ?? `${what}, type-checked and started`) && is_whole
    }
    return is_whole
  } finally {
    await stub.stop()
  }
}

/** uploadFunctions lets Supabase's own CLI upload the functions of a clone to a stand-in of the platform. */
export async function uploadFunctions({ profile }: ManagementStub, cwd = ROOT): Promise<void> {
  const target = ['--use-api', `--remote=${'a'.repeat(20)}`, '--profile', profile, '--yes']
  await supabase(['functions', 'deploy', ...target], { env: NOBODY, cwd })
}

async function problemOf(
  upload: Upload,
  { folder, checked }: { folder: string; checked: Set<string> },
): Promise<string | undefined> {
  const { slug, metadata, files } = upload
  if (metadata.verify_jwt !== false)
    return `${slug}: verify_jwt must be off, because API keys are not JWTs`
  if (!metadata.import_map_path)
    return `${slug}: no import map was uploaded (import_map in config.toml)`
  // The packages are linked from here; Deno itself checks that their versions match the import map.
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'platform.d.ts'), PLATFORM)
  const deno = join(ROOT, 'node_modules/.bin/deno')
  // Two functions with the same files differ in one line; type-checking takes seconds.
  const same = files.filter((file) => file !== metadata.entrypoint_path).join()
  const problem = checked.has(same) ? undefined : await typeProblem(upload, { folder, deno })
  if (problem) return problem
  checked.add(same)
  return startProblem(upload, { folder, deno })
}

/** tsc with Deno's own types finds what `deno check` finds, in half of its time. */
async function typeProblem(
  { slug, metadata }: Upload,
  { folder, deno }: { folder: string; deno: string },
): Promise<string | undefined> {
  const run = promisify(execFile)
  const { stdout: types } = await run(deno, ['types'], { maxBuffer: 2 ** 24 })
  await writeFile(join(folder, 'deno.d.ts'), types)
  const files = [metadata.entrypoint_path, 'platform.d.ts', 'deno.d.ts']
  try {
    await run(join(ROOT, 'node_modules/.bin/tsc'), [...TYPE_CHECK, ...files], { cwd: folder })
    return undefined
  } catch (error) {
    // safe: execFile adds it to its error
    return `${slug}: ${(error as { stdout?: string }).stdout?.trim() || error}`
  }
}

async function startProblem(
  { slug, metadata }: Upload,
  { folder, deno }: { folder: string; deno: string },
): Promise<string | undefined> {
  const port = await findPort({ host: '127.0.0.1', port: 0 })
  const away = (role: string) => `postgres://${role}:away@127.0.0.1:9/postgres`
  const child = spawn(deno, ['run', ...DENO, metadata.entrypoint_path, 'platform.d.ts'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NO_COLOR: '1',
      DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
      API_DATABASE_URL: away('watchpost_api'),
      JOBS_DATABASE_URL: away('watchpost_jobs'),
      SEAL_KEYS: randomBytes(32).toString('base64'),
      JOBS_SECRET: randomBytes(32).toString('hex'),
      PUBLIC_URL: NOBODY.PUBLIC_URL,
      SUPABASE_URL: `https://${'a'.repeat(20)}.supabase.co`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4000)
  })
  const ended = once(child, 'exit')
  const asked = ASKED[slug] ?? { method: 'GET', path: `/${slug}`, answers: [200, 401, 404] }
  try {
    const end = Date.now() + START_SECONDS * 1000
    while (Date.now() < end && child.exitCode === null) {
      const response = await fetch(`http://127.0.0.1:${port}${asked.path}`, {
        method: asked.method,
      }).catch(() => undefined)
      if (response && asked.answers.includes(response.status)) return undefined
      if (response) return `${slug}: ${asked.method} ${asked.path} answered ${response.status}`
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return `${slug}: it did not start: ${said.trim()}`
  } finally {
    child.kill()
    await ended
  }
}
