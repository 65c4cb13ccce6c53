import ipaddr from 'ipaddr.js'

/*
 * Which addresses and names belong to the public internet. Both products ask here before anything
 * is dialled that a user or a stranger has named.
 */

export type Address = ipaddr.IPv4 | ipaddr.IPv6
export type AddressRange = [Address, number]

/** Names that mean this host, this network or a cloud's metadata service, whatever DNS says. */
const PRIVATE_SUFFIXES = [
  'localhost',
  'localdomain',
  'localdomain4',
  'localdomain6',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'svc',
  'consul',
  'home.arpa',
]

/** Refused beyond what ipaddr.js calls special. */
const REFUSED_RANGES = [
  '168.63.129.16/32', // Azure's wire server has a public address
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4 leads to the IPv4 address in it
  '3fff::/20', // documentation, RFC 9637
].map((range) => ipaddr.parseCIDR(range))

/** The only IPv6 space that is handed out for the public; also shuts `::a.b.c.d`, fec0:: and 64:ff9b:1::. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/** isPublicAddress says whether an address, in the form that a resolver gives, is one of the public internet. */
export function isPublicAddress(given: string | Address): boolean {
  const parsed = typeof given === 'string' ? parseAddress(given) : given
  // A zone names a link of this machine.
  if (!parsed || (parsed instanceof ipaddr.IPv6 && parsed.zoneId)) return false
  const address = unwrap(parsed)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv6 && !inRange(address, GLOBAL_IPV6)) return false
  return !REFUSED_RANGES.some((range) => inRange(address, range))
}

/** isPrivateName says whether a name means something near, before any resolver is asked. */
export function isPrivateName(name: string): boolean {
  const host = normalName(name)
  // A name without a dot is a neighbour's: a container, a machine in the search domain, "metadata".
  if (!host.includes('.')) return true
  return PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`))
}

/**
 * unwrap returns the IPv4 address that a mapped or NAT64 one leads to: behind DNS64 every IPv4 host
 * looks like that. 6to4, Teredo and local NAT64 stay as they are, and are refused as special.
 */
export function unwrap(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (!inRange(address, NAT64)) return address
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}

/** inRange is `match` for addresses of either kind. */
export function inRange(address: Address, [network, bits]: AddressRange): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

/** hostName is a URL's host, ready to be compared: no brackets, no trailing dot. */
export function hostName({ hostname }: URL): string {
  return normalName(hostname.replace(/^\[(.*)\]$/, '$1'))
}

/** normalName makes one spelling of a name out of all. */
export function normalName(host: string): string {
  return host.toLowerCase().replace(/\.+$/, '')
}

/** parseAddress reads an address as URLs and resolvers write it; null is a name. */
export function parseAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null
}
