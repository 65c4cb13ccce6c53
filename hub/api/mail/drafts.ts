import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, pathId, resource } from '../../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import type { Sql } from '../../../shared/sql.ts'
import { everywhere, inProject } from '../../db/db.ts'
import type { Deps } from '../../deps.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { NEWEST, Position, positionOf } from '../../http/page.ts'
import { absent } from '../../i18n/failure.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { fromOf } from '../../mail/brand/brand.ts'
import { approvedFrom, contentHash, examine, readGateInputs } from '../../mail/drafts/approval.ts'
import { type Person, peopleOf, personalOf, skipWords } from '../../mail/drafts/audience.ts'
import {
  Draft,
  type DraftView,
  diffSince,
  draftColumns,
  Evidence,
  readDraft,
  viewDraft,
} from '../../mail/drafts/draft-view.ts'
import {
  createDraft,
  DraftChange,
  type DraftRow,
  editDraft,
  NewDraft,
} from '../../mail/drafts/drafts.ts'
import { STATES } from '../../mail/drafts/flow.ts'
import type { JudgedSentence } from '../../mail/drafts/judged.ts'
import { readRefusals } from '../../mail/opt-outs.ts'
import { personalise } from '../../mail/render/render.ts'
import { viaOf } from '../../mail/settings.ts'
import { volumeOf } from '../../mail/today.ts'
import { slugFor } from '../../projects/active.ts'
import { Slug } from '../projects/projects.ts'

export const DraftId = z.string().transform((id) => (z.guid().safeParse(id).success ? id : NOBODY))
const NOBODY = '00000000-0000-0000-0000-000000000000'
export const ProjectQuery = Slug.optional().meta({
  description: 'The slug of a project. Absent: the active project.',
})
/** The draft of a step. */
export const DraftRef = { id: DraftId, project: Slug }
export const OneDraft = z.object({ draft: Draft })

export const Gate = z
  .object({
    name: z.string(),
    ok: z.boolean(),
    blocks: z.boolean().meta({ description: 'Nothing is sent until this check passes.' }),
    detail: z.string(),
    way_out: z.string().nullable(),
  })
  .meta({ id: 'Gate' })

export const Readers = z
  .object({
    total: z.int().meta({ description: 'Leads in the audience that have an address.' }),
    will_get_it: z.int(),
    without_email: z.int(),
    sample: z.array(
      z.object({
        lead_id: z.uuid(),
        email: z.string(),
        name: z.string().nullable(),
        skip: z.string().nullable().meta({ description: 'Why this lead is skipped, as a code.' }),
        skipped: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'DraftReaders' })

export const Sentence = z
  .object({
    sentence: z.string(),
    verdict: z.enum(['harmless', 'supported', 'contradicted', 'unsure']).meta({
      description:
        'harmless: it states nothing. supported: evidence says exactly this. contradicted: evidence says otherwise. unsure: a person must decide.',
    }),
    evidence: z.array(Evidence).meta({ description: 'What supports or contradicts it.' }),
    fails: z.int().meta({
      description: 'Of a sentence with placeholders: how many readers it does not hold for.',
    }),
    fails_for: z.array(z.object({ lead_id: z.uuid(), name: z.string() })),
    hint: z
      .object({
        verdict: z.enum(['supported', 'contradicted', 'not_stated']),
        quote: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'What a model said; only a measured model decides.' }),
    stand: z
      .object({ by: z.enum(['session', 'token']), name: z.string().nullable(), at: z.string() })
      .nullable()
      .meta({ description: 'Who stands for a sentence without evidence, and since when.' }),
  })
  .meta({ id: 'DraftSentence' })

export const Detailed = z.object({
  draft: Draft,
  sentences: z.array(Sentence).meta({
    description: 'Every sentence of the draft as it is now. Approval waits for all of them.',
  }),
  gates: z.array(Gate).meta({ description: 'The checks before sending.' }),
  recipients: Readers,
  from: z
    .object({ name: z.string(), email: z.string(), reply_to: z.string().nullable() })
    .nullable()
    .meta({ description: 'Who it is from: the sender of the project, or as it was approved.' }),
  cap_today: z.int().meta({ description: 'What the ramp of its sender allows today.' }),
  left_today: z.int().meta({ description: 'What its sender may still send today.' }),
  hash: z.string().nullable().meta({
    description:
      'The hash of what is shown. Send it with draft/approve, so that nothing else is approved.',
  }),
  diff: z.string().nullable().meta({
    description: 'The changes since the last approval, as a unified diff.',
  }),
})

/** Reading and writing drafts. */
export const drafts = resource<Env>()

const Filter = z.strictObject({
  project: ProjectQuery,
  state: z.enum(STATES).optional(),
  lead_id: z.uuid().optional(),
})
const Drafts = z.object({ drafts: z.array(Draft), next_cursor: NextCursor })

drafts.openapi(
  createRoute({
    method: 'get',
    path: '/drafts/list',
    operationId: 'listDrafts',
    tags: ['Drafts'],
    summary: 'List the drafts of a project, newest first',
    request: {
      query: Filter.extend({
        limit: integerParameter(1, 100, 20, 'Drafts a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Drafts, 'A page.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const [at, after] = (await decodeCursor(filter, cursor, Position)) ?? NEWEST
    const slug = await slugFor(c.get('deps'), filter.project)
    const { state = null, lead_id = null } = filter
    const rows = await inProject(
      c.get('deps').db,
      slug,
      (sql, project) => sql<DraftView & { position: string }>`
        select ${draftColumns}, ${positionOf('draft.created_at')} as position
        from hub.drafts as draft
        join hub.projects as project on project.id = draft.project_id
        where draft.project_id = ${project.id} and draft.sequence_id is null
          and (${state}::text is null or draft.state = ${state})
          and (${lead_id}::text is null or draft.audience ->> 'lead_id' = ${lead_id})
          and (draft.created_at, draft.id) < (${at}::timestamptz, ${after}::uuid)
        order by draft.created_at desc, draft.id desc
        limit ${limit + 1}`,
    )
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    return answer(c, Drafts, { drafts: page, next_cursor }, 200)
  },
)

const SAMPLE = 10

export function readersOf({ people, without_email }: { people: Person[]; without_email: number }) {
  return {
    total: people.length,
    will_get_it: people.filter(({ skip }) => !skip).length,
    without_email,
    sample: people.slice(0, SAMPLE).map(({ lead_id, email, name, skip }) => ({
      lead_id,
      email,
      name,
      skip,
      skipped: skip && skipWords[skip],
    })),
  }
}

drafts.openapi(
  createRoute({
    method: 'get',
    path: '/drafts/get',
    operationId: 'getDraft',
    tags: ['Drafts'],
    summary: 'Get a draft with its evidence, checks and recipients',
    request: { query: z.strictObject({ id: DraftId, project: ProjectQuery }) },
    responses: { 200: jsonResponse(Detailed, 'The draft.'), ...problems(404) },
  }),
  async (c) => {
    const { id, project: named } = c.req.valid('query')
    const slug = await slugFor(c.get('deps'), named)
    return answer(c, Detailed, await detailed(c.get('deps'), slug, id), 200)
  },
)

/** A draft with everything its page shows. */
export async function detailed(
  { config, db }: Pick<Deps, 'config' | 'db'>,
  slug: string,
  id: string,
) {
  const inputs = await readGateInputs({ config, db })
  return inProject(db, slug, async (sql, project) => {
    const row = await readDraft(sql, project.id, id)
    const found = await examine(sql, project, inputs, row)
    const { people, without_email, gates, sentences, brand } = found
    const now = fromOf(brand)
    const via = viaOf(inputs.mail, config, row.audience.kind)
    const from = row.approved_hash ? await approvedFrom(sql, config, row) : now
    const { cap, left } = volumeOf(inputs.today, inputs.mail, from)
    return {
      draft: await viewDraft(sql, project.id, id),
      sentences: await withEvidence(sql, project.id, sentences),
      gates,
      recipients: readersOf({ people, without_email }),
      from,
      cap_today: cap,
      left_today: left,
      hash:
        row.html === null
          ? null
          : contentHash(row, { mail: inputs.mail, from: now, via, sentences }),
      diff: diffSince(row),
    }
  })
}

export async function withEvidence(
  sql: Sql,
  project_id: string,
  sentences: JudgedSentence[],
): Promise<z.input<typeof Sentence>[]> {
  const ids = sentences.flatMap(({ evidence_ids }) => evidence_ids)
  const rows = await sql<z.infer<typeof Evidence>>`
    select id, fact, quote, source from hub.evidence
    where project_id = ${project_id} and id = any(${ids}::uuid[])`
  const known = new Map(rows.map((row) => [row.id, row]))
  return sentences.map(({ evidence_ids, opinion, ...one }) => ({
    ...one,
    evidence: evidence_ids.flatMap((id) => known.get(id) ?? []),
    hint: opinion && { verdict: opinion.verdict, quote: opinion.quote },
  }))
}

drafts.openapi(
  createRoute({
    method: 'post',
    path: '/draft/create',
    operationId: 'createDraft',
    tags: ['Drafts'],
    summary: 'Create a draft',
    middleware: write,
    request: { body: jsonBody(NewDraft.extend({ project: Slug })) },
    responses: {
      201: jsonResponse(OneDraft, 'Created, in state `draft`.'),
      ...problems(402, 404, 422),
    },
  }),
  async (c) => {
    const { project: slug, ...given } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const draft = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      return viewDraft(sql, project.id, await createDraft(sql, project, given))
    })
    const Location = `/api/cockpit/drafts/get?id=${draft.id}&project=${slug}`
    return answer(c, OneDraft, { draft }, 201, { Location })
  },
)

drafts.openapi(
  createRoute({
    method: 'post',
    path: '/draft/edit',
    operationId: 'editDraft',
    tags: ['Drafts'],
    summary: 'Edit a draft; it must be rendered and approved again',
    description:
      'Absent fields are unchanged. A new text or subject replaces the slots. Recipients who already got the mail do not get it again.',
    middleware: write,
    request: { body: jsonBody(DraftChange.extend(DraftRef)) },
    responses: {
      200: jsonResponse(OneDraft, 'In state `draft`.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { project: slug, id, ...change } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const draft = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      await editDraft(sql, project, id, change)
      return viewDraft(sql, project.id, id)
    })
    return answer(c, OneDraft, { draft }, 200)
  },
)

/** What a mail may do in its preview: nothing but be shown. */
export const PREVIEW_POLICY = "sandbox; style-src 'unsafe-inline'; img-src data:"

drafts.openapi(
  createRoute({
    method: 'get',
    path: '/draft/preview/{id}',
    operationId: 'previewDraft',
    tags: ['Drafts'],
    summary: 'The rendered mail as a recipient sees it',
    description: 'Sandboxed HTML: no scripts, and nothing is loaded from other servers.',
    request: { params: z.object({ id: pathId('The draft.') }) },
    responses: {
      200: { description: 'The mail as HTML.', content: { 'text/html': { schema: z.string() } } },
      ...problems(404),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { config, db } = c.get('deps')
    const refusals = await readRefusals(config.paths)
    const html = await everywhere(db, async (sql) => {
      const [draft] = await sql<DraftRow>`select * from hub.drafts where id = ${id}`
      if (draft?.html == null) throw absent('rendered draft')
      const { people } = await peopleOf(sql, { ...draft, refusals, written: [draft] })
      const reader = people.find(({ skip }) => skip === null) ?? people[0]
      const parts = { subject: '', text: '', html: draft.html, bytes: 0 }
      const personal = personalOf(reader ?? { name: null, company: null })
      return personalise(parts, { ...personal, unsubscribe_url: '#' }).html
    })
    c.set('content_policy', PREVIEW_POLICY)
    return c.html(html)
  },
)
