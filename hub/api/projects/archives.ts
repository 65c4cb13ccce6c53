import { rm } from 'node:fs/promises'
import { z } from 'zod'
import { invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { everywhere } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireRoom } from '../../license/license.ts'
import { projectsText } from '../../projects/projects.text.ts'
import { archiveFile, listArchives, restoreArchive } from '../../projects/restore-archive.ts'
import { one, Project } from './projects.ts'

const { archive: say } = bilingual(projectsText)
const Archives = z.object({
  archives: z.array(
    z.object({
      archive: z.string().meta({ description: 'The name of the file.' }),
      slug: z.string(),
      archived_at: z.string(),
      bytes: z.int(),
    }),
  ),
})
const Name = z.string().min(1).max(80)

/** The archives that deleted projects leave. */
export const archives = resource<Env>()

archives.openapi(
  createRoute({
    method: 'get',
    path: '/archives',
    operationId: 'listArchives',
    tags: ['Projects'],
    summary: 'List the archives of deleted projects, newest first',
    responses: { 200: jsonResponse(Archives, 'All of them.'), ...problems() },
  }),
  async (c) => {
    const found = await listArchives(c.get('deps').config.paths)
    return answer(c, Archives, { archives: found }, 200)
  },
)

archives.openapi(
  createRoute({
    method: 'post',
    path: '/restore',
    operationId: 'restoreProject',
    tags: ['Projects'],
    summary: 'Bring a deleted project back from its archive',
    description:
      'Its rows and its folder, without people who were erased since. Approvals are void and nothing is sent by itself; the archive stays. 402 when the license allows no more projects, 409 when a project has its short name again or the archive is damaged.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ archive: Name })) },
    responses: {
      201: jsonResponse(z.object({ project: Project }), 'It is back.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { archive } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    const slug = await everywhere(db, async (sql, client) => {
      await archiveFile(config.paths, archive)
      await requireRoom(sql, license)
      return restoreArchive(client, sql, config.paths, archive)
    })
    const project = await one(c, slug)
    const Location = '/api/cockpit/projects/list'
    return answer(c, z.object({ project: Project }), { project }, 201, { Location })
  },
)

archives.openapi(
  createRoute({
    method: 'post',
    path: '/archives/delete',
    operationId: 'deleteArchive',
    tags: ['Projects'],
    summary: 'Delete the archive of a project for good',
    description: 'Needs the name of the file once more as confirmation.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ archive: Name, confirm: Name })) },
    responses: { 200: jsonResponse(Archives, 'Those that are left.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { archive, confirm } = c.req.valid('json')
    const { paths } = c.get('deps').config
    const file = await archiveFile(paths, archive)
    if (confirm.trim() !== archive) {
      throw invalid([{ path: 'confirm', code: 'mismatch', message: say.type_name }])
    }
    await rm(file)
    return answer(c, Archives, { archives: await listArchives(paths) }, 200)
  },
)
