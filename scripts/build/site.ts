/**
 * `npm run build:site -- --api URL`: the console as a folder for a static host, for a service at another
 * address, such as Supabase Edge Functions, which answer no HTML.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { pagePolicy, policyText } from '../../functions/policy.ts'
import { readArguments, runMain, UsageError } from '../start/arguments.ts'
import { copyConsole, headersFile } from './static.ts'

const HELP = `npm run build:site -- --api URL [options]

  --api URL      the address of the service, e.g. https://<ref>.supabase.co/functions/v1/api
  --out FOLDER   where the site is written (default dist/site); what is there is replaced`
const SEE_HELP = 'See npm run build:site -- --help'
const PATIENCE_MS = 15_000

const Settings = z.looseObject({
  auth_url: z.string(),
  tiles: z.object({ url: z.string(), attribution: z.string() }).nullable(),
})

/** buildSite writes the console for the service at `api` into a folder; it is asked how it is set up. */
export async function buildSite(api: string, folder: string): Promise<void> {
  const settings = await settingsOf(api)
  const auth_url = new URL(settings.auth_url, `${api}/`).href
  const tiles = settings.tiles ? [new URL(settings.tiles.url).origin] : []
  const connect = [...new Set([new URL(api).origin, new URL(auth_url).origin, ...tiles])]
  const policy = pagePolicy({ connect, images: tiles })
  await copyConsole(folder)
  const written = JSON.stringify({ ...settings, auth_url, api_url: api }, null, 2)
  await writeFile(join(folder, 'console.json'), `${written}\n`)
  await writeFile(join(folder, '_headers'), headersFile(policyText(policy)))
  // Also where the host sends no headers of ours; there frame-ancestors has no meaning.
  const { frameAncestors: _, ...inPage } = policy
  const page = join(folder, 'index.html')
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policyText(inPage)}" />`
  const html = await readFile(page, 'utf8')
  await writeFile(page, html.replace(/(<meta charset="utf-8" ?\/?>)/, `$1\n    ${meta}`))
}

async function settingsOf(api: string) {
  const url = `${api}/console.json`
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
    return Settings.parse(await answer.json())
  } catch (error) {
    throw new Error(
      `${url} does not say how the service is set up (${error instanceof Error ? error.message : error}). Deploy the service first, and give its address as --api.`,
    )
  }
}

async function main(): Promise<void> {
  const { values } = readArguments(
    {
      options: {
        api: { type: 'string' },
        out: { type: 'string', default: 'dist/site' },
        help: { type: 'boolean', short: 'h' },
      },
    },
    SEE_HELP,
  )
  if (values.help) return console.log(HELP)
  const api = values.api?.replace(/\/+$/, '') ?? ''
  if (!/^https?:\/\//.test(api) || !URL.canParse(api)) {
    throw new UsageError(`--api must be the http or https address of the service. ${SEE_HELP}`)
  }
  await buildSite(api, values.out)
  console.log(`The console for ${api} is in ${values.out}. Put it on a static host, then:
  - CONSOLE_ORIGINS of the service must name the host's origin, such as https://console.example.com
  - the issuer must allow it as a redirect (Supabase: Authentication, URL Configuration)`)
}

if (import.meta.main) await runMain(main)
