/** The examples of feeds out: links, and what they show of the alert of the story. */
import type { FeedLink } from '../../shared/schemas/feed-link.ts'
import { atomOf } from '../feeds-out/atom.ts'
import { CAP_TYPE, capOf } from '../feeds-out/cap.ts'
import { geojsonOf } from '../feeds-out/geojson.ts'
import { icalendarOf } from '../feeds-out/icalendar.ts'
import type { ZoneFeed } from '../feeds-out/zone-feed.ts'
import { ME, STORY, ZONE, zone } from './story.ts'

const { alert } = STORY
const public_url = 'https://watchpost.example'
const TOKEN = '3q2-7wX9kQm1s5vTt0yYb2cDdEe4fFgGhH6iIjJkKlL'

export const feedLink: FeedLink = {
  id: '6d1c2f5a-4b1e-4c53-9a0f-20b1f5c9de11',
  zone_id: ZONE,
  owner_id: ME,
  label: 'Team calendar',
  created_at: '2026-02-21T09:00:00.000Z',
  rotated_at: null,
}
const shown = {
  ...feedLink,
  urls: {
    atom: `${public_url}/api/v1/feeds/${TOKEN}.atom`,
    geojson: `${public_url}/api/v1/feeds/${TOKEN}.geojson`,
    ics: `${public_url}/api/v1/feeds/${TOKEN}.ics`,
  },
}
const feed: ZoneFeed = {
  zone_id: ZONE,
  label: zone.label,
  created_at: zone.created_at,
  alerts: [{ ...alert, attributions: alert.event_ids.map(({ attribution }) => attribution) }],
  days: 30,
  limit: 100,
  is_cut: false,
  public_url,
}

export const FEED_EXAMPLES = {
  listFeedLinks: { response: { feed_links: [feedLink] } },
  createFeedLink: { request: { label: feedLink.label }, response: { feed_link: shown } },
  getFeedLink: { response: { feed_link: feedLink } },
  rotateFeedLink: { request: {}, response: { feed_link: shown } },
}

/** The examples of answers that are no JSON of ours, by operation and media type. */
export const MEDIA_EXAMPLES: Record<string, Record<string, unknown>> = {
  readFeed: {
    'application/atom+xml': atomOf(feed),
    'application/geo+json': JSON.parse(geojsonOf(feed)),
    // Not before it is read: the library makes a random id, which Workers refuse while they start.
    get 'text/calendar'() {
      return icalendarOf(feed)
    },
  },
  getAlert: { [CAP_TYPE]: capOf(alert, { geometry: null, public_url }) },
}
