import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { languageOf } from '../../../shared/words/language-of.ts'
import { previewRecipients } from '../../agents/recipients/preview.ts'
import { route } from '../../agents/run/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems } from '../../http/http.ts'
import { AudienceFilter } from '../../mail/drafts/audience.ts'
import { readRefusals } from '../../mail/opt-outs.ts'
import { requireDone, routeOn } from '../../missions/continue.ts'
import { Department } from '../../missions/mission.ts'
import { readEarlier } from '../../missions/thread.ts'
import { Slug } from '../projects/projects.ts'
import { Task } from './missions.ts'

/** Whom a mission would be for, before there is one. */
export const missionRecipients = resource<Env>()

const Recipients = z
  .object({
    kind: z.enum(['leads', 'filter', 'newest', 'unclear', 'none']).meta({
      description:
        '`leads`: those whom the task names. `filter`: a group it describes. `newest`: it names nobody, so the newest leads without a draft. `unclear`: only a person can say, and `leads` are those who may be meant; without `lead_ids` or a `filter` the mission would fail. `none`: the agent works without leads.',
    }),
    because: z.string().nullable(),
    filter: AudienceFilter.nullable(),
    total: z.int().meta({ description: 'Leads of a filter without an address are not counted.' }),
    leads: z
      .array(
        z.object({
          id: z.uuid(),
          name: z.string().nullable(),
          company: z.string().nullable(),
          email: z.string().nullable(),
        }),
      )
      .meta({ description: 'At most ten of them.' }),
    spoken: z.string().nullable().meta({
      description:
        'Where the recipients would be written to in several languages, how many in which.',
    }),
  })
  .meta({ id: 'MissionRecipients' })

missionRecipients.openapi(
  createRoute({
    method: 'post',
    path: '/recipients',
    operationId: 'previewMissionRecipients',
    tags: ['Missions'],
    summary: 'Preview whom a mission would be for',
    description:
      'Looks at the wording only, and stores nothing. Send what you choose as `input.lead_ids` or `input.filter` of the mission.',
    request: {
      body: jsonBody(
        z.strictObject({
          department: Department.default('auto'),
          task: Task,
          project: Slug,
          continues: z
            .uuid()
            .optional()
            .meta({ description: 'The mission that it would go on from.' }),
        }),
      ),
    },
    responses: {
      200: jsonResponse(z.object({ recipients: Recipients }), 'The leads, and why.'),
      ...problems(404, 409, 422),
    },
  }),
  async (c) => {
    const { department, task, project: slug, continues } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const refusals = await readRefusals(config.paths)
    const recipients = await inProject(db, slug, async (sql, { id }) => {
      const given = { project_id: id, task, language: languageOf(c), refusals }
      if (continues) {
        const old = await requireDone(sql, continues)
        const { agent } = routeOn(task, department, old.department)
        const earlier = await readEarlier(sql, continues)
        return previewRecipients(sql, { ...given, agent, earlier })
      }
      const agent = department === 'auto' ? route(task).agent : department
      return previewRecipients(sql, { ...given, agent })
    })
    return answer(c, z.object({ recipients: Recipients }), { recipients }, 200)
  },
)
