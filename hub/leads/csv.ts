import { parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1254', 'windows-1252'] as const
export type Encoding = (typeof ENCODINGS)[number]
export const DELIMITERS = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/** The byte-order mark lets Excel recognise UTF-8. */
export const BOM = '\uFEFF'

// What a spreadsheet may read as a formula (OWASP, CSV Injection), after any apostrophes we added.
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/
const DISARMED = /^'+[=+\-@\t\r\n＝＋－＠]/

/**
 * escapeFormula prefixes a text that a spreadsheet would run as a formula; `unescapeFormula` undoes
 * it.
 */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

export function unescapeFormula(text: string): string {
  return DISARMED.test(text) ? text.slice(1) : text
}

/** toCsv writes rows as RFC 4180 describes: every text is quoted, and formulas are escaped. */
export function toCsv(rows: (string | number | null)[][]): string {
  const safe = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? escapeFormula(cell) : cell)),
  )
  return stringify(safe, { record_delimiter: '\r\n', quoted_string: true })
}

/**
 * Detects the encoding: by byte-order mark, otherwise UTF-8 if most letters are valid, otherwise a
 * Windows code page.
 */
export function detectEncoding(bytes: Uint8Array): Encoding {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return 'utf-8'
  } catch {
    if (isMostlyUtf8(bytes)) return 'utf-8'
    // 1254 and 1252 differ in six letters: Turkish Ğ İ Ş ğ ı ş against Icelandic Ð Ý Þ ð ý þ.
    return bytes.some((byte) => TURKISH_BYTES.has(byte)) ? 'windows-1254' : 'windows-1252'
  }
}

/** One broken letter does not make a file a code page: its other letters would all be wrong then. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(bytes)
  let more = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) more += code === 0xfffd ? -1 : 1
  }
  return more > 0
}

const TURKISH_BYTES = new Set([0xd0, 0xdd, 0xde, 0xf0, 0xfd, 0xfe])

/**
 * decode returns bytes as text, without a byte-order mark, Excel's "sep=" line and NUL characters.
 */
export function decode(bytes: Uint8Array, encoding: Encoding): string {
  return new TextDecoder(encoding).decode(bytes).replace(SEPARATOR_LINE, '').replaceAll('\0', '')
}
const SEPARATOR_LINE = /^sep=.\r?\n/i

/**
 * The delimiter that splits the first rows into the most columns, with the same number in each row.
 */
export function detectDelimiter(text: string): Delimiter {
  const head = text.slice(0, 64_000)
  let best: { delimiter: Delimiter; points: number } = { delimiter: ',', points: 0 }
  for (const delimiter of DELIMITERS) {
    const rows = firstRows(head, delimiter, 20)
    const width = rows[0]?.length ?? 0
    const same = rows.filter((row) => row.length === width).length
    const points = width < 2 ? 0 : (width - 1) * (same / rows.length)
    if (points > best.points) best = { delimiter, points }
  }
  return best.delimiter
}

const PARSING = {
  relax_column_count: true,
  relax_quotes: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  max_record_size: 1_000_000,
}

/** firstRows returns the first complete rows of a text. */
export function firstRows(text: string, delimiter: Delimiter, count: number): string[][] {
  const rows: string[][] = []
  try {
    parseAll(text, {
      ...PARSING,
      delimiter,
      to: count,
      on_record: (row: string[]) => void rows.push(row.map(unescapeFormula)),
    })
  } catch {
    // The text may end in the middle of a row; the rows before it count.
  }
  return rows
}

const CHUNK = 64 * 1024

/**
 * readCsv reads a text row by row, and leaves others their turn; throws CsvError where it is
 * damaged.
 */
export async function* readCsv(text: string, delimiter: Delimiter): AsyncGenerator<string[]> {
  const parser = parse({ ...PARSING, delimiter })
  const bytes = Buffer.from(text)
  const feed = async () => {
    for (let at = 0; at < bytes.length; at += CHUNK) {
      if (!parser.write(bytes.subarray(at, at + CHUNK))) {
        await new Promise((resolve) => parser.once('drain', resolve))
      }
    }
    parser.end()
  }
  const fed = feed()
  try {
    for await (const row of parser) yield (row as string[]).map(unescapeFormula) // safe: without `columns` rows are arrays of texts
    await fed
  } catch (error) {
    throw new CsvError(error)
  }
}

/** The file is not valid CSV; `line` is where it breaks, if known. */
export class CsvError extends Error {
  /** The line by which a quotation mark should have been closed, where that is what is wrong. */
  readonly unclosed_at: number | undefined

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    const { code, lines } = Object(cause)
    if (code === 'CSV_QUOTE_NOT_CLOSED' && typeof lines === 'number') this.unclosed_at = lines
  }
}
