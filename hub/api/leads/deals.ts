import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { dealSettings, stageSums } from '../../leads/deals.ts'
import { Stage } from '../../leads/lead.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { slugFor } from '../../projects/active.ts'
import { Slug } from '../projects/projects.ts'

const Reason = z.string().trim().min(1).max(100)
const Reasons = z
  .array(Reason)
  .max(20)
  .refine((all) => new Set(all).size === all.length, { error: 'Give each reason once.' })
const Settings = z
  .object({
    probabilities: z.partialRecord(Stage, z.number().min(0).max(100)).meta({
      description: 'Percent by stage; a stage without one has no weighted sum.',
    }),
    won_reasons: z.array(z.string()),
    lost_reasons: z.array(z.string()),
  })
  .meta({ id: 'DealSettings' })
const OneSettings = z.object({ settings: Settings })
const Sums = z.object({
  stages: z.array(
    z.object({
      stage: Stage,
      leads: z.int(),
      without_amount: z.int(),
      sums: z
        .array(
          z.object({
            currency: z.string(),
            amount: z.number(),
            weighted: z.number().nullable().meta({
              description: 'By the probability of the stage; null without one.',
            }),
          }),
        )
        .meta({ description: 'One for each currency: different ones are never added.' }),
    }),
  ),
})

/** Deals: what the leads of a project are worth, by stage and currency. */
export const deals = resource<Env>()

deals.openapi(
  createRoute({
    method: 'get',
    path: '/sums',
    operationId: 'dealSums',
    tags: ['Leads'],
    summary: 'Sum the amounts of a project’s leads by stage and currency',
    request: { query: z.strictObject({ project: Slug.optional() }) },
    responses: { 200: jsonResponse(Sums, 'Every stage, in order.'), ...problems(404) },
  }),
  async (c) => {
    const slug = await slugFor(c.get('deps'), c.req.valid('query').project)
    const stages = await inProject(c.get('deps').db, slug, (sql, { id }) => stageSums(sql, id))
    return answer(c, Sums, { stages }, 200)
  },
)

deals.openapi(
  createRoute({
    method: 'get',
    path: '/settings',
    operationId: 'dealSettings',
    tags: ['Leads'],
    summary: 'The probabilities of a project’s stages and its reasons',
    request: { query: z.strictObject({ project: Slug.optional() }) },
    responses: { 200: jsonResponse(OneSettings, 'As stored.'), ...problems(404) },
  }),
  async (c) => {
    const slug = await slugFor(c.get('deps'), c.req.valid('query').project)
    const { db } = c.get('deps')
    const settings = await inProject(db, slug, (sql, { id }) => dealSettings(sql, id))
    return answer(c, OneSettings, { settings }, 200)
  },
)

deals.openapi(
  createRoute({
    method: 'put',
    path: '/settings',
    operationId: 'putDealSettings',
    tags: ['Leads'],
    summary: 'Change the probabilities of a project’s stages and its reasons',
    description: 'Absent fields are unchanged. Reasons that leads already have stay on them.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          project: Slug,
          probabilities: Settings.shape.probabilities.optional(),
          won_reasons: Reasons.optional(),
          lost_reasons: Reasons.optional(),
        }),
      ),
    },
    responses: { 200: jsonResponse(OneSettings, 'Stored.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { project: slug, ...change } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    const settings = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      await sql`select from hub.projects where id = ${project.id} for update`
      const after = { ...(await dealSettings(sql, project.id)), ...change }
      await sql`
        insert into hub.deal_settings (project_id, probabilities, won_reasons, lost_reasons)
        values (
          ${project.id}, ${JSON.stringify(after.probabilities)}, ${after.won_reasons},
          ${after.lost_reasons}
        )
        on conflict (project_id) do update
        set probabilities = excluded.probabilities, won_reasons = excluded.won_reasons,
          lost_reasons = excluded.lost_reasons, updated_at = now()`
      return dealSettings(sql, project.id)
    })
    return answer(c, OneSettings, { settings }, 200)
  },
)
