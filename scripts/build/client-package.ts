/**
 * Builds the client as a package of JavaScript and type declarations, in dist/client: Node does not run
 * TypeScript inside node_modules. `npm pack ./dist/client` makes the archive that other projects install.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'dist/client')
const COMPILER_OPTIONS = [
  '--ignoreConfig',
  '--declaration',
  '--rewriteRelativeImportExtensions',
  '--strict',
  ...['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'],
  ...['--types', ''],
]

const README = `# Watchpost client

A typed client of the Watchpost API ([openapi-fetch](https://openapi-ts.dev/openapi-fetch/) with the types of the
OpenAPI description). It runs wherever \`fetch\` does.

\`\`\`js
import { createClient } from 'watchpost/client'

const watchpost = createClient({ baseUrl: 'https://watchpost.example.com', token: process.env.WATCHPOST_KEY })
const { data, error } = await watchpost.GET('/api/v1/alerts', { params: { query: { days: 7 } } })
if (error) throw new Error(error.detail)
for (const alert of data.alerts) console.log(alert.raised_at, alert.reason)
\`\`\`
`

/** Builds the package and returns its folder. Throws when the client does not compile. */
export function buildClientPackage(folder = FOLDER): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const source = join(ROOT, 'shared/client.ts')
  execFileSync('tsc', [source, '--outDir', folder, ...COMPILER_OPTIONS], {
    cwd: ROOT,
    env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const { name, version, license, engines, dependencies } = manifest
  const contents = {
    name,
    version,
    description: 'A typed client of the Watchpost API.',
    license,
    type: 'module',
    engines,
    exports: { './client': { types: './client.d.ts', default: './client.js' } },
    dependencies: { 'openapi-fetch': dependencies['openapi-fetch'] },
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(contents, null, 2)}\n`)
  writeFileSync(join(folder, 'README.md'), README)
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  return folder
}

if (import.meta.main) {
  const folder = buildClientPackage()
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  console.log(
    `Built version ${version} of the client in dist/client. Make the archive: npm pack ./dist/client`,
  )
}
