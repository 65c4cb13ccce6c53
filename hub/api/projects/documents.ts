import { rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { fold } from '../../../shared/words/fold.ts'
import { inProject } from '../../db/db.ts'
import { readText, writeWhole } from '../../files.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { brandOf } from '../../mail/brand/brand-of.ts'
import { nameOf } from '../../mail/brand/brand-parts.ts'
import { documentText } from '../../projects/documents.text.ts'
import {
  type DocumentLook,
  FOLDERS,
  listIn,
  PathError,
  pdfOf,
  resolveIn,
} from '../../projects/documents.ts'
import { keepOwnFacts } from '../../projects/own-facts.ts'
import { folderOf } from '../../projects/project-folder.ts'
import { Slug } from './projects.ts'

const say = bilingual(documentText)

const Entry = z.object({ path: z.string(), bytes: z.int(), modified_at: z.string() })
const Entries = z.object({ documents: z.array(Entry) })
const OneDocument = z.object({ document: Entry.extend({ title: z.string(), text: z.string() }) })

const MAX_TEXT_BYTES = 2_000_000
const MAX_PDF_CHARACTERS = 400_000
const MAX_TEXT_CHARACTERS = 500_000

/**
 * The files in a project's folder: documents of missions, and files that were put there for them.
 */
export const documents = resource<Env>()

documents.openapi(
  createRoute({
    method: 'get',
    path: '/list',
    operationId: 'listDocuments',
    tags: ['Missions'],
    summary: 'List the files of a project, newest first',
    request: {
      query: z.strictObject({
        project: Slug,
        q: z.string().min(1).max(200).optional().meta({
          description: 'Only files with all these words in their path or text, as leads are found.',
        }),
      }),
    },
    responses: { 200: jsonResponse(Entries, 'All files.'), ...problems(404) },
  }),
  async (c) => {
    const { project, q } = c.req.valid('query')
    const folder = await folderFor(c, project)
    const paths = (await Promise.all(FOLDERS.map((below) => listIn(folder, below)))).flat()
    const found: string[] = []
    for (const path of paths) if (q === undefined || (await has(folder, path, q))) found.push(path)
    const documents = await Promise.all(found.map((path) => entry(folder, path)))
    documents.sort((a, b) => (a.modified_at < b.modified_at ? 1 : -1))
    return answer(c, Entries, { documents }, 200)
  },
)

documents.openapi(
  createRoute({
    method: 'get',
    path: '/get',
    operationId: 'getDocument',
    tags: ['Missions'],
    summary: 'Read a file as text',
    request: { query: z.strictObject({ project: Slug, path: z.string().max(500) }) },
    responses: { 200: jsonResponse(OneDocument, 'The file.'), ...problems(404) },
  }),
  async (c) => {
    const { project, path } = c.req.valid('query')
    const { folder, text } = await read(c, project, path)
    const found = { ...(await entry(folder, path)), title: titleOf(text, path), text }
    return answer(c, OneDocument, { document: found }, 200)
  },
)

documents.openapi(
  createRoute({
    method: 'get',
    path: '/download',
    operationId: 'downloadDocument',
    tags: ['Missions'],
    summary: 'Download a file, or a Markdown document as PDF',
    request: {
      query: z.strictObject({
        project: Slug,
        path: z.string().max(500),
        format: z.enum(['file', 'pdf']).default('file'),
      }),
    },
    responses: {
      200: {
        description: 'The file.',
        content: {
          'application/pdf': { schema: z.string() },
          'text/plain': { schema: z.string() },
        },
      },
      ...problems(404),
    },
  }),
  async (c) => {
    const { project, path, format } = c.req.valid('query')
    const { text } = await read(c, project, path)
    const name = basename(path)
    if (format === 'file') return send(c, text, 'text/plain; charset=utf-8', name)
    if (!path.endsWith('.md') || text.length > MAX_PDF_CHARACTERS) throw absent('PDF of this file')
    const pdf = await pdfOf(text, { title: titleOf(text, path), brand: await lookFor(c, project) })
    return send(c, pdf, 'application/pdf', name.replace(/\.md$/, '.pdf'))
  },
)

documents.openapi(
  createRoute({
    method: 'post',
    path: '/save',
    operationId: 'saveDocument',
    tags: ['Missions'],
    summary: 'Change the text of a file',
    description:
      'For a Markdown or text file that is there. 409 if it was changed since `modified_at`: somebody else’s text is not overwritten. What a mission wrote stays among the versions of its result.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          project: Slug,
          path: z.string().max(500),
          text: z.string().max(MAX_TEXT_CHARACTERS),
          modified_at: z.string().max(40),
        }),
      ),
    },
    responses: { 200: jsonResponse(OneDocument, 'Saved.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { project, path, text, modified_at } = c.req.valid('json')
    await requireProject(c, project)
    if (!/\.(md|txt)$/.test(path)) throw new ApiError('conflict', say.no_text)
    const { folder } = await read(c, project, path)
    const before = await entry(folder, path)
    if (before.modified_at !== modified_at) throw new ApiError('conflict', say.changed)
    await writeWhole(await resolveIn(folder, path), text, 0o640)
    if (path === 'CONTEXT.md') {
      await inProject(c.get('deps').db, project, (sql, { id }) => keepOwnFacts(sql, id, text))
    }
    const saved = { ...(await entry(folder, path)), title: titleOf(text, path), text }
    return answer(c, OneDocument, { document: saved }, 200)
  },
)

documents.openapi(
  createRoute({
    method: 'post',
    path: '/delete',
    operationId: 'deleteDocument',
    tags: ['Missions'],
    summary: 'Delete a file of a project for good',
    description: 'Needs the name of the file once more as confirmation.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          project: Slug,
          path: z.string().max(500),
          confirm: z.string().max(200),
        }),
      ),
    },
    responses: { 200: jsonResponse(Entry, 'The deleted file.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { project, path, confirm } = c.req.valid('json')
    await requireProject(c, project)
    const folder = await folderFor(c, project)
    const file = await resolveIn(folder, path).catch((error: unknown) => {
      if (error instanceof PathError) throw absent('file in this project')
      throw error
    })
    const info = await stat(file).catch(() => undefined)
    if (!info?.isFile() || path === 'CONTEXT.md') throw absent('file in this project')
    if (confirm.trim() !== basename(path)) {
      throw invalid([{ path: 'confirm', code: 'mismatch', message: say.type_name }])
    }
    const gone = await entry(folder, path)
    await rm(file)
    return answer(c, Entry, gone, 200)
  },
)

/** Whether a file has all words of a query in its path or its text. */
async function has(folder: string, path: string, q: string): Promise<boolean> {
  const words = fold(q).split(/\s+/).filter(Boolean)
  const missing = words.filter((word) => !fold(path).includes(word))
  if (missing.length === 0) return true
  const file = await resolveIn(folder, path).catch(() => undefined)
  const info = file && (await stat(file).catch(() => undefined))
  if (!file || !info || info.size > MAX_TEXT_BYTES) return false
  const text = fold((await readText(file)) ?? '')
  return missing.every((word) => text.includes(word))
}

/** Refuses a change of a project beyond the license. */
async function requireProject(c: Ctx, slug: string): Promise<void> {
  const { db, config } = c.get('deps')
  const license = await readLicense(config)
  await inProject(db, slug, (sql, project) => requireWritable(sql, project, license))
}

/** What a project's documents carry of its brand. */
async function lookFor(c: Ctx, slug: string): Promise<DocumentLook> {
  const { db, config } = c.get('deps')
  return inProject(db, slug, async (sql, project) => {
    const brand = await brandOf(sql, config, project)
    const { logo, color, postal_address } = brand
    return { name: nameOf(brand, project), logo, color, postal_address }
  })
}

/** Never shown in the page's own origin: a document may contain what a lead or a website wrote. */
function send(c: Ctx, content: string | Uint8Array, type: string, name: string) {
  return c.body(content as never, 200, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name.replace(/[^\w.-]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}`,
    'X-Content-Type-Options': 'nosniff',
  }) as never // safe: the content types are those of the document
}

async function folderFor(c: Ctx, slug: string): Promise<string> {
  const { db, config } = c.get('deps')
  await inProject(db, slug, async () => undefined)
  return folderOf(config.paths, slug)
}

async function read(c: Ctx, slug: string, path: string) {
  const folder = await folderFor(c, slug)
  const file = await resolveIn(folder, path).catch((error: unknown) => {
    if (error instanceof PathError) throw absent('file in this project')
    throw error
  })
  const info = await stat(file).catch(() => undefined)
  if (!info?.isFile() || info.size > MAX_TEXT_BYTES) throw absent('file in this project')
  const text = await readText(file)
  if (text === undefined) throw absent('file in this project')
  return { folder, text }
}

async function entry(folder: string, path: string): Promise<z.infer<typeof Entry>> {
  const info = await stat(await resolveIn(folder, path).catch(() => folder))
  return { path, bytes: info.size, modified_at: info.mtime.toISOString() }
}

function titleOf(text: string, path: string): string {
  return /^# (.+)$/m.exec(text.slice(0, 2000))?.[1]?.replace(/\\(.)/g, '$1') ?? basename(path)
}
