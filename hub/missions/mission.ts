import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { MissionInput, Result } from '../agents/agent.ts'
import { AGENT_NAMES, type AgentName } from '../agents/names.ts'
import { bilingual, joined, stored, type Words } from '../i18n/words.ts'
import { approvalText } from './approvals.text.ts'
import { missionText } from './mission.text.ts'

const say = bilingual(missionText)

const STATUSES = ['queued', 'processing', 'done', 'failed', 'cancelled'] as const
export const Status = z.enum(STATUSES)
export type Status = z.infer<typeof Status>

/** What a queued mission waits for, other than its turn. */
export const WaitsFor = z.enum(['model', 'approval', 'license'])
export type WaitsFor = z.infer<typeof WaitsFor>

export const Department = z.enum(['auto', ...AGENT_NAMES])
export type Department = z.infer<typeof Department>

/** A mission as the API returns it. */
export const Mission = z
  .object({
    id: z.uuid(),
    department: Department.meta({ description: '`auto` until the model has chosen the agent.' }),
    task: z.string(),
    project: z.string(),
    status: Status,
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it is waiting, failed or was cancelled.' }),
    waits_for: WaitsFor.nullable(),
    routed_by: z.enum(['given', 'phrase', 'model', 'schedule', 'alert', 'system']),
    routed_because: z.string().nullable(),
    progress: z.number(),
    tokens: z.int(),
    retry_of: z.uuid().nullable(),
    continues: z
      .uuid()
      .nullable()
      .meta({ description: 'The mission whose result this one goes on from.' }),
    thread: z.uuid().meta({ description: 'The first mission of the conversation.' }),
    created_at: z.string(),
    started_at: z.string().nullable(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'Mission' })
export type Mission = z.infer<typeof Mission>
/** A Mission as it is stored: its sentences in both languages. */
export type MissionKept = Omit<Mission, 'reason' | 'routed_because'> & {
  reason: Words | null
  routed_because: Words | null
}

export const Step = z.object({
  position: z.int(),
  name: z.string(),
  title: z.string().meta({ description: 'The step’s name to show.' }),
  tokens: z.int(),
  started_at: z.string(),
  finished_at: z.string(),
})

/** One mission of a conversation. */
const Turn = z.object({
  id: z.uuid(),
  continues: z.uuid().nullable(),
  department: Department,
  task: z.string(),
  status: Status,
  summary: z.string().nullable().meta({ description: 'The result in words, once it is there.' }),
  created_at: z.string(),
})
export type Turn = z.infer<typeof Turn>

/** One mission with all its results. */
export const MissionDetails = Mission.extend({
  input: MissionInput.omit({ text: true }).extend({ text_length: z.int().optional() }),
  steps: z.array(Step),
  left_out: z
    .array(z.string())
    .meta({ description: 'What the agent was given and did not use, because of a limit.' }),
  result: Result.nullable(),
  conversation: z
    .array(Turn)
    .meta({ description: 'The missions of its thread in their order, this one among them.' }),
}).meta({ id: 'MissionDetails' })

/**
 * A mission's columns, for queries over `hub.missions as mission` joined with `hub.projects as
 * project`.
 */
export const missionColumns = raw(`
  mission.id, mission.department, mission.task, project.slug as project, mission.status,
  mission.reason, mission.waits_for, mission.routed_by, mission.routed_because, mission.progress,
  mission.tokens, mission.retry_of, mission.continues,
  coalesce(mission.thread, mission.id) as thread, mission.created_at, mission.started_at, mission.finished_at`)

type NewMission = {
  project_id: string
  department: Department
  task: string
  input?: MissionInput
  routed_by?: Mission['routed_by']
  routed_because?: Words | null
  retry_of?: string | null
  continues?: string | null
  thread?: string | null
  /** Only for display. */
  reason?: Words | null
}

/** addMission creates a queued mission, and the event that begins its stream; returns its id. */
export async function addMission(sql: Sql, given: NewMission): Promise<string> {
  const { routed_by = 'given', routed_because = null, retry_of = null, input = {} } = given
  const { continues = null, thread = null } = given
  const [made] = await sql<{ id: string }>`
    insert into hub.missions (
      project_id, department, task, input, routed_by, routed_because, retry_of, continues, thread,
      reason)
    values (
      ${given.project_id}, ${given.department}, ${given.task}, ${JSON.stringify(input)},
      ${routed_by}, ${routed_because ? stored(routed_because) : null}, ${retry_of},
      ${continues}, ${thread}, ${given.reason ? stored(given.reason) : null})
    returning id`
  const id = made?.id ?? ''
  await addEvent(sql, { project_id: given.project_id, mission_id: id }, 'state', {
    status: 'queued',
  })
  return id
}

/** addEvent stores an event of a mission. */
export async function addEvent(
  sql: Sql,
  of: { project_id: string; mission_id: string },
  kind: 'state' | 'step',
  data: Record<string, unknown>,
): Promise<void> {
  await sql`
    insert into hub.mission_events (project_id, mission_id, kind, data)
    values (${of.project_id}, ${of.mission_id}, ${kind}, ${JSON.stringify(data)})`
}

/** getMission returns one mission that the transaction can see; throws 404 if there is none. */
export async function getMission(sql: Sql, id: string): Promise<MissionKept> {
  const [mission] = await sql<MissionKept>`
    select ${missionColumns}
    from hub.missions as mission
    join hub.projects as project on project.id = mission.project_id
    where mission.id = ${id}`
  if (!mission) throw new ApiError('not_found', 'There is no such mission.')
  return mission
}

/** cancelMission ends an unfinished mission; for a finished one it throws 409 with the state. */
export async function cancelMission(sql: Sql, id: string, reason: Words): Promise<void> {
  const [gone] = await sql<{ project_id: string }>`
    update hub.missions
    set status = 'cancelled', reason = ${stored(reason)}, waits_for = null, run = null, finished_at = now()
    where id = ${id} and status in ('queued', 'processing')
    returning project_id`
  if (!gone) {
    const { status } = await getMission(sql, id)
    throw new ApiError('wrong_state', joined([say.states[status], say.cannot_cancel]))
  }
  await sql`
    update hub.approvals
    set status = 'rejected', outcome = ${stored(bilingual(approvalText).mission_cancelled)},
      decided_at = now()
    where mission_id = ${id} and status = 'waiting'`
  await addEvent(sql, { ...gone, mission_id: id }, 'state', { status: 'cancelled' })
}

/**
 * retryMission creates a new mission from one that failed or was cancelled; the old one stays as it
 * is.
 */
export async function retryMission(sql: Sql, id: string): Promise<string> {
  const [old] = await sql<{
    project_id: string
    department: AgentName
    task: string
    input: MissionInput
    status: Status
    routed_by: Mission['routed_by']
    routed_because: Words | null
    continues: string | null
    thread: string | null
  }>`
    select project_id, department, task, input, status, routed_by, routed_because, continues, thread
    from hub.missions where id = ${id} for update`
  if (!old) throw new ApiError('not_found', 'There is no such mission.')
  if (old.status !== 'failed' && old.status !== 'cancelled') {
    throw new ApiError('wrong_state', joined([say.states[old.status], say.cannot_retry]))
  }
  const [open] = await sql<{ id: string }>`
    select id from hub.missions where retry_of = ${id} and status in ('queued', 'processing')`
  if (open) throw new ApiError('conflict', say.tried_already)
  return addMission(sql, { ...old, retry_of: id })
}
