import {
  hostOf,
  isPrivateName,
  isPublicAddress,
  parseAddress,
  unwrapIpv4,
} from '../../shared/addresses.ts'
import { invalid } from '../../shared/problem.ts'
import { bilingual } from '../i18n/words.ts'
import { webhooksText } from './webhooks.text.ts'

const say = bilingual(webhooksText)

/** Link-local addresses, where clouds keep the secrets of a machine: never, even if private ones are allowed. */
const NEVER = /^(169\.254\.|fe[89ab][0-9a-f]:|fd00:ec2:)/i

/** Whether this address may never be called, also as an IPv4 address within one of IPv6. */
export function isForbidden(address: string): boolean {
  const known = parseAddress(address)
  return NEVER.test(address) || (known !== null && NEVER.test(unwrapIpv4(known).toString()))
}

/**
 * requireTarget throws 422 for an address that no webhook may have: without https, with credentials, or in
 * a private network that was not allowed. A name is judged again at every connection.
 */
export function requireTarget(url: string, { allow_private }: { allow_private: boolean }): void {
  const fault = faultOf(url, allow_private)
  if (fault) throw invalid([{ path: 'url', code: fault, message: say.faults[fault] }])
}

function faultOf(text: string, allow_private: boolean): keyof typeof say.faults | undefined {
  if (!URL.canParse(text)) return 'no_url'
  const url = new URL(text)
  const host = hostOf(url)
  if (url.username || url.password) return 'credentials'
  if (url.protocol !== 'https:' && !(allow_private && url.protocol === 'http:')) return 'no_https'
  const address = parseAddress(host)
  if (isForbidden(host)) return 'forbidden'
  const isPrivate = address ? !isPublicAddress(host) : isPrivateName(host)
  return isPrivate && !allow_private ? 'private' : undefined
}
