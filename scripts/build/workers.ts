import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../..')
/** The limit of the smallest plan for one Worker, compressed. */
export const MAX_KIB = 3 * 1024

/** The Workers in wrangler.toml; each is an environment there. */
export const WORKERS = ['api', 'jobs'] as const
export type Worker = (typeof WORKERS)[number]

/** wrangler runs the installed wrangler and returns its output. */
export async function wrangler(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [join(ROOT, 'node_modules/wrangler/bin/wrangler.js'), ...args],
    { cwd: ROOT, maxBuffer: 2 ** 24 },
  )
  return `${stdout}${stderr}`
}

/**
 * buildWorker bundles one Worker as it would be uploaded into a subfolder of the given folder, and
 * returns its compressed size in KiB.
 */
export async function buildWorker(worker: Worker, folder = 'dist/workers'): Promise<number> {
  const outdir = join(folder, worker)
  await rm(resolve(ROOT, outdir), { recursive: true, force: true })
  const said = await wrangler('deploy', '--dry-run', '--env', worker, '--outdir', outdir)
  const [, size] = said.match(/gzip: ([\d.]+) KiB/) ?? []
  if (!size) throw new Error(`wrangler says no size of ${worker}: ${said}`)
  return Number(size)
}

async function main(): Promise<void> {
  for (const worker of WORKERS) {
    const kib = await buildWorker(worker)
    console.log(`Worker ${worker}: ${kib} KiB compressed (limit ${MAX_KIB} KiB)`)
    if (kib > MAX_KIB) process.exitCode = 1
  }
}

if (import.meta.main) await main()
