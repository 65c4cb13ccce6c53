import { parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1254', 'windows-1252'] as const
export type Encoding = (typeof ENCODINGS)[number]
export const DELIMITERS = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/** So that Excel takes the file for UTF-8. */
export const BOM = '\uFEFF'

// What a spreadsheet may take for a formula (OWASP, CSV Injection), after any quotes we put there.
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/
const DISARMED = /^'+[=+\-@\t\r\n＝＋－＠]/

/** disarm makes a text that no spreadsheet runs; `rearm` gives it back as it was. */
export function disarm(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

export function rearm(text: string): string {
  return DISARMED.test(text) ? text.slice(1) : text
}

/** toCsv writes rows as RFC 4180 has them, every text quoted and none a formula. */
export function toCsv(rows: (string | number | null)[][]): string {
  const safe = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? disarm(cell) : cell)),
  )
  return stringify(safe, { record_delimiter: '\r\n', quoted_string: true })
}

/** A byte-order mark tells, else what is valid UTF-8 is UTF-8, else it is a Windows code page. */
export function detectEncoding(bytes: Uint8Array): Encoding {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return 'utf-8'
  } catch {
    // The two differ in six letters: Ğ İ Ş ğ ı ş in the Turkish one, Icelandic Ð Ý Þ ð ý þ in the other.
    return bytes.some((byte) => TURKISH_BYTES.has(byte)) ? 'windows-1254' : 'windows-1252'
  }
}
const TURKISH_BYTES = new Set([0xd0, 0xdd, 0xde, 0xf0, 0xfd, 0xfe])

/** decode reads bytes as text, without byte-order mark, Excel's "sep=" line and what no text holds. */
export function decode(bytes: Uint8Array, encoding: Encoding): string {
  return new TextDecoder(encoding).decode(bytes).replace(SEPARATOR_LINE, '').replaceAll('\0', '')
}
const SEPARATOR_LINE = /^sep=.\r?\n/i

/** The delimiter that splits the first rows into most columns, the same number in each. */
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

/** firstRows reads as many rows as it can from the beginning of a text. */
export function firstRows(text: string, delimiter: Delimiter, count: number): string[][] {
  const rows: string[][] = []
  try {
    parseAll(text, {
      ...PARSING,
      delimiter,
      to: count,
      on_record: (row: string[]) => void rows.push(row.map(rearm)),
    })
  } catch {
    // The text may be cut in the middle of a row; what came before counts.
  }
  return rows
}

const CHUNK = 64 * 1024

/** readCsv reads a text row by row, and leaves others their turn; throws CsvError where it is damaged. */
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
    for await (const row of parser) yield (row as string[]).map(rearm) // safe: without `columns` rows are arrays of texts
    await fed
  } catch (error) {
    throw new CsvError(error)
  }
}

/** The file is no CSV from some line on. */
export class CsvError extends Error {
  /** The line by which a quotation mark should have been closed, where that is what is wrong. */
  readonly unclosed_at: number | undefined

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    const { code, lines } = Object(cause)
    if (code === 'CSV_QUOTE_NOT_CLOSED' && typeof lines === 'number') this.unclosed_at = lines
  }
}
