import { adsb } from './adsb.ts'
import { aisstream } from './aisstream.ts'
import { cap } from './cap-feed.ts'
import { cems } from './cems.ts'
import { digitraffic } from './digitraffic.ts'
import { emsc } from './emsc.ts'
import { eonet } from './eonet.ts'
import type { AnyFeed, Setting, Stream } from './feed.ts'
import { firms } from './firms.ts'
import { gdacs } from './gdacs.ts'
import { gdelt } from './gdelt.ts'
import { geonet } from './geonet.ts'
import { gvp } from './gvp.ts'
import { meteoalarm } from './meteoalarm.ts'
import { nhc } from './nhc.ts'
import { nmea } from './nmea.ts'
import { nws } from './nws.ts'
import { readsb } from './readsb.ts'
import { reliefweb } from './reliefweb.ts'
import { tsunami } from './tsunami.ts'
import { usgs } from './usgs.ts'
import { usgsVolcano } from './usgs-volcano.ts'

/** Every live feed. */
export const KNOWN_FEEDS: readonly AnyFeed[] = [
  usgs,
  emsc,
  geonet,
  gdacs,
  nhc,
  eonet,
  firms,
  gdelt,
  reliefweb,
  cap,
  nws,
  meteoalarm,
  tsunami,
  gvp,
  usgsVolcano,
  cems,
  aisstream,
  nmea,
  digitraffic,
  adsb,
  readsb,
]

/** The environment variables of all feeds. */
export const FEED_SETTINGS: Record<string, Setting> = Object.assign(
  {},
  ...KNOWN_FEEDS.map(({ settings }) => settings),
)

/** The feeds that FEEDS selects, and those of them that lack a setting, with the reason. */
export type Selection = { feeds: AnyFeed[]; disabled: { feed: AnyFeed; reason: string }[] }

/**
 * Selects feeds by name, or by default all that are not optional. Each is given the values of its settings.
 * Throws for an unknown name.
 */
export function selectFeeds(
  names: readonly string[] | null,
  values: Record<string, string | undefined>,
): Selection {
  const selection: Selection = { feeds: [], disabled: [] }
  const chosen = names
    ? [...new Set(names)].map(findFeed)
    : KNOWN_FEEDS.filter(({ is_optional }) => !is_optional)
  for (const feed of chosen) {
    const own = settingsOf(feed, values)
    const missing = Object.entries(feed.settings ?? {})
      .filter(([name, { is_required }]) => is_required && own[name] === undefined)
      .map(([name]) => name)
    if (missing.length > 0) {
      selection.disabled.push({ feed, reason: `${missing.join(' and ')} not set` })
    } else {
      selection.feeds.push(withSettings(feed, own))
    }
  }
  return selection
}

function withSettings(feed: AnyFeed, settings: Record<string, string>): AnyFeed {
  const { stream, region } = feed
  const bound: Stream | undefined = stream && {
    ...stream,
    connections: () => stream.connections(settings),
  }
  const rest = {
    ...(bound ? { stream: bound } : {}),
    ...(region ? { region: () => region(settings) } : {}),
  }
  if (!('poll' in feed)) return { ...feed, ...rest }
  return { ...feed, poll: (input) => feed.poll({ ...input, settings }), ...rest }
}

/** The feed of a source. Throws if there is none. */
export function findFeed(name: string): AnyFeed {
  const found = KNOWN_FEEDS.find(({ source }) => source === name)
  if (!found) throw new Error(`There is no feed "${name}".`)
  return found
}

/** The settings of a feed among all values. */
export function settingsOf(
  { settings = {} }: AnyFeed,
  values: Record<string, string | undefined>,
): Record<string, string> {
  const given = Object.keys(settings).flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(given)
}

/** Disables the feeds that only stream, where no process stays to hold a connection. */
export function withoutStreams({ feeds, disabled }: Selection): Selection {
  const streamed = feeds.filter((feed) => !('poll' in feed))
  const reason =
    'It streams, which an edge platform cannot hold. Run the jobs on a machine to use it.'
  return {
    feeds: feeds.filter((feed) => 'poll' in feed),
    disabled: [...disabled, ...streamed.map((feed) => ({ feed, reason }))],
  }
}
