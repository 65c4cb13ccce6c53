import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import { type Database, everywhere } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import type { Localizable } from '../../i18n/words.ts'
import { readGateInputs } from '../../mail/drafts/approval.ts'
import { checkImap } from '../../mail/imap/imap.ts'
import { readPolls } from '../../mail/imap/poll.ts'
import { checkListmonk } from '../../mail/listmonk/listmonk-check.ts'
import { readLists } from '../../mail/listmonk/lists.ts'
import {
  changeMail,
  confirmMail,
  MailChange,
  MailSettings,
  PAUSE_REASONS,
  pauseMail,
  readMail,
} from '../../mail/settings.ts'
import { checkSmtp } from '../../mail/smtp/smtp.ts'
import { type Today, volumeOf } from '../../mail/today.ts'
import { activeSlug } from '../../projects/active.ts'

const { shape } = MailSettings
const Poll = z.object({
  last_success_at: z.string().nullable(),
  error: z.string().nullable(),
  failures: z.int(),
  next_at: z.string().nullable(),
})
const Shown = z
  .object({
    smtp: z
      .looseObject({ host: z.string(), port: z.int(), has_password: z.boolean() })
      .nullable()
      .meta({ description: 'The password is never shown.' }),
    listmonk: z.object({ url: z.string(), user: z.string(), has_token: z.boolean() }).nullable(),
    imap: z.looseObject({ host: z.string(), port: z.int(), has_password: z.boolean() }).nullable(),
    daily_cap: shape.daily_cap,
    ramp: shape.ramp,
    track_opens: shape.track_opens,
    away_days: shape.away_days,
    test_email: shape.test_email,
    dkim_selector: shape.dkim_selector,
  })
  .meta({ id: 'MailSettings' })
const State = z
  .object({
    public_url: z
      .string()
      .nullable()
      .meta({ description: 'The public address of the hub, used in unsubscribe links.' }),
    paused: z
      .object({
        reason: z.enum(PAUSE_REASONS),
        detail: z.string().nullable(),
        since: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'Why mail is paused; nothing is sent until settings/mail/confirm.' }),
    cap_today: z.int().meta({ description: 'The daily limit of all senders together.' }),
    used_today: z.int(),
    senders: z
      .array(
        z.object({
          email: z.string(),
          projects: z.array(z.string()).meta({ description: 'The slugs that it writes for.' }),
          day: z.int().meta({ description: 'How many days it has sent on, today included.' }),
          cap_today: z.int().meta({ description: 'What its ramp allows today.' }),
          used_today: z.int(),
          left_today: z.int().meta({ description: 'By its ramp and by the daily limit.' }),
        }),
      )
      .meta({
        description: 'The senders of all projects, each with its ramp; empty without a ramp.',
      }),
    sent_30_days: z.int(),
    hard_bounces: z.int(),
    complaints: z.int(),
    polls: z.object({ listmonk: Poll, imap: Poll }),
    lists: z.record(z.string(), z.object({ list_id: z.int(), name: z.string() })),
  })
  .meta({ id: 'MailState' })
const Mail = z.object({ mail: Shown, state: State })

/** Settings > Mail: the servers, the daily limit, and the state of sending. */
export const mail = resource<Env>()

async function view(c: Ctx): Promise<Localizable<z.input<typeof Mail>>> {
  const { config, db } = c.get('deps')
  const { mail, pause, today } = await readGateInputs({ config, db })
  const { smtp, listmonk, imap, sender: _, footer: __, ...rest } = mail
  const hidden = <T extends { password?: string | undefined }>({ password, ...shown }: T) => ({
    ...shown,
    has_password: Boolean(password),
  })
  return {
    mail: {
      ...rest,
      smtp: smtp && hidden(smtp),
      listmonk: listmonk && { url: listmonk.url, user: listmonk.user, has_token: true },
      imap: imap && hidden(imap),
    },
    state: {
      public_url: config.public_url,
      paused: pause.reason
        ? { reason: pause.reason, detail: pause.detail, since: pause.since }
        : null,
      cap_today: today.cap,
      used_today: today.used,
      senders: mail.ramp ? await everywhere(db, (sql) => sendersOf(sql, today, mail)) : [],
      sent_30_days: today.sent,
      hard_bounces: today.hard_bounces,
      complaints: today.complaints,
      polls: await readPolls({ config, db }),
      lists: await readLists(config.paths),
    },
  }
}

/** The senders that projects have now, with what each may send today. */
async function sendersOf(sql: Sql, today: Today, mail: MailSettings) {
  const rows = await sql<{ email: string; projects: string[] }>`
    select lower(brand.sender_email) as email, array_agg(project.slug order by project.slug) as projects
    from hub.brands as brand
    join hub.projects as project on project.id = brand.project_id
    where brand.sender_email is not null and brand.sender_name is not null
    group by 1 order by 1`
  return rows.map(({ email, projects }) => {
    const { cap, used, left, day } = volumeOf(today, mail, { email })
    return { email, projects, day, cap_today: cap, used_today: used, left_today: left }
  })
}

mail.openapi(
  createRoute({
    method: 'get',
    path: '/mail',
    operationId: 'getMailSettings',
    tags: ['Settings'],
    summary: 'The mail settings and the state of sending',
    responses: { 200: jsonResponse(Mail, 'The settings, without secrets.'), ...problems() },
  }),
  async (c) => answer(c, Mail, await view(c), 200),
)

mail.openapi(
  createRoute({
    method: 'put',
    path: '/mail',
    operationId: 'putMailSettings',
    tags: ['Settings'],
    summary: 'Change the mail settings',
    description:
      'Absent fields are unchanged; null removes a server. Sender and address belong to each project: projects/brand. A password or token that is left out is kept if the server and the user stay the same.',
    middleware: write,
    request: { body: jsonBody(MailChange) },
    responses: { 200: jsonResponse(Mail, 'Changed.'), ...problems(422) },
  }),
  async (c) => {
    await changeMail(c.get('deps').config.paths, c.req.valid('json'))
    c.get('deps').mailer.nudge()
    return answer(c, Mail, await view(c), 200)
  },
)

const Check = z.object({ ok: z.boolean(), stage: z.string().nullable(), message: z.string() })
const Checks = z.object({
  smtp: Check.nullable(),
  imap: Check.nullable(),
  listmonk: z
    .object({
      ok: z.boolean(),
      version: z.string().nullable(),
      permissions: z.array(
        z.object({ name: z.string(), what_for: z.string(), granted: z.boolean() }),
      ),
      missing: z
        .array(z.string())
        .meta({ description: 'The permissions that the API user lacks.' }),
      message: z.string(),
    })
    .nullable(),
})

mail.openapi(
  createRoute({
    method: 'post',
    path: '/mail/test',
    operationId: 'testMail',
    tags: ['Settings'],
    summary: 'Test the configured servers; nothing is sent',
    middleware: write,
    responses: {
      200: jsonResponse(Checks, 'The result for each server; null when it is not configured.'),
      ...problems(),
    },
  }),
  async (c) => {
    const { config, db } = c.get('deps')
    const { smtp, imap, listmonk } = await readMail(config.paths)
    const sender = await senderToTry(config, db)
    const [smtpCheck, imapCheck, listmonkCheck] = await Promise.all([
      smtp && checkSmtp(smtp, sender ?? smtp.user ?? 'postmaster@localhost'),
      imap && checkImap(imap),
      listmonk && checkListmonk(listmonk),
    ])
    const found = { smtp: smtpCheck, imap: imapCheck, listmonk: listmonkCheck }
    return answer(c, Checks, found, 200)
  },
)

/** The sender of the active project, or of the first one that has any. */
async function senderToTry(config: Config, db: Database): Promise<string | null> {
  return everywhere(db, async (sql) => {
    const active = await activeSlug(config.paths, sql)
    const [row] = await sql<{ sender_email: string }>`
      select sender_email from hub.brands
      join hub.projects as project on project.id = brands.project_id
      where sender_email is not null
      order by (project.slug = ${active}) desc nulls last, project.created_at, project.id
      limit 1`
    return row?.sender_email ?? null
  })
}

mail.openapi(
  createRoute({
    method: 'post',
    path: '/mail/pause',
    operationId: 'pauseMail',
    tags: ['Settings'],
    summary: 'Pause all mail',
    middleware: write,
    responses: { 200: jsonResponse(Mail, 'Mail is paused.'), ...problems() },
  }),
  async (c) => {
    await pauseMail(c.get('deps').config.paths, 'admin', null)
    return answer(c, Mail, await view(c), 200)
  },
)

mail.openapi(
  createRoute({
    method: 'post',
    path: '/mail/confirm',
    operationId: 'confirmMail',
    tags: ['Settings'],
    summary: 'Resume mail after a pause',
    description: 'Earlier bounces and complaints no longer count.',
    middleware: write,
    responses: { 200: jsonResponse(Mail, 'Mail is resumed.'), ...problems() },
  }),
  async (c) => {
    const { config, mailer } = c.get('deps')
    await confirmMail(config.paths)
    mailer.nudge()
    return answer(c, Mail, await view(c), 200)
  },
)
