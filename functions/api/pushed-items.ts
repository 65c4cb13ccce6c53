import { z } from 'zod'
import type { Steps } from '../../shared/geometry/steps.ts'
import { Geometry } from '../../shared/schemas/event.ts'
import { type Push, PushedEvent } from '../../shared/schemas/push.ts'
import type { Normalised } from '../feeds/feed.ts'
import { type CapAlert, capElements, readCapXml } from '../feeds/formats/cap.ts'
import { capEvent, refuseCap } from '../feeds/formats/cap-event.ts'
import { readGeometry, representativePoint } from '../feeds/formats/geometry.ts'
import { parseXml } from '../feeds/formats/xml.ts'
import { createNmeaReader } from '../feeds/nmea.ts'

/** What an item of a request says. */
export type Item = { index: number } & (
  | { kind: 'event'; event: PushedEvent; aliases: string[] }
  | { kind: 'refused'; id: string | null; reason: string }
  /** Nothing that is an event, and no mistake. */
  | { kind: 'none'; reason: string }
)
export type Items = {
  items: Item[]
  /** Properties of GeoJSON features that an event does not have. */
  ignored: string[]
}

/** The work of an item, in the units of shared/geometry/steps.ts. */
const UNITS = { item: 1_000, character: 6 }

/** Reads the items of a request in whichever form they come; each is judged for itself. */
export function* readItems(push: z.output<typeof Push>, now: Date): Steps<Items> {
  const { events, geojson, cap, nmea } = push
  const items: Item[] = []
  const ignored = new Set<string>()
  for (const [index, given] of (events ?? []).entries()) {
    yield costOf(JSON.stringify(given))
    items.push(readEvent(given, index))
  }
  for (const [index, given] of (geojson?.features ?? []).entries()) {
    yield 2 * costOf(JSON.stringify(given))
    items.push(readFeature(given, index, ignored))
  }
  for (const [index, text] of (cap ?? []).entries()) {
    yield costOf(text)
    items.push(...readCap(text, index))
  }
  if (nmea) items.push(...(yield* readNmea(nmea, now)))
  return { items, ignored: [...ignored].sort() }
}

function costOf(text: string): number {
  return UNITS.item + UNITS.character * text.length
}

function readEvent(given: unknown, index: number, aliases: string[] = []): Item {
  const read = PushedEvent.safeParse(given)
  if (read.success) return { kind: 'event', index, event: read.data, aliases }
  return { kind: 'refused', index, id: idOf(given), reason: reasonOf(read.error) }
}

function reasonOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.')
  return `${path ? `${path}: ` : ''}${issue?.message ?? 'It cannot be read.'}`
}

function idOf(item: unknown): string | null {
  const read = PushedEvent.pick({ id: true }).strip().safeParse(item)
  return read.success ? read.data.id : null
}

const Feature = z.object({
  type: z.literal('Feature'),
  id: z.union([z.string(), z.number()]).optional(),
  geometry: Geometry,
  properties: z.record(z.string(), z.unknown()).nullish(),
})
const PLACE = ['lat', 'lon', 'geometry']
/** What GeoJSON often calls fields of an event; the field itself comes first. */
const OTHER_NAMES = new Map([
  ['name', 'title'],
  ['time', 'ts'],
])

function readFeature(given: unknown, index: number, ignored: Set<string>): Item {
  const read = Feature.safeParse(given)
  if (!read.success) {
    return { kind: 'refused', index, id: null, reason: reasonOf(read.error) }
  }
  const properties = read.data.properties ?? {}
  const known: Record<string, unknown> = {}
  for (const [given, value] of Object.entries(properties)) {
    const field = OTHER_NAMES.get(given) ?? given
    const isOurs = Object.hasOwn(PushedEvent.shape, field) && !PLACE.includes(field)
    if (isOurs && (field === given || !Object.hasOwn(properties, field))) known[field] = value
    else ignored.add(given)
  }
  const id = read.data.id ?? known.id
  try {
    const geometry = readGeometry(read.data.geometry)
    const [lon, lat] = representativePoint(geometry) ?? []
    return readEvent(
      {
        ...known,
        id: typeof id === 'number' ? String(id) : id,
        lat,
        lon,
        geometry: geometry.type === 'Point' ? null : geometry,
      },
      index,
    )
  } catch (error) {
    return { kind: 'refused', index, id: idOf({ id }), reason: `geometry: ${messageOf(error)}` }
  }
}

function readCap(text: string, index: number): Item[] {
  try {
    const alerts = capElements(parseXml(text)).map(readCapXml)
    if (alerts.length > 0) return alerts.flatMap((alert) => itemsOfAlert(alert, index))
    return [{ kind: 'refused', index, id: null, reason: 'It has no CAP alert.' }]
  } catch (error) {
    return [{ kind: 'refused', index, id: null, reason: messageOf(error) }]
  }
}

/** An update keeps the id of the first message of its chain; a cancel ends it. */
function itemsOfAlert(alert: CapAlert, index: number): Item[] {
  const { identifier, references, msg_type } = alert
  const refusal = refuseCap(alert)
  if (refusal) return [{ kind: 'refused', index, id: identifier, reason: refusal }]
  const isCancel = msg_type.toLowerCase() === 'cancel'
  if (isCancel && references.length === 0) {
    return [{ kind: 'refused', index, id: identifier, reason: 'references: a Cancel needs them' }]
  }
  const id = references[0] ?? identifier
  return capEvent(alert, { source: 'custom', id: `custom:${id}` }).map((result) =>
    itemOf(result, index, {
      prefix: 'custom:',
      aliases: [...references, identifier],
      ...(isCancel ? { status: 'ended' as const } : {}),
    }),
  )
}

function* readNmea(lines: readonly string[], now: Date): Steps<Item[]> {
  const reader = createNmeaReader()
  const items: Item[] = []
  for (const [index, line] of lines.entries()) {
    const results = reader.read(line, { now: now.getTime(), item: String(index) })
    const none = {
      index,
      kind: 'none',
      reason: 'It is not a position report, or only part of a message.',
    } as const
    if (results.length === 0) items.push(none)
    items.push(...results.map((result) => itemOf(result, index, { prefix: 'nmea:' })))
    yield costOf(line)
  }
  const last = lines.length - 1
  const left = reader.end(now.getTime())
  return [...items, ...left.map((result) => itemOf(result, last, { prefix: '' }))]
}

/** An event of a connector as one of one's own: its id without what the connector put before it. */
function itemOf(
  result: Normalised,
  index: number,
  { prefix, aliases = [], ...over }: { prefix: string; aliases?: string[]; status?: 'ended' },
): Item {
  if ('rejected' in result) {
    return { kind: 'refused', index, id: null, reason: result.rejected.reason }
  }
  const { source: _, aliases: __, ...event } = result.event
  return readEvent({ ...event, ...over, id: event.id.slice(prefix.length) }, index, aliases)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
