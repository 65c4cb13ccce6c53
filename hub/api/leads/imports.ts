import { z } from 'zod'
import { invalid, issuesOf } from '../../../shared/problem.ts'
import { createRoute, jsonResponse, pathId, resource } from '../../../shared/route.ts'
import { languageOf } from '../../../shared/words/language-of.ts'
import { everywhere, inProject, type Project } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, typed, write } from '../../http/http.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual, LANGUAGES } from '../../i18n/words.ts'
import { BOM, toCsv } from '../../leads/csv.ts'
import { factColumns, MAX_FACT_COLUMNS } from '../../leads/import-facts.ts'
import { IMPORT_FIELDS, ImportChoices, Mapping, type Mistake } from '../../leads/import-row.ts'
import { undoImport } from '../../leads/import-undo.ts'
import { importsText } from '../../leads/imports.text.ts'
import { addImport, prepareImport, previewFile } from '../../leads/imports.ts'
import { fieldsOf, OwnField } from '../../leads/own-fields.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { slugFor } from '../../projects/active.ts'
import { Slug } from '../projects/projects.ts'
import { Import, importColumns, requireImport, type Stored, whole } from './import-report.ts'
import { ownFieldsFor } from './lead-fields.ts'

const say = bilingual(importsText)

const OneImport = z.object({ import: Import })
const Imports = z.object({ imports: z.array(Import) })
const Preview = z.object({
  file: z.string(),
  encoding: z.string(),
  delimiter: z.string(),
  columns: z.array(z.string()).meta({ description: 'The column names; duplicates are numbered.' }),
  rows: z.array(z.array(z.string())).meta({ description: 'The first five rows.' }),
  mapping: Mapping.meta({ description: 'The suggested mapping of columns to fields.' }),
  fields: z
    .array(z.enum(IMPORT_FIELDS))
    .meta({ description: 'The fields that a column can be mapped to.' }),
  own: z.array(OwnField).meta({
    description: 'The project’s own fields, to which a column is mapped as `custom.<key>`.',
  }),
  facts: z.array(z.string()).meta({
    description:
      'The columns that no field takes with the suggested mapping: the first `max_facts` become facts of the leads.',
  }),
  max_facts: z.int().meta({ description: 'How many columns of a list are kept as facts.' }),
})

const FORM = /^multipart\/form-data\b/i
const isFile = typed(/^(text\/csv|multipart\/form-data)\s*(;|$)/i, say.file.type)

const text = (description: string) => z.string().optional().meta({ description })
/** The fields of an import, in a form with the file or in the query of a bare file. */
const Fields = {
  project: Slug.optional().meta({
    description: 'The slug of a project. Absent: the active project.',
  }),
  file_name: text('What the file is called; in a form its own name counts.'),
  mapping: text('JSON: field → header, as the preview names it. Absent: as it suggests.'),
  duplicates: text('skip (default), merge (fill what is empty, add tags) or update.'),
  source: text('Of the whole import; absent: new leads get the name of the file.'),
  lawful_basis: text('Of the whole import: consent, contract or legitimate_interest.'),
  basis_note: text(
    'Which interest it is, and why it weighs more; required for a legitimate_interest. Rows whose own basis is one and that have no note get it too.',
  ),
  basis_source: text('Where the lawful basis is on record.'),
  basis_on: text('Since when the lawful basis holds, e.g. 2026-03-01.'),
  tags: text('For every lead of the import, separated by commas.'),
  facts: text(
    'JSON: the columns without a field that are kept as facts of the leads. Absent: all of them.',
  ),
  encoding: text('Absent: detected.'),
  delimiter: text('Absent: detected.'),
}
const Upload = z.strictObject(Fields)
const File_ = z
  .unknown()
  .meta({ type: 'string', format: 'binary', description: 'The file, up to 20 MB.' })
const fileBody = {
  content: {
    // Checked in readUpload, so that a mistake in the form is 422 like one in a body.
    'multipart/form-data': { schema: z.looseObject({ file: File_, ...z.object(Fields).shape }) },
    'text/csv': { schema: z.string() },
  },
}

/** Imports of leads from files. */
export const imports = resource<Env>()

imports.openapi(
  createRoute({
    method: 'post',
    path: '/import_preview',
    operationId: 'previewImport',
    tags: ['Leads'],
    summary: 'Preview the import of a file',
    description:
      'Writes nothing, so it works with the read-only key. Recognises headers in English and Turkish, and the encodings UTF-8, UTF-16, Windows-1254 and Windows-1252.',
    middleware: isFile,
    request: { query: Upload, body: fileBody },
    responses: {
      200: jsonResponse(Preview, 'The columns, a sample and the suggested mapping.'),
      ...problems(413, 415, 422),
    },
  }),
  async (c) => {
    const { bytes, file, slug: named, choices } = await readUpload(c)
    const own = await ownFieldsFor(c, named)
    const { text: _, ...preview } = previewFile(bytes, choices, own)
    const { kept, over } = factColumns(preview.columns, preview.mapping)
    const more = { facts: [...kept, ...over], max_facts: MAX_FACT_COLUMNS, own }
    return answer(c, Preview, { file, ...preview, fields: [...IMPORT_FIELDS], ...more }, 200)
  },
)

imports.openapi(
  createRoute({
    method: 'post',
    path: '/import',
    operationId: 'importLeads',
    tags: ['Leads'],
    summary: 'Import a file of leads',
    description:
      'Send a form with `file`, or the file itself as text/csv with the other fields in the query. The answer comes once the file is read and valid; its rows are imported in the background. Existing leads are recognised by e-mail regardless of case, by the `id` of an export, and without an e-mail by name, company, phone and domain, so importing the same file again creates no duplicates.',
    middleware: [write, isFile],
    request: { query: Upload, body: fileBody },
    responses: { 202: jsonResponse(OneImport, 'Accepted.'), ...problems(402, 404, 413, 415, 422) },
  }),
  async (c) => {
    const { bytes, file, slug: named, choices } = await readUpload(c)
    const { db, config, imports } = c.get('deps')
    const slug = await slugFor(c.get('deps'), named)
    const own = await inProject(db, slug, (sql, { id }) => fieldsOf(sql, id))
    const prepared = await prepareImport(bytes, choices, own)
    const license = await readLicense(config)
    const made = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      const given = { project_id: project.id, file, ...prepared }
      const id = await addImport(sql, config.paths, given)
      return requireImport(sql, id)
    })
    imports.wake()
    const Location = `/api/cockpit/leads/imports/${made.id}`
    return answer(c, OneImport, { import: made }, 202, { Location })
  },
)

imports.openapi(
  createRoute({
    method: 'get',
    path: '/imports',
    operationId: 'listImports',
    tags: ['Leads'],
    summary: 'List the newest 50 imports of a project',
    request: { query: z.strictObject({ project: Fields.project }) },
    responses: { 200: jsonResponse(Imports, 'Newest first.'), ...problems(404) },
  }),
  async (c) => {
    const slug = await slugFor(c.get('deps'), c.req.valid('query').project)
    const imports = await inProject(
      c.get('deps').db,
      slug,
      (sql, project) => sql<Stored>`
        select ${importColumns}
        from hub.imports as import
        join hub.projects as project on project.id = import.project_id
        where import.project_id = ${project.id}
        order by import.created_at desc, import.id desc
        limit 50`,
    )
    return answer(c, Imports, { imports: imports.map(whole) }, 200)
  },
)

imports.openapi(
  createRoute({
    method: 'get',
    path: '/imports/{id}',
    operationId: 'getImport',
    tags: ['Leads'],
    summary: 'Get the progress of an import',
    request: { params: z.object({ id: pathId('An import.') }) },
    responses: { 200: jsonResponse(OneImport, 'The import.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const found = await everywhere(c.get('deps').db, (sql) => requireImport(sql, id))
    return answer(c, OneImport, { import: found }, 200)
  },
)

imports.openapi(
  createRoute({
    method: 'get',
    path: '/imports/{id}/errors',
    operationId: 'importErrors',
    tags: ['Leads'],
    summary: 'Download the rows with mistakes as CSV',
    description:
      'The rows as they were in the file, with the row number and the mistakes. Correct them and import this file. `rows=noticed` has the rows that were taken, with what became of their long texts; they go with their leads.',
    request: {
      params: z.object({ id: pathId('An import.') }),
      query: z.strictObject({
        rows: z.enum(['refused', 'noticed']).default('refused').meta({
          description:
            'The rows that were refused, or those that were taken, but not as they are in the file.',
        }),
        language: z.enum(LANGUAGES).optional().meta({
          description: 'The language of the mistakes. Absent: the language of the request.',
        }),
      }),
    },
    responses: {
      200: { description: 'The file.', content: { 'text/csv': { schema: z.string() } } },
      ...problems(404),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { language = languageOf(c), rows: wanted } = c.req.valid('query')
    const { columns, rows } = await everywhere(c.get('deps').db, async (sql) => {
      const [found] = await sql<{ columns: string[] }>`
        select options -> 'columns' as columns from hub.imports where id = ${id}`
      if (!found) throw absent('import')
      const rows = await sql<{ position: number; cells: string[]; mistakes: Mistake[] }>`
        select position, cells, mistakes from hub.import_errors
        where import_id = ${id} and (lead_id is not null) = ${wanted === 'noticed'}
        order by position`
      return { columns: found.columns, rows }
    })
    const lines = rows.map(({ position, cells, mistakes }) => [
      ...columns.map((_, index) => cells[index] ?? ''),
      position,
      mistakes.map(({ column, message }) => `${column}: ${message[language]}`).join(' '),
      // Cells beyond the header stand beyond it here, too: nothing is lost, nor taken for another column.
      ...cells.slice(columns.length),
    ])
    const { row, mistakes } = importsText[language].columns
    return c.body(`${BOM}${toCsv([[...columns, row, mistakes], ...lines])}`, 200, {
      'Content-Language': language,
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="import-${wanted === 'noticed' ? 'notices' : 'errors'}-${id}.csv"`,
    })
  },
)

const Undone = OneImport.extend({
  kept: z.int().meta({ description: 'Leads that stay, because something was built on them.' }),
  completed: z.int().meta({
    description: 'Rows that completed leads that were there before; that stays.',
  }),
})

imports.openapi(
  createRoute({
    method: 'post',
    path: '/imports/{id}/undo',
    operationId: 'undoImport',
    tags: ['Leads'],
    summary: 'Delete the leads of an import on which nothing was built',
    description:
      'A lead with any change, note, task, mail or finding since stays, and so does what the import added to leads that were there before. 409 while it runs, and when it was undone before.',
    middleware: write,
    request: { params: z.object({ id: pathId('An import.') }) },
    responses: { 200: jsonResponse(Undone, 'Undone.'), ...problems(402, 404, 409) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    const done = await everywhere(db, async (sql) => {
      const [project] = await sql<Project>`
        select project.* from hub.imports as import
        join hub.projects as project on project.id = import.project_id
        where import.id = ${id}`
      if (!project) throw absent('import')
      await sql`select set_config('hub.project', ${project.id}, true)`
      await requireWritable(sql, project, license)
      const { kept, completed } = await undoImport(sql, id)
      return { import: await requireImport(sql, id), kept, completed }
    })
    return answer(c, Undone, done, 200)
  },
)

/** A file with its options: from a form, or a bare file with a query. */
async function readUpload(c: Ctx) {
  const type = c.req.header('content-type') ?? ''
  const query = c.req.query()
  if (!FORM.test(type)) {
    return { bytes: new Uint8Array(await c.req.arrayBuffer()), ...choicesOf(query) }
  }
  const { file, ...fields } = await c.req.parseBody()
  if (!(file instanceof File)) {
    throw invalid([{ path: 'file', code: 'required', message: say.file.none }])
  }
  const bytes = new Uint8Array(await file.arrayBuffer())
  return { bytes, ...choicesOf({ ...query, file_name: file.name, ...fields }) }
}

function choicesOf(fields: Record<string, unknown>) {
  const read = Upload.safeParse(fields)
  if (!read.success) throw invalid(issuesOf(read.error))
  const { project: slug, file_name, mapping, tags, facts, ...rest } = read.data
  const choices = ImportChoices.safeParse({
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value)),
    ...(mapping ? { mapping: jsonOf('mapping', mapping) } : {}),
    ...(facts ? { facts: jsonOf('facts', facts) } : {}),
    ...(tags ? { tags: tags.split(',').filter((tag) => tag.trim() !== '') } : {}),
  })
  if (!choices.success) throw invalid(issuesOf(choices.error))
  return { slug, file: nameOf(file_name), choices: choices.data }
}

function jsonOf(path: 'mapping' | 'facts', value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    throw invalid([{ path, code: 'malformed', message: say[path].no_json }])
  }
}

/** The bare name of a file, for display; it never becomes a path. */
function nameOf(given: string | undefined): string {
  const name = (given ?? '').split(/[/\\]/).at(-1) ?? ''
  return (
    name
      .replace(/\p{Cc}/gu, '')
      .trim()
      .slice(0, 150) || 'leads.csv'
  )
}
