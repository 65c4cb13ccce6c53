import ipaddr from 'ipaddr.js'
import {
  type Address,
  type AddressRange,
  hostOf,
  inRange,
  isPrivateName,
  isPublicAddress,
  normalizeHost,
  parseAddress,
  unwrapIpv4,
} from '../../../shared/addresses.ts'

/** The private targets that the operator allows; all others are refused. */
export type AllowList = { ranges: AddressRange[]; names: ReadonlySet<string> }

type TargetRefusal =
  | 'malformed'
  | 'scheme'
  | 'credentials'
  | 'private_name'
  | 'private_address'
  | 'plain_http'

type TargetCheck = { ok: true; url: URL } | { ok: false; code: TargetRefusal; message: string }

const SETTING = 'ALLOW_PRIVATE_TARGETS'
const MAX_URL_LENGTH = 2048
const LOOPBACK = ['127.0.0.1', '::1']

/** Parses a list such as `127.0.0.1/32, 10.0.0.0/8, host.name`. Throws for an invalid entry. */
export function parseAllowList(setting: string | undefined): AllowList {
  const ranges: AddressRange[] = []
  const names = new Set<string>()
  const entries = (setting ?? '').split(',').map((entry) => entry.trim().toLowerCase())
  entries.forEach((entry, index) => {
    if (entry === '') return
    const range = parseRange(entry)
    if (range) {
      ranges.push(range)
      return
    }
    if (!isName(entry)) {
      throw new Error(
        `${SETTING}: entry ${index + 1} must be an address, a CIDR range or a host name.`,
      )
    }
    names.add(entry)
  })
  return { ranges, names }
}

/**
 * Checks a target without DNS: its form, its host name or its literal address. Called when a target is
 * saved and before every request. Addresses from DNS are checked when connecting.
 */
export function checkTarget(target: string, { allow }: { allow: AllowList }): TargetCheck {
  if (target.length > MAX_URL_LENGTH || !URL.canParse(target)) {
    return refuse('malformed', `Must be a complete URL of at most ${MAX_URL_LENGTH} characters.`)
  }
  const url = new URL(target)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse('scheme', 'Use an https:// URL.')
  }
  if (url.username !== '' || url.password !== '') {
    return refuse(
      'credentials',
      'Must not contain a user name or password. Send credentials in config.headers.',
    )
  }
  // The URL parser has already normalised decimal, hexadecimal and octal addresses.
  const host = hostOf(url)
  const address = parseAddress(host)
  const is_allowed = address ? inAllowList(address, allow) : isAllowedName(host, allow)
  if (!is_allowed && address && !isPublicAddress(address)) {
    return refuse(
      'private_address',
      `${host} is not a public address. The operator can permit it in ${SETTING}.`,
    )
  }
  if (!is_allowed && !address && isPrivateName(host)) {
    return refuse(
      'private_name',
      `"${host}" is not a public host name. The operator can permit it by name in ${SETTING}.`,
    )
  }
  // A name over http may resolve to an allowed range; that is enforced when connecting.
  const may_be_allowed = is_allowed || (!address && allow.ranges.length > 0)
  if (url.protocol === 'http:' && !may_be_allowed) {
    return refuse(
      'plain_http',
      `Use https://. Plain http is only for hosts that the operator permits in ${SETTING}.`,
    )
  }
  return { ok: true, url }
}

/**
 * The URL over HTTP with the host and port of an `mqtts:` or `mqtt:` URL, so that its host is normalised and judged as any
 * other; null for anything else.
 */
export function httpTwin(target: string): string | null {
  const found = /^mqtt(s?):\/\//i.exec(target)
  return found ? `http${found[1] ? 's' : ''}://${target.slice(found[0].length)}` : null
}

/** Whether an address that a name resolved to may be connected to. Plain http is limited to allowed addresses. */
export function isPermitted(
  address: string,
  { allow, host, is_plain }: { allow: AllowList; host: string; is_plain: boolean },
): boolean {
  const parsed = parseAddress(address)
  if (!parsed) return false
  if (allow.names.has(normalizeHost(host)) || inAllowList(parsed, allow)) return true
  return !is_plain && isPublicAddress(parsed)
}

/** Resolves `localhost` without DNS (RFC 6761) to the allowed loopback addresses; null for other names. */
export function localAddresses(host: string, allow: AllowList): string[] | null {
  if (!isLocalhost(normalizeHost(host))) return null
  return LOOPBACK.filter((address) => inAllowList(ipaddr.parse(address), allow))
}

/** Masks everything of a target but its origin. */
export function maskTarget(target: string): string {
  return URL.canParse(target) ? `${new URL(target).origin}/…` : '…'
}

function inAllowList(given: Address, allow: AllowList): boolean {
  const address = unwrapIpv4(given)
  return allow.ranges.some((range) => inRange(address, range))
}

function isAllowedName(host: string, allow: AllowList): boolean {
  return allow.names.has(host) || Boolean(localAddresses(host, allow)?.length)
}

function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

function parseRange(entry: string): AddressRange | null {
  const [host = '', bits] = entry.split('/')
  const address = parseAddress(host)
  if (!address) return null
  if (bits === undefined) return [address, address.kind() === 'ipv4' ? 32 : 128]
  return ipaddr.isValidCIDR(entry) ? ipaddr.parseCIDR(entry) : null
}

function isName(entry: string): boolean {
  const labels = entry.split('.')
  // A last label of digits only is a mistyped address: a URL cannot have such a host name.
  if (entry.length > 253 || /^\d*$/.test(labels.at(-1) ?? '')) return false
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9])?$/.test(label))
}

function refuse(code: TargetRefusal, message: string): TargetCheck {
  return { ok: false, code, message }
}
