import { type Both, isWords, type Language } from '../../i18n/words.ts'
import type { Result } from '../agent.ts'
import { nameText } from '../names.text.ts'
import { labelText } from './labels.text.ts'

export type Cell = string | number | boolean | null
export type Table = { columns: string[]; rows: Cell[][] }

type Labels = Readonly<Record<string, string>>
const pick = ({ en, tr }: typeof labelText, topic: keyof typeof labelText.en): Both<Labels> => ({
  en: en[topic],
  tr: tr[topic],
})
/** What a column of the hub's own words can be; the first that has all of its words counts. */
const VOCABULARIES: Both<Labels>[] = [
  pick(labelText, 'stages'),
  pick(labelText, 'drafts'),
  pick(labelText, 'recipients'),
  pick(labelText, 'missions'),
  pick(labelText, 'kinds'),
  pick(labelText, 'basis'),
  nameText,
]

/**
 * shownTable makes a table of an answer as its reader knows the words: "New" for `new`, and rows
 * with one such word each in the order of these words, as the stages follow each other.
 */
export function shownTable(
  columns: string[],
  answer: readonly (readonly unknown[])[],
  language: Language,
): Table {
  const cells = answer.map((row) => row.map((value) => cellOf(value, language)))
  const vocabularies = columns.map((_, at) => vocabularyOf(cells.map((row) => row[at] ?? null)))
  const [by, ...others] = vocabularies.flatMap((one, at) => (one ? [{ order: one.en, at }] : []))
  const isOneEach = by && new Set(cells.map((row) => row[by.at])).size === cells.length
  if (by && others.length === 0 && isOneEach && measuresOf({ columns, rows: cells }).length > 0) {
    const order = Object.keys(by.order)
    const place = (row: Cell[]) => order.indexOf(String(row[by.at]))
    cells.sort((a, b) => place(a) - place(b))
  }
  const rows = cells.map((row) =>
    row.map((value, at) => vocabularies[at]?.[language][String(value)] ?? value),
  )
  return { columns, rows }
}

function vocabularyOf(values: Cell[]): Both<Labels> | undefined {
  const said = values.filter((value) => value !== null)
  if (said.length === 0) return undefined
  return VOCABULARIES.find(({ en }) =>
    said.every((value) => typeof value === 'string' && Object.hasOwn(en, value)),
  )
}

function cellOf(value: unknown, language: Language): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.slice(0, 500)
  if (value instanceof Date) return value.toISOString()
  // The hub's own texts are stored in both languages.
  if (isWords(value)) return value[language]
  return JSON.stringify(value).slice(0, 500)
}

/** isFigure returns whether a cell is a number; Postgres returns those that may be large as text. */
export function isFigure(cell: Cell | undefined): boolean {
  if (typeof cell === 'number') return Number.isFinite(cell)
  return typeof cell === 'string' && /^-?\d{1,15}(\.\d+)?$/.test(cell)
}

/** The columns with a number in every row. */
export function measuresOf({ columns, rows }: Table): number[] {
  if (rows.length === 0) return []
  return columns.flatMap((_, at) => (rows.every((row) => isFigure(row[at])) ? [at] : []))
}

const isTime = (cell: Cell | undefined) =>
  typeof cell === 'string' && /^\d{4}-\d\d(-\d\d([T ][\d:.]+Z?)?)?$/.test(cell)

const MAX_CHART_ROWS = 100

/**
 * chartOf draws a table only where a chart fits it: several rows, one label and one measure; a line
 * over times, bars over anything else.
 */
export function chartOf({ columns, rows }: Table): Result['chart'] {
  const [y, ...more] = measuresOf({ columns, rows })
  if (y === undefined || more.length > 0 || columns.length !== 2) return undefined
  if (rows.length < 2 || rows.length > MAX_CHART_ROWS) return undefined
  const x = 1 - y
  const isOverTime = rows.every((row) => isTime(row[x]))
  const names = { x: columns[x] ?? '', y: columns[y] ?? '' }
  // The page finds a column by its name.
  return names.x === names.y ? undefined : { kind: isOverTime ? 'line' : 'bar', ...names }
}
