import { z } from 'zod'
import { invalid } from '../../../shared/problem.ts'
import { createRoute, jsonResponse, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, typed, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { codeText } from '../../projects/code-upload.text.ts'
import { CODE_LIMITS, folderIn, saveCode } from '../../projects/code-upload.ts'
import { PathError } from '../../projects/documents.ts'
import { folderOf } from '../../projects/project-folder.ts'
import { Slug } from './projects.ts'

const say = bilingual(codeText)
const Count = z.int().min(1)

const Limits = z
  .object({
    upload_bytes: Count.meta({ description: 'All files of one upload together.' }),
    file_bytes: Count.meta({ description: 'One file, uploaded or unpacked.' }),
    files: Count.meta({ description: 'Files in the code of a project.' }),
    archive_entries: Count.meta({ description: 'Entries of a ZIP archive, folders included.' }),
    unpacked_bytes: Count.meta({ description: 'All files of an archive together, unpacked.' }),
    ratio: Count.meta({ description: 'How many times as large an entry may become.' }),
  })
  .meta({ id: 'CodeLimits' })
const LimitsAnswer = z.object({ limits: Limits })
const Uploaded = z.object({
  saved: z.array(z.object({ path: z.string(), bytes: z.int(), is_replaced: z.boolean() })),
  refused: z
    .array(z.object({ path: z.string(), why: z.string() }))
    .meta({ description: 'Every file that was not written, and why.' }),
})
const FILE = z.unknown().meta({
  type: 'string',
  format: 'binary',
  description: 'A text file or a ZIP archive; the field may be repeated.',
})

/** Files and archives that the engineer reads, in a project's `code/`. */
export const codeUpload = resource<Env>()

codeUpload.openapi(
  createRoute({
    method: 'get',
    path: '/upload_limits',
    operationId: 'getCodeLimits',
    tags: ['Missions'],
    summary: 'Get how much code can be uploaded',
    responses: { 200: jsonResponse(LimitsAnswer, 'The limits.'), ...problems() },
  }),
  (c) => answer(c, LimitsAnswer, { limits: CODE_LIMITS }, 200),
)

codeUpload.openapi(
  createRoute({
    method: 'post',
    path: '/upload',
    operationId: 'uploadCode',
    tags: ['Missions'],
    summary: 'Upload files and ZIP archives into the code of a project',
    description:
      'They are written into `code/`, where the engineer reads them; archives are unpacked. Files that exist stay unless `replace` is true. Links, hidden files, paths that lead outside and what is no text are refused: each is named in `refused`.',
    middleware: [write, typed(/^multipart\/form-data\s*(;|$)/i, say.type)],
    request: {
      query: z.strictObject({
        project: Slug,
        folder: z.string().max(300).default('').meta({
          description: 'The folder below `code/`, e.g. `shop/api`; it is made if it is missing.',
        }),
        replace: z.enum(['true', 'false']).default('false').meta({
          description: 'Whether files that exist are replaced.',
        }),
      }),
      // Checked in filesOf, so that a missing file is 422 like a mistake in a body.
      body: {
        content: { 'multipart/form-data': { schema: z.looseObject({ file: FILE.optional() }) } },
      },
    },
    responses: {
      200: jsonResponse(Uploaded, 'What was written and what was refused.'),
      ...problems(402, 404, 413, 415, 422),
    },
  }),
  async (c) => {
    const { project, folder: below, replace } = c.req.valid('query')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    await inProject(db, project, (sql, row) => requireWritable(sql, row, license))
    const root = folderOf(config.paths, project)
    const folder = await folderIn(root, below).catch((error: unknown) => {
      if (!(error instanceof PathError)) throw error
      throw invalid([{ path: 'folder', code: 'invalid', message: say.no_folder(below) }])
    })
    const files = await filesOf(c)
    const done = await saveCode(files, { project: root, folder, replaces: replace === 'true' })
    return answer(c, Uploaded, done, 200)
  },
)

async function filesOf(c: Ctx): Promise<{ name: string; bytes: Buffer }[]> {
  const form = await c.req.parseBody({ all: true })
  const files = [form.file ?? []].flat().filter((one) => one instanceof File)
  if (files.length === 0) {
    throw invalid([{ path: 'file', code: 'required', message: say.no_file }])
  }
  return Promise.all(
    files.map(async (file) => ({ name: file.name, bytes: Buffer.from(await file.arrayBuffer()) })),
  )
}
