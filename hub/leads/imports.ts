import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError, invalid } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Paths } from '../config.ts'
import type { Database } from '../db/db.ts'
import { isMissing, writeWhole } from '../files.ts'
import { bilingual, stored, type Words } from '../i18n/words.ts'
import type { Log } from '../log.ts'
import { CsvError, decode, detectDelimiter, detectEncoding, firstRows, readCsv } from './csv.ts'
import { handleBatch } from './import-batch.ts'
import { factColumns } from './import-facts.ts'
import {
  columnsFrom,
  type ImportChoices,
  type ImportOptions,
  suggestMapping,
} from './import-row.ts'
import { importsText } from './imports.text.ts'
import type { OwnField } from './own-fields.ts'

const say = bilingual(importsText)

const SAMPLES = 5

/** previewFile returns a file's encoding, delimiter, columns and first rows. */
export function previewFile(
  bytes: Uint8Array,
  choices: Pick<ImportChoices, 'encoding' | 'delimiter'> = {},
  own: OwnField[] = [],
) {
  const encoding = choices.encoding ?? detectEncoding(bytes)
  const text = decode(bytes, encoding)
  const delimiter = choices.delimiter ?? detectDelimiter(text)
  const [header, ...rows] = firstRows(text.slice(0, 1_000_000), delimiter, SAMPLES + 1)
  if (!header?.some((cell) => cell.trim() !== '')) {
    throw mistake('file', say.file.no_header)
  }
  const columns = columnsFrom(header)
  return { text, encoding, delimiter, columns, rows, mapping: suggestMapping(columns, rows, own) }
}

/**
 * prepareImport reads a file once from end to end, so that nothing of a damaged one is imported.
 */
export async function prepareImport(
  bytes: Uint8Array,
  choices: ImportChoices,
  own: OwnField[] = [],
) {
  const { text, ...read } = previewFile(bytes, choices, own)
  const mapping = choices.mapping ?? read.mapping
  const used = own.filter(({ key }) => mapping[`custom.${key}`])
  for (const [field, column = ''] of Object.entries(mapping)) {
    if (field.startsWith('custom.') && !used.some(({ key }) => field === `custom.${key}`)) {
      throw mistake(`mapping.${field}`, say.mapping.no_field(field.slice('custom.'.length)))
    }
    if (read.columns.includes(column)) continue
    throw mistake(`mapping.${field}`, say.mapping.no_column(column))
  }
  if (!['name', 'first_name', 'last_name', 'email', 'company'].some((field) => field in mapping)) {
    throw mistake('mapping', say.mapping.unnamed)
  }
  for (const [at, column] of (choices.facts ?? []).entries()) {
    if (!read.columns.includes(column)) throw mistake(`facts.${at}`, say.mapping.no_column(column))
  }
  let total = -1
  try {
    for await (const _ of readCsv(text, read.delimiter)) total += 1
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { unclosed, damaged } = say.file
    throw mistake('file', error.unclosed_at ? unclosed(error.unclosed_at) : damaged)
  }
  if (choices.lawful_basis === 'legitimate_interest' && !choices.basis_note) {
    throw mistake('basis_note', say.basis_note)
  }
  const { kept, over } = factColumns(read.columns, mapping, choices.facts)
  const options: ImportOptions = {
    columns: read.columns,
    mapping,
    own: used,
    facts: kept,
    over,
    duplicates: choices.duplicates,
    source: choices.source || null,
    lawful_basis: choices.lawful_basis ?? null,
    basis_note: choices.basis_note || null,
    basis_source: choices.basis_source || null,
    basis_on: choices.basis_on ?? null,
    tags: choices.tags ?? [],
    encoding: read.encoding,
    delimiter: read.delimiter,
  }
  return { text, total: Math.max(total, 0), options }
}

function mistake(path: string, message: Words): ApiError {
  return invalid([{ path, code: 'unusable', message }])
}

const fileOf = (paths: Paths, id: string) => join(paths.data_dir, 'imports', `${id}.csv`)

/** addImport stores the file and its row in the database; `wake` starts the work. */
export async function addImport(
  sql: Sql,
  paths: Paths,
  given: { project_id: string; file: string } & Awaited<ReturnType<typeof prepareImport>>,
): Promise<string> {
  const { project_id, file, text, total, options } = given
  const id = randomUUID()
  await mkdir(join(paths.data_dir, 'imports'), { recursive: true, mode: 0o750 })
  await writeWhole(fileOf(paths, id), text)
  await sql`
    insert into hub.imports (id, project_id, file, options, total)
    values (${id}, ${project_id}, ${file}, ${JSON.stringify(options)}, ${total})`
  return id
}

const BATCH_ROWS = 200
const RETRY_MS = 5_000

type Open = {
  id: string
  project_id: string
  file: string
  options: ImportOptions
  handled: number
}

export type Imports = ReturnType<typeof createImports>

/**
 * createImports runs imports one after another. Each batch and its count of handled rows are one
 * transaction, so that after a crash an import continues there and no row is handled twice.
 */
export function createImports({ db, paths, log }: { db: Database; paths: Paths; log: Log }) {
  let isClosing = false
  let working: Promise<void> | undefined
  let isAsked = false
  let timer: NodeJS.Timeout | undefined

  async function work(): Promise<void> {
    while (isAsked && !isClosing) {
      isAsked = false
      for (let next = await nextImport(); next && !isClosing; next = await nextImport()) {
        await run(next)
      }
    }
  }

  async function nextImport(): Promise<Open | undefined> {
    return db.transaction('*', async (sql) => {
      const [found] = await sql<Open>`
        update hub.imports set status = 'processing'
        where id = (
          select id from hub.imports
          where status in ('queued', 'processing')
          order by created_at, id
          limit 1
          for update
        )
        returning id, project_id, file, options, handled`
      return found
    })
  }

  async function run(open: Open): Promise<void> {
    const started = performance.now()
    try {
      const isDone = await readOn(open)
      if (!isDone) return
      await finish(open, 'done', null)
      log({ msg: 'import', id: open.id, ms: Math.round(performance.now() - started) })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unavailable') throw error
      const reason = isMissing(error) ? say.stopped.gone : say.stopped.fault
      log({ msg: 'import failed', id: open.id, error: String(error) })
      await finish(open, 'failed', reason)
    }
  }

  /** Returns false if the hub closes before the end, or if another process goes on with it. */
  async function readOn(open: Open): Promise<boolean> {
    const text = await readFile(fileOf(paths, open.id), 'utf8')
    let at = 0
    let batch: { position: number; cells: string[] }[] = []
    const flush = async () => {
      const rows = batch
      batch = []
      return db.transaction(open.project_id, (sql) => handleBatch(sql, open, rows))
    }
    for await (const cells of readCsv(text, open.options.delimiter)) {
      if (isClosing) return false
      at += 1
      // Skips the header (row 1) and the rows that were handled before.
      if (at <= open.handled + 1) continue
      batch.push({ position: at, cells })
      if (batch.length >= BATCH_ROWS && !(await flush())) return false
    }
    return batch.length === 0 || flush()
  }

  async function finish(open: Open, status: 'done' | 'failed', reason: Words | null) {
    await db.transaction(
      open.project_id,
      (sql) => sql`
        update hub.imports set status = ${status}, reason = ${reason && stored(reason)}, finished_at = now()
        where id = ${open.id} and status = 'processing'`,
    )
    await rm(fileOf(paths, open.id), { force: true })
  }

  function wake(): void {
    isAsked = true
    if (working || isClosing) return
    working = work()
      .catch((error: unknown) => {
        log({ msg: 'imports wait', error: error instanceof Error ? error.message : String(error) })
        timer = setTimeout(wake, RETRY_MS)
        timer.unref()
      })
      .finally(() => {
        working = undefined
        if (isAsked) wake()
      })
  }

  return {
    /** Runs the waiting imports until none is left. */
    wake,
    /** Stops after the current batch; the rest is imported after the next start. */
    close: async () => {
      isClosing = true
      clearTimeout(timer)
      await working
    },
  }
}
