import type { Feature, FeatureCollection, LineString, Point, Position } from 'geojson'
import type { Track } from '../api/queries.ts'
import { moverOf } from './symbols.ts'

type Step = Track['steps'][number]
/** What a stretch of a way is drawn with; `gap`: nobody knows the way between its ends. */
export type Stretch = {
  id: string
  severity: number
  opacity: number
  width: number
  look: 'way' | 'gap'
}
/** The place of what has an own place only by its track: vessels and aircraft. */
export type Head = { id: string; title: string; severity: number; symbol: string; bearing: number }

/** A way that is not chosen fades over this part of the shown time. */
const TAIL = 1 / 4
/** The ages of its parts, as shares of the tail, and how strong they are drawn. */
const FADES = [
  { from: 0.6, opacity: 0.2 },
  { from: 0.25, opacity: 0.4 },
  { from: 0, opacity: 0.65 },
] as const
/** Of each tail as many steps are drawn, the newest. */
const MAX_TAIL_STEPS = 60

const timeOf = ({ ts }: Step) => Date.parse(ts)
const placeOf = ({ lon, lat }: Step): Position => [lon, lat]

/** The steps up to a time: what is later has not happened yet. */
export function cutAt(steps: readonly Step[], until: number): Step[] {
  let [low, high] = [0, steps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const step = steps[middle]
    if (step && timeOf(step) <= until) low = middle + 1
    else high = middle
  }
  return steps.slice(0, low)
}

/** A path as lines that end at ±180° and go on at the other side; each step goes the short way. */
export function splitAt180(path: readonly Position[]): Position[][] {
  const lines: Position[][] = []
  let line: Position[] = []
  for (const [index, position] of path.entries()) {
    const before = path[index - 1]
    if (before) {
      const [lon0 = 0, lat0 = 0] = before
      const [lon1 = 0, lat1 = 0] = position
      const step = lon1 - lon0
      if (Math.abs(step) > 180) {
        const side = step < 0 ? 180 : -180
        // How far the other side is from the first place, going on across the line.
        const whole = step + 2 * side
        const share = whole === 0 ? 0 : (side - lon0) / whole
        const lat = lat0 + share * (lat1 - lat0)
        line.push([side, lat])
        lines.push(line)
        line = [[-side, lat]]
      }
    }
    line.push([...position])
  }
  lines.push(line)
  // What crosses at its very end leaves a line of one place.
  return lines.filter(({ length }) => length > 1)
}

/** The steps as stretches that belong together, and the gaps between them. */
export function stretchesOf(steps: readonly Step[]): { look: Stretch['look']; steps: Step[] }[] {
  const stretches: { look: Stretch['look']; steps: Step[] }[] = []
  let way: Step[] = []
  for (const step of steps) {
    const before = way.at(-1)
    if (before && step.flag !== null) {
      stretches.push({ look: 'way', steps: way }, { look: 'gap', steps: [before, step] })
      way = []
    }
    way.push(step)
  }
  stretches.push({ look: 'way', steps: way })
  return stretches.filter(({ steps }) => steps.length > 1)
}

/** The direction of the last move, in degrees clockwise from the north; null when it has not moved. */
export function bearingOf(steps: readonly Step[]): number | null {
  const last = steps.at(-1)
  const before = steps.findLast(({ lat, lon }) => lat !== last?.lat || lon !== last.lon)
  if (!last || !before) return null
  const turn = ((((last.lon - before.lon + 180) % 360) + 360) % 360) - 180
  const east = turn * Math.cos((((last.lat + before.lat) / 2) * Math.PI) / 180)
  return ((Math.atan2(east, last.lat - before.lat) * 180) / Math.PI + 360) % 360
}

type Shown = { until: number; span: number; chosen: Track | undefined }

/** The ways to draw at a time: of the chosen one all of it, of the others a tail that fades. */
export function trackFeatures(
  tracks: readonly Track[],
  { until, span, chosen }: Shown,
): FeatureCollection<LineString, Stretch> {
  const features: Feature<LineString, Stretch>[] = []
  for (const track of tracks) {
    if (chosen && isSame(track, chosen)) continue
    const steps = cutAt(track.steps, until)
    const since = until - TAIL * span
    const first = steps.findLastIndex((step) => timeOf(step) < since)
    const tail = steps.slice(Math.max(first, 0, steps.length - MAX_TAIL_STEPS))
    for (const part of fadingParts(tail, until, TAIL * span)) {
      features.push(...linesOf(track, part.steps, { opacity: part.opacity, width: 1.5 }))
    }
  }
  if (chosen) {
    features.push(...linesOf(chosen, cutAt(chosen.steps, until), { opacity: 0.95, width: 2.5 }))
  }
  return { type: 'FeatureCollection', features }
}

/** Whether two tracks are of the same thing: a vessel has another position with each report. */
export function isSame(one: Track, two: Track): boolean {
  if (one.event_id === two.event_id) return true
  return one.subject !== null && one.subject === two.subject && one.source === two.source
}

/** The steps of a tail by their age, each part with the step before it, so that the line is whole. */
function fadingParts(steps: readonly Step[], until: number, tail: number) {
  const parts: { opacity: number; steps: Step[] }[] = []
  for (const [index, step] of steps.entries()) {
    const age = (until - timeOf(step)) / tail
    const opacity = FADES.find(({ from }) => age >= from)?.opacity ?? FADES[2].opacity
    const last = parts.at(-1)
    if (last?.opacity === opacity) {
      last.steps.push(step)
      continue
    }
    const before = steps[index - 1]
    parts.push({ opacity, steps: before ? [before, step] : [step] })
  }
  return parts
}

function linesOf(
  { event_id: id, severity }: Track,
  steps: readonly Step[],
  drawn: Pick<Stretch, 'opacity' | 'width'>,
): Feature<LineString, Stretch>[] {
  return stretchesOf(steps).flatMap(({ look, steps }) =>
    splitAt180(steps.map(placeOf)).map((coordinates) => ({
      type: 'Feature' as const,
      geometry: { type: 'LineString' as const, coordinates },
      properties: { id, severity, look, ...drawn },
    })),
  )
}

/** Vessels and aircraft where they were at a time, each pointing where it went. */
export function headFeatures(
  tracks: readonly Track[],
  until: number,
): FeatureCollection<Point, Head> {
  const features = tracks.flatMap((track): Feature<Point, Head>[] => {
    if (!isPositions(track)) return []
    const steps = cutAt(track.steps, until)
    const last = steps.at(-1)
    if (!last) return []
    const bearing = bearingOf(steps)
    return [
      {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: placeOf(last) },
        properties: {
          id: track.event_id,
          title: track.title,
          severity: last.severity,
          symbol: moverOf(last.severity, bearing !== null),
          bearing: bearing ?? 0,
        },
      },
    ]
  })
  return { type: 'FeatureCollection', features }
}

/** Whether a track is made of positions, which no map of events has. */
export function isPositions({ subject }: Track): boolean {
  return subject !== null && /^(mmsi|icao24):/.test(subject)
}
