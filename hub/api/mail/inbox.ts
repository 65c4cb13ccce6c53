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
import type { Sql } from '../../../shared/sql.ts'
import { languageOf } from '../../../shared/words/language-of.ts'
import { everywhere, inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { NEWEST, Position, positionOf } from '../../http/page.ts'
import { absent } from '../../i18n/failure.ts'
import {
  answerSubject,
  closedFor,
  readAnswered,
  readAnswering,
  sendAnswer,
  writerOf,
} from '../../mail/inbox/answers.ts'
import { assign, decideOptOut, markReply, markUnrelated } from '../../mail/inbox/decide.ts'
import {
  InboxMail,
  inboxColumns,
  inboxTables,
  readInboxMail,
  SHOWN,
  SHOWS,
  ThreadMail,
  threadOf,
} from '../../mail/inbox/inbox-view.ts'
import { endWait } from '../../mail/inbox/waits.ts'
import { readSalt } from '../../mail/suppression.ts'
import { withOwner } from '../projects/owner.ts'
import { Slug } from '../projects/projects.ts'

/** Mail that came in about mail of ours, and what people do with it. */
export const inbox = resource<Env>()

const MailId = z.uuid().meta({ description: 'The id of a mail of the inbox.' })
const OneMail = z.object({ mail: InboxMail })
const Filter = z.strictObject({
  project: Slug.optional().meta({ description: 'The slug of a project. Absent: all projects.' }),
  show: z.enum(SHOWS).default('replies'),
  state: z.enum(['open', 'handled', 'all']).default('open'),
  lead_id: z.uuid().optional(),
})
const Counts = z.object({
  replies: z.int(),
  opt_outs: z.int(),
  out_of_office: z.int(),
  bounces: z.int(),
  unrelated: z.int(),
  all: z.int(),
  unseen: z.int(),
})
const Mails = z.object({
  mails: z.array(InboxMail),
  counts: Counts.meta({ description: 'How many are not handled, by what `show` selects.' }),
  next_cursor: NextCursor,
})

inbox.openapi(
  createRoute({
    method: 'get',
    path: '/list',
    operationId: 'listInbox',
    tags: ['Inbox'],
    summary: 'Mail that came in, newest first',
    request: {
      query: Filter.extend({
        limit: integerParameter(1, 100, 50, 'Mails a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Mails, 'A page.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const { project, show, state, lead_id = null } = filter
    const [at, after] = (await decodeCursor(filter, cursor, Position)) ?? NEWEST
    const { db } = c.get('deps')
    const read = async (sql: Sql) => ({
      rows: await sql<InboxMail & { position: string }>`
        select ${inboxColumns}, ${positionOf('mail.received_at')} as position
        from ${inboxTables}
        where ${SHOWN[show]} and (${lead_id}::uuid is null or mail.lead_id = ${lead_id})
          and (${state} = 'all' or (mail.handled_at is not null) = (${state} = 'handled'))
          and (mail.received_at, mail.id) < (${at}::timestamptz, ${after}::uuid)
        order by mail.received_at desc, mail.id desc limit ${limit + 1}`,
      counts: await countsOf(sql),
    })
    const { rows, counts } = await (project ? inProject(db, project, read) : everywhere(db, read))
    const { page, last } = splitPage(rows, limit)
    const mails = page.map((mail) => ({
      ...mail,
      text: mail.text?.slice(0, 300).toWellFormed() ?? null,
    }))
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    return answer(c, Mails, { mails, counts, next_cursor }, 200)
  },
)

async function countsOf(sql: Sql): Promise<z.infer<typeof Counts>> {
  const [counts] = await sql<z.infer<typeof Counts>>`
    select count(*) filter (where ${SHOWN.replies})::int as replies,
      count(*) filter (where ${SHOWN.opt_outs})::int as opt_outs,
      count(*) filter (where ${SHOWN.out_of_office})::int as out_of_office,
      count(*) filter (where ${SHOWN.bounces})::int as bounces,
      count(*) filter (where ${SHOWN.unrelated})::int as unrelated,
      count(*)::int as all,
      count(*) filter (where mail.seen_at is null)::int as unseen
    from ${inboxTables} where mail.handled_at is null`
  if (!counts) throw absent('inbox')
  return counts
}

const Detailed = z.object({
  mail: InboxMail,
  thread: z.array(ThreadMail).meta({
    description:
      'What was written between you and them, oldest first: this mail and the newest others, 50 in all.',
  }),
  left_out: z
    .int()
    .meta({ description: 'How many mails between you and them are beyond these 50.' }),
  answering: z.object({
    closed: z.string().nullable().meta({ description: 'Why it cannot be answered now.' }),
    to: z.string().nullable(),
    from: z.string().nullable(),
    subject: z.string(),
  }),
})

async function detailed(c: Ctx, id: string) {
  const { config, db } = c.get('deps')
  const answering = await readAnswering({ config })
  return everywhere(db, async (sql) => {
    const mail = await readInboxMail(sql, id)
    const answered = await readAnswered(sql, id)
    const { from } = await writerOf(sql, config, answered.project_id)
    return {
      mail,
      ...(await threadOf(sql, mail)),
      answering: {
        closed: await closedFor(sql, answering, answered),
        to: mail.from_email,
        from: from && `${from.name} <${from.email}>`,
        subject: answerSubject(mail.subject),
      },
    }
  })
}

inbox.openapi(
  createRoute({
    method: 'get',
    path: '/get',
    operationId: 'getInboxMail',
    tags: ['Inbox'],
    summary: 'A mail with its conversation',
    request: { query: z.strictObject({ id: MailId }) },
    responses: { 200: jsonResponse(Detailed, 'The mail.'), ...problems(404) },
  }),
  async (c) => answer(c, Detailed, await detailed(c, c.req.valid('query').id), 200),
)

inbox.openapi(
  createRoute({
    method: 'post',
    path: '/mark',
    operationId: 'markInboxMail',
    tags: ['Inbox'],
    summary: 'Mark a mail as seen or handled',
    description: 'Absent fields are unchanged; `false` takes the mark back.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          id: MailId,
          seen: z.boolean().optional(),
          handled: z.boolean().optional(),
        }),
      ),
    },
    responses: { 200: jsonResponse(OneMail, 'Marked.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id, seen = null, handled = null } = c.req.valid('json')
    const mail = await everywhere(c.get('deps').db, async (sql) => {
      await sql`
        update hub.inbox_mails
        set seen_at = case ${seen}::boolean when true then coalesce(seen_at, now())
            when false then null else seen_at end,
          handled_at = case ${handled}::boolean when true then coalesce(handled_at, now())
            when false then null else handled_at end
        where id = ${id}`
      return readInboxMail(sql, id)
    })
    return answer(c, OneMail, { mail }, 200)
  },
)

inbox.openapi(
  createRoute({
    method: 'post',
    path: '/sort',
    operationId: 'sortInboxMail',
    tags: ['Inbox'],
    summary: 'Say whether a mail is a reply',
    description:
      'A reply stops what was to follow. Once no reply of a lead is left, follow-ups may go to it again.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ id: MailId, is_reply: z.boolean() })) },
    responses: { 200: jsonResponse(OneMail, 'Sorted.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { id, is_reply } = c.req.valid('json')
    const mail = await withOwner(c, { table: 'inbox_mails', id }, async (sql) => {
      await (is_reply ? markReply : markUnrelated)(sql, id)
      return readInboxMail(sql, id)
    })
    return answer(c, OneMail, { mail }, 200)
  },
)

inbox.openapi(
  createRoute({
    method: 'post',
    path: '/assign',
    operationId: 'assignInboxMail',
    tags: ['Inbox'],
    summary: 'Say whose a mail from another address is',
    description:
      'With `lead_id` a lead of the project, which may be the one that you had written to; without it the sender becomes a new lead.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ id: MailId, lead_id: z.uuid().optional() })) },
    responses: { 200: jsonResponse(OneMail, 'Assigned.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { id, lead_id } = c.req.valid('json')
    const mail = await withOwner(c, { table: 'inbox_mails', id }, async (sql) => {
      await assign(sql, id, lead_id ? { lead_id } : { is_new: true })
      return readInboxMail(sql, id)
    })
    return answer(c, OneMail, { mail }, 200)
  },
)

inbox.openapi(
  createRoute({
    method: 'post',
    path: '/opt_out',
    operationId: 'decideInboxOptOut',
    tags: ['Inbox'],
    summary: 'Decide whether a mail asks for no more mail',
    description:
      '`refuses: true` suppresses the address you wrote to and the one it came from for good; `false` lets mail go on. 409 when there is nothing to decide.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ id: MailId, refuses: z.boolean() })) },
    responses: { 200: jsonResponse(OneMail, 'Decided.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { id, refuses } = c.req.valid('json')
    const salt = await readSalt(c.get('deps').config.paths)
    const mail = await withOwner(c, { table: 'inbox_mails', id }, async (sql) => {
      await decideOptOut(sql, salt, { id, refuses })
      return readInboxMail(sql, id)
    })
    return answer(c, OneMail, { mail }, 200)
  },
)

inbox.openapi(
  createRoute({
    method: 'post',
    path: '/back',
    operationId: 'endAbsence',
    tags: ['Inbox'],
    summary: 'Say that a lead is back',
    description: 'Mail that waited for its return goes out again.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ id: MailId })) },
    responses: { 200: jsonResponse(OneMail, 'Back.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('json')
    const mail = await withOwner(c, { table: 'inbox_mails', id }, async (sql) => {
      const { lead } = await readInboxMail(sql, id)
      if (lead) await endWait(sql, lead.id)
      return readInboxMail(sql, id)
    })
    c.get('deps').mailer.nudge()
    return answer(c, OneMail, { mail }, 200)
  },
)

inbox.openapi(
  createRoute({
    method: 'post',
    path: '/answer',
    operationId: 'answerInboxMail',
    tags: ['Inbox'],
    summary: 'Answer a mail, in its thread',
    description:
      'Sent at once by SMTP as plain text with the signature. You choose `answer_id`: the same one is sent once, however often you ask. See the outcome in the thread: `sent`, `unclear` (nobody knows whether it arrived) or `failed`.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          id: MailId,
          answer_id: z.uuid(),
          text: z.string().trim().min(1).max(20_000),
          with_quote: z.boolean().default(false),
        }),
      ),
    },
    responses: {
      200: jsonResponse(Detailed, 'The conversation.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { id, answer_id, text, with_quote } = c.req.valid('json')
    const { config, db, log } = c.get('deps')
    await withOwner(c, { table: 'inbox_mails', id }, async () => {})
    const by = c.get('caller') ?? 'token'
    const language = languageOf(c)
    const given = { id: answer_id, inbox_mail_id: id, text, with_quote, language, by }
    await sendAnswer({ config, db, log }, given)
    return answer(c, Detailed, await detailed(c, id), 200)
  },
)
