import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { flowText } from '../../mail/drafts/flow.text.ts'
import { ListmonkError, listmonk } from '../../mail/listmonk/listmonk.ts'
import { ensureProjectList } from '../../mail/listmonk/lists.ts'
import { refusal } from '../../mail/listmonk/push.ts'
import { readMail } from '../../mail/settings.ts'
import { one, Project, Slug } from '../projects/projects.ts'

const Made = z.object({
  project: Project,
  list: z.object({ list_id: z.int(), name: z.string() }),
})

/** The project's list in listmonk. */
export const listmonkList = resource<Env>()

listmonkList.openapi(
  createRoute({
    method: 'post',
    path: '/listmonk_list',
    operationId: 'makeListmonkList',
    tags: ['Projects'],
    summary: 'Create the project’s list in listmonk and map it',
    description:
      'The mapping is stored in projects/_listmonk_lists.json. A project that is already mapped keeps its list.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ slug: Slug })) },
    responses: { 200: jsonResponse(Made, 'The list.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { slug } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const license = await readLicense(config)
    const project = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      return project
    })
    const settings = (await readMail(config.paths)).listmonk
    if (!settings) {
      throw new ApiError('conflict', bilingual(flowText).no_listmonk)
    }
    try {
      const list = await ensureProjectList(config.paths, listmonk(settings), project)
      return answer(c, Made, { project: await one(c, slug), list }, 200)
    } catch (error) {
      if (error instanceof ListmonkError) throw refusal(error)
      throw error
    }
  },
)
