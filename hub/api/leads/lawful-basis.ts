import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { setBasis } from '../../leads/basis.ts'
import { importsText } from '../../leads/imports.text.ts'
import { LawfulBasis, LeadFields } from '../../leads/lead.ts'
import { leadsText } from '../../leads/leads.text.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { Slug } from '../projects/projects.ts'
import { idsOf, LeadFilter } from './lead-filter.ts'

const say = bilingual(importsText)
const MOST = 50_000
const Done = z.object({
  changed: z.int(),
  unchanged: z.int().meta({ description: 'Leads that had exactly this basis already.' }),
  kept: z.int().meta({
    description: 'Leads that have another basis and kept it, because `overwrite` was not set.',
  }),
  missing: z.array(z.uuid()).meta({ description: 'Ids that are not leads of this project.' }),
})

/** The lawful basis of many leads at once. */
export const lawfulBasis = resource<Env>()

lawfulBasis.openapi(
  createRoute({
    method: 'post',
    path: '/lawful_basis',
    operationId: 'setLawfulBasis',
    tags: ['Leads'],
    summary: 'Set the lawful basis of many leads',
    description:
      'For chosen leads (`ids`) or for all that a filter finds, at most 50,000. A legitimate interest needs a note. Unless `overwrite` is true, a lead that has another basis keeps it, and one that has the same keeps its note, source and date where none is given; each change is in the timeline of its lead with what was before.',
    middleware: write,
    request: {
      body: jsonBody(
        z
          .strictObject({
            project: Slug,
            ids: z.array(z.uuid()).min(1).max(50_000).optional(),
            filter: LeadFilter.omit({ project: true }).optional().meta({
              description: 'As in leads/list; an empty one is every lead of the project.',
            }),
            lawful_basis: LawfulBasis,
            note: LeadFields.basis_note.optional(),
            source: LeadFields.basis_source.optional(),
            on: LeadFields.basis_on.optional(),
            overwrite: z.boolean().default(false),
          })
          .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
            error: 'Give either ids or filter.',
            path: ['ids'],
          }),
      ),
    },
    responses: { 200: jsonResponse(Done, 'Set.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const {
      project: slug,
      ids: chosen,
      filter = {},
      note,
      source,
      on,
      ...given
    } = c.req.valid('json')
    if (given.lawful_basis === 'legitimate_interest' && !note) {
      throw invalid([{ path: 'note', code: 'required', message: say.basis_note }])
    }
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    const done = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      const ids = chosen ?? (await idsOf(sql, { project_id: project.id, filter, limit: MOST + 1 }))
      if (ids.length > MOST) throw new ApiError('conflict', bilingual(leadsText).too_many(MOST))
      return setBasis(sql, project.id, {
        ...given,
        ids,
        basis_note: note || null,
        basis_source: source || null,
        basis_on: on ?? null,
      })
    })
    return answer(c, Done, done, 200)
  },
)
