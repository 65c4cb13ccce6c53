/**
 * Builds the hub's interface into dist/hub when its sources changed since the last time.
 * `--force` builds in any case.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../..')
const SOURCES = [
  'web/ui',
  'hub/web',
  'hub/agents/names.text.ts',
  'hub/branding/own-look.ts',
  'hub/i18n',
  'shared/colour.ts',
  'shared/texts.ts',
  'web/package-lock.json',
  'scripts/build/build-web.ts',
]
const FOLDER = join(ROOT, 'dist/hub')
const STAMP = join(FOLDER, 'stamp')

/** buildWeb builds dist/hub if the sources have changed. */
export async function buildWeb({ force = false, log = console.log } = {}): Promise<void> {
  const sources = await hashOf(SOURCES)
  const built = existsSync(STAMP) ? await readFile(STAMP, 'utf8') : ''
  if (!force && built === sources) return
  log('Building the interface (takes a few seconds) …')
  const fresh = join(ROOT, `dist/hub-${process.pid}`)
  const vite = join(ROOT, 'web/node_modules/vite/bin/vite.js')
  const options = ['--outDir', fresh, '--logLevel', 'warn']
  await promisify(execFile)(process.execPath, [vite, 'build', ...options], {
    cwd: join(ROOT, 'hub/web'),
    // Also from a test: this bundles React for production.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  await writeFile(join(fresh, 'stamp'), sources)
  // Replaced at once, so that a running hub serves either the old or the new one.
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
