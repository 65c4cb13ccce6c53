import { bandOf } from '../../shared/decide/bands.ts'
import { VERSION } from '../../shared/version.ts'
import { type XmlValue, xmlOf } from './xml.ts'
import {
  changedAt,
  type FeedAlert,
  feedChangedAt,
  headlineOf,
  linesOf,
  pageOf,
  subtitleOf,
  titleOf,
  type ZoneFeed,
} from './zone-feed.ts'

/**
 * The feed of a zone in Atom (RFC 4287) with GeoRSS points. The link of the feed itself is left out: it is
 * secret, and readers pass on what stands in a document.
 */
export function atomOf(feed: ZoneFeed): string {
  return xmlOf({
    feed: {
      '@xmlns': 'http://www.w3.org/2005/Atom',
      '@xmlns:georss': 'http://www.georss.org/georss',
      '@xml:lang': 'en',
      id: `urn:uuid:${feed.zone_id}`,
      title: titleOf(feed),
      subtitle: subtitleOf(feed),
      updated: feedChangedAt(feed),
      author: { name: 'Watchpost', uri: feed.public_url },
      generator: { '@version': VERSION, '#text': 'Watchpost' },
      entry: feed.alerts.map(entryOf),
    },
  })
}

function entryOf(alert: FeedAlert): XmlValue {
  const { current } = alert
  const page = pageOf(current)
  return {
    id: `urn:uuid:${alert.id}`,
    title: headlineOf(alert),
    updated: changedAt(alert),
    published: alert.raised_at,
    link: page && { '@rel': 'alternate', '@href': page },
    category: [current.type, bandOf(alert.severity), current.status].map((term) => ({
      '@term': term,
    })),
    rights: alert.attributions.join('; '),
    summary: alert.reason,
    content: { '@type': 'text', '#text': linesOf(alert).join('\n') },
    'georss:point': `${current.lat} ${current.lon}`,
  }
}
