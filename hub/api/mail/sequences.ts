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
import { languageOfAll } from '../../agents/recipients/spoken.ts'
import { everywhere, inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { NEWEST, Position, positionOf } from '../../http/page.ts'
import { absent } from '../../i18n/failure.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { readersOf } from '../../mail/drafts/audience.ts'
import { readRefusals } from '../../mail/opt-outs.ts'
import {
  mailsFor,
  plannedOf,
  type Seen,
  seeSequence,
  whatHappens,
} from '../../mail/sequences/detail.ts'
import {
  createSequence,
  editSequence,
  NewSequence,
  SequenceChange,
} from '../../mail/sequences/sequences.ts'
import { SEQUENCE_STATES } from '../../mail/sequences/state.ts'
import {
  Sequence,
  type SequenceView,
  sequenceColumns,
  viewSequence,
} from '../../mail/sequences/view.ts'
import { slugFor } from '../../projects/active.ts'
import { Slug } from '../projects/projects.ts'
import { DraftId, Gate, PREVIEW_POLICY, ProjectQuery, Sentence, withEvidence } from './drafts.ts'

/** The sequence of a step. */
export const SequenceRef = { id: DraftId, project: Slug }
export const OneSequence = z.object({ sequence: Sequence })

const Planned = z
  .object({
    lead_id: z.uuid(),
    email: z.string(),
    name: z.string().nullable(),
    company: z.string().nullable(),
    time_zones: z.array(z.string()).meta({
      description: 'Mails go when it is office hours in all of these.',
    }),
    zone_source: z.enum(['lead', 'country', 'project']),
    left_out: z.string().nullable().meta({ description: 'Why it gets nothing; null: it is in.' }),
    is_in: z
      .boolean()
      .meta({ description: 'Whether it is in already, since an earlier approval.' }),
    had: z.int().meta({ description: 'Mails of this sequence that it has had.' }),
    planned: z.array(z.string().nullable()).meta({
      description: 'When the mail of each step would go, if nobody replied; null: it had it.',
    }),
  })
  .meta({ id: 'SequencePlanned' })

export const DetailedSequence = z.object({
  sequence: Sequence,
  sentences: z
    .array(z.object({ step_id: z.uuid(), sentences: z.array(Sentence) }))
    .meta({ description: 'Every sentence of every step; approval waits for all of them.' }),
  gates: z.array(Gate),
  recipients: z.object({
    total: z.int(),
    will_get_it: z.int(),
    without_email: z.int(),
    left_out: z.array(z.object({ reason: z.string(), count: z.int() })),
  }),
  what_happens: z.string().nullable().meta({ description: 'What an approval would do.' }),
  hash: z.string().meta({
    description:
      'Of what is shown. Send it with sequence/approve, so that nothing else is approved.',
  }),
})

/** Reading and writing sequences. */
export const sequences = resource<Env>()

const Filter = z.strictObject({
  project: ProjectQuery,
  state: z.enum(SEQUENCE_STATES).optional(),
})
const Sequences = z.object({ sequences: z.array(Sequence), next_cursor: NextCursor })

sequences.openapi(
  createRoute({
    method: 'get',
    path: '/sequences/list',
    operationId: 'listSequences',
    tags: ['Sequences'],
    summary: 'List the sequences of a project, newest first',
    request: {
      query: Filter.extend({
        limit: integerParameter(1, 100, 20, 'Sequences a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Sequences, 'A page.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const [at, after] = (await decodeCursor(filter, cursor, Position)) ?? NEWEST
    const slug = await slugFor(c.get('deps'), filter.project)
    const { state = null } = filter
    const rows = await inProject(
      c.get('deps').db,
      slug,
      (sql, project) => sql<SequenceView & { position: string }>`
        select ${sequenceColumns}, ${positionOf('sequence.created_at')} as position
        from hub.sequences as sequence
        join hub.projects as project on project.id = sequence.project_id
        where sequence.project_id = ${project.id}
          and (${state}::text is null or sequence.state = ${state})
          and (sequence.created_at, sequence.id) < (${at}::timestamptz, ${after}::uuid)
        order by sequence.created_at desc, sequence.id desc
        limit ${limit + 1}`,
    )
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    return answer(c, Sequences, { sequences: page, next_cursor }, 200)
  },
)

/** A sequence with everything its page shows before an approval. */
export async function detailedSequence(c: Ctx, slug: string, id: string) {
  const { config, db } = c.get('deps')
  return seeSequence({ config, db }, { slug, id }, async (sql, seen) => {
    const sentences = []
    for (const step of seen.steps) {
      const judged = await withEvidence(sql, seen.project.id, step.sentences)
      sentences.push({ step_id: step.draft.id, sentences: judged })
    }
    return {
      sequence: await viewSequence(sql, seen.project.id, id),
      sentences,
      gates: seen.gates,
      recipients: countsOf(seen),
      what_happens: whatHappens(seen),
      hash: seen.hash,
    }
  })
}

function countsOf({ people, without_email }: Seen) {
  const byReason = Map.groupBy(
    people.flatMap(({ left_out }) => left_out ?? []),
    ({ en }) => en,
  )
  return {
    total: people.length,
    will_get_it: people.filter(({ left_out }) => left_out === null).length,
    without_email,
    left_out: [...byReason.values()].flatMap((all) =>
      all[0] ? [{ reason: all[0], count: all.length }] : [],
    ),
  }
}

const OneQuery = z.strictObject({ id: DraftId, project: ProjectQuery })

sequences.openapi(
  createRoute({
    method: 'get',
    path: '/sequences/get',
    operationId: 'getSequence',
    tags: ['Sequences'],
    summary: 'Get a sequence with its sentences, checks and recipients',
    request: { query: OneQuery },
    responses: { 200: jsonResponse(DetailedSequence, 'The sequence.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id, project } = c.req.valid('query')
    const slug = await slugFor(c.get('deps'), project)
    return answer(c, DetailedSequence, await detailedSequence(c, slug, id), 200)
  },
)

const Previewed = z.object({
  recipient: z.union([Planned, z.null()]),
  mails: z.array(
    z.object({
      step_id: z.uuid(),
      step: z.int(),
      subject: z.string(),
      text: z.string(),
      at: z.string().nullable().meta({ description: 'When it would go; null: it went.' }),
    }),
  ),
})

sequences.openapi(
  createRoute({
    method: 'get',
    path: '/sequences/preview',
    operationId: 'previewSequence',
    tags: ['Sequences'],
    summary: 'The mail of every step as one recipient gets it, with the time of each',
    request: {
      query: OneQuery.extend({
        email: z.string().max(320).optional().meta({ description: 'Absent: the first recipient.' }),
      }),
    },
    responses: { 200: jsonResponse(Previewed, 'The mails.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id, project, email = null } = c.req.valid('query')
    const { config, db } = c.get('deps')
    const slug = await slugFor(c.get('deps'), project)
    const shown = await seeSequence({ config, db }, { slug, id }, async (_, seen) =>
      mailsFor(seen, email),
    )
    return answer(c, Previewed, shown, 200)
  },
)

sequences.openapi(
  createRoute({
    method: 'get',
    path: '/sequence/preview/{step_id}',
    operationId: 'previewSequenceStep',
    tags: ['Sequences'],
    summary: 'The mail of a step as one recipient sees it',
    description: 'Sandboxed HTML: no scripts, and nothing is loaded from other servers.',
    request: {
      params: z.object({ step_id: pathId('The step.') }),
      query: z.strictObject({ email: z.string().max(320).optional() }),
    },
    responses: {
      200: { description: 'The mail as HTML.', content: { 'text/html': { schema: z.string() } } },
      ...problems(404, 422),
    },
  }),
  async (c) => {
    const { step_id } = c.req.valid('param')
    const { email = null } = c.req.valid('query')
    const { config, db } = c.get('deps')
    const [of] = await everywhere(
      db,
      (sql) => sql<{ id: string; slug: string }>`
        select step.sequence_id as id, project.slug
        from hub.drafts as step join hub.projects as project on project.id = step.project_id
        where step.id = ${step_id} and step.sequence_id is not null`,
    )
    if (!of) throw absent('step')
    const { mails } = await seeSequence({ config, db }, of, async (_, seen) =>
      mailsFor(seen, email),
    )
    c.set('content_policy', PREVIEW_POLICY)
    return c.html(mails.find((mail) => mail.step_id === step_id)?.html ?? '')
  },
)

const Timetable = z.object({ recipients: z.array(Planned), next_cursor: NextCursor })

sequences.openapi(
  createRoute({
    method: 'get',
    path: '/sequences/timetable',
    operationId: 'sequenceTimetable',
    tags: ['Sequences'],
    summary: 'When the mail of each step would go to each recipient',
    description:
      'As if nobody replied and no other mail were sent: within the office hours of each recipient and the daily limit.',
    request: {
      query: OneQuery.extend({
        limit: integerParameter(1, 500, 100, 'Recipients a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Timetable, 'A page, by address.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const [after] = (await decodeCursor(filter, cursor, z.tuple([z.string()]))) ?? ['']
    const { config, db } = c.get('deps')
    const slug = await slugFor(c.get('deps'), filter.project)
    const rows = await seeSequence({ config, db }, { slug, id: filter.id }, async (_, seen) =>
      seen.people
        .filter(({ email }) => email > after)
        .sort((a, b) => (a.email < b.email ? -1 : 1))
        .slice(0, limit + 1)
        .map((person) => plannedOf(seen, person)),
    )
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.email]) : null
    return answer(c, Timetable, { recipients: page, next_cursor }, 200)
  },
)

sequences.openapi(
  createRoute({
    method: 'post',
    path: '/sequence/create',
    operationId: 'createSequence',
    tags: ['Sequences'],
    summary: 'Create a sequence',
    middleware: write,
    request: { body: jsonBody(NewSequence.extend({ project: Slug })) },
    responses: {
      201: jsonResponse(OneSequence, 'Created, in state `draft`.'),
      ...problems(402, 404, 422),
    },
  }),
  async (c) => {
    const { project: slug, ...given } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const refusals = await readRefusals(config.paths)
    const sequence = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      const { filter } = given
      const readers = await readersOf(sql, { project_id: project.id, filter, refusals })
      const language = given.language ?? languageOfAll(readers)
      const id = await createSequence(sql, project, { ...given, ...(language ? { language } : {}) })
      return viewSequence(sql, project.id, id)
    })
    const Location = `/api/cockpit/sequences/get?id=${sequence.id}&project=${slug}`
    return answer(c, OneSequence, { sequence }, 201, { Location })
  },
)

sequences.openapi(
  createRoute({
    method: 'post',
    path: '/sequence/edit',
    operationId: 'editSequence',
    tags: ['Sequences'],
    summary: 'Edit a sequence; it must be approved again',
    description:
      'Absent fields are unchanged; `steps` are given whole. Whoever had a mail does not get it again, and goes on with the next step once it is approved. Steps that somebody had stay in their place.',
    middleware: write,
    request: { body: jsonBody(SequenceChange.extend(SequenceRef)) },
    responses: {
      200: jsonResponse(OneSequence, 'In state `draft`.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { project: slug, id, ...change } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const sequence = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      await editSequence(sql, project, id, change)
      return viewSequence(sql, project.id, id)
    })
    return answer(c, OneSequence, { sequence }, 200)
  },
)
