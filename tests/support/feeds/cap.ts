import { cap } from '../../../functions/feeds/cap-feed.ts'
import { type Reply, upstream } from './feeds.ts'

type Fields = Record<string, string | string[] | null>

const CAP = 'urn:oasis:names:tc:emergency:cap:1.2'

const elements = (fields: Fields) =>
  Object.entries(fields)
    .flatMap(([name, value]) => [value ?? []].flat().map((text) => `<${name}>${text}</${name}>`))
    .join('')

const named = (name: string, values: Record<string, string>) =>
  Object.entries(values)
    .map(([key, value]) => `<${name}>${elements({ valueName: key, value })}</${name}>`)
    .join('')

export type Given = {
  alert?: Fields
  info?: Fields
  area?: Fields
  parameters?: Record<string, string>
  geocodes?: Record<string, string>
  namespace?: string
  /** In place of the one info. */
  infos?: string
}

/** An `info` in XML; a field that is null is left out. */
export function info({ info = {}, area = {}, parameters = {}, geocodes = {} }: Given = {}): string {
  const fields: Fields = {
    language: 'en-GB',
    category: 'Met',
    event: 'Wind warning',
    urgency: 'Expected',
    severity: 'Moderate',
    certainty: 'Likely',
    effective: '2026-03-01T11:00:00+00:00',
    onset: '2026-03-01T18:00:00+00:00',
    expires: '2026-03-02T06:00:00+00:00',
    headline: 'Wind warning for Testland',
    web: 'https://example.org/wind',
    ...info,
  }
  const where = elements({
    areaDesc: 'Testland',
    polygon: '10,20 10,22 12,22 12,20 10,20',
    ...area,
  })
  return `<info>${elements(fields)}${named('parameter', parameters)}<area>${where}${named('geocode', geocodes)}</area></info>`
}

/** A CAP alert in XML. */
export function alert(given: Given = {}): string {
  const { alert: over = {}, namespace = CAP, infos = info(given) } = given
  const fields: Fields = {
    identifier: 'A1',
    sender: 'ops@example.org',
    sent: '2026-03-01T11:00:00+00:00',
    status: 'Actual',
    msgType: 'Alert',
    scope: 'Public',
    ...over,
  }
  return `<?xml version="1.0" encoding="UTF-8"?><alert xmlns="${namespace}">${elements(fields)}${infos}</alert>`
}

/** An Atom index of alerts: address, time of the change. */
export function atom(
  entries: [url: string, updated: string][],
  type = 'application/cap+xml',
): string {
  const listed = entries.map(
    ([url, updated]) =>
      `<entry><id>${url}</id><title>An alert</title><updated>${updated}</updated>` +
      `<link rel="alternate" href="https://example.org/page"/><link type="${type}" href="${url}"/></entry>`,
  )
  return `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Alerts</title>${listed.join('')}</feed>`
}

/** The feed of CAP alerts with the addresses that answer, and with what; all others are 404. */
export function capWorld(pages: Record<string, Reply | string>, urls: string) {
  const known = new Map(Object.entries(pages))
  const feed = upstream(
    cap,
    (url) => {
      const page = known.get(url.href) ?? { status: 404 }
      return typeof page === 'string' ? { body: page } : page
    },
    { CAP_URLS: urls },
  )
  return {
    feed,
    set: (url: string, page: Reply | string) => known.set(url, page),
    asked: () => feed.asked.map(({ url }) => url.href),
    poll: (minute: number) => feed.poll(`2026-03-01T12:${String(minute).padStart(2, '0')}:00.000Z`),
  }
}
