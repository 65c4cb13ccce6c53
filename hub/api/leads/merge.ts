import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { Lead } from '../../leads/lead.ts'
import { requireLead } from '../../leads/leads.ts'
import { GROUPS, mergeLeads } from '../../leads/merge.ts'
import { readRefusals } from '../../mail/opt-outs.ts'
import { slugFor } from '../../projects/active.ts'
import { withOwner } from '../projects/owner.ts'
import { Slug } from '../projects/projects.ts'

const Side = z.enum(['kept', 'gone'])
const Moved = z.record(z.string(), z.int()).meta({
  description: 'How many rows of which tables came to the kept lead.',
})
const Merged = z.object({
  lead: Lead,
  merge: z.object({
    id: z.uuid(),
    moved: Moved,
    dropped: z.int().meta({
      description: 'Rows that went, because the kept lead has their like; they are in the record.',
    }),
  }),
})
const Records = z.object({
  merges: z.array(
    z.object({
      id: z.uuid(),
      lead_id: z.uuid(),
      gone: z
        .record(z.string(), z.unknown())
        .meta({ description: 'The lead that went, as it was.' }),
      kept: z.record(z.string(), z.unknown()).meta({ description: 'The kept lead, as it was.' }),
      moved: Moved,
      dropped: z.array(z.unknown()),
      merged_at: z.string(),
    }),
  ),
})

/** Merging two leads that are one. */
export const merge = resource<Env>()

merge.openapi(
  createRoute({
    method: 'post',
    path: '/lead/merge',
    operationId: 'mergeLeads',
    tags: ['Leads'],
    summary: 'Merge a lead into another one',
    description:
      'Notes, tasks, timeline, evidence, mails with their replies and all else of the lead `gone_id` come to `kept_id`, in one transaction; a record of both as they were stays (`leads/merges`). `choices` says for each field whose value stays; without a choice the kept lead’s, or the other’s where it has none. Tags are those of both. A lawful basis is never lost to an empty one, and whoever asked for no more mail at one address gets none at the other. 409 while a mail to either is on its way, and for leads of different projects.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          kept_id: z.uuid(),
          gone_id: z.uuid(),
          choices: z
            .partialRecord(
              z.union([
                z.enum(GROUPS),
                z.templateLiteral(['custom.', z.string().regex(/^[a-z][a-z0-9_]{0,39}$/)]),
              ]),
              Side,
            )
            .default({}),
        }),
      ),
    },
    responses: { 200: jsonResponse(Merged, 'Merged.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { kept_id, gone_id, choices } = c.req.valid('json')
    const refusals = await readRefusals(c.get('deps').config.paths)
    const done = await withOwner(c, { table: 'leads', id: kept_id }, async (sql) => {
      const merged = await mergeLeads(sql, refusals, { kept_id, gone_id, choices })
      const { merge_id: id, moved, dropped } = merged
      const lead = await requireLead(sql, kept_id)
      return { lead, merge: { id, moved, dropped: dropped.length } }
    })
    return answer(c, Merged, done, 200)
  },
)

merge.openapi(
  createRoute({
    method: 'get',
    path: '/leads/merges',
    operationId: 'listMerges',
    tags: ['Leads'],
    summary: 'List the newest 100 merges of a project',
    request: { query: z.strictObject({ project: Slug.optional() }) },
    responses: { 200: jsonResponse(Records, 'Newest first.'), ...problems(404) },
  }),
  async (c) => {
    const slug = await slugFor(c.get('deps'), c.req.valid('query').project)
    const merges = await inProject(
      c.get('deps').db,
      slug,
      (sql, { id }) => sql<z.infer<typeof Records>['merges'][number]>`
        select id, lead_id, gone, kept, moved, dropped, merged_at from hub.merges
        where project_id = ${id}
        order by merged_at desc, id
        limit 100`,
    )
    return answer(c, Records, { merges }, 200)
  },
)
