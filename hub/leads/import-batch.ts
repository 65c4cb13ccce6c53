import { randomUUID } from 'node:crypto'
import type { Sql } from '../../shared/sql.ts'
import { bilingual } from '../i18n/words.ts'
import { additions, type Before, notClosed, tooManyTags } from './import-additions.ts'
import { keepFacts } from './import-facts.ts'
import {
  factOf,
  type ImportOptions,
  type ImportRow,
  type Mistake,
  quoteOf,
  readRow,
} from './import-row.ts'
import { importsText } from './imports.text.ts'
import type { NewLead } from './lead.ts'
import {
  addEvidence,
  changeLead,
  columnsOf,
  EMPTY,
  FIELD_COLUMNS,
  FIELD_TYPES,
  KnownEmail,
  READ_COLUMNS,
} from './leads.ts'
import { keepOwnFacts } from './own-fields.ts'
import { MAX_QUOTE } from './shorten.ts'
import { recordActivities, recordActivity } from './timeline.ts'

type Import = {
  id: string
  project_id: string
  file: string
  options: ImportOptions
  handled: number
}
type FileRow = { position: number; cells: string[] }
type Entry = FileRow & ImportRow & { lead_id: string; key: string }
type Counts = { created: number; merged: number; skipped: number; refused: number }

/**
 * handleBatch imports a batch of rows and counts them, in the given transaction. Returns false, and
 * changes nothing, if another process has gone on with the import since `open` was read.
 */
export async function handleBatch(sql: Sql, open: Import, rows: FileRow[]): Promise<boolean> {
  const { options, project_id } = open
  const [now] = await sql<{ handled: number }>`
    select handled from hub.imports where id = ${open.id} for update`
  if (now?.handled !== open.handled) return false
  const counts: Counts = { created: 0, merged: 0, skipped: 0, refused: 0 }
  const entries: Entry[] = []
  const refused: (FileRow & { mistakes: Mistake[]; lead_id?: string })[] = []
  const placed: Placed[] = []
  for (const { position, cells } of rows) {
    if (cells.every((cell) => cell.trim() === '')) continue
    const { row, mistakes } = readRow(cells, options)
    if (mistakes.length > 0) refused.push({ position, cells, mistakes })
    else {
      const filled = withDefaults(row, options)
      entries.push({ position, cells, ...filled, lead_id: randomUUID(), key: '' })
    }
  }

  const known = await findKnown(sql, open, entries)
  const fresh = new Map<string, Entry>()
  for (const entry of entries) {
    const { lead_id: of = null, key = '' } = known.get(entry.position) ?? {}
    entry.key = key
    const first = fresh.get(key)
    const outcome = of
      ? await changeKnown(sql, open, { ...entry, lead_id: of })
      : first
        ? combine(first, entry, options)
        : (tooManyTags(entry.lead, options) ?? notClosed(entry.lead, options) ?? 'created')
    if (typeof outcome !== 'string') {
      refused.push({ position: entry.position, cells: entry.cells, mistakes: [outcome] })
      continue
    }
    if (outcome === 'created') fresh.set(key, entry)
    else counts[outcome] += 1
    placed.push({ ...entry, lead_id: of ?? first?.lead_id ?? entry.lead_id, outcome })
  }
  const created = await insertLeads(sql, open, [...fresh.values()])
  counts.created = created.size
  // Somebody added the same address between the look-up and this insert: the rows for it changed nothing.
  const made = [...fresh.values()].map((entry) => entry.lead_id)
  const lost = new Set(made.filter((id) => !created.has(id)))
  const isThere = ({ lead_id }: Placed) => !lost.has(lead_id)
  const inVain = placed.filter((row) => row.outcome === 'merged' && !isThere(row)).length
  counts.merged -= inVain
  counts.skipped += lost.size + inVain
  counts.refused = refused.length
  const { completed, notices } = await completeByFacts(sql, open, placed.filter(isThere))
  counts.skipped -= completed
  counts.merged += completed

  const told = placed.filter(isThere).flatMap(({ position, cells, lead_id, outcome, ...row }) => {
    const own = outcome === 'skipped' ? [] : row.notices
    const mistakes = [...own, ...(notices.get(position) ?? [])]
    return mistakes.length > 0 ? [{ position, cells, mistakes, lead_id }] : []
  })
  for (const { position, cells, mistakes, lead_id = null } of [...refused, ...told]) {
    await sql`
      insert into hub.import_errors (import_id, project_id, position, cells, mistakes, lead_id)
      values (
        ${open.id}, ${project_id}, ${position}, ${cells}, ${JSON.stringify(mistakes)}, ${lead_id}
      )`
  }
  // The header is row 1.
  open.handled = (rows.at(-1)?.position ?? 1) - 1
  await sql`
    update hub.imports
    set handled = ${open.handled}, created = created + ${counts.created},
      merged = merged + ${counts.merged}, skipped = skipped + ${counts.skipped},
      refused = refused + ${counts.refused}
    where id = ${open.id}`
  return true
}

/** A row with the lead it is about, what its fields did to that lead, and what is to be told of it. */
type Placed = FileRow & {
  lead_id: string
  outcome: 'created' | 'merged' | 'skipped'
  notices: Mistake[]
}

/**
 * Keeps what no field takes as facts; `skip` leaves known leads as they are. Returns how many rows
 * changed their lead by this alone, and which cells were too long for a fact.
 */
async function completeByFacts(sql: Sql, open: Import, placed: Placed[]) {
  const isOpen = ({ outcome }: Placed) =>
    open.options.duplicates !== 'skip' || outcome === 'created'
  const { changed, notices } = await keepFacts(sql, open, placed.filter(isOpen))
  const fresh = new Set(placed.flatMap((row) => (row.outcome === 'skipped' ? [] : row.lead_id)))
  const completed = new Map<string, Placed>()
  for (const row of placed) {
    const { lead_id } = row
    if (changed.has(lead_id) && !fresh.has(lead_id)) completed.set(lead_id, row)
  }
  const activities = [...completed.values()].map(({ lead_id, position }) => {
    const details = { import_id: open.id, file: open.file, row: position }
    return { project_id: open.project_id, lead_id, kind: 'merged' as const, details }
  })
  if (activities.length > 0) await recordActivities(sql, activities)
  return { completed: activities.length, notices }
}

function withDefaults(row: ImportRow, options: ImportOptions): ImportRow {
  const { lead } = row
  const tags = [...new Set([...(lead.tags ?? []), ...options.tags])]
  const source = lead.source ?? options.source
  const lawful_basis = lead.lawful_basis ?? options.lawful_basis
  return { ...row, lead: { ...lead, ...basisDefaults(lead, options), source, lawful_basis, tags } }
}

/** A basis of the row's own keeps its source and date; only the note of a legitimate interest may come from the import. */
export function basisDefaults(
  lead: NewLead,
  options: Pick<ImportOptions, 'lawful_basis' | 'basis_note' | 'basis_source' | 'basis_on'>,
): NewLead {
  const { basis_note = null, basis_source = null, basis_on = null } = options
  if (!lead.lawful_basis) return options.lawful_basis ? { basis_note, basis_source, basis_on } : {}
  const needsNote = lead.lawful_basis === 'legitimate_interest' && !lead.basis_note
  return needsNote ? { basis_note } : {}
}

/**
 * findKnown finds for each row the lead it is about: by the lead's id (an export that comes back),
 * by e-mail, by the same row of an earlier import, and where it has no e-mail by name, company,
 * phone and domain.
 */
async function findKnown(
  sql: Sql,
  { project_id }: Import,
  entries: Entry[],
): Promise<Map<number, { lead_id: string | null; key: string }>> {
  const asked = entries.map(({ position, id, lead }) => {
    const { name, company, phone, domain } = columnsOf({ ...EMPTY, ...lead })
    const email_key = lead.email?.toLowerCase() ?? null
    return { position, id, email_key, name, company, phone, domain }
  })
  const found = await sql<{ position: number; lead_id: string | null; key: string }>`
    with asked as materialized (
      select position, id, email_key,
        coalesce(email_key, private.lead_identity(name, company, phone, domain)) as key
      from jsonb_to_recordset(${JSON.stringify(asked)}) as asked(
        position int, id uuid, email_key text, name text, company text, phone text, domain text
      )
    )
    select asked.position, asked.key, coalesce(
      (
        select lead.id from hub.leads as lead
        where lead.id = asked.id and lead.project_id = ${project_id}
      ),
      (
        select lead.id from hub.leads as lead
        where lead.project_id = ${project_id} and lead.email_key = asked.email_key
      ),
      (
        select evidence.lead_id from hub.evidence as evidence
        where evidence.project_id = ${project_id} and evidence.import_key = asked.key
        limit 1
      ),
      (
        select lead.id from hub.leads as lead
        where asked.email_key is null
          and lead.project_id = ${project_id} and lead.identity = asked.key
        order by lead.created_at, lead.id
        limit 1
      )
    ) as lead_id
    from asked`
  return new Map(found.map(({ position, ...rest }) => [position, rest]))
}

/** Changes an existing lead by its row, or returns why that is refused. */
async function changeKnown(
  sql: Sql,
  open: Import,
  entry: Entry,
): Promise<'merged' | 'skipped' | Mistake> {
  const { duplicates, mapping } = open.options
  if (duplicates === 'skip') return 'skipped'
  const [before] = await sql<Before>`
    select ${READ_COLUMNS}
    from hub.leads where id = ${entry.lead_id} for update`
  if (!before) return 'skipped'
  const change = additions(before, entry.lead, duplicates)
  const full = tooManyTags(change, open.options)
  if (full) return full
  const isChanged = Object.keys(change).length > 0
  try {
    if (isChanged) await changeLead(sql, entry.lead_id, change)
  } catch (error) {
    if (!(error instanceof KnownEmail)) throw error
    return { column: mapping.email ?? '', message: bilingual(importsText).row.known_email }
  }
  const noted = await addNotes(sql, open, [entry])
  if (!isChanged && noted === 0) return 'skipped'
  await recordOrigin(sql, open, entry)
  const details = { import_id: open.id, file: open.file, row: entry.position }
  const activity = { project_id: open.project_id, lead_id: entry.lead_id, details }
  await recordActivity(sql, { ...activity, kind: 'merged' })
  return 'merged'
}

/** Combines a second row for the same lead in one batch, or returns why that is refused. */
function combine(
  first: Entry,
  entry: Entry,
  options: ImportOptions,
): 'merged' | 'skipped' | Mistake {
  const { duplicates } = options
  if (duplicates === 'skip') return 'skipped'
  const { stage = 'new', tags = [], custom = {} } = first.lead
  const before = { ...EMPTY, ...first.lead, stage, tags, custom }
  const change = additions(before, entry.lead, duplicates)
  const full = tooManyTags(change, options)
  if (full) return full
  // What the last outcome said does not hold for another one.
  const isMoved = change.stage !== undefined && change.stage !== stage
  if (isMoved) Object.assign(first.lead, { outcome_reason: null, outcome_note: null })
  Object.assign(first.lead, change, change.custom && { custom: { ...custom, ...change.custom } })
  const notes = entry.notes.filter((note) => !first.notes.includes(note))
  first.notes.push(...notes)
  return Object.keys(change).length > 0 || notes.length > 0 ? 'merged' : 'skipped'
}

async function insertLeads(sql: Sql, open: Import, entries: Entry[]): Promise<Set<string>> {
  const { project_id } = open
  const rows = entries.map(({ lead_id, position, lead }) => ({
    ...columnsOf({ ...EMPTY, ...lead, source: lead.source ?? open.file }),
    id: lead_id,
    position,
  }))
  // The first row of a file is the first of the list, which begins with the newest.
  const made = await sql<{ id: string }>`
    insert into hub.leads (id, project_id, ${FIELD_COLUMNS}, created_at)
    select id, ${project_id}, ${FIELD_COLUMNS},
      (select created_at from hub.imports where id = ${open.id})
        - make_interval(secs => position * 0.000001)
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (id uuid, position int, ${FIELD_TYPES})
    on conflict (project_id, email_key) do nothing
    returning id`
  const ids = new Set(made.map(({ id }) => id))
  await keepOwnFacts(sql, [...ids])
  const created = entries.filter(({ lead_id }) => ids.has(lead_id))
  const facts = created.map((entry) => ({
    lead_id: entry.lead_id,
    key: entry.key,
    fact: factOf(entry.lead, open.options.mapping),
    quote: quoteRow(open, entry),
    source: sourceOf(open, entry.position),
  }))
  await addNotes(sql, open, created)
  await sql`
    insert into hub.evidence (
      project_id, lead_id, fact, quote, source, import_id, import_key
    )
    select ${project_id}::uuid, lead_id, fact, quote, source, ${open.id}::uuid, key
    from jsonb_to_recordset(${JSON.stringify(facts)}) as row(
      lead_id uuid, key text, fact text, quote text, source text
    )`
  await recordActivities(
    sql,
    created.map(({ lead_id, position: row }) => {
      const details = { import_id: open.id, file: open.file, row }
      return { project_id, lead_id, kind: 'imported', details }
    }),
  )
  return ids
}

/** Adds the notes of rows that their leads do not have yet, and returns how many. */
async function addNotes(sql: Sql, { project_id }: Import, entries: Entry[]): Promise<number> {
  const notes = entries.flatMap(({ lead_id, notes }) =>
    notes.map((text, at) => ({ lead_id, text, at })),
  )
  if (notes.length === 0) return 0
  // The newest note is shown first: so the parts of a long one stand in their order.
  const added = await sql<{ id: string }>`
    insert into hub.notes (project_id, lead_id, text, created_at)
    select ${project_id}::uuid, lead_id, text, now() - make_interval(secs => at * 0.000001)
    from jsonb_to_recordset(${JSON.stringify(notes)}) as new(lead_id uuid, text text, at int)
    where not exists (
      select from hub.notes as note where note.lead_id = new.lead_id and note.text = new.text
    )
    returning id`
  return added.length
}

/** Quotes a row as it is in the file; that it was too long for that is to be told. */
function quoteRow({ options }: Import, { cells, notices }: Entry): string {
  const { quote, ends_in } = quoteOf(options.columns, cells)
  const message = bilingual(importsText).row.cut_quote(MAX_QUOTE)
  if (ends_in !== null) notices.push({ column: ends_in, message })
  return quote
}

const sourceOf = ({ file }: Import, position: number) => `${file}:${position}`

/** Records the file as the source of what a row added to an existing lead. */
async function recordOrigin(sql: Sql, open: Import, entry: Entry) {
  const { lead_id, position, lead, key } = entry
  const id = await addEvidence(sql, {
    project_id: open.project_id,
    lead_id,
    fact: factOf(lead, open.options.mapping),
    quote: quoteRow(open, entry),
    source: sourceOf(open, position),
  })
  await sql`
    update hub.evidence set import_id = ${open.id}, import_key = ${key} where id = ${id}`
}
