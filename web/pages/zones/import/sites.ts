import Papa from 'papaparse'
import { foldName } from '../../../../shared/words/fold.ts'

/** What a column of a list of sites can be. */
export const SITE_FIELDS = [
  'external_id',
  'label',
  'lat',
  'lon',
  'radius_km',
  'min_severity',
  'emergency_severity',
] as const
export type SiteField = (typeof SITE_FIELDS)[number]
/** The column of each field, counted from 0; absent: the list does not have it. */
export type Mapping = { [field in SiteField]?: number }
export type SiteRow = { line: number; cells: string[] }
export type SiteTable = { heads: string[]; rows: SiteRow[] }
/** A row as the API takes it. What is no number goes as it was written, so that the API names it. */
export type Site = { external_id: string } & { [field in SiteField]?: string | number }

const NAMES: Record<SiteField, readonly string[]> = {
  external_id: [
    'external id',
    'id',
    'code',
    'site id',
    'site code',
    'ref',
    'kod',
    'kodu',
    'kimlik',
    'no',
  ],
  label: ['name', 'label', 'site', 'site name', 'title', 'ad', 'adi', 'isim', 'yer'],
  lat: ['lat', 'latitude', 'enlem', 'y'],
  lon: ['lon', 'lng', 'long', 'longitude', 'boylam', 'x'],
  radius_km: ['radius', 'radius km', 'radius in km', 'yaricap', 'yaricap km'],
  min_severity: [
    'threshold',
    'severity',
    'min severity',
    'esik',
    'siddet',
    'en dusuk siddet',
    'onem',
    'onem derecesi',
    'en dusuk onem derecesi',
  ],
  emergency_severity: ['emergency', 'emergency severity', 'acil', 'acil siddet'],
}
const NUMBERS: readonly SiteField[] = [
  'lat',
  'lon',
  'radius_km',
  'min_severity',
  'emergency_severity',
]

/** Whether a text looks like a table with a heading, and not like coordinates or a shape. */
export function isTable(text: string): boolean {
  const [head = ''] = withoutMarks(text).split(/\r?\n/, 1)
  const isOther = /^[[{<(]|^(SRID=\d+;)?\s*(MULTI)?(POLYGON|POINT)\b|°/i.test(head)
  return !isOther && /[,;\t|]/.test(head) && /(^|[,;\t|])\s*"?\p{L}/u.test(head)
}

/** Without the mark before the text and the line by which Excel names the separator. */
function withoutMarks(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/^sep=.\r?\n/i, '')
    .trimStart()
}

/** readTable reads a table with a heading: separated by commas, semicolons, tabs or bars; quoted cells may have lines. */
export function readTable(text: string): SiteTable {
  const body = withoutMarks(text)
  // Lines that are taken away before the heading still count.
  const before = text.length - body.length
  let line = text.slice(0, before).split('\n').length
  let seen = 0
  const all: SiteRow[] = []
  Papa.parse<string[]>(body, {
    delimitersToGuess: [';', ',', '\t', '|'],
    step: ({ data, meta }) => {
      const cells = data.map((cell) => cell.trim())
      if (cells.some((cell) => cell !== '')) all.push({ line, cells })
      line += body.slice(seen, meta.cursor).split('\n').length - 1
      seen = meta.cursor
    },
  })
  const [head, ...rows] = all
  return { heads: head?.cells ?? [], rows }
}

/** The columns whose names say what they are, in English and Turkish. */
export function guessMapping(heads: readonly string[]): Mapping {
  const folded = heads.map(foldName)
  const mapping: Mapping = {}
  for (const field of SITE_FIELDS) {
    const at = folded.findIndex((head) => NAMES[field].includes(head))
    if (at >= 0) mapping[field] = at
  }
  return mapping
}

/** A number as English or Turkish writes it: 41.5, 41,5, 1.234,5 and 1,234.5; else the text as it is. */
export function readNumber(text: string): number | string {
  const isCommaLast = text.lastIndexOf(',') > text.lastIndexOf('.')
  const plain = isCommaLast ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', '')
  return /^[-+]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : text
}

/** The rows as the API takes them. An empty cell leaves its field out; without a column of its own the name is the id. */
export function sitesOf({ rows }: SiteTable, mapping: Mapping): (Site & { line: number })[] {
  const cellOf = ({ cells }: SiteRow, field: SiteField) => {
    const at = mapping[field]
    return at === undefined ? '' : (cells[at] ?? '')
  }
  return rows.map((row) => {
    const site: Site & { line: number } = {
      line: row.line,
      external_id: cellOf(row, 'external_id') || cellOf(row, 'label'),
    }
    for (const field of SITE_FIELDS) {
      const cell = cellOf(row, field)
      if (cell !== '' && field !== 'external_id') {
        site[field] = NUMBERS.includes(field) ? readNumber(cell) : cell
      }
    }
    return site
  })
}

/** The line of the first row with the same id, for each row that has one before it. */
export function repeated(sites: readonly (Site & { line: number })[]): Map<number, number> {
  const first = new Map<string, number>()
  const again = new Map<number, number>()
  for (const { external_id, line } of sites) {
    const before = first.get(external_id)
    if (external_id === '') continue
    if (before === undefined) first.set(external_id, line)
    else again.set(line, before)
  }
  return again
}

/** The text of a file: UTF-8 or UTF-16 by its mark, else UTF-8, else as Excel saves it in Turkey. */
export function decodeList(bytes: Uint8Array): string {
  const [one, two] = bytes
  if (one === 0xff && two === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (one === 0xfe && two === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1254').decode(bytes)
  }
}
