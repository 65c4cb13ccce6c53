/**
 * Condenses recorded answers into what the demo replays, one line a storm, fire or warning:
 *
 *   node scripts/build/replay-recordings.ts storms FILE             the best tracks of the NHC (HURDAT2)
 *   node scripts/build/replay-recordings.ts fires FILE              a table of FIRMS
 *   node scripts/build/replay-recordings.ts warnings FILE COUNTIES  an answer of api.weather.gov with times of
 *                                                                   "date:now ±N seconds", and the counties of us-atlas
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readDetections } from '../../functions/feeds/formats/firms-csv.ts'
import { representativePoint } from '../../functions/feeds/formats/geometry.ts'
import { hash } from '../../functions/feeds/memory/alert-memory.ts'
import { type Fire, toFires } from '../../functions/feeds/memory/fires.ts'
import { Geometry } from '../../shared/schemas/event.ts'
import { type LonLat, linesOf, Topology } from '../pictures/topology.ts'
import { runMain, UsageError } from '../start/arguments.ts'

const OUT = join(import.meta.dirname, '../../functions/feeds/replay/recorded')
const MINUTE_MS = 60_000

type Span = { starts_at: string; ends_at: string; origin: string }

/** The week in which Gustav, Hanna, Ike and Josephine were in the Atlantic at once. */
const STORMS: Span & { ids: string[] } = {
  starts_at: '2008-09-01T00:00:00Z',
  ends_at: '2008-09-08T00:00:00Z',
  origin: 'NOAA / National Hurricane Center, best tracks (HURDAT2); public domain',
  ids: ['AL072008', 'AL082008', 'AL092008', 'AL102008'],
}
const FIRES: Span & { count: number } = {
  starts_at: '2020-10-02T00:00:00Z',
  ends_at: '2020-10-03T06:00:00Z',
  origin: 'NASA FIRMS, MODIS, South America; the fires of most power; open data',
  count: 300,
}
/** The moment of the answer lies in the week so that what it lists begins and ends within it. */
const WARNINGS: Span & { answered_at: string } = {
  starts_at: '2026-05-13T16:36:00Z',
  ends_at: '2026-05-20T16:36:00Z',
  origin: 'U.S. National Weather Service, active alerts on land; public domain',
  answered_at: '2026-05-14T16:36:00Z',
}

async function write(
  name: string,
  { starts_at, ends_at, origin }: Span,
  lines: unknown[],
): Promise<void> {
  const all = [{ starts_at, ends_at, origin }, ...lines].map((line) => JSON.stringify(line))
  await writeFile(join(OUT, `${name}.ndjson`), `${all.join('\n')}\n`)
  process.stdout.write(`${name}: ${lines.length}\n`)
}

const minutesSince = ({ starts_at }: Span, time: number) =>
  Math.round((time - Date.parse(starts_at)) / MINUTE_MS)

function storms(text: string): unknown[] {
  const rows = text.split('\n').map((line) => line.split(',').map((cell) => cell.trim()))
  return STORMS.ids.map((id) => {
    const head = rows.findIndex(([first]) => first === id)
    const [, name = '', count] = rows[head] ?? []
    const points = rows.slice(head + 1, head + 1 + Number(count)).map((row) => {
      const [date = '', time = '', , kind = '', lat, lon, knots] = row
      const at = `${date.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time.replace(/(..)(..)/, '$1:$2')}Z`
      const minute = minutesSince(STORMS, Date.parse(at))
      return { minute, kind, lat: degrees(lat), lon: degrees(lon), knots: Number(knots) }
    })
    const week = minutesSince(STORMS, Date.parse(STORMS.ends_at))
    const over = points.find(({ kind }) => !['TD', 'TS', 'HU'].includes(kind))
    const ended = Math.min(over?.minute ?? week, week - 1)
    const track = points
      .filter(({ minute }) => minute >= 0 && minute < ended)
      .map(({ minute, kind, lat, lon, knots }) => [minute, kind, lat, lon, knots])
    return {
      id: id.toLowerCase(),
      name: name.slice(0, 1) + name.slice(1).toLowerCase(),
      track,
      ended,
    }
  })
}

function degrees(text = ''): number {
  return Number.parseFloat(text) * (/[SW]$/.test(text) ? -1 : 1)
}

function fires(text: string): unknown[] {
  const power = (fire: Fire) => fire.reduce((sum, { frp }) => sum + (frp ?? 0), 0)
  return toFires(readDetections(text).detections)
    .sort((a, b) => power(b) - power(a))
    .slice(0, FIRES.count)
    .sort((a, b) => a[0].at - b[0].at)
    .map((fire) =>
      fire.map(({ key, lat, lon, at, frp, confidence }) => {
        const [satellite] = key.split('|')
        return [minutesSince(FIRES, at), lat, lon, frp ?? 0, Number(confidence), satellite]
      }),
    )
}

const Relative = z
  .string()
  .regex(/^date:now [+-]\d+ seconds?$/)
  .transform((text) => {
    const seconds = Number(/[+-]\d+/.exec(text)?.[0])
    return minutesSince(WARNINGS, Date.parse(WARNINGS.answered_at) + seconds * 1000)
  })
const Answer = z.object({
  features: z.array(
    z.object({
      geometry: Geometry.nullable(),
      properties: z.object({
        id: z.string(),
        event: z.string(),
        category: z.string(),
        severity: z.string(),
        urgency: z.string(),
        certainty: z.string(),
        senderName: z.string(),
        geocode: z.object({ SAME: z.array(z.string()).default([]) }),
        sent: Relative,
        onset: Relative.nullable(),
        ends: Relative.nullable(),
        expires: Relative,
      }),
    }),
  ),
})

function warnings(text: string, counties: string): unknown[] {
  const places = countyPlaces(counties)
  return Answer.parse(JSON.parse(text))
    .features.flatMap(({ geometry, properties }) => {
      const { id, event, category, severity, urgency, certainty, senderName, sent } = properties
      const { onset, ends, expires, geocode } = properties
      const middles = geocode.SAME.map((code) => places.get(code)).filter(
        (place) => place !== undefined,
      )
      const area = geometry ?? pointsOf(middles)
      const end = ends ?? expires
      if (!area || sent < 0 || end <= sent) return []
      const line = { event, category, severity, urgency, certainty, office: senderName }
      const times = { sent, onset: onset ?? sent, ends: end }
      return [{ id: hash(id), ...line, ...times, geometry: area }]
    })
    .sort((a, b) => a.sent - b.sent || (a.id < b.id ? -1 : 1))
}

function pointsOf(points: LonLat[]): Geometry | null {
  const [only] = points
  if (points.length > 1) return { type: 'MultiPoint', coordinates: points }
  return only ? { type: 'Point', coordinates: only } : null
}

const Arcs = z.array(z.array(z.number()))
const Counties = Topology.extend({
  objects: z.object({
    counties: z.object({
      geometries: z.array(
        z.union([
          z.object({ type: z.literal('Polygon'), id: z.string(), arcs: Arcs }),
          z.object({ type: z.literal('MultiPolygon'), id: z.string(), arcs: z.array(Arcs) }),
        ]),
      ),
    }),
  }),
})

/** The middle of each county by its SAME code, which is 0 and the code of the county. */
function countyPlaces(json: string): Map<string, LonLat> {
  const topology = Counties.parse(JSON.parse(json))
  const lines = linesOf(topology)
  const ringOf = (indices: number[]) =>
    indices.flatMap((index) =>
      index < 0 ? (lines[~index] ?? []).toReversed() : (lines[index] ?? []),
    )
  const round = (degrees: number) => Number(degrees.toFixed(2))
  return new Map(
    topology.objects.counties.geometries.flatMap(({ id, ...county }) => {
      const polygons = county.type === 'Polygon' ? [county.arcs] : county.arcs
      const coordinates = polygons.map((rings) => rings.map(ringOf))
      const point = representativePoint({ type: 'MultiPolygon', coordinates })
      return point ? [[`0${id}`, [round(point[0]), round(point[1])] as LonLat] as const] : []
    }),
  )
}

await runMain(async () => {
  const [kind, file, counties] = process.argv.slice(2)
  if (!file) throw new UsageError('Name storms, fires or warnings, and the recorded file.')
  const text = await readFile(file, 'utf8')
  if (kind === 'storms') return write('storms', STORMS, storms(text))
  if (kind === 'fires') return write('fires', FIRES, fires(text))
  if (kind !== 'warnings') throw new UsageError(`There is no "${kind}" to condense.`)
  if (!counties) throw new UsageError('Name the file of the counties as well.')
  await write('warnings', WARNINGS, warnings(text, await readFile(counties, 'utf8')))
})
