import ipaddr from 'ipaddr.js'

/*
 * Which addresses and host names belong to the public internet. Both products check here before they
 * connect to an address that somebody else has chosen.
 */

export type Address = ipaddr.IPv4 | ipaddr.IPv6
export type AddressRange = [Address, number]

/** Suffixes of names for this host, the local network or a cloud's metadata service. */
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

/** Ranges that are refused although ipaddr.js considers them public. */
const EXTRA_SPECIAL_RANGES = [
  '168.63.129.16/32', // Azure's wire server has a public address
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4 leads to the IPv4 address in it
  '3fff::/20', // documentation, RFC 9637
].map((range) => ipaddr.parseCIDR(range))

/** The IPv6 space for global unicast (RFC 4291); excludes `::a.b.c.d`, fec0:: and 64:ff9b:1::. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/** Whether an address, as a resolver returns it, belongs to the public internet. */
export function isPublicAddress(given: string | Address): boolean {
  const parsed = typeof given === 'string' ? parseAddress(given) : given
  // A zone id refers to a link of this machine.
  if (!parsed || (parsed instanceof ipaddr.IPv6 && parsed.zoneId)) return false
  const address = unwrapIpv4(parsed)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv6 && !inRange(address, GLOBAL_IPV6)) return false
  return !EXTRA_SPECIAL_RANGES.some((range) => inRange(address, range))
}

/** Whether a name refers to the local host or network, decided without DNS. */
export function isPrivateName(name: string): boolean {
  const host = normalizeHost(name)
  // A name without a dot is local: a container, a machine in the search domain, or "metadata".
  if (!host.includes('.')) return true
  return PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`))
}

/**
 * The IPv4 address inside an IPv4-mapped or NAT64 address; behind DNS64 every IPv4 host has one. 6to4,
 * Teredo and local NAT64 addresses stay as they are and are refused as special.
 */
export function unwrapIpv4(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (!inRange(address, NAT64)) return address
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}

/** Whether an address is in a range; false for different IP versions. */
export function inRange(address: Address, [network, bits]: AddressRange): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

/** The host of a URL in lower case, without brackets and trailing dots. */
export function hostOf({ hostname }: URL): string {
  return normalizeHost(hostname.replace(/^\[(.*)\]$/, '$1'))
}

/** A host name in lower case, without trailing dots. */
export function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/\.+$/, '')
}

/** Parses an address as it appears in URLs and DNS answers; null for a name. */
export function parseAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null
}
