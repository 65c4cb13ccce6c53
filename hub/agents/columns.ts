import { parse } from 'csv-parse/sync'
import { wordsOf } from './fold.ts'

export const FIELDS = ['name', 'email', 'company', 'title', 'phone', 'website', 'country'] as const
export type Field = (typeof FIELDS)[number]

export type Sheet = { headers: string[]; rows: { line: number; cells: string[] }[] }

/** Headings as people write them, folded; the first that fits names the field. */
const HEADINGS: Record<Field, RegExp> = {
  email: /^(e ?mail|e ?posta|mail|eposta)( (adres\w*|address))?$/,
  company:
    /^(company|firma|sirket|organi[sz]ation|kurum|unvan|isletme|firm|account|business)( (name|ad|adi|unvani))?$/,
  title: /^(title|position|job title|role|gorev|gorevi|pozisyon|meslek|job)$/,
  phone: /^(phone|tel|telefon|mobile|gsm|cep|telephone)( (no|number|numarasi|telefonu))?$/,
  website: /^(web|website|site|url|web sitesi|web site|internet sitesi|domain|homepage)$/,
  country: /^(country|ulke)$/,
  name: /^(name|full name|contact|contact name|contact person|person|ad soyad|adi soyadi|isim|yetkili|ilgili kisi|kisi|ad|isim soyisim)$/,
}

/** A sheet of a text that is a table: two columns and two lines or more, all of one width. */
export function readSheet(text: string): Sheet | undefined {
  const first = text.replace(/^\uFEFF/, '').split(/\r?\n/, 1)[0] ?? ''
  const delimiter = [';', '\t', ','].find((mark) => first.split(mark).length > 1)
  if (!delimiter) return undefined
  try {
    // safe: that is what `info` makes of every record
    const records = parse(text, {
      bom: true,
      delimiter,
      info: true,
      trim: true,
      skip_empty_lines: true,
      max_record_size: 100_000,
    }) as unknown as { record: string[]; info: { lines: number } }[]
    const [head, ...rest] = records
    if (!head || rest.length === 0) return undefined
    return {
      headers: head.record.map((cell) => cell.slice(0, 60)),
      rows: rest.map(({ record, info }) => ({ line: info.lines, cells: record })),
    }
  } catch {
    return undefined
  }
}

/** Which column is which field, by their headings; nobody is asked where those are plain. */
export function guessFields(headers: string[]): Map<Field, number> {
  const found = new Map<Field, number>()
  const folded = headers.map((header) => wordsOf(header.replace(/[_-]/g, ' ')).join(' '))
  for (const field of FIELDS) {
    const at = folded.findIndex((heading) => HEADINGS[field].test(heading))
    if (at >= 0 && ![...found.values()].includes(at)) found.set(field, at)
  }
  return found
}

/** A table names people or companies: else nothing in it can become a lead. */
export const isUsable = (fields: Map<Field, number>) =>
  fields.has('email') || fields.has('company') || fields.has('name')
