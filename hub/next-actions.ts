import { z } from 'zod'
import type { Sql } from '../shared/sql.ts'
import type { Deps } from './deps.ts'
import { readLicense } from './license.ts'
import { readMail, readPause } from './mail/settings.ts'
import { MODELS } from './model/settings.ts'
import { readSetting } from './settings.ts'

export const NextAction = z
  .object({
    kind: z.enum([
      'add_service_key',
      'create_project',
      'confirm_mail',
      'check_unclear',
      'task_due',
      'answer_reply',
      'approve_draft',
      'decide_approval',
      'send_draft',
      'finish_draft',
      'follow_up',
      'correct_import',
      'look_at_failed_mission',
      'choose_model',
      'set_up_mail',
      'renew_license',
      'add_leads',
      'write_to_leads',
    ]),
    title: z.string().meta({ description: 'One English sentence; an interface words it by kind.' }),
    project: z.string().nullable(),
    ref: z
      .object({
        kind: z.enum(['lead', 'task', 'draft', 'mission', 'approval', 'import', 'settings']),
        id: z.string(),
      })
      .nullable()
      .meta({ description: 'What to open.' }),
    lead_id: z.uuid().nullable(),
    count: z.int().meta({ description: 'How many things it stands for.' }),
    due_on: z.iso.date().nullable(),
  })
  .meta({ id: 'NextAction' })
export type NextAction = z.infer<typeof NextAction>

const MOST_OF_A_KIND = 10
const QUIET_DAYS = 5

/** nextActions lists what somebody should do now, the most pressing first, from facts alone. */
export async function nextActions(sql: Sql, deps: Deps): Promise<NextAction[]> {
  const { count = 0 } =
    (
      await sql<{ count: number }>`
    select count(*)::int as count from hub.projects`
    )[0] ?? {}
  const settings = await fromSettings(deps)
  const work = await fromRows(sql)
  const first = settings.filter(({ kind }) => URGENT.has(kind))
  const start = count === 0 ? [plain('create_project', 'Create your first project.', null)] : []
  return [...first, ...start, ...work, ...settings.filter(({ kind }) => !URGENT.has(kind))]
}

const URGENT = new Set<NextAction['kind']>(['add_service_key', 'confirm_mail'])

function plain(kind: NextAction['kind'], title: string, setting: string | null): NextAction {
  const ref = setting ? { kind: 'settings' as const, id: setting } : null
  return { kind, title, project: null, ref, lead_id: null, count: 1, due_on: null }
}

async function fromSettings({ config, key_role }: Deps): Promise<NextAction[]> {
  const { paths } = config
  const actions: NextAction[] = []
  if (key_role === 'hub_ro') {
    const title = 'Paste the service key: until then everything can only be read.'
    actions.push(plain('add_service_key', title, 'service_key'))
  }
  const pause = await readPause(paths)
  if (pause.reason) {
    actions.push(plain('confirm_mail', 'Mail is paused: look why, and confirm.', 'mail'))
  }
  if ((await readSetting(paths, MODELS)).kind === 'none') {
    actions.push(plain('choose_model', 'Choose a model: missions wait for one.', 'models'))
  }
  const mail = await readMail(paths)
  if (!mail.sender || !(mail.smtp || mail.listmonk)) {
    const title = 'Set up mail: a sender, and SMTP or listmonk. Drafts can be made without.'
    actions.push(plain('set_up_mail', title, 'mail'))
  }
  const { status, reason } = await readLicense(config)
  if (status === 'grace' || status === 'expired' || status === 'refused') {
    actions.push(plain('renew_license', reason ?? 'Renew the licence.', 'license'))
  }
  return actions
}

/** One statement a kind, each in the order of its urgency; the scope of the transaction decides. */
async function fromRows(sql: Sql): Promise<NextAction[]> {
  const most = MOST_OF_A_KIND
  const kinds = [
    () => sql<NextAction>`
      select 'check_unclear' as kind,
        'Find out whether "' || draft.subject || '" was sent: the answer never came.' as title,
        project.slug as project, jsonb_build_object('kind', 'draft', 'id', draft.id) as ref,
        null as lead_id, 1 as count, null as due_on
      from hub.drafts as draft join hub.projects as project on project.id = draft.project_id
      where draft.state = 'unclear'
      order by draft.updated_at limit ${most}`,
    () => sql<NextAction>`
      select 'task_due' as kind, task.title, project.slug as project,
        jsonb_build_object('kind', 'task', 'id', task.id) as ref, task.lead_id, 1 as count,
        task.due_on
      from hub.tasks as task join hub.projects as project on project.id = task.project_id
      where task.done_at is null and task.due_on <= (now() at time zone 'utc')::date
      order by task.due_on, task.created_at, task.id limit ${most}`,
    () => sql<NextAction>`
      select 'answer_reply' as kind,
        'Answer ' || coalesce(lead.name, lead.company, lead.email) || ', who replied.' as title,
        project.slug as project, jsonb_build_object('kind', 'lead', 'id', lead.id) as ref,
        lead.id as lead_id, 1 as count, null as due_on
      from hub.leads as lead join hub.projects as project on project.id = lead.project_id
      where lead.stage = 'replied'
      order by lead.updated_at, lead.id limit ${most}`,
    () => sql<NextAction>`
      select 'approve_draft' as kind, 'Read and approve "' || draft.subject || '".' as title,
        project.slug as project, jsonb_build_object('kind', 'draft', 'id', draft.id) as ref,
        null as lead_id, 1 as count, null as due_on
      from hub.drafts as draft join hub.projects as project on project.id = draft.project_id
      where draft.state = 'rendered'
      order by draft.updated_at, draft.id limit ${most}`,
    () => sql<NextAction>`
      select 'decide_approval' as kind, approval.title, project.slug as project,
        jsonb_build_object('kind', 'approval', 'id', approval.id) as ref, null as lead_id,
        1 as count, null as due_on
      from hub.approvals as approval
      join hub.projects as project on project.id = approval.project_id
      where approval.status = 'waiting'
      order by approval.created_at, approval.id limit ${most}`,
    () => sql<NextAction>`
      select 'send_draft' as kind, 'Send "' || draft.subject || '", which is approved.' as title,
        project.slug as project, jsonb_build_object('kind', 'draft', 'id', draft.id) as ref,
        null as lead_id, 1 as count, null as due_on
      from hub.drafts as draft join hub.projects as project on project.id = draft.project_id
      where draft.state in ('approved', 'pushed')
      order by draft.updated_at, draft.id limit ${most}`,
    () => sql<NextAction>`
      select 'finish_draft' as kind,
        'Finish ' || count(*) || ' drafts that have no design yet.' as title,
        project.slug as project, null as ref, null as lead_id, count(*)::int as count,
        null as due_on
      from hub.drafts as draft join hub.projects as project on project.id = draft.project_id
      where draft.state = 'draft'
      group by project.slug order by project.slug limit ${most}`,
    () => sql<NextAction>`
      select 'follow_up' as kind,
        'Follow up with ' || coalesce(lead.name, lead.company, lead.email) || ': no answer for '
          || extract(day from now() - last.at)::int || ' days.' as title,
        project.slug as project, jsonb_build_object('kind', 'lead', 'id', lead.id) as ref,
        lead.id as lead_id, 1 as count, null as due_on
      from hub.leads as lead
      join hub.projects as project on project.id = lead.project_id
      cross join lateral (
        select max(at) as at from hub.activities where lead_id = lead.id
      ) as last
      where lead.stage = 'contacted' and last.at < now() - make_interval(days => ${QUIET_DAYS})
      order by last.at, lead.id limit ${most}`,
    () => sql<NextAction>`
      select 'correct_import' as kind,
        'Correct ' || import.refused || ' rows of ' || import.file || ' and import them again.'
          as title,
        project.slug as project, jsonb_build_object('kind', 'import', 'id', import.id) as ref,
        null as lead_id, import.refused as count, null as due_on
      from hub.imports as import join hub.projects as project on project.id = import.project_id
      where import.refused > 0 and import.finished_at > now() - interval '2 days'
      order by import.finished_at desc limit ${most}`,
    () => sql<NextAction>`
      select 'look_at_failed_mission' as kind,
        'See why "' || left(mission.task, 80) || '" failed.' as title, project.slug as project,
        jsonb_build_object('kind', 'mission', 'id', mission.id) as ref, null as lead_id,
        1 as count, null as due_on
      from hub.missions as mission join hub.projects as project on project.id = mission.project_id
      where mission.status = 'failed' and mission.finished_at > now() - interval '2 days'
        and not exists (select from hub.missions as retry where retry.retry_of = mission.id)
      order by mission.finished_at desc, mission.id limit ${most}`,
    () => sql<NextAction>`
      select 'add_leads' as kind, 'Add leads to ' || project.name || ': import a file.' as title,
        project.slug as project, null as ref, null as lead_id, 1 as count, null as due_on
      from hub.projects as project
      where not exists (select from hub.leads where project_id = project.id)
      order by project.created_at limit ${most}`,
    () => sql<NextAction>`
      select 'write_to_leads' as kind,
        'Write to ' || count(*) || ' new leads with an e-mail.' as title,
        project.slug as project, null as ref, null as lead_id, count(*)::int as count,
        null as due_on
      from hub.leads as lead join hub.projects as project on project.id = lead.project_id
      where lead.stage = 'new' and lead.email is not null
        and not exists (
          select from hub.drafts where project_id = project.id and state in ('draft', 'rendered')
        )
      group by project.slug order by count(*) desc, project.slug limit ${most}`,
  ]
  const found: NextAction[] = []
  for (const kind of kinds) found.push(...(await kind()))
  return found
}
