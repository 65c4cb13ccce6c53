import type { Sql } from '../../shared/sql.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import type { ImportOptions, Mapping, Mistake } from './import-row.ts'
import { importsText } from './imports.text.ts'
import { MAX_QUOTE, shorten } from './shorten.ts'

const say = bilingual(importsText)

/** Columns of one list that are kept as facts of its leads. */
export const MAX_FACT_COLUMNS = 40
/** Characters of a cell that its fact has. */
export const MAX_FACT_CELL = 600

/** What our own files have besides a list's columns: the export's day, and why a row was refused. */
const OURS = [
  ['created_at'],
  ...Object.values(importsText).map(({ columns }) => Object.values(columns)),
]

/** The columns that no field takes: they are kept as facts of the lead, unless somebody chose. */
export function factColumns(
  columns: string[],
  mapping: Mapping,
  chosen?: string[],
): { kept: string[]; over: string[] } {
  const ours = OURS.find((names) => names.every((name) => columns.includes(name))) ?? []
  const taken = new Set([...Object.values(mapping), ...ours])
  const free = columns.filter((column) => !taken.has(column))
  const wanted = chosen ? free.filter((column) => chosen.includes(column)) : free
  return { kept: wanted.slice(0, MAX_FACT_COLUMNS), over: wanted.slice(MAX_FACT_COLUMNS) }
}

/** What an import does not keep of the columns that no field takes. */
export function notKept({ over, cut }: { over: string[]; cut: number }): Words[] {
  return [
    ...(over.length > 0 ? [say.facts.over(MAX_FACT_COLUMNS, over.join(', ').slice(0, 1500))] : []),
    ...(cut > 0 ? [say.facts.cut(cut, MAX_FACT_CELL)] : []),
  ]
}

type Open = { id: string; project_id: string; file: string; options: ImportOptions }
type Row = { position: number; cells: string[]; lead_id: string }

type Made = { fact: string; quote: string | null; notice: Mistake | null }

/** A cell as one line; one that is too long ends in three dots, and its quotation has it whole. */
export function factOfCell(column: string, cell: string): Made | undefined {
  const text = cell.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  if (text === '') return undefined
  const fact = `${column}: ${shorten(text, MAX_FACT_CELL)}`
  if (text.length <= MAX_FACT_CELL) return { fact, quote: null, notice: null }
  const message =
    text.length > MAX_QUOTE
      ? say.row.cut_cell(text.length, MAX_FACT_CELL, MAX_QUOTE)
      : say.row.cut_fact(text.length, MAX_FACT_CELL)
  const quote = shorten(cell.replaceAll('\0', '').trim(), MAX_QUOTE)
  return { fact, quote, notice: { column, message } }
}

/**
 * keepFacts keeps the cells of the columns that no field takes as facts of the rows' leads, each
 * with the file and row as its source. A later list with the same column adds what is missing, and
 * with `update` replaces what is there; an empty cell never erases. Returns the leads it changed,
 * and by row which of the facts it kept have only the beginning of a cell.
 */
export async function keepFacts(
  sql: Sql,
  open: Open,
  rows: Row[],
): Promise<{ changed: Set<string>; notices: Map<number, Mistake[]> }> {
  const { columns, facts = [], duplicates } = open.options
  type Found = Made & { lead_id: string; name: string; source: string; position: number }
  const found = new Map<string, Found>()
  for (const { position, cells, lead_id } of rows) {
    for (const name of facts) {
      const key = `${lead_id} ${name}`
      const made = factOfCell(name, cells[columns.indexOf(name)] ?? '')
      // Of two rows for one lead the last one counts where rows replace, else the first.
      if (!made || (duplicates !== 'update' && found.has(key))) continue
      found.set(key, { ...made, lead_id, name, source: `${open.file}:${position}`, position })
    }
  }
  const notices = new Map<number, Mistake[]>()
  if (found.size === 0) return { changed: new Set(), notices }
  const kept = await sql<{ lead_id: string; name: string }>`
    insert into hub.evidence as known (
      project_id, lead_id, fact, quote, source, import_id, import_column
    )
    select ${open.project_id}::uuid, lead_id, fact, quote, source, ${open.id}::uuid, name
    from jsonb_to_recordset(${JSON.stringify([...found.values()])}) as given(
      lead_id uuid, name text, fact text, quote text, source text
    )
    on conflict (lead_id, import_column) where import_column is not null do update
    set fact = excluded.fact, quote = excluded.quote, source = excluded.source,
      import_id = excluded.import_id, created_at = now()
    where ${duplicates === 'update'}
      and (known.fact, known.quote) is distinct from (excluded.fact, excluded.quote)
    returning lead_id, import_column as name`
  let cut = 0
  for (const { lead_id, name } of kept) {
    const { notice, position } = found.get(`${lead_id} ${name}`) ?? {}
    if (!notice || !position) continue
    cut += 1
    notices.set(position, [...(notices.get(position) ?? []), notice])
  }
  if (cut > 0) await sql`update hub.imports set cut = cut + ${cut} where id = ${open.id}`
  return { changed: new Set(kept.map(({ lead_id }) => lead_id)), notices }
}

/** The columns of imported lists that leads of a project have facts from, by their name. */
export async function listedColumns(sql: Sql, project_id: string): Promise<string[]> {
  const rows = await sql<{ name: string }>`
    select distinct import_column as name from hub.evidence
    where project_id = ${project_id} and import_column is not null
    order by import_column`
  return rows.map(({ name }) => name)
}

/** The facts of some leads by the name of their column, and the value alone: the whole cell of a shortened one. */
export async function listedFacts(
  sql: Sql,
  lead_ids: string[],
): Promise<Map<string, Map<string, string>>> {
  const rows = await sql<{ lead_id: string; name: string; fact: string; quote: string | null }>`
    select lead_id, import_column as name, fact, quote from hub.evidence
    where lead_id = any(${lead_ids}::uuid[]) and import_column is not null`
  const byLead = new Map<string, Map<string, string>>()
  for (const { lead_id, name, fact, quote } of rows) {
    const facts = byLead.get(lead_id) ?? new Map<string, string>()
    byLead.set(lead_id, facts.set(name, quote ?? fact.slice(name.length + 2)))
  }
  return byLead
}
