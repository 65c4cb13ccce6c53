import { z } from 'zod'
import { Alert, EventReference } from '../../shared/schemas/alert.ts'
import { Instant } from '../../shared/time.ts'

/** An alert as the feed of its zone shows it: nothing about channels and people. */
export const FeedAlert = z.object({
  id: z.uuid(),
  /** As it was when the alert was raised. */
  event: EventReference,
  /** As it was told last. */
  current: EventReference,
  severity: Alert.shape.severity,
  reason: z.string(),
  raised_at: Instant,
  resolved: z.boolean(),
  updates: Alert.shape.updates,
  /** Whom to name as sources, each in its own words. */
  attributions: z.array(z.string()),
})
export type FeedAlert = z.infer<typeof FeedAlert>

/** What a feed of a zone is made of, in whichever format; newest alert first. */
export type ZoneFeed = {
  zone_id: string
  label: string
  created_at: string
  alerts: FeedAlert[]
  /** The window and the most alerts of a feed, and whether there are more in that window. */
  days: number
  limit: number
  is_cut: boolean
  /** The public URL of the service. */
  public_url: string
}

/** The title of a feed. */
export const titleOf = ({ label }: ZoneFeed): string => `Watchpost: ${label}`

/** What a feed says about itself, also when it does not show everything. */
export function subtitleOf({ label, days, limit, is_cut }: ZoneFeed): string {
  const window = `Alerts of the zone “${label}” of the last ${days} days, newest first.`
  if (!is_cut) return window
  return `${window} There are more: only the newest ${limit} are shown. GET /api/v1/alerts has all of them.`
}

/** When an alert changed last in a way that readers should notice. */
export function changedAt({ raised_at, updates }: FeedAlert): string {
  return latestOf(
    raised_at,
    updates.map(({ at }) => at),
  )
}

/** When a feed changed last; of a feed without alerts, when its zone was made. */
export function feedChangedAt({ alerts, created_at }: ZoneFeed): string {
  return latestOf(created_at, alerts.map(changedAt))
}

const latestOf = (first: string, others: string[]) => [first, ...others].sort().at(-1) ?? first

/** The title of an alert, which says when it is over or was withdrawn. */
export function headlineOf({ current: { status, title } }: Pick<FeedAlert, 'current'>): string {
  if (status === 'retracted') return `Withdrawn: ${title}`
  return status === 'ended' ? `Ended: ${title}` : title
}

/** The whole text of an alert, a line each: the reason, the numbers, what changed, the sources. */
export function linesOf(alert: Omit<FeedAlert, 'id' | 'event' | 'raised_at'>): string[] {
  const { current } = alert
  const numbers = [
    `Severity ${round(alert.severity)} of 100 in this zone`,
    ...(current.magnitude === null ? [] : [`magnitude ${current.magnitude}`]),
    ...(current.depth_km === null ? [] : [`depth ${round(current.depth_km)} km`]),
    `at ${current.lat}, ${current.lon}`,
  ]
  return [
    alert.reason,
    `${numbers.join(', ')}.`,
    ...(alert.resolved ? ['Marked as resolved.'] : []),
    ...alert.updates.map(lineOf),
    ...alert.attributions.map((attribution) => `Source: ${attribution}`),
  ]
}

function lineOf({ at, kind, changes }: FeedAlert['updates'][number]): string {
  const changed = Object.entries(changes).map(
    ([field, [from, to]]) => `${field} from ${textOf(from)} to ${textOf(to)}`,
  )
  const time = `${at.slice(0, 16).replace('T', ' ')} UTC`
  return `${time}: ${kind}${changed.length > 0 ? `, ${changed.join(', ')}` : ''}.`
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value !== 'object') return String(value)
  return Object.values(value).map(textOf).join(', ')
}

const round = (value: number) => Math.round(value * 10) / 10

/** The page of an event at its source; null where it is no address that a reader may open. */
export function pageOf({ url }: EventReference): string | null {
  if (url === null || !URL.canParse(url)) return null
  const { protocol, href } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? href : null
}

/** A text without the characters that neither XML nor iCalendar can hold, each replaced by a space. */
export function printable(text: string): string {
  return text.replace(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, ' ')
}
