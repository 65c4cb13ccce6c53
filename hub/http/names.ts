import { isIPv6 } from 'node:net'
import type { HubFile } from '../config.ts'

type Names = Pick<HubFile, 'hosts' | 'public_url'>

const LOCAL = ['localhost', '127.0.0.1', '[::1]']

/** A host as browsers send it, of a name, an address of the machine or of a page: ASCII, without a port. */
function hostOf(given: string): string {
  const text = given.trim()
  const host = isIPv6(text) ? `[${text}]` : text
  const url = text.includes('://') ? text : `http://${host}`
  return URL.canParse(url) ? new URL(url).hostname : text.toLowerCase()
}

/** The host of a request without its port. */
export const nameIn = (host: string): string => host.replace(/:\d+$/, '').toLowerCase()

/** Whether the hub answers under this name: localhost, its public address, and the names in hub.json. */
export function isOurName(name: string, { hosts, public_url }: Names): boolean {
  const given = public_url ? [...hosts, public_url] : hosts
  return LOCAL.includes(name) || given.some((known) => hostOf(known) === name)
}
