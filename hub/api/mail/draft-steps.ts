import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { languageOf } from '../../../shared/words/language-of.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { approve } from '../../mail/drafts/approval.ts'
import { viewDraft } from '../../mail/drafts/draft-view.ts'
import { editDraft, rejectDraft, TemplateChoice } from '../../mail/drafts/drafts.ts'
import { flowText } from '../../mail/drafts/flow.text.ts'
import { clear, send, setPaused } from '../../mail/drafts/steps.ts'
import { push } from '../../mail/listmonk/push.ts'
import { renderDraft } from '../../mail/render/rendering.ts'
import { addMission, getMission, Mission } from '../../missions/mission.ts'
import { DraftRef, OneDraft } from './drafts.ts'

/** The steps of a draft, from its text to the sent mail; each answers 409 out of order. */
export const draftSteps = resource<Env>()

/** The draft after a step. */
async function view(c: Ctx, slug: string, id: string) {
  return inProject(c.get('deps').db, slug, (sql, project) => viewDraft(sql, project.id, id))
}

draftSteps.openapi(
  createRoute({
    method: 'post',
    path: '/render',
    operationId: 'renderDraft',
    tags: ['Drafts'],
    summary: 'Render a draft into a mail',
    description: 'Uses the given slots, else the stored ones, else the text. Voids an approval.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...DraftRef,
          template: TemplateChoice.optional(),
          slots: z.record(z.string(), z.unknown()).optional(),
        }),
      ),
    },
    responses: {
      200: jsonResponse(OneDraft, 'In state `rendered`.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug, template, slots } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const draft = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      await renderDraft(sql, project, config, {
        id,
        ...(template ? { template } : {}),
        ...(slots ? { slots } : {}),
      })
      return viewDraft(sql, project.id, id)
    })
    return answer(c, OneDraft, { draft }, 200)
  },
)

const OneMission = z.object({ mission: Mission })

draftSteps.openapi(
  createRoute({
    method: 'post',
    path: '/redesign',
    operationId: 'redesignDraft',
    tags: ['Drafts'],
    summary: 'Have the designer redesign a draft',
    description:
      'The text stays the same word for word. The draft returns to `draft` at once, which voids its approval, and is `rendered` when the mission is done.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(DraftRef)) },
    responses: {
      202: jsonResponse(OneMission, 'The mission is queued.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug } = c.req.valid('json')
    const { config, db, missions } = c.get('deps')
    const mission = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      await editDraft(sql, project, id, {}, 'redesign')
      const { subject } = await viewDraft(sql, project.id, id)
      const made = await addMission(sql, {
        project_id: project.id,
        department: 'marketing',
        task: flowText[languageOf(c)].redesign_task(subject),
        input: { draft_id: id },
      })
      return getMission(sql, made)
    })
    missions.wake()
    const headers = { Location: `/api/cockpit/missions/${mission.id}` }
    return answer(c, OneMission, { mission }, 202, headers)
  },
)

draftSteps.openapi(
  createRoute({
    method: 'post',
    path: '/reject',
    operationId: 'rejectDraft',
    tags: ['Drafts'],
    summary: 'Reject a draft',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({ ...DraftRef, reason: z.string().trim().max(500).nullable().optional() }),
      ),
    },
    responses: { 200: jsonResponse(OneDraft, 'In state `rejected`.'), ...problems(404, 409, 422) },
  }),
  async (c) => {
    const { id, project: slug, reason = null } = c.req.valid('json')
    const draft = await inProject(c.get('deps').db, slug, async (sql, project) => {
      await rejectDraft(sql, project, id, reason)
      return viewDraft(sql, project.id, id)
    })
    return answer(c, OneDraft, { draft }, 200)
  },
)

const Plan = z
  .object({
    recipients: z.int().meta({ description: 'How many people will get it.' }),
    skipped: z.array(z.object({ reason: z.string(), count: z.int() })),
    already_sent: z
      .int()
      .meta({ description: 'Recipients who already got it and do not get it again.' }),
    via: z.enum(['smtp', 'tx', 'campaign']).nullable(),
    list: z.string().nullable().meta({ description: 'The list in listmonk, for a campaign.' }),
    cap_today: z.int(),
    left_today: z.int(),
    days: z.int().meta({ description: 'How many days sending takes within the daily limit.' }),
  })
  .meta({ id: 'DraftPlan' })
const Approved = OneDraft.extend({ plan: Plan })

draftSteps.openapi(
  createRoute({
    method: 'post',
    path: '/approve',
    operationId: 'approveDraft',
    tags: ['Drafts'],
    summary: 'Approve a draft as shown, for its recipients',
    description:
      'The approval covers the rendered bytes, the sender, the recipients and the list. Refused while a sentence has no evidence and nobody stands for it. The answer says what will happen.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...DraftRef,
          hash: z.string().max(100).optional().meta({
            description: 'The `hash` from drafts/get; 409 when the draft has changed since.',
          }),
        }),
      ),
    },
    responses: { 200: jsonResponse(Approved, 'Approved.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { id, project: slug, hash } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const plan = await approve({ config, db }, { slug, id, seen: hash })
    const skipped = plan.skipped.map(({ words, count }) => ({ reason: words, count }))
    const draft = await view(c, slug, id)
    return answer(c, Approved, { draft, plan: { ...plan, skipped } }, 200)
  },
)

draftSteps.openapi(
  createRoute({
    method: 'post',
    path: '/push',
    operationId: 'pushDraft',
    tags: ['Drafts'],
    summary: 'Push an approved draft to the mail server or listmonk',
    description:
      'With listmonk, this creates subscribers, lists and draft campaigns there. 409 `audience_changed` when the recipients or the sender are no longer those approved; the approval is then void.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(DraftRef)) },
    responses: {
      200: jsonResponse(OneDraft, 'In state `pushed`.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug } = c.req.valid('json')
    const { config, db } = c.get('deps')
    await push({ config, db }, { slug, id })
    return answer(c, OneDraft, { draft: await view(c, slug, id) }, 200)
  },
)

draftSteps.openapi(
  createRoute({
    method: 'post',
    path: '/send',
    operationId: 'sendDraft',
    tags: ['Drafts'],
    summary: 'Send a pushed draft',
    description:
      'Mails are sent in the background within the daily limit, which can take several days. Nobody gets it twice.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(DraftRef)) },
    responses: {
      202: jsonResponse(OneDraft, 'In state `sending`.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug } = c.req.valid('json')
    const { config, db, mailer } = c.get('deps')
    await send({ config, db }, { slug, id })
    const draft = await view(c, slug, id)
    mailer.nudge()
    return answer(c, OneDraft, { draft }, 202)
  },
)

for (const step of ['pause', 'resume'] as const) {
  draftSteps.openapi(
    createRoute({
      method: 'post',
      path: `/${step}`,
      operationId: `${step}Draft`,
      tags: ['Drafts'],
      summary: step === 'pause' ? 'Hold a draft that is being sent' : 'Let a held draft go on',
      middleware: write,
      request: { body: jsonBody(z.strictObject(DraftRef)) },
      responses: { 200: jsonResponse(OneDraft, 'Done.'), ...problems(404, 409, 422) },
    }),
    async (c) => {
      const { id, project: slug } = c.req.valid('json')
      const { config, db, mailer } = c.get('deps')
      await setPaused({ config, db }, { slug, id, isPaused: step === 'pause' })
      mailer.nudge()
      return answer(c, OneDraft, { draft: await view(c, slug, id) }, 200)
    },
  )
}

draftSteps.openapi(
  createRoute({
    method: 'post',
    path: '/clear',
    operationId: 'clearDraft',
    tags: ['Drafts'],
    summary: 'Report whether an unclear mail was sent',
    description: '`not_sent`: it can be sent again with draft/send (a campaign with draft/push).',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...DraftRef,
          outcome: z.enum(['sent', 'not_sent']),
          email: z
            .string()
            .max(320)
            .optional()
            .meta({ description: 'Absent: all unclear mails of the draft.' }),
        }),
      ),
    },
    responses: { 200: jsonResponse(OneDraft, 'Reported.'), ...problems(404, 409, 422) },
  }),
  async (c) => {
    const { id, project: slug, outcome, email } = c.req.valid('json')
    const { config, db } = c.get('deps')
    await clear({ config, db }, { slug, id, outcome, email })
    return answer(c, OneDraft, { draft: await view(c, slug, id) }, 200)
  },
)
