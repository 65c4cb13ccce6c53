import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, pathId, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { Lead } from '../../leads/lead.ts'
import { requireLead } from '../../leads/leads.ts'
import { GROUPS, mergeLeads } from '../../leads/merge.ts'
import { KEPT_DAYS, noMerge, undoMerge } from '../../leads/merge-undo.ts'
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
const MergeRecord = z
  .object({
    id: z.uuid(),
    lead_id: z.uuid(),
    gone: z.record(z.string(), z.unknown()).meta({ description: 'The lead that went, as it was.' }),
    kept: z.record(z.string(), z.unknown()).meta({ description: 'The kept lead, as it was.' }),
    moved: Moved,
    dropped: z.array(z.unknown()),
    merged_at: z.string(),
    undone_at: z.string().nullable(),
    undo_until: z.string().nullable().meta({
      description:
        'Until when it can be undone, if nothing else happens to the lead; null if it cannot or was.',
    }),
  })
  .meta({ id: 'MergeRecord' })
const Records = z.object({ merges: z.array(MergeRecord) })
const Undone = z.object({
  leads: z.tuple([Lead, Lead]).meta({ description: 'The kept lead and the other one, as before.' }),
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
      'Notes, tasks, timeline, evidence, mails with their replies and all else of the lead `gone_id` come to `kept_id`, in one transaction; a record of both as they were stays for 30 days (`leads/merges`), by which it can be undone. `choices` says for each field whose value stays; without a choice the kept lead’s, or the other’s where it has none. Tags are those of both. A lawful basis is never lost to an empty one, and whoever asked for no more mail at one address gets none at the other. 409 while a mail to either is on its way, and for leads of different projects.',
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
      (sql, { id }) => sql<z.infer<typeof MergeRecord>>`
        select id, lead_id, gone, kept, moved, dropped, merged_at, undone_at,
          case when changed is not null then merged_at + make_interval(days => ${KEPT_DAYS}) end
            as undo_until
        from hub.merges
        where project_id = ${id}
        order by merged_at desc, id
        limit 100`,
    )
    return answer(c, Records, { merges }, 200)
  },
)

merge.openapi(
  createRoute({
    method: 'post',
    path: '/leads/merges/{id}/undo',
    operationId: 'undoMerge',
    tags: ['Leads'],
    summary: 'Make two leads of a merged one again',
    description:
      'Both leads and all that hangs on them are exactly as they were before the merge; only addresses that it put on the suppression list stay there. 404 after 30 days, when its lead was deleted, and when one of its people was erased. 409 when it was undone before, and after anything else that happened to the lead: a change, a note, a mail that was approved or sent, a reply.',
    middleware: write,
    request: { params: z.object({ id: pathId('A merge.') }) },
    responses: { 200: jsonResponse(Undone, 'Undone.'), ...problems(402, 404, 409) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const done = await withOwner(c, { table: 'merges', id, missing: noMerge }, async (sql) => {
      const { kept_id, gone_id } = await undoMerge(sql, id)
      const leads: [Lead, Lead] = [await requireLead(sql, kept_id), await requireLead(sql, gone_id)]
      return { leads }
    })
    return answer(c, Undone, done, 200)
  },
)
