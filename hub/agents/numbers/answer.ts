import type { Language } from '../../i18n/words.ts'
import { answerText } from './answer.text.ts'
import { type Cell, isFigure, measuresOf, type Table } from './shown.ts'

/** How many rows a sentence names. */
const MAX_NAMED = 7
const LOCALES = { en: 'en-GB', tr: 'tr-TR' } as const

/** What a sum of rows would count twice, or only in part. */
const NO_SUM = /\b(limit|fetch|offset|unnest|join|lateral|having|distinct|avg|round|over)\b/i

type Given = { title: string; sql: string; is_cut: boolean; language: Language }

/**
 * answerOf says a table in a sentence. Every figure is one of its cells, or the sum of a count
 * whose rows cannot overlap.
 */
export function answerOf(table: Table, { title, sql, is_cut, language }: Given): string {
  const say = answerText[language]
  const { columns, rows } = table
  const shown = (cell: Cell | undefined) => figure(cell, language)
  const [first] = rows
  if (!first) return say.nothing(title)
  const measures = measuresOf(table)
  if (rows.length === 1 && measures.length > 0) {
    const label = first.find((cell, at) => !measures.includes(at) && cell !== null)
    const figures = measures.map((at) => `${columns[at] ?? ''} ${shown(first[at])}`)
    const [only = 0] = measures
    if (columns.length === 1) return say.figure(nameOf(columns[only], title), shown(first[only]))
    const name = label === undefined ? title : String(label)
    return say.parts(name, figures.join(', '))
  }
  const count = is_cut ? say.at_least(shown(rows.length)) : shown(rows.length)
  const [y] = measures
  const label = columns.findIndex((_, at) => !measures.includes(at))
  if (y === undefined || measures.length > 1 || label < 0) {
    const named = rows.map((row) => String(row[Math.max(label, 0)] ?? '–'))
    return say.listed(title, count, some(named, language))
  }
  const parts = some(
    rows.map((row) => `${String(row[label] ?? '–')} ${shown(row[y])}`),
    language,
  )
  const total = is_cut ? undefined : sumOf(rows, y, sql)
  const name = nameOf(columns[y], title)
  return total === undefined ? say.parts(name, parts) : say.total(name, shown(total), parts)
}

/** A column that nobody has named for a reader. */
function nameOf(column: string | undefined, title: string): string {
  return !column || /^(n|count|sum|total|c|\?column\?|adet)$/i.test(column) ? title : column
}

function some(names: string[], language: Language): string {
  const named = names.slice(0, MAX_NAMED).join(', ')
  const left = names.length - MAX_NAMED
  return left > 0 ? answerText[language].more(named, figure(left, language)) : named
}

function sumOf(rows: Cell[][], at: number, sql: string): number | undefined {
  if (NO_SUM.test(sql) || !/\bcount\s*\(/i.test(sql)) return undefined
  const values = rows.map((row) => Number(row[at]))
  return values.every((value) => Number.isSafeInteger(value) && value >= 0)
    ? values.reduce((sum, value) => sum + value, 0)
    : undefined
}

/** A figure as its reader writes it, and any other cell as it is. */
export function figure(cell: Cell | undefined, language: Language): string {
  if (!isFigure(cell)) return String(cell ?? '–')
  return new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: 2 }).format(Number(cell))
}
