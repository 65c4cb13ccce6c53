/**
 * Builds the hub's interface into dist/hub when its sources changed since the last time.
 * `--force` builds in any case.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { build } from 'vite'

const ROOT = resolve(import.meta.dirname, '../..')
const SOURCES = ['web', 'hub/web', 'package-lock.json', 'scripts/build/build-web.ts']
const FOLDER = join(ROOT, 'dist/hub')
const STAMP = join(FOLDER, 'stamp')

/** buildWeb makes dist/hub what the sources say; quick when it is already. */
export async function buildWeb({ force = false, log = console.log } = {}): Promise<void> {
  const sources = await hashOf(SOURCES)
  const built = existsSync(STAMP) ? await readFile(STAMP, 'utf8') : ''
  if (!force && built === sources) return
  log('Building the interface (a few seconds) …')
  const fresh = join(ROOT, `dist/hub-${process.pid}`)
  // Also from a test: React is bundled as it is meant for people, not for its developers.
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  await build({
    configFile: join(ROOT, 'hub/web/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: fresh },
  })
  if (NODE_ENV === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = NODE_ENV
  await writeFile(join(fresh, 'stamp'), sources)
  // Whole at once: a running hub serves the one or the other.
  await rm(FOLDER, { recursive: true, force: true })
  await rename(fresh, FOLDER)
}

async function hashOf(paths: string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) {
    const whole = join(ROOT, path)
    const entries = path.includes('.')
      ? [whole]
      : (await readdir(whole, { recursive: true, withFileTypes: true }))
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
          .sort()
    for (const file of entries) hash.update(relative(ROOT, file)).update(await readFile(file))
  }
  return hash.digest('hex')
}

if (import.meta.main) await buildWeb({ force: process.argv.includes('--force') })
