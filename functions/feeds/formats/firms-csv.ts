import { z } from 'zod'
import { type FeedError, feedError, type Rejected, reject } from '../feed.ts'

/** The severity of a detection whose confidence is low or unknown is at most this. */
const LOW_CEILING = 10
const LOW_PERCENT = 30

/** One pixel in which a satellite saw a fire. */
export type Detection = {
  /** What names it: there is no id. */
  key: string
  lat: number
  lon: number
  /** When it was seen, in ms since 1970. */
  at: number
  /** The radiative power in megawatts; null if it was not measured. */
  frp: number | null
  instrument: string
  confidence: string
  severity: number
}

const NEEDED = ['latitude', 'longitude', 'acq_date', 'acq_time', 'satellite', 'confidence', 'frp']

const Decimal = z
  .string()
  .regex(/^[+-]?\d+(\.\d+)?$/, 'must be a number')
  .transform(Number)
const Row = z.object({
  latitude: Decimal.pipe(z.number().min(-90).max(90)),
  longitude: Decimal.pipe(z.number().min(-180).max(180)),
  acq_date: z.iso.date(),
  // Some files drop the zeros in front.
  acq_time: z
    .string()
    .regex(/^\d{1,4}$/, 'must be hours and minutes')
    .transform((time) => time.padStart(4, '0'))
    .pipe(z.string().regex(/^([01]\d|2[0-3])[0-5]\d$/, 'must be hours and minutes')),
  satellite: z.string().min(1, 'must not be empty'),
  confidence: z.string(),
  frp: z.union([z.literal('').transform(() => null), Decimal.pipe(z.number().min(0))]),
})

/** The detections of a table of FIRMS, read line by line. Throws a FeedError if it is another text. */
export function readDetections(text: string): { detections: Detection[]; rejected: Rejected[] } {
  const detections: Detection[] = []
  const rejected: Rejected[] = []
  let names: string[] | null = null
  let number = 0
  for (const line of linesOf(text)) {
    const cells = line.split(',')
    if (names === null) {
      names = headerOf(cells)
      continue
    }
    number += 1
    const detection = readRow(names, cells, `#${number}`)
    if ('rejected' in detection) rejected.push(detection.rejected)
    else detections.push(detection)
  }
  if (names === null) throw notATable()
  return { detections, rejected }
}

/** Lines that are not empty, one by one: a table of the world has hundreds of thousands. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf('\n', from)
    const to = found < 0 ? text.length : found
    const line = text.slice(from, to).trim()
    if (line !== '') yield line
    from = to + 1
  }
}

/** The columns decide by their names: their order and number differ by satellite and by service. */
function headerOf(cells: string[]): string[] {
  const names = cells.map((cell) =>
    cell
      .replace(/^[\ufeff\u00ef\u00bb\u00bf]+/, '')
      .trim()
      .toLowerCase(),
  )
  if (NEEDED.some((name) => !names.includes(name))) throw notATable()
  return names
}

function notATable(): FeedError {
  return feedError('unreadable', 'answered with text that is not a table of FIRMS')
}

function readRow(
  names: string[],
  cells: string[],
  position: string,
): Detection | { rejected: Rejected } {
  if (cells.length !== names.length) {
    return reject(position, `row: has ${cells.length} cells for ${names.length} columns`)
  }
  const cell = (name: string) => cells[names.indexOf(name)]?.trim()
  const read = Row.safeParse(Object.fromEntries(NEEDED.map((name) => [name, cell(name)])))
  if (!read.success) return reject(position, read.error)
  const { latitude, longitude, acq_date, acq_time, satellite, confidence, frp } = read.data
  const is_viirs = names.includes('bright_ti4')
  return {
    key: [satellite, acq_date, acq_time, cell('latitude'), cell('longitude')].join('|'),
    lat: latitude,
    lon: longitude,
    at: Date.parse(`${acq_date}T${acq_time.slice(0, 2)}:${acq_time.slice(2)}:00Z`),
    frp,
    instrument: cell('instrument') || (is_viirs ? 'VIIRS' : 'MODIS'),
    confidence: wordFor(confidence),
    severity: severity(frp ?? 0, isLow(confidence)),
  }
}

/** By the radiative power in megawatts. */
function severity(frp: number, is_low: boolean): number {
  const steps = [5, 20, 50, 100, 300, 1000]
  const by_power = 10 * (1 + steps.filter((limit) => frp >= limit).length)
  return is_low ? Math.min(by_power, LOW_CEILING) : by_power
}

const WORDS: Record<string, string> = { l: 'low', n: 'nominal', h: 'high' }

function wordFor(confidence: string): string {
  return WORDS[confidence.toLowerCase()] ?? confidence.toLowerCase()
}

function isLow(confidence: string): boolean {
  if (/^\d{1,3}(\.\d+)?$/.test(confidence)) return Number(confidence) < LOW_PERCENT
  return !['nominal', 'high'].includes(wordFor(confidence))
}
