import { z } from 'zod'
import { ApiError, invalid } from '../../shared/problem.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { ActionName, type Actions } from '../agents/actions.ts'
import type { ApprovalRequest } from '../agents/agent.ts'
import { AGENT_NAMES } from '../agents/names.ts'
import { addProjectRule } from '../agents/run/project-rules.ts'
import { addRule } from '../agents/run/prompts.ts'
import type { Paths } from '../config.ts'
import { type Database, everywhere } from '../db/db.ts'
import { hashOf } from '../hash.ts'
import { failureOf, WordsError } from '../i18n/failure.ts'
import { bilingual, stored, verbatim, type Words } from '../i18n/words.ts'
import type { Log } from '../log.ts'
import { By } from '../members/by.ts'
import { FOR_MISSIONS } from './approval-actions.ts'
import { approvalText } from './approvals.text.ts'

const say = bilingual(approvalText)

/** An action that needs an approval, as the API returns it. */
export const Approval = z
  .object({
    id: z.uuid(),
    project: z.string(),
    mission_id: z.uuid().nullable(),
    kind: z.enum(['external', 'destructive', 'prompt', 'process']),
    title: z.string(),
    action: z.record(z.string(), z.unknown()),
    hash: z
      .string()
      .meta({ description: 'The hash of the action as shown; an approval must name it.' }),
    status: z.enum(['waiting', 'approved', 'rejected', 'done', 'failed']),
    outcome: z.string().nullable(),
    decided_at: z.string().nullable(),
    decided_by: By,
    created_at: z.string(),
  })
  .meta({ id: 'Approval' })
export type Approval = z.infer<typeof Approval>
/** An Approval as it is stored: its sentences in both languages. */
export type ApprovalKept = Omit<Approval, 'title' | 'outcome' | 'decided_by'> & {
  title: Words
  outcome: Words | null
  decided_by: Words | null
}

/**
 * Its columns, for queries over `hub.approvals as approval` joined with `hub.projects as project`.
 */
export const approvalColumns = raw(`
  approval.id, project.slug as project, approval.mission_id, approval.kind, approval.title,
  approval.action, approval.action_hash as hash, approval.status, approval.outcome,
  approval.decided_at, private.words_of_actor(approval.decided_by) as decided_by,
  approval.created_at`)

/** propose creates a pending approval. */
export async function propose(
  sql: Sql,
  of: { project_id: string; mission_id: string },
  { kind, title, action }: ApprovalRequest,
): Promise<string> {
  const [made] = await sql<{ id: string }>`
    insert into hub.approvals (project_id, mission_id, kind, title, action, action_hash)
    values (${of.project_id}, ${of.mission_id}, ${kind}, ${stored(title)},
      ${JSON.stringify(action)}, ${hashOf(action)})
    returning id`
  return made?.id ?? ''
}

export async function getApproval(sql: Sql, id: string): Promise<ApprovalKept> {
  const [approval] = await sql<ApprovalKept>`
    select ${approvalColumns}
    from hub.approvals as approval
    join hub.projects as project on project.id = approval.project_id
    where approval.id = ${id}`
  if (!approval) throw new ApiError('not_found', 'There is no such approval.')
  return approval
}

export type Decision = { id: string; hash: string; for_all_projects?: boolean | undefined }

/**
 * approve approves exactly what `hash` identifies. Throws 409 if it was decided already, or differs
 * from what was shown.
 */
export async function approve(
  sql: Sql,
  { id, hash, for_all_projects = false }: Decision,
): Promise<ApprovalKept> {
  const before = await getApproval(sql, id)
  if (before.hash !== hash || hashOf(before.action) !== before.hash) {
    throw new ApiError('conflict', say.changed)
  }
  const action = for_all_projects ? forAll(before.action) : before.action
  const decided = await sql`
    update hub.approvals
    set status = 'approved', decided_at = now(), action = ${JSON.stringify(action)},
      action_hash = ${hashOf(action)}
    where id = ${id} and status = 'waiting' and action_hash = ${hash}
    returning id`
  if (decided.length === 0) throw decidedAlready(await getApproval(sql, id))
  await release(sql, before)
  return getApproval(sql, id)
}

/** A rule is for the project that it was learned in, unless the person who approves it says otherwise. */
function forAll(action: Record<string, unknown>): Record<string, unknown> {
  if (action.do === 'add_prompt_rule') return { ...action, for: 'hub' }
  throw invalid([{ path: 'for_all_projects', code: 'custom', message: say.only_rules }])
}

export async function reject(sql: Sql, id: string, reason: string | null): Promise<ApprovalKept> {
  const outcome = reason === null ? null : stored(verbatim(reason))
  const decided = await sql`
    update hub.approvals set status = 'rejected', outcome = ${outcome}, decided_at = now()
    where id = ${id} and status = 'waiting'
    returning id`
  const approval = await getApproval(sql, id)
  if (decided.length === 0) throw decidedAlready(approval)
  await release(sql, approval)
  return approval
}

function decidedAlready({ status }: ApprovalKept): ApiError {
  return new ApiError('wrong_state', say.decided[status])
}

/** Continues the mission that was waiting for the decision. */
async function release(sql: Sql, { mission_id }: ApprovalKept): Promise<void> {
  if (!mission_id) return
  await sql`
    update hub.missions set waits_for = null, reason = null
    where id = ${mission_id} and status = 'queued' and waits_for = 'approval'`
}

const Rule = z.object({
  do: z.literal('add_prompt_rule'),
  for: z.enum(['project', 'hub']).default('project'),
  agent: z.enum(AGENT_NAMES),
  rule: z.string().min(1).max(600),
})

/**
 * carryOut does what was approved and stores the outcome. If a killed hub had not stored the
 * outcome, the action is done again, which every action allows.
 */
export async function carryOut(
  { db, paths, actions, log }: { db: Database; paths: Paths; actions: Actions; log: Log },
  approval: ApprovalKept,
): Promise<void> {
  const { id } = approval
  const end = await perform(paths, actions, approval).then(
    (outcome) => (outcome === undefined ? undefined : { status: 'done', outcome }),
    (error: unknown) => {
      log({ msg: 'approved action failed', approval_id: id, error: String(error) })
      return { status: 'failed', outcome: failureOf(error) }
    },
  )
  if (!end) return
  await everywhere(
    db,
    (sql) => sql`
      update hub.approvals set status = ${end.status}, outcome = ${stored(end.outcome)}
      where id = ${id} and status = 'approved'`,
  )
}

/** resumeApproved carries out what was approved before the hub ended. */
export async function resumeApproved(given: Parameters<typeof carryOut>[0]): Promise<void> {
  const left = await everywhere(
    given.db,
    (sql) => sql<ApprovalKept>`
      select ${approvalColumns}
      from hub.approvals as approval
      join hub.projects as project on project.id = approval.project_id
      where approval.status = 'approved'
      order by approval.decided_at`,
  )
  for (const approval of left) await carryOut(given, approval)
}

/** Returns the outcome; undefined if the mission itself continues with the action. */
async function perform(
  paths: Paths,
  actions: Actions,
  { action, project }: ApprovalKept,
): Promise<Words | undefined> {
  if (FOR_MISSIONS.includes(String(action.do))) return undefined
  if (action.do === 'note_process') return say.noted
  const rule = Rule.safeParse(action)
  if (rule.success) {
    const { agent, rule: text } = rule.data
    if (rule.data.for === 'hub') {
      await addRule(paths, agent, text)
      return say.rule_added(agent)
    }
    await addProjectRule(paths, { slug: project, agent, rule: text })
    return say.project_rule_added(agent)
  }
  const name = ActionName.safeParse(action.do)
  const run = name.success ? actions.run[name.data] : undefined
  if (!run) throw new WordsError(say.unable)
  return run()
}
