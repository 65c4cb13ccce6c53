import { raw, type Sql } from '../../shared/sql.ts'
import type { Deps } from '../deps.ts'
import { bilingual, verbatim, type Words } from '../i18n/words.ts'
import { judgeAddress } from '../mail/address.ts'
import { readRefusals } from '../mail/opt-outs.ts'
import { suppressed } from '../mail/suppression.ts'
import { type Kind, MAX_OF_A_KIND, type Ref } from './next-action.ts'
import { nextActionText } from './next-actions.text.ts'

const say = bilingual(nextActionText)
const QUIET_DAYS = 5

/** A row that a statement finds: what to open, its project, and the values for its title. */
type Found = {
  id?: string
  project: string
  name?: string | Words
  lead_id?: string | null
  count?: number
  due_on?: string | null
  days?: number
  /** How many rows there are of this kind, of which the first MAX_OF_A_KIND are listed. */
  of_kind: number
}
const ofKind = raw('count(*) over ()::int as of_kind')
export type Work = {
  kind: Kind
  ref?: Ref
  find: (sql: Sql, deps: Deps) => Promise<Found[]>
  title: (filled: { name: string; count: number; days: number }) => Words
}

/**
 * One statement per kind, in the order of urgency; the transaction decides which projects are
 * visible.
 */
export const WORK: Work[] = [
  {
    kind: 'check_unclear',
    ref: 'draft',
    find: drafts('unclear'),
    title: ({ name }) => say.check_unclear(name),
  },
  {
    kind: 'task_due',
    ref: 'task',
    find: (sql) => sql`
      select task.id, task.title as name, project.slug as project, task.lead_id, task.due_on,
        ${ofKind}
      from hub.tasks as task join hub.projects as project on project.id = task.project_id
      where task.done_at is null and task.due_on <= (now() at time zone 'utc')::date
      order by task.due_on, task.created_at, task.id limit ${MAX_OF_A_KIND}`,
    title: ({ name }) => verbatim(name),
  },
  {
    kind: 'decide_opt_out',
    ref: 'lead',
    find: (sql) => sql`
      select id, id as lead_id, project, name, ${ofKind}
      from (
        select distinct lead.id, project.slug as project, lead.updated_at,
          coalesce(lead.name, lead.company, lead.email) as name
        from hub.recipients as asked
        join hub.leads as lead on lead.project_id = asked.project_id
          and (lead.id = asked.lead_id or lower(trim(lead.email)) = asked.email)
        join hub.projects as project on project.id = lead.project_id
        where asked.opt_out = 'open'
      ) as waiting
      order by updated_at, id limit ${MAX_OF_A_KIND}`,
    title: ({ name }) => say.decide_opt_out(name),
  },
  {
    kind: 'answer_reply',
    ref: 'lead',
    find: (sql) => sql`
      select lead.id, lead.id as lead_id, project.slug as project,
        coalesce(lead.name, lead.company, lead.email) as name, ${ofKind}
      from hub.leads as lead join hub.projects as project on project.id = lead.project_id
      where lead.stage = 'replied'
        and not exists (
          select from hub.recipients where lead_id = lead.id and opt_out in ('asked', 'open')
        )
      order by lead.updated_at, lead.id limit ${MAX_OF_A_KIND}`,
    title: ({ name }) => say.answer_reply(name),
  },
  {
    kind: 'approve_draft',
    ref: 'draft',
    find: drafts('rendered'),
    title: ({ name }) => say.approve_draft(name),
  },
  {
    kind: 'check_sequence',
    ref: 'sequence',
    find: (sql) => sql`
      select sequence.id, project.slug as project, sequence.name, count(*)::int as count,
        ${ofKind}
      from hub.sequences as sequence
      join hub.projects as project on project.id = sequence.project_id
      join hub.drafts as step on step.sequence_id = sequence.id
      join hub.recipients as mail on mail.draft_id = step.id and mail.state = 'unclear'
      where sequence.state <> 'stopped'
      group by sequence.id, project.slug, sequence.name, sequence.updated_at
      order by sequence.updated_at, sequence.id limit ${MAX_OF_A_KIND}`,
    title: ({ name, count }) => say.check_sequence(name, count),
  },
  {
    kind: 'approve_sequence',
    ref: 'sequence',
    find: (sql) => sql`
      select sequence.id, project.slug as project, sequence.name, ${ofKind}
      from hub.sequences as sequence
      join hub.projects as project on project.id = sequence.project_id
      where sequence.state = 'draft'
      order by sequence.updated_at, sequence.id limit ${MAX_OF_A_KIND}`,
    title: ({ name }) => say.approve_sequence(name),
  },
  {
    kind: 'decide_approval',
    ref: 'approval',
    find: (sql) => sql`
      select approval.id, approval.title as name, project.slug as project, ${ofKind}
      from hub.approvals as approval
      join hub.projects as project on project.id = approval.project_id
      where approval.status = 'waiting'
      order by approval.created_at, approval.id limit ${MAX_OF_A_KIND}`,
    title: ({ name }) => say.decide_approval(name),
  },
  {
    kind: 'send_draft',
    ref: 'draft',
    find: drafts('approved', 'pushed'),
    title: ({ name }) => say.send_draft(name),
  },
  {
    kind: 'finish_draft',
    find: (sql) => sql`
      select project.slug as project, count(*)::int as count, ${ofKind}
      from hub.drafts as draft join hub.projects as project on project.id = draft.project_id
      where draft.state = 'draft' and draft.sequence_id is null
      group by project.slug order by project.slug limit ${MAX_OF_A_KIND}`,
    title: ({ count }) => say.finish_draft(count),
  },
  {
    kind: 'follow_up',
    ref: 'lead',
    find: (sql) => sql`
      select lead.id, lead.id as lead_id, project.slug as project,
        coalesce(lead.name, lead.company, lead.email) as name,
        extract(day from now() - last.at)::int as days, ${ofKind}
      from hub.leads as lead
      join hub.projects as project on project.id = lead.project_id
      cross join lateral (
        select max(at) as at from hub.activities where lead_id = lead.id
      ) as last
      where lead.stage = 'contacted' and last.at < now() - make_interval(days => ${QUIET_DAYS})
      order by last.at, lead.id limit ${MAX_OF_A_KIND}`,
    title: ({ name, days }) => say.follow_up(name, days),
  },
  {
    kind: 'look_at_failed_import',
    ref: 'import',
    find: imports('failed'),
    title: ({ name }) => say.look_at_failed_import(name),
  },
  {
    kind: 'correct_import',
    ref: 'import',
    find: imports('done'),
    title: ({ name, count }) => say.correct_import(count, name),
  },
  {
    kind: 'look_at_failed_mission',
    ref: 'mission',
    find: (sql) => sql`
      select mission.id, project.slug as project, left(mission.task, 80) as name, ${ofKind}
      from hub.missions as mission join hub.projects as project on project.id = mission.project_id
      where mission.status = 'failed' and mission.finished_at > now() - interval '2 days'
        and not exists (select from hub.missions as retry where retry.retry_of = mission.id)
      order by mission.finished_at desc, mission.id limit ${MAX_OF_A_KIND}`,
    title: ({ name }) => say.look_at_failed_mission(name),
  },
  {
    kind: 'add_leads',
    find: (sql) => sql`
      select project.slug as project, project.name, ${ofKind}
      from hub.projects as project
      where not exists (select from hub.leads where project_id = project.id)
      order by project.created_at limit ${MAX_OF_A_KIND}`,
    title: ({ name }) => say.add_leads(name),
  },
  {
    kind: 'set_brand',
    find: (sql) => sql`
      select project.slug as project, project.name, ${ofKind}
      from hub.projects as project
      where exists (select from hub.drafts where project_id = project.id)
        and not exists (
          select from hub.brands
          where project_id = project.id and sender_email is not null and postal_address is not null
        )
      order by project.created_at limit ${MAX_OF_A_KIND}`,
    title: ({ name }) => say.set_brand(name),
  },
  {
    kind: 'write_to_leads',
    find: async (sql, { config }) => {
      const found = await sql<{ project: string; emails: string[]; of_kind: number }>`
        select project.slug as project, array_agg(lower(trim(lead.email))) as emails, ${ofKind}
        from hub.leads as lead join hub.projects as project on project.id = lead.project_id
        where lead.stage = 'new' and lead.email is not null
          and not exists (
            select from hub.drafts where project_id = project.id and state in ('draft', 'rendered')
          )
          and not exists (
            select from hub.sequence_recipients where lead_id = lead.id and state = 'active'
          )
        group by project.slug order by count(*) desc, project.slug limit ${MAX_OF_A_KIND}`
      const never = await suppressed(
        sql,
        await readRefusals(config.paths),
        found.flatMap(({ emails }) => emails),
      )
      const mayGet = (email: string) => !never.has(email) && judgeAddress(email) === null
      return found
        .map(({ emails, ...row }) => ({ ...row, count: emails.filter(mayGet).length }))
        .filter(({ count }) => count > 0)
    },
    title: ({ count }) => say.write_to_leads(count),
  },
]

function drafts(...states: string[]): Work['find'] {
  return (sql) => sql`
    select draft.id, project.slug as project, draft.subject as name, ${ofKind}
    from hub.drafts as draft join hub.projects as project on project.id = draft.project_id
    where draft.state = any(${states}::text[]) and draft.sequence_id is null
    order by draft.updated_at, draft.id limit ${MAX_OF_A_KIND}`
}

/**
 * Imports that left something to do, until the file, or that of its refused rows, is imported
 * again.
 */
function imports(status: 'done' | 'failed'): Work['find'] {
  return (sql) => sql`
    select import.id, project.slug as project, import.file as name,
      case when ${status} = 'failed' then 1 else import.refused end as count,
      ${ofKind}
    from hub.imports as import join hub.projects as project on project.id = import.project_id
    where import.status = ${status} and (${status} = 'failed' or import.refused > 0)
      and import.finished_at > now() - interval '2 days'
      and not exists (
        select from hub.imports as later
        where later.project_id = import.project_id and later.created_at > import.created_at
          and (later.file = import.file or later.file like 'import-errors-' || import.id || '%')
      )
    order by import.finished_at desc, import.id limit ${MAX_OF_A_KIND}`
}
