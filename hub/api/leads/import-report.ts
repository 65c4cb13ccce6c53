import { z } from 'zod'
import { raw, type Sql } from '../../../shared/sql.ts'
import { absent } from '../../i18n/failure.ts'
import type { Words } from '../../i18n/words.ts'
import { notKept } from '../../leads/import-facts.ts'
import type { Mistake } from '../../leads/import-row.ts'

const MAX_SHOWN = 100

/** An import as the API answers with it. */
export const Import = z
  .object({
    id: z.uuid(),
    project: z.string(),
    file: z.string(),
    status: z.enum(['queued', 'processing', 'done', 'failed']),
    reason: z.string().nullable(),
    total: z.int().meta({ description: 'The number of rows below the header.' }),
    handled: z.int(),
    created: z.int(),
    merged: z.int().meta({ description: 'Rows that changed an existing lead.' }),
    skipped: z.int().meta({ description: 'Rows for existing leads that changed nothing.' }),
    refused: z.int().meta({ description: 'Rows with mistakes.' }),
    mistakes: z.array(z.object({ row: z.int(), column: z.string(), message: z.string() })).meta({
      description: 'The first 100; leads/imports/{id}/errors has all. The header is row 1.',
    }),
    noticed: z.int().meta({
      description: 'Rows that were taken, but not as they are in the file: a text was too long.',
    }),
    notices: z.array(z.object({ row: z.int(), column: z.string(), message: z.string() })).meta({
      description:
        'What became of them: the first 100 rows; leads/imports/{id}/errors?rows=noticed has all.',
    }),
    facts: z.array(z.string()).meta({
      description: 'The columns that no field takes, which are kept as facts of the leads.',
    }),
    left_out: z.array(z.string()).meta({
      description: 'What was not kept of them, because of a limit.',
    }),
    created_at: z.string(),
    finished_at: z.string().nullable(),
    undone_at: z.string().nullable(),
    removed: z.int().meta({ description: 'Leads that undoing deleted.' }),
  })
  .meta({ id: 'Import' })
/** An Import as it is stored: its sentences in both languages. */
type ImportRow = Omit<z.infer<typeof Import>, 'reason' | 'mistakes' | 'notices' | 'left_out'> & {
  reason: Words | null
  left_out: Words[]
  mistakes: (Mistake & { row: number })[]
  notices: (Mistake & { row: number })[]
}

/** The first rows that were refused, or noticed, with what is said about them. */
const shown = (which: string) => `(
    select coalesce(jsonb_agg(jsonb_build_object(
      'row', error.position, 'column', mistake ->> 'column', 'message', mistake -> 'message'
    ) order by error.position), '[]')
    from (
      select position, mistakes from hub.import_errors
      where import_id = import.id and ${which} order by position limit ${MAX_SHOWN}
    ) as error
    cross join jsonb_array_elements(error.mistakes) as mistake
  )`

export const importColumns = raw(`
  import.id, project.slug as project, import.file, import.status, import.reason, import.total,
  import.handled, import.created, import.merged, import.skipped, import.refused,
  ${shown('lead_id is null')} as mistakes, ${shown('lead_id is not null')} as notices,
  (
    select count(*)::int from hub.import_errors
    where import_id = import.id and lead_id is not null
  ) as noticed,
  coalesce(import.options -> 'facts', '[]') as facts,
  coalesce(import.options -> 'over', '[]') as over, import.cut,
  import.created_at, import.finished_at, import.undone_at, import.removed`)

/** An import as its columns are, with the sentences about what was not kept. */
export type Stored = Omit<ImportRow, 'left_out'> & { over: string[]; cut: number }
export const whole = ({ over, cut, ...row }: Stored): ImportRow => ({
  ...row,
  left_out: notKept({ over, cut }),
})

/** requireImport returns an import; 404 if there is none. */
export async function requireImport(sql: Sql, id: string): Promise<ImportRow> {
  const [found] = await sql<Stored>`
    select ${importColumns}
    from hub.imports as import
    join hub.projects as project on project.id = import.project_id
    where import.id = ${id}`
  if (!found) throw absent('import')
  return whole(found)
}
