import { z } from 'zod'
import { raw, type Sql } from '../../../shared/sql.ts'
import { absent } from '../../i18n/failure.ts'
import type { Localizable, Words } from '../../i18n/words.ts'
import { personalOf } from '../drafts/audience.ts'
import { personalise } from '../render/render.ts'

const Attachment = z.object({ name: z.string(), type: z.string(), bytes: z.int() })

/** A mail that came in, as the API returns it. */
export const InboxMail = z
  .object({
    id: z.uuid(),
    project: z.string(),
    lead: z
      .object({
        id: z.uuid(),
        name: z.string().nullable(),
        company: z.string().nullable(),
        email: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'null: the lead was deleted, or nobody said whose it is.' }),
    kind: z.enum(['reply', 'out_of_office', 'bounce', 'unrelated']),
    matched_by: z.enum(['message_id', 'subject', 'address', 'person']).meta({
      description:
        'How it belongs to a mail of yours: it names its Message-ID; it comes from the address and has the subject; only the address, which anybody can forge; or a person said so.',
    }),
    from_email: z.string().nullable(),
    from_name: z.string().nullable(),
    our_email: z.string().meta({ description: 'The address that you had written to.' }),
    asks_whose: z.boolean().meta({
      description: 'It comes from another address than you wrote to, and nobody said whose it is.',
    }),
    subject: z.string(),
    text: z.string().nullable().meta({
      description: 'What was written, without quotes; in a list its first 300 characters.',
    }),
    is_cut: z.boolean(),
    attachments: z
      .array(Attachment)
      .meta({ description: 'What was attached, by name. The hub never opens it.' }),
    bounce: z.enum(['hard', 'soft', 'complaint']).nullable(),
    opt_out: z.enum(['asked', 'open', 'denied']).nullable().meta({
      description: '`open`: it may ask for no more mail, and a person decides.',
    }),
    opt_out_by: z.enum(['rules', 'model']).nullable(),
    model_said: z.enum(['asks', 'does_not_ask', 'unsure']).nullable(),
    model_quote: z.string().nullable(),
    away_until: z.iso.date().nullable(),
    answered: z.boolean(),
    seen_at: z.string().nullable(),
    handled_at: z.string().nullable(),
    received_at: z.string(),
  })
  .meta({ id: 'InboxMail' })
export type InboxMail = z.infer<typeof InboxMail>

/** For queries over `inboxTables`. */
export const inboxColumns = raw(`
  mail.id, project.slug as project,
  case when lead.id is not null then jsonb_build_object(
    'id', lead.id, 'name', lead.name, 'company', lead.company, 'email', lead.email) end as lead,
  mail.kind, mail.matched_by, mail.from_email, mail.from_name, mail.our_email,
  mail.kind = 'reply' and mail.whose_at is null
    and coalesce(mail.from_email, mail.our_email) <> mail.our_email as asks_whose,
  mail.subject, mail.text, mail.is_cut, mail.attachments, mail.bounce,
  case when mail.opt_out = 'open' then coalesce(asked.opt_out, 'denied') else mail.opt_out end
    as opt_out,
  mail.opt_out_by, mail.model_said, mail.model_quote, mail.away_until::text as away_until,
  exists (
    select from hub.answers where inbox_mail_id = mail.id and state in ('sent', 'unclear')
  ) as answered,
  mail.seen_at, mail.handled_at, mail.received_at`)

export const inboxTables = raw(`
  hub.inbox_mails as mail
  join hub.projects as project on project.id = mail.project_id
  left join hub.leads as lead on lead.id = mail.lead_id
  left join hub.recipients as asked
    on asked.draft_id = mail.draft_id and asked.email = mail.our_email`)

/** What each part of the inbox holds; a mail may be in two. */
export const SHOWN = {
  replies: raw("mail.kind = 'reply'"),
  opt_outs: raw("mail.opt_out = 'open' and asked.opt_out = 'open'"),
  out_of_office: raw("mail.kind = 'out_of_office'"),
  bounces: raw("mail.kind = 'bounce'"),
  unrelated: raw("mail.kind = 'unrelated'"),
  all: raw('true'),
} as const
export const SHOWS = Object.keys(SHOWN) as [keyof typeof SHOWN, ...(keyof typeof SHOWN)[]] // safe: constant keys

/** One mail of the inbox; 404 if there is none. */
export async function readInboxMail(sql: Sql, id: string): Promise<InboxMail> {
  const [mail] = await sql<InboxMail>`
    select ${inboxColumns} from ${inboxTables} where mail.id = ${id}`
  if (!mail) throw absent('mail')
  return mail
}

/** A mail of a conversation, ours or theirs. */
export const ThreadMail = z
  .object({
    id: z.string(),
    from: z.enum(['us', 'them']),
    kind: z.enum(['draft', 'answer', 'reply', 'out_of_office', 'bounce', 'unrelated']),
    email: z
      .string()
      .nullable()
      .meta({ description: 'Theirs: where it came from; ours: where it went.' }),
    name: z.string().nullable(),
    subject: z.string(),
    text: z.string().nullable(),
    quoted: z.string().nullable().meta({
      description: 'The whole mail with what it quotes, if that is more than its text.',
    }),
    state: z.string().nullable().meta({ description: 'Of a mail of yours.' }),
    reason: z.string().nullable(),
    attachments: z.array(Attachment),
    at: z.string(),
  })
  .meta({ id: 'ThreadMail' })
type Kept = Localizable<z.infer<typeof ThreadMail>> & {
  reason: Words | null
  text: string | null
  subject: string
  company: string | null
  name: string | null
}

const MAX_THREAD = 50

/**
 * threadOf reads what was written between us and the lead of a mail, oldest first: the mail itself and the
 * newest others, 50 in all, and how many are left out. Without a lead, what has to do with the address
 * that we wrote to.
 */
export async function threadOf(
  sql: Sql,
  mail: InboxMail,
): Promise<{ thread: Kept[]; left_out: number }> {
  const lead_id = mail.lead?.id ?? null
  const rows = await sql<Kept & { of_all: number }>`
    select * from (
      select *, count(*) over ()::int as of_all from (
        select r.draft_id as id, 'us' as "from", 'draft' as kind, r.email, r.name, r.company,
          coalesce(d.rendered_subject, d.subject) as subject, coalesce(d.rendered_text, d.text) as text,
          null as quoted, r.state, r.reason::jsonb as reason, '[]'::jsonb as attachments,
          coalesce(r.sent_at, r.claimed_at) as at
        from hub.recipients as r join hub.drafts as d on d.id = r.draft_id
        where r.claimed_at is not null and r.project_id = (
            select project_id from hub.inbox_mails where id = ${mail.id}
          )
          and (r.lead_id = ${lead_id} or (${lead_id}::uuid is null and r.email = ${mail.our_email}))
        union all
        select a.id, 'us', 'answer', a.email, null, null, a.subject, a.text, null, a.state,
          a.reason::jsonb, '[]', coalesce(a.sent_at, a.created_at)
        from hub.answers as a join hub.inbox_mails as m on m.id = a.inbox_mail_id
        where a.lead_id = ${lead_id} or m.id = ${mail.id}
        union all
        select m.id, 'them', m.kind, m.from_email, m.from_name, null, m.subject, m.text,
          case when m.whole is distinct from m.text then m.whole end, null, null, m.attachments,
          m.received_at
        from hub.inbox_mails as m
        where m.id = ${mail.id} or m.lead_id = ${lead_id}
          or (${lead_id}::uuid is null and m.lead_id is null and m.our_email = ${mail.our_email})
      ) as mails
      order by id = ${mail.id} desc, at desc limit ${MAX_THREAD}
    ) as shown order by at, id`
  const thread = rows.map(({ company, of_all: _, ...row }) => {
    if (row.kind !== 'draft') return { ...row, company }
    const parts = { subject: row.subject, text: row.text ?? '', html: '', bytes: 0 }
    const personal = personalOf({ name: row.name, company })
    const { subject, text } = personalise(parts, { ...personal, unsubscribe_url: '#' })
    return { ...row, company, subject, text }
  })
  return { thread, left_out: (rows[0]?.of_all ?? 0) - rows.length }
}
