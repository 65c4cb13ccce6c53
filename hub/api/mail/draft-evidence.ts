import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { addEvidence } from '../../leads/leads.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { askModel } from '../../mail/drafts/ask-model.ts'
import { evidenceText } from '../../mail/drafts/evidence.text.ts'
import { setStand } from '../../mail/drafts/stands.ts'
import { ModelError } from '../../model/model.ts'
import { Slug } from '../projects/projects.ts'
import { Detailed, DraftRef, detailed } from './drafts.ts'

const say = bilingual(evidenceText)

/** What opens the evidence gate: facts, a model that was measured, and people. */
export const draftEvidence = resource<Env>()

draftEvidence.openapi(
  createRoute({
    method: 'post',
    path: '/draft/stand',
    operationId: 'standForSentence',
    tags: ['Drafts'],
    summary: 'Stand for a sentence without evidence, or no longer',
    description:
      'Recorded with the time, the exact sentence and how the caller was signed in. It ends when the sentence, its readers or what the evidence says changes, and the approval covers it.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...DraftRef,
          sentence: z.string().min(1).max(20_000),
          stands: z.boolean().default(true),
        }),
      ),
    },
    responses: { 200: jsonResponse(Detailed, 'The draft.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { id, project: slug, sentence, stands } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const by = c.get('caller') ?? 'token'
    await setStand({ config, db }, { slug, id, sentence, stands, by })
    return answer(c, Detailed, await detailed(c.get('deps'), slug, id), 200)
  },
)

draftEvidence.openapi(
  createRoute({
    method: 'post',
    path: '/draft/judge',
    operationId: 'judgeDraft',
    tags: ['Drafts'],
    summary: 'Ask the model about the sentences of which the code is not sure',
    description:
      'Up to 20 sentences a call, each once until it or its evidence changes. Only a model that was measured on the test set decides; the answer of any other is shown as a hint.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(DraftRef)) },
    responses: { 200: jsonResponse(Detailed, 'The draft.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { id, project: slug } = c.req.valid('json')
    const deps = c.get('deps')
    try {
      await askModel(deps, { slug, id, signal: c.req.raw.signal })
    } catch (error) {
      if (error instanceof ModelError) throw new ApiError('unavailable', error.words)
      throw error
    }
    return answer(c, Detailed, await detailed(deps, slug, id), 200)
  },
)

const NewEvidence = z.strictObject({
  project: Slug,
  lead_id: z.uuid().nullable().default(null).meta({
    description: 'The lead that the fact is about; null: it is about us.',
  }),
  fact: z.string().trim().min(3).max(1000),
  quote: z.string().trim().min(1).max(2000).nullable().default(null),
  source: z.string().trim().min(1).max(500).meta({ description: 'Where it stands, e.g. a URL.' }),
})
const OneEvidence = z.object({
  evidence: z.object({
    id: z.uuid(),
    lead_id: z.uuid().nullable(),
    fact: z.string(),
    quote: z.string().nullable(),
    source: z.string(),
  }),
})

draftEvidence.openapi(
  createRoute({
    method: 'post',
    path: '/evidence/add',
    operationId: 'addEvidence',
    tags: ['Drafts'],
    summary: 'Add a fact about a lead or about us',
    description:
      'It supports sentences of mails to that lead; a fact about us supports those of every mail. The same fact from the same source is added once.',
    middleware: write,
    request: { body: jsonBody(NewEvidence) },
    responses: { 201: jsonResponse(OneEvidence, 'Added.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { project: slug, ...given } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const id = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      const [lead] = given.lead_id
        ? await sql`select from hub.leads where id = ${given.lead_id} and project_id = ${project.id}`
        : [{}]
      if (!lead) throw invalid([{ path: 'lead_id', code: 'not_found', message: say.no_lead }])
      return addEvidence(sql, { project_id: project.id, ...given })
    })
    return answer(c, OneEvidence, { evidence: { id, ...given } }, 201)
  },
)

draftEvidence.openapi(
  createRoute({
    method: 'post',
    path: '/evidence/delete',
    operationId: 'deleteEvidence',
    tags: ['Drafts'],
    summary: 'Delete a fact that is wrong',
    description: 'Sentences that only this fact supports lose their support at once.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ project: Slug, id: z.uuid() })) },
    responses: {
      200: jsonResponse(z.object({ deleted: z.uuid() }), 'Deleted.'),
      ...problems(402, 404, 422),
    },
  }),
  async (c) => {
    const { project: slug, id } = c.req.valid('json')
    const { config, db } = c.get('deps')
    await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      const gone = await sql`
        delete from hub.evidence where id = ${id} and project_id = ${project.id} returning id`
      if (gone.length === 0) throw new ApiError('not_found', say.no_evidence)
    })
    return answer(c, z.object({ deleted: z.uuid() }), { deleted: id }, 200)
  },
)
