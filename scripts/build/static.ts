import { copyFile, cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { FILES, ONE_DAY_SECONDS } from '../../functions/node/assets.ts'
import { pagePolicy, policyText } from '../../functions/policy.ts'
import { buildWeb } from './build-web.ts'

const CONSOLE = resolve(import.meta.dirname, '../../dist/console')

/** Their names hold a hash of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable'

/** The headers of static files as Cloudflare and Netlify read them, in a file `_headers`. */
export const headersFile = (policy: string) => `/*
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Content-Security-Policy: ${policy}
  Referrer-Policy: no-referrer
  Strict-Transport-Security: max-age=31536000; includeSubDomains
/assets/*
  Cache-Control: ${FOR_EVER}
/docs/*
  Cache-Control: public, max-age=${ONE_DAY_SECONDS}
`

/** Copies the built console; a platform compresses by itself. */
export async function copyConsole(folder: string): Promise<void> {
  await buildWeb('console')
  await rm(folder, { recursive: true, force: true })
  await cp(CONSOLE, folder, {
    recursive: true,
    filter: (path) => !path.endsWith('.gz') && !path.endsWith('/stamp'),
  })
}

/** Puts every static file into one folder, for platforms that serve them before they call us. */
async function main(): Promise<void> {
  const [folder] = process.argv.slice(2)
  if (!folder) throw new Error('Usage: node scripts/build/static.ts <folder>')
  await copyConsole(folder)
  for (const [name, { path }] of FILES) {
    const target = join(folder, name)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(path, target)
  }
  await writeFile(join(folder, '_headers'), headersFile(policyText(pagePolicy({}))))
}

if (import.meta.main) await main()
