import { CsvError, detectDelimiter, firstRows, readCsv } from '../../leads/csv.ts'
import { columnsFrom, type Mapping, suggestMapping } from '../../leads/import-row.ts'

export type Sheet = { columns: string[]; rows: string[][]; mapping: Mapping }

const LOOKED_AT = 20

/**
 * Reads a text that is a table: at least two columns and two lines, the first of which have the
 * same number of columns.
 */
export async function readSheet(text: string, most: number): Promise<Sheet | undefined> {
  const delimiter = detectDelimiter(text)
  const first = firstRows(text.slice(0, 64_000), delimiter, LOOKED_AT)
  const width = first[0]?.length ?? 0
  if (width < 2 || first.length < 2 || first.some((row) => row.length !== width)) return undefined
  const rows: string[][] = []
  try {
    for await (const row of readCsv(text, delimiter)) {
      rows.push(row)
      if (rows.length > most) break
    }
  } catch (error) {
    if (error instanceof CsvError) return undefined
    throw error
  }
  const [head = [], ...rest] = rows
  const columns = columnsFrom(head)
  return { columns, rows: rest, mapping: suggestMapping(columns, rest.slice(0, LOOKED_AT)) }
}

/** Whether the table names people or companies; otherwise nothing in it can become a lead. */
export const isUsable = (mapping: Mapping) =>
  Boolean(mapping.email || mapping.company || mapping.name || mapping.first_name)
