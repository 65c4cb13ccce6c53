import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { everywhere, inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { skipWords } from '../../mail/drafts/audience.ts'
import { markDifferences } from '../../queue/alike.ts'
import { approveAtOnce, prospectOf } from '../../queue/at-once.ts'
import { QueueItem, readQueue } from '../../queue/kinds.ts'
import { sendTest } from '../../queue/test-mail.ts'
import { Slug } from '../projects/projects.ts'
import { DraftId, DraftRef } from './drafts.ts'

/** All that waits for a person's yes, in one place. */
export const queue = resource<Env>()

const Queue = z.object({
  items: z.array(QueueItem).meta({
    description: 'The longest waiting first, mails of one batch together; up to 500 of a kind.',
  }),
  total: z.int().meta({ description: 'All that waits, listed or not.' }),
})

queue.openapi(
  createRoute({
    method: 'get',
    path: '/queue/list',
    operationId: 'listQueue',
    tags: ['Queue'],
    summary: 'All that waits for approval',
    request: {
      query: z.strictObject({
        project: Slug.optional().meta({
          description: 'The slug of a project. Absent: all projects.',
        }),
      }),
    },
    responses: { 200: jsonResponse(Queue, 'What waits.'), ...problems(404) },
  }),
  async (c) => {
    const { project } = c.req.valid('query')
    const { db } = c.get('deps')
    const queue = await (project ? inProject(db, project, readQueue) : everywhere(db, readQueue))
    return answer(c, Queue, queue, 200)
  },
)

const Closed = z.object({ name: z.string(), detail: z.string(), way_out: z.string().nullable() })
const Prospect = z.object({
  what: z.string().meta({
    description: 'What sending does: “Send to 42 people on list Demir, 20 today”.',
  }),
  recipients: z.int(),
  today: z.int().meta({ description: 'How many of them get it today, by the daily limit.' }),
  can_send: z.boolean(),
  closed: z.array(Closed).meta({ description: 'The checks that keep it from being sent now.' }),
  hash: z.string().nullable(),
})

queue.openapi(
  createRoute({
    method: 'get',
    path: '/queue/prospect',
    operationId: 'getProspect',
    tags: ['Queue'],
    summary: 'What approving and sending a draft would do',
    request: { query: z.strictObject({ id: DraftId, project: Slug }) },
    responses: { 200: jsonResponse(Prospect, 'Now.'), ...problems(404) },
  }),
  async (c) => {
    const { id, project: slug } = c.req.valid('query')
    const { config, db } = c.get('deps')
    const found = await prospectOf({ config, db }, { slug, id })
    const { what, recipients, today, closed, hash } = found
    const can_send = closed.length === 0
    return answer(c, Prospect, { what, recipients, today, can_send, closed, hash }, 200)
  },
)

const Batch = z.object({
  drafts: z.array(
    z.object({
      id: z.uuid(),
      who: z.string().nullable(),
      email: z.string().nullable(),
      subject: z.string(),
      pieces: z
        .array(z.object({ text: z.string(), is_common: z.boolean() }))
        .meta({ description: 'The text in pieces: those that all mails have, and its own.' }),
      hash: z.string().nullable(),
      can_approve: z.boolean(),
      can_send: z.boolean(),
      closed: z.array(Closed),
      skipped: z.string().nullable().meta({ description: 'Why its reader does not get it.' }),
    }),
  ),
  left_out: z.int().meta({ description: 'Mails of the batch beyond the first 50.' }),
})
const MAX_BATCH = 50

queue.openapi(
  createRoute({
    method: 'get',
    path: '/queue/batch',
    operationId: 'getBatch',
    tags: ['Queue'],
    summary: 'Mails that were written alike, with their differences',
    request: { query: z.strictObject({ key: z.string().max(100), project: Slug }) },
    responses: { 200: jsonResponse(Batch, 'The batch; none: it was decided.'), ...problems(404) },
  }),
  async (c) => {
    const { key, project: slug } = c.req.valid('query')
    const { config, db } = c.get('deps')
    const queue = await inProject(db, slug, readQueue)
    const items = queue.items.filter(({ batch }) => batch?.key === key)
    const drafts = []
    for (const { id, who } of items.slice(0, MAX_BATCH)) {
      const found = await prospectOf({ config, db }, { slug, id: String(id) })
      drafts.push({ ...found, who })
    }
    const pieces = markDifferences(drafts.map(({ draft }) => draft.rendered_text ?? draft.text))
    const shown = drafts.map(({ draft, people, closed, hash, who }, at) => ({
      id: draft.id,
      who,
      email: people[0]?.email ?? null,
      subject: draft.rendered_subject ?? draft.subject,
      pieces: pieces[at] ?? [],
      hash,
      can_approve: !closed.some(({ name }) => NEEDED.has(name)),
      can_send: closed.length === 0,
      closed,
      skipped: people[0]?.skip ? skipWords[people[0].skip] : null,
    }))
    const left_out = (items[0]?.batch?.size ?? 0) - shown.length
    return answer(c, Batch, { drafts: shown, left_out }, 200)
  },
)

/** Without these nothing can be approved; the others only keep it from being sent. */
const NEEDED = new Set(['evidence', 'rendering', 'fields', 'recipients'])

const Outcomes = z.object({
  outcomes: z.array(
    z.object({
      id: z.string(),
      outcome: z.enum(['sending', 'approved', 'refused']),
      detail: z.string().nullable().meta({
        description: 'Why it was refused, or approved and not sent.',
      }),
    }),
  ),
})

queue.openapi(
  createRoute({
    method: 'post',
    path: '/queue/approve',
    operationId: 'approveAtOnce',
    tags: ['Queue'],
    summary: 'Approve drafts, and send them at once',
    description:
      'Each with the hash of what was shown. With `send`, a draft that cannot be sent is not approved either. The outcome of each is in the answer; one that is refused does not stop the others.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          project: Slug,
          drafts: z
            .array(z.strictObject({ id: DraftId, hash: z.string().length(64) }))
            .min(1)
            .max(MAX_BATCH),
          send: z.boolean().default(false),
        }),
      ),
    },
    responses: { 200: jsonResponse(Outcomes, 'What became of each.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { project: slug, drafts, send } = c.req.valid('json')
    const { config, db, mailer } = c.get('deps')
    await inProject(db, slug, async (sql, project) =>
      requireWritable(sql, project, await readLicense(config)),
    )
    const outcomes = []
    for (const { id, hash } of drafts) {
      outcomes.push(await approveAtOnce({ config, db }, { slug, id, hash, send }))
    }
    mailer.nudge()
    return answer(c, Outcomes, { outcomes }, 200)
  },
)

const Tested = z.object({ to: z.string() })

queue.openapi(
  createRoute({
    method: 'post',
    path: '/draft/test',
    operationId: 'testDraft',
    tags: ['Queue'],
    summary: 'Send a draft to yourself',
    description:
      'To `test_email` of the mail settings alone, marked [Test]: it counts nowhere, its unsubscribe link unsubscribes nobody, and it never goes to a lead. Ten an hour.',
    middleware: write,
    request: { body: jsonBody(z.strictObject(DraftRef)) },
    responses: { 200: jsonResponse(Tested, 'Sent.'), ...problems(404, 409, 422, 429) },
  }),
  async (c) => {
    const { id, project: slug } = c.req.valid('json')
    const { config, db } = c.get('deps')
    return answer(c, Tested, await sendTest({ config, db }, { slug, id }), 200)
  },
)
