import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Private targets that the operator permits; everything else stays behind the shield. */
export type AllowList = { ranges: [Address, number][]; names: ReadonlySet<string> }

export type TargetRefusal =
  | 'malformed'
  | 'scheme'
  | 'credentials'
  | 'private_name'
  | 'private_address'
  | 'plain_http'

export type TargetCheck =
  | { ok: true; url: URL }
  | { ok: false; code: TargetRefusal; message: string }

const SETTING = 'ALLOW_PRIVATE_TARGETS'
const MAX_URL_LENGTH = 2048
const LOOPBACK = ['127.0.0.1', '::1']

/** Names that mean this host, this network or a cloud's metadata service, whatever DNS says. */
const PRIVATE_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
]

/** Refused beyond what ipaddr.js calls special. */
const REFUSED_RANGES = [
  '168.63.129.16/32', // Azure's wire server has a public address
  '3fff::/20', // documentation, RFC 9637
  '2001:db8::/32',
].map((range) => ipaddr.parseCIDR(range))

/** The only IPv6 space that is handed out for the public; also shuts `::a.b.c.d`. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/** parseAllowList reads `127.0.0.1/32, 10.0.0.0/8, host.name`; a bad entry stops the start. */
export function parseAllowList(setting: string | undefined): AllowList {
  const ranges: [Address, number][] = []
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
        `${SETTING}: entry ${index + 1} is no address, no CIDR range and no host name.`,
      )
    }
    names.add(entry)
  })
  return { ranges, names }
}

/**
 * checkTarget judges what can be judged without DNS: the form, the name, a literal address. It runs
 * when a target is saved and again before every request; DNS is judged inside the connection.
 */
export function checkTarget(target: string, { allow }: { allow: AllowList }): TargetCheck {
  if (target.length > MAX_URL_LENGTH || !URL.canParse(target)) {
    return refuse('malformed', `Give a whole URL of at most ${MAX_URL_LENGTH} characters.`)
  }
  const url = new URL(target)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse('scheme', 'Use an https:// URL.')
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('credentials', 'Leave user and password out of the URL; use config.headers.')
  }
  // The URL parser has already turned decimal, hex and octal addresses into dotted ones.
  const host = hostName(url)
  const address = parseAddress(host)
  const is_allowed = address ? inAllowList(address, allow) : isAllowedName(host, allow)
  if (!is_allowed && address && !isPublic(address)) {
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
  // A name over http may turn out to lie in a permitted range; the connection insists that it does.
  const may_be_allowed = is_allowed || (!address && allow.ranges.length > 0)
  if (url.protocol === 'http:' && !may_be_allowed) {
    return refuse(
      'plain_http',
      `Use https://. Plain http is only for hosts that the operator permits in ${SETTING}.`,
    )
  }
  return { ok: true, url }
}

/** isPermitted judges an address that a name led to. Plain http is only for permitted addresses. */
export function isPermitted(
  address: string,
  { allow, host, is_plain }: { allow: AllowList; host: string; is_plain: boolean },
): boolean {
  const parsed = parseAddress(address)
  if (!parsed) return false
  if (allow.names.has(normalName(host)) || inAllowList(parsed, allow)) return true
  return !is_plain && isPublic(parsed)
}

/** localAddresses answers `localhost` without DNS (RFC 6761): the loopback addresses permitted. */
export function localAddresses(host: string, allow: AllowList): string[] | null {
  if (!isLocalhost(normalName(host))) return null
  return LOOPBACK.filter((address) => inAllowList(ipaddr.parse(address), allow))
}

/** maskTarget leaves what tells two targets apart and takes what lets somebody use them. */
export function maskTarget(target: string): string {
  return URL.canParse(target) ? `${new URL(target).origin}/…` : '…'
}

function isPublic(given: Address): boolean {
  const address = unwrap(given)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv6 && !matches(address, GLOBAL_IPV6)) return false
  return !REFUSED_RANGES.some((range) => matches(address, range))
}

/**
 * unwrap returns the IPv4 address that a mapped or NAT64 one leads to: behind DNS64 every IPv4 host
 * looks like that. 6to4, Teredo and local NAT64 stay as they are, and are refused as special.
 */
function unwrap(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (!matches(address, NAT64)) return address
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}

function inAllowList(given: Address, allow: AllowList): boolean {
  const address = unwrap(given)
  return allow.ranges.some((range) => matches(address, range))
}

function matches(address: Address, [network, bits]: [Address, number]): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

function isAllowedName(host: string, allow: AllowList): boolean {
  return allow.names.has(host) || Boolean(localAddresses(host, allow)?.length)
}

function isPrivateName(host: string): boolean {
  // A name without a dot is a neighbour's: a container, a machine in the search domain, "metadata".
  if (!host.includes('.')) return true
  return PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`))
}

function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

function hostName(url: URL): string {
  return normalName(url.hostname.replace(/^\[(.*)\]$/, '$1'))
}

function normalName(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}

function parseAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null
}

function parseRange(entry: string): [Address, number] | null {
  const [host = '', bits] = entry.split('/')
  const address = parseAddress(host)
  if (!address) return null
  if (bits === undefined) return [address, address.kind() === 'ipv4' ? 32 : 128]
  return ipaddr.isValidCIDR(entry) ? ipaddr.parseCIDR(entry) : null
}

function isName(entry: string): boolean {
  const labels = entry.split('.')
  // A last label of digits is a mistyped address: no URL can carry it as a name.
  if (entry.length > 253 || /^\d*$/.test(labels.at(-1) ?? '')) return false
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9])?$/.test(label))
}

function refuse(code: TargetRefusal, message: string): TargetCheck {
  return { ok: false, code, message }
}
