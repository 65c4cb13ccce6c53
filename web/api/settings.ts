import { reach } from '../shared/reach.ts'

/** How the console is set up; console.json says it. */
export type Settings = {
  /** The address of the service, where the console is elsewhere; absent where it is beside it. */
  api_url?: string
  /** The issuer's address; relative for the service's own. */
  auth_url: string
  /** The publishable key of a Supabase project; null for the service's own issuer. */
  auth_key: string | null
  /** `link`: with a one-time link that an operator gives out; `mail`: the issuer mails one. */
  by: 'link' | 'mail'
  /** Raster tiles under the map; null for the map that comes with the console. */
  tiles: { url: string; attribution: string } | null
}

let settings: Settings | undefined

/** Asks how the console is set up. To be called once, before anything else. */
export async function readSettings(): Promise<Settings> {
  const response = await reach(new Request('./console.json'))
  if (!response.ok) throw new Error(`console.json: ${response.status}`)
  settings = (await response.json()) as Settings // safe: the service or its site wrote it
  return settings
}

/** What the console was told; throws before it was asked. */
export function knownSettings(): Settings {
  if (!settings) throw new Error('the settings were not read')
  return settings
}

/** The address of a page of the service. */
export function addressOf(path: string): string {
  const base = settings?.api_url ?? new URL('.', document.baseURI).href.replace(/\/$/, '')
  return `${base}${path}`
}
