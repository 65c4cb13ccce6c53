/**
 * Builds the interfaces named as arguments (hub, console, operator; all if none is) into dist/ when their
 * sources changed since the last time. `--force` builds in any case.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { gzip } from 'node:zlib'

const ROOT = resolve(import.meta.dirname, '../..')
/** What every interface is made of. */
export const COMMON = [
  'web/ui',
  'web/shared',
  'web/package-lock.json',
  'scripts/build/build-web.ts',
]
export const INTERFACES = {
  hub: {
    root: 'hub/web',
    sources: [
      'hub/web',
      'hub/agents/names.text.ts',
      'hub/agents/numbers/labels.text.ts',
      'hub/backup/destination.ts',
      'hub/branding/own-look.ts',
      'hub/i18n',
      'hub/leads/cells.ts',
      'hub/leads/languages.ts',
      'hub/mail/drafts/flow.ts',
      'hub/mail/sequences/stop.text.ts',
      'hub/missions/approval-actions.ts',
      'shared/colour.ts',
      'shared/words',
    ],
  },
  console: {
    root: 'web',
    sources: ['api', 'event', 'map', 'pages', 'public', 'shell']
      .map((folder) => `web/${folder}`)
      .concat(
        ['index.html', 'main.tsx', 'app.tsx', 'common.text.ts', 'console.css'].map(
          (file) => `web/${file}`,
        ),
        'web/vite.config.ts',
        'shared',
      ),
  },
  operator: {
    root: 'web/operator',
    sources: [
      'web/operator',
      'web/public',
      'web/api',
      'web/shell/hash-location.ts',
      'shared/schemas/operator.ts',
      'shared/words/texts.ts',
    ],
  },
} as const
type Interface = keyof typeof INTERFACES
const LABELS = { hub: 'interface of the hub', console: 'console', operator: 'operator page' }

const COMPRESSIBLE = /\.(js|css|json|svg|txt)$/

/** buildWeb builds an interface into dist/<name> if its sources have changed since the last time. */
export async function buildWeb(
  name: Interface,
  { force = false, log = console.log } = {},
): Promise<void> {
  const { root, sources } = INTERFACES[name]
  const folder = join(ROOT, 'dist', name)
  const hash = await hashOf([...COMMON, ...sources])
  if (!force && (await stampOf(folder)) === hash) return
  log(`Building the ${LABELS[name]} (takes a few seconds) …`)
  const fresh = join(ROOT, `dist/${name}-${process.pid}`)
  const vite = join(ROOT, 'web/node_modules/vite/bin/vite.js')
  const options = ['--outDir', fresh, '--logLevel', 'warn']
  await promisify(execFile)(process.execPath, [vite, 'build', ...options], {
    cwd: join(ROOT, root),
    // Also from a test: this bundles React for production.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  await compressAll(fresh)
  await writeFile(join(fresh, 'stamp'), hash)
  await replace(folder, fresh, hash)
}

/** Puts what was built in its place at once, so that a running service serves either the old or the new one. */
async function replace(folder: string, fresh: string, hash: string): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    // Another process has built the same meanwhile.
    if (!isFirst && (await stampOf(folder)) === hash) return rm(fresh, { recursive: true })
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    try {
      return await rename(fresh, folder)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
    }
  }
}

/** What the interface in a folder was built from; undefined when there is none. */
async function stampOf(folder: string): Promise<string | undefined> {
  const stamp = join(folder, 'stamp')
  return existsSync(stamp) ? readFile(stamp, 'utf8') : undefined
}

/** What is sent in text is kept compressed beside itself: a server sends that to whoever takes it. */
async function compressAll(folder: string): Promise<void> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile() && COMPRESSIBLE.test(entry.name))
  await Promise.all(
    files.map(async (entry) => {
      const path = join(entry.parentPath, entry.name)
      const content = await readFile(path)
      await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }))
    }),
  )
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

function isInterface(name: string): name is Interface {
  return Object.hasOwn(INTERFACES, name)
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { force: { type: 'boolean', default: false } },
  })
  const names = positionals.length > 0 ? positionals : Object.keys(INTERFACES)
  const unknown = names.filter((name) => !isInterface(name))
  if (unknown.length > 0) throw new Error(`Unknown interface: ${unknown.join(', ')}`)
  for (const name of names.filter(isInterface)) await buildWeb(name, values)
}
