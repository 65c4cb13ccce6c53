import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import type { Words } from '../../i18n/words.ts'
import { approveSequence } from '../../mail/sequences/approve.ts'
import {
  clearUnclear,
  remove,
  setHeld,
  standFor,
  stop,
  takeOut,
} from '../../mail/sequences/steer.ts'
import { type StopReason, wordsOf } from '../../mail/sequences/stop.ts'
import { PERSON_STATES, SequenceRecipient, viewSequence } from '../../mail/sequences/view.ts'
import { slugFor } from '../../projects/active.ts'
import { DraftId, ProjectQuery } from './drafts.ts'
import { DetailedSequence, detailedSequence, OneSequence, SequenceRef } from './sequences.ts'

/** What becomes of a sequence: approving, holding and ending it, and its recipients. */
export const sequenceSteps = resource<Env>()

/** The sequence after a step. */
async function view(c: Ctx, slug: string, id: string) {
  const sequence = await inProject(c.get('deps').db, slug, (sql, project) =>
    viewSequence(sql, project.id, id),
  )
  return answer(c, OneSequence, { sequence }, 200)
}

sequenceSteps.openapi(
  createRoute({
    method: 'post',
    path: '/sequence/approve',
    operationId: 'approveSequence',
    tags: ['Sequences'],
    summary: 'Approve all steps for all recipients, and start the sequence',
    description:
      'The approval covers the rendered bytes of every step, the days, the window, the sender and the recipients. Every check must pass; whatever changes later must be approved again.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...SequenceRef,
          hash: z.string().max(100).optional().meta({
            description: 'The `hash` from sequences/get; 409 when the sequence has changed since.',
          }),
        }),
      ),
    },
    responses: {
      200: jsonResponse(OneSequence, 'In state `running`.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug, hash } = c.req.valid('json')
    const { config, db, mailer } = c.get('deps')
    await approveSequence({ config, db }, { slug, id, seen: hash })
    mailer.nudge()
    return view(c, slug, id)
  },
)

for (const [name, is_held] of [
  ['pause', true],
  ['resume', false],
] as const) {
  sequenceSteps.openapi(
    createRoute({
      method: 'post',
      path: `/sequence/${name}`,
      operationId: `${name}Sequence`,
      tags: ['Sequences'],
      summary: is_held
        ? 'Pause a running sequence'
        : 'Resume a paused sequence; what is late goes in the next office hours',
      middleware: write,
      request: { body: jsonBody(z.strictObject(SequenceRef)) },
      responses: {
        200: jsonResponse(OneSequence, 'The sequence.'),
        ...problems(402, 404, 409, 422),
      },
    }),
    async (c) => {
      const { id, project: slug } = c.req.valid('json')
      const { config, db, mailer } = c.get('deps')
      await setHeld({ config, db }, { slug, id, is_held })
      mailer.nudge()
      return view(c, slug, id)
    },
  )
}

sequenceSteps.openapi(
  createRoute({
    method: 'post',
    path: '/sequence/stop',
    operationId: 'stopSequence',
    tags: ['Sequences'],
    summary: 'Stop a sequence for good',
    middleware: write,
    request: { body: jsonBody(z.strictObject(SequenceRef)) },
    responses: {
      200: jsonResponse(OneSequence, 'In state `stopped`.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug } = c.req.valid('json')
    const { config, db } = c.get('deps')
    await stop({ config, db }, { slug, id })
    return view(c, slug, id)
  },
)

const Deleted = z.object({ deleted: z.literal(true) })

sequenceSteps.openapi(
  createRoute({
    method: 'post',
    path: '/sequence/delete',
    operationId: 'deleteSequence',
    tags: ['Sequences'],
    summary: 'Delete a sequence of which no mail has gone',
    middleware: write,
    request: { body: jsonBody(z.strictObject(SequenceRef)) },
    responses: { 200: jsonResponse(Deleted, 'Deleted.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { id, project: slug } = c.req.valid('json')
    const { config, db } = c.get('deps')
    await remove({ config, db }, { slug, id })
    return answer(c, Deleted, { deleted: true }, 200)
  },
)

sequenceSteps.openapi(
  createRoute({
    method: 'post',
    path: '/sequence/take_out',
    operationId: 'takeOutOfSequence',
    tags: ['Sequences'],
    summary: 'Take one recipient out of a sequence',
    middleware: write,
    request: {
      body: jsonBody(z.strictObject({ ...SequenceRef, email: z.string().min(1).max(320) })),
    },
    responses: {
      200: jsonResponse(OneSequence, 'The sequence.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug, email } = c.req.valid('json')
    const { config, db } = c.get('deps')
    await takeOut({ config, db }, { slug, id, email })
    return view(c, slug, id)
  },
)

sequenceSteps.openapi(
  createRoute({
    method: 'post',
    path: '/sequence/clear',
    operationId: 'clearSequenceMails',
    tags: ['Sequences'],
    summary: 'Decide whether unclear mails of a sequence were sent',
    description: 'Without `email` for all of them. After `not_sent` a mail may be sent again.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...SequenceRef,
          outcome: z.enum(['sent', 'not_sent']),
          email: z.string().max(320).optional(),
        }),
      ),
    },
    responses: {
      200: jsonResponse(OneSequence, 'The sequence.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug, outcome, email } = c.req.valid('json')
    const { config, db, mailer } = c.get('deps')
    await clearUnclear({ config, db }, { slug, id, outcome, email })
    mailer.nudge()
    return view(c, slug, id)
  },
)

sequenceSteps.openapi(
  createRoute({
    method: 'post',
    path: '/sequence/stand',
    operationId: 'standForSequenceSentence',
    tags: ['Sequences'],
    summary: 'Stand for a sentence of a step without evidence, or no longer',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          ...SequenceRef,
          step_id: z.uuid(),
          sentence: z.string().min(1).max(20_000),
          stands: z.boolean().default(true),
        }),
      ),
    },
    responses: {
      200: jsonResponse(DetailedSequence, 'The sequence.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, project: slug, ...given } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const by = c.get('caller') ?? 'token'
    await standFor({ config, db }, { slug, id, ...given, by })
    return answer(c, DetailedSequence, await detailedSequence(c, slug, id), 200)
  },
)

const Recipients = z.object({ recipients: z.array(SequenceRecipient), next_cursor: NextCursor })
type Row = Omit<z.infer<typeof SequenceRecipient>, 'stopped' | 'mails'> & {
  stop_detail: Words | null
  mails: (Omit<z.infer<typeof SequenceRecipient>['mails'][number], 'reason'> & {
    reason: Words | null
  })[]
}

sequenceSteps.openapi(
  createRoute({
    method: 'get',
    path: '/sequences/recipients',
    operationId: 'listSequenceRecipients',
    tags: ['Sequences'],
    summary: 'List the recipients of an approved sequence, each with its mails and why it stopped',
    request: {
      query: z.strictObject({
        id: DraftId,
        project: ProjectQuery,
        state: z.enum(PERSON_STATES).optional(),
        limit: integerParameter(1, 500, 100, 'Recipients a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Recipients, 'A page, by address.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const [after] = (await decodeCursor(filter, cursor, z.tuple([z.string()]))) ?? ['']
    const slug = await slugFor(c.get('deps'), filter.project)
    const rows = await inProject(c.get('deps').db, slug, async (sql, project) => {
      await viewSequence(sql, project.id, filter.id)
      const { id, state = null } = filter
      return sql<Row>`
        select person.email, person.name, person.company, person.lead_id, person.state,
          person.stop_reason, person.stop_detail, person.time_zones, person.wait_until,
          person.ended_at, (
            select private.iso(min(mail.due_at))
            from hub.recipients as mail join hub.drafts as step on step.id = mail.draft_id
            where step.sequence_id = person.sequence_id and mail.email = person.email
              and mail.state = 'pushed'
          ) as next_at, (
            select coalesce(jsonb_agg(jsonb_build_object(
                'step', step.step, 'state', mail.state, 'reason', mail.reason,
                'due_at', private.iso(mail.due_at), 'sent_at', private.iso(mail.sent_at),
                'replied_at', private.iso(mail.replied_at),
                'bounced_at', private.iso(mail.bounced_at)
              ) order by step.step), '[]')
            from hub.recipients as mail join hub.drafts as step on step.id = mail.draft_id
            where step.sequence_id = person.sequence_id and mail.email = person.email
          ) as mails
        from hub.sequence_recipients as person
        where person.sequence_id = ${id} and (${state}::text is null or person.state = ${state})
          and person.email > ${after}
        order by person.email
        limit ${limit + 1}`
    })
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.email]) : null
    const recipients = page.map(({ stop_detail, ...row }) => ({
      ...row,
      // safe: the column's check lists the reasons
      stopped: row.stop_reason && wordsOf(row.stop_reason as StopReason, stop_detail),
    }))
    return answer(c, Recipients, { recipients, next_cursor }, 200)
  },
)
