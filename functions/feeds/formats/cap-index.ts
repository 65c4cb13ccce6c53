import { childrenOf, localName, textOf, type XmlElement } from './xml.ts'

/** An entry of an index: where its alert is, and when it was changed. */
export type CapLink = { url: string; updated: string }

/**
 * The entries of an Atom or RSS index that link to an alert, as absolute addresses; null if the document is
 * neither. An entry with several links gives the one whose type says CAP, or else the first.
 */
export function readIndex(root: XmlElement, base: string): (CapLink | null)[] | null {
  switch (localName(root)) {
    case 'feed':
      return childrenOf(root, 'entry').map((entry) => linkOf(entry, atomLinks(entry), base))
    case 'rss':
    case 'RDF':
      return [root, ...childrenOf(root, 'channel')]
        .flatMap((parent) => childrenOf(parent, 'item'))
        .map((item) => linkOf(item, rssLinks(item), base))
    default:
      return null
  }
}

type Link = { href: string; says_cap: boolean }

function atomLinks(entry: XmlElement): Link[] {
  return childrenOf(entry, 'link')
    .filter(({ attributes }) => attributes.rel !== 'self')
    .map(({ attributes: { href = '', type = '' } }) => ({ href, says_cap: /\bcap\b/i.test(type) }))
}

function rssLinks(item: XmlElement): Link[] {
  const links = childrenOf(item, 'link').map(({ text, attributes }) => ({
    href: text || (attributes.href ?? ''),
    says_cap: false,
  }))
  const enclosures = childrenOf(item, 'enclosure').map(
    ({ attributes: { url = '', type = '' } }) => ({
      href: url,
      says_cap: /\bcap\b/i.test(type),
    }),
  )
  return [...links, ...enclosures]
}

function linkOf(entry: XmlElement, links: Link[], base: string): CapLink | null {
  const named = links.filter(({ href }) => href.trim() !== '')
  const link = named.find(({ says_cap }) => says_cap) ?? named[0]
  if (!link || !URL.canParse(link.href.trim(), base)) return null
  const url = new URL(link.href.trim(), base)
  url.hash = ''
  const updated =
    textOf(entry, 'updated') ?? textOf(entry, 'pubDate') ?? textOf(entry, 'date') ?? ''
  return { url: url.href, updated: updated.slice(0, 40) }
}

/**
 * Whether an alert may be fetched from an address: only http and https, and only from hosts that the operator
 * listed. What an upstream writes can thus not make this service call an address of its choice.
 */
export function isListed(url: URL, listed: readonly string[]): boolean {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false
  if (url.username !== '' || url.password !== '') return false
  return listed.some((each) => new URL(each).host === url.host)
}
