import { z } from 'zod'
import {
  type Content,
  type Feed,
  type FeedResult,
  feedError,
  isFeedError,
  type Normalised,
  normaliseEach,
  type PollInput,
  reject,
  toEvent,
} from './feed.ts'
import { fetchBytes, fetchText } from './fetch.ts'
import { unzipText } from './formats/zip.ts'

const FOLDER = 'http://data.gdeltproject.org/gdeltv2'
const INTERVAL_SECONDS = 15 * 60
/** After an outage: two hours. */
const MAX_FILES = 8
/** More than the stories of a day. */
const MAX_SEEN = 10_000
/** An event that is mentioned only in passing is at most this. */
const PASSING_CEILING = 30

/** The columns that differ between the daily files of version 1 and version 2. */
const COLUMNS: Record<number, Record<'geo' | 'place' | 'lat' | 'lon' | 'added' | 'url', number>> = {
  58: { geo: 49, place: 50, lat: 53, lon: 54, added: 56, url: 57 },
  61: { geo: 51, place: 52, lat: 56, lon: 57, added: 59, url: 60 },
}
const [ID, DAY, IS_ROOT, ROOT, QUAD, GOLDSTEIN, MENTIONS] = [0, 1, 25, 28, 29, 30, 31]

/** The root codes of CAMEO. */
const ROOTS: Record<string, string> = {
  '01': 'Public statement',
  '02': 'Appeal',
  '03': 'Intent to cooperate',
  '04': 'Consultation',
  '05': 'Diplomatic cooperation',
  '06': 'Material cooperation',
  '07': 'Aid',
  '08': 'Concession',
  '09': 'Investigation',
  '10': 'Demand',
  '11': 'Disapproval',
  '12': 'Rejection',
  '13': 'Threat',
  '14': 'Protest',
  '15': 'Show of force',
  '16': 'Reduced relations',
  '17': 'Coercion',
  '18': 'Assault',
  '19': 'Fight',
  '20': 'Mass violence',
}

const Decimal = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/, 'must be a number')
  .transform(Number)
const Row = z.object({
  GLOBALEVENTID: z.string().regex(/^\d+$/, 'must be a number'),
  SQLDATE: z.string(),
  ActionGeo_Type: z.string(),
  ActionGeo_FullName: z.string(),
  ActionGeo_Lat: Decimal,
  ActionGeo_Long: Decimal,
  EventRootCode: z.string(),
  QuadClass: z.string(),
  GoldsteinScale: Decimal.catch(0),
  NumMentions: Decimal.catch(0),
  IsRootEvent: z.string(),
  DATEADDED: z.string().regex(/^\d{8}(\d{6})?$/, 'must be YYYYMMDD or YYYYMMDDHHMMSS'),
  SOURCEURL: z.string(),
})
type Row = z.infer<typeof Row>

const State = z.object({
  /** The name of the last file, a time. */
  last: z
    .string()
    .regex(/^\d{14}$/)
    .nullable(),
  /** The stories of the last days, each the place, the root code and the day. */
  seen: z.array(z.string()),
})

/** The events that GDELT reads in the news: by machine, so it is polled only if it is asked for. */
export const gdelt: Feed = {
  source: 'gdelt',
  title: 'GDELT news events',
  attribution: 'The GDELT Project (https://www.gdeltproject.org)',
  types: ['conflict', 'other'],
  ceilings: { conflict: 80, other: 50 },
  interval_seconds: INTERVAL_SECONDS,
  is_optional: true,
  poll,
  normalise: (text) => normaliseTable(text, new Set()),
}

/** A table without a header. Of the rows of one story the first counts; its key is added to `seen`. */
function normaliseTable(text: string, seen: Set<string>): Content {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length > 0 && !lines.some((line) => COLUMNS[line.split('\t').length])) {
    throw feedError('unreadable', 'answered with text that is not a table of GDELT')
  }
  return normaliseEach(lines, (line, position) => normaliseRow(line, position, seen))
}

function normaliseRow(line: string, position: string, seen: Set<string>): Normalised {
  const cells = line.replace(/\r$/, '').split('\t')
  const columns = COLUMNS[cells.length]
  if (!columns) return reject(position, `row: has ${cells.length} cells, neither 58 nor 61`)
  const cell = (index: number) => cells[index]?.trim() ?? ''
  const item = cell(ID) || position
  // Countries and states are centroids, far from where it happened.
  const geo = cell(columns.geo)
  if (geo !== '3' && geo !== '4') {
    return reject(item, `ActionGeo_Type: "${geo}" is not a city (3 or 4)`)
  }
  const read = Row.safeParse({
    GLOBALEVENTID: cell(ID),
    SQLDATE: cell(DAY),
    ActionGeo_Type: geo,
    ActionGeo_FullName: cell(columns.place),
    ActionGeo_Lat: cell(columns.lat),
    ActionGeo_Long: cell(columns.lon),
    EventRootCode: cell(ROOT),
    QuadClass: cell(QUAD),
    GoldsteinScale: cell(GOLDSTEIN),
    NumMentions: cell(MENTIONS),
    IsRootEvent: cell(IS_ROOT),
    DATEADDED: cell(columns.added),
    SOURCEURL: cell(columns.url),
  })
  if (!read.success) return reject(item, read.error)
  const row = read.data
  const story = [row.ActionGeo_Lat, row.ActionGeo_Long, row.EventRootCode, row.SQLDATE].join('|')
  if (seen.has(story)) return reject(item, 'story: the same place, kind and day as another row')
  const made = toEvent(
    {
      id: `gdelt:${row.GLOBALEVENTID}`,
      source: 'gdelt',
      type: /^[34]$/.test(row.QuadClass) ? 'conflict' : 'other',
      title: `${ROOTS[row.EventRootCode] ?? 'Event'} - ${row.ActionGeo_FullName || 'unknown place'}`,
      lat: row.ActionGeo_Lat,
      lon: row.ActionGeo_Long,
      ts: addedAt(row.DATEADDED),
      severity: severity(row),
      url: row.SOURCEURL,
    },
    item,
  )
  if ('event' in made) seen.add(story)
  return made
}

function addedAt(digits: string): string {
  const padded = digits.padEnd(14, '0')
  return padded.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6.000Z')
}

function severity(row: Row): number {
  const { GoldsteinScale: goldstein, NumMentions: mentions } = row
  const by_class = { '3': 30, '4': 40 }[row.QuadClass] ?? 10
  const by_scale = 10 * [-7, -9].filter((limit) => goldstein <= limit).length
  const by_mentions = 10 * [10, 50].filter((limit) => mentions >= limit).length
  const cap = row.IsRootEvent === '0' ? PASSING_CEILING : 80
  return Math.min(by_class + by_scale + by_mentions, cap)
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch({ last: null, seen: [] }).parse(input.state)
  const list = await fetchText(`${FOLDER}/lastupdate.txt`, input)
  const newest = list.not_modified ? null : /\/(\d{14})\.export\.CSV\.zip\s*$/m.exec(list.text)?.[1]
  if (newest === undefined) {
    throw feedError('unreadable', 'answered with a list without an export file')
  }
  const names = newest === null ? [] : namesUntil(newest, state.last)
  const content: Content = { events: [], rejected: [] }
  const seen = new Set(state.seen)
  let last = state.last
  for (const name of names) {
    try {
      const file = await fetchBytes(`${FOLDER}/${name}.export.CSV.zip`, input)
      if (file.not_modified) continue
      const { events, rejected } = normaliseTable(await unzipText(file.bytes), seen)
      content.events.push(...events)
      // That most rows are stories without a city, or again the same, is no news.
      content.rejected.push(
        ...rejected.filter(({ reason }) => !/^(ActionGeo_Type|story):/.test(reason)),
      )
      last = name
    } catch (error) {
      if (!isFeedError(error)) throw error
      if (content.events.length === 0 && name === newest) throw error
      content.rejected.push({ item: name, reason: error.message })
      // A file of the past that is missing stays so.
      if (name === newest || error.code !== 'http_status') break
      last = name
    }
  }
  const not_modified = names.length === 0
  return {
    ...content,
    state: not_modified ? input.state : { last, seen: [...seen].slice(-MAX_SEEN) },
    not_modified,
  }
}

/** The files since the last one, every 15 minutes, oldest first. */
function namesUntil(newest: string, last: string | null): string[] {
  if (last === null || newest <= last) return newest === last ? [] : [newest]
  const names: string[] = []
  const end = Date.parse(addedAt(newest))
  for (let back = 0; back < MAX_FILES; back++) {
    const name = new Date(end - back * INTERVAL_SECONDS * 1000)
      .toISOString()
      .replace(/\D/g, '')
      .slice(0, 14)
    if (name <= last) break
    names.unshift(name)
  }
  return names
}
