import ical, { ICalCalendarMethod, ICalEventStatus, ICalEventTransparency } from 'ical-generator'
import { bandOf } from '../../shared/decide/bands.ts'
import {
  changedAt,
  type FeedAlert,
  headlineOf,
  linesOf,
  pageOf,
  printable,
  subtitleOf,
  titleOf,
  type ZoneFeed,
} from './zone-feed.ts'

/** How often a calendar should ask again, where it obeys. */
const REFRESH_SECONDS = 15 * 60

/** The feed of a zone as an iCalendar (RFC 5545): what happened stands at its time and blocks none. */
export function icalendarOf(feed: ZoneFeed): string {
  const calendar = ical({
    name: escaped(titleOf(feed)),
    description: escaped(subtitleOf(feed)),
    prodId: { company: 'Watchpost', product: 'Watchpost', language: 'EN' },
    method: ICalCalendarMethod.PUBLISH,
    ttl: REFRESH_SECONDS,
    events: feed.alerts.map(eventOf),
  })
  return `${calendar.toString().trimEnd()}\r\n`
}

function eventOf(alert: FeedAlert) {
  const { current } = alert
  const end = current.ends_at !== null && current.ends_at > current.ts ? current.ends_at : null
  return {
    id: alert.id,
    // Calendars take a newer version of an event by its sequence.
    sequence: alert.updates.length,
    stamp: new Date(changedAt(alert)),
    created: new Date(alert.raised_at),
    lastModified: new Date(changedAt(alert)),
    start: new Date(current.ts),
    end: end && new Date(end),
    summary: printable(headlineOf(alert)),
    description: printable(linesOf(alert).join('\n')),
    status: current.status === 'retracted' ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    transparency: ICalEventTransparency.TRANSPARENT,
    categories: [{ name: current.type }, { name: bandOf(alert.severity) }],
    location: { geo: { lat: given(current.lat), lon: given(current.lon) } },
    url: pageOf(current),
  }
}

/** The library escapes the texts of events (RFC 5545, 3.3.11), but not those of the calendar. */
function escaped(text: string): string {
  return printable(text)
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n|\r|\n/g, '\\n')
}

/** The library leaves a position out when a coordinate is 0; this is 11 cm away. */
const given = (degrees: number) => (degrees === 0 ? 0.000001 : degrees)
