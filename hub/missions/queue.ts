import type { Sql } from '../../shared/sql.ts'
import type { Result } from '../agents/agent.ts'
import type { MissionRow } from '../agents/run/run.ts'
import { type Database, everywhere, type Project } from '../db/db.ts'
import { bilingual, stored, type Words } from '../i18n/words.ts'
import { tidied } from '../model/prompt.ts'
import { missionText } from './mission.text.ts'
import { addEvent, type WaitsFor } from './mission.ts'

const say = bilingual(missionText)

// The rows of hub.missions are the queue. One process works on them, with one model, so a separate
// queue would have nothing to distribute and would only have to be kept in sync.

/** A mission that ends the process each time is not tried forever. */
const MAX_INTERRUPTIONS = 3

/** The outcome of a run. */
export type End =
  | { status: 'done'; result: Result }
  | { status: 'failed'; reason: Words }
  | { status: 'queued'; reason: Words; waits_for?: WaitsFor }
  /** It made the model's process crash. */
  | { status: 'interrupted'; reason: Words }
  /** It was cancelled, or belongs to another run by now: this run writes nothing. */
  | { status: 'taken' }

/** The missions that can start now, except those in `except`, oldest first. */
export async function dueMissions(
  sql: Sql,
  { limit, except }: { limit: number; except: string[] },
): Promise<string[]> {
  const rows = await sql<{ id: string }>`
    select id from hub.missions
    where status = 'queued' and waits_for is null and id <> all(${except}::uuid[])
    order by case when routed_by = 'schedule' then 1 else 0 end, created_at
    limit ${limit}`
  return rows.map(({ id }) => id)
}

/** What queued missions wait for, as far as nothing else signals it. */
export async function awaited(sql: Sql): Promise<Set<WaitsFor>> {
  const rows = await sql<{ waits_for: WaitsFor }>`
    select distinct waits_for from hub.missions
    where status = 'queued' and waits_for in ('model', 'license')`
  return new Set(rows.map(({ waits_for }) => waits_for))
}

/** Lets the missions start that were waiting for the model. */
export async function releaseForModel(sql: Sql): Promise<void> {
  await sql`
    update hub.missions set waits_for = null, reason = null
    where status = 'queued' and waits_for = 'model'`
}

/**
 * Lets the missions start that were waiting for the license, as far as it allows their projects.
 */
export async function releaseForLicense(sql: Sql, max_projects: number | null): Promise<void> {
  await sql`
    update hub.missions set waits_for = null, reason = null
    where status = 'queued' and waits_for = 'license' and (
      ${max_projects}::int is null or private.older_projects(project_id) < ${max_projects})`
}

/** claimMission: queued → processing, for this run only; undefined if somebody else was first. */
export async function claimMission(
  sql: Sql,
  project: Project,
  { id, run }: { id: string; run: string },
): Promise<MissionRow | undefined> {
  const [mission] = await sql<MissionRow>`
    update hub.missions
    set status = 'processing', run = ${run}, reason = null, waits_for = null,
      started_at = coalesce(started_at, now())
    where id = ${id} and project_id = ${project.id} and status = 'queued' and waits_for is null
    returning id, department, task, input, routed_by, created_at, tokens, continues`
  if (mission) {
    const data = { status: 'processing', department: mission.department }
    await addEvent(sql, { project_id: project.id, mission_id: id }, 'state', data)
  }
  return mission
}

/**
 * The license may allow less than when the mission was composed: missions of a read-only project
 * wait for it.
 */
export async function waitForLicense(
  sql: Sql,
  of: { project_id: string; mission_id: string },
  reason: Words,
): Promise<void> {
  const changed = await sql`
    update hub.missions set waits_for = 'license', reason = ${stored(reason)}
    where id = ${of.mission_id} and status = 'queued' and waits_for is null
    returning id`
  if (changed.length > 0) await addEvent(sql, of, 'state', { status: 'queued' })
}

/** routeByModel stores which agent the model chose, as long as the mission belongs to this run. */
export async function routeByModel(
  sql: Sql,
  { id, run, agent }: { id: string; run: string; agent: string },
): Promise<void> {
  await sql`
    update hub.missions
    set department = ${agent}, routed_by = 'model', routed_because = ${stored(say.model_chose)}
    where id = ${id} and run = ${run} and status = 'processing'`
}

/** settleMission: processing → its outcome, as long as the mission belongs to this run. */
export async function settleMission(
  db: Database,
  of: { project_id: string; id: string; run: string; tokens: number },
  end: End,
): Promise<void> {
  if (end.status === 'taken') return
  await db.transaction(of.project_id, (sql) =>
    end.status === 'done' || end.status === 'failed'
      ? endMission(sql, of, end)
      : requeueMission(sql, of, end),
  )
}

type Of = Parameters<typeof settleMission>[1]

async function endMission(
  sql: Sql,
  { project_id, id, run, tokens }: Of,
  end: Extract<End, { status: 'done' | 'failed' }>,
): Promise<void> {
  const result = end.status === 'done' ? JSON.stringify(tidied(end.result)) : null
  const reason = end.status === 'failed' ? stored(end.reason) : null
  const ended = await sql`
    update hub.missions
    set status = ${end.status}, reason = ${reason}, result = ${result}, run = null,
      tokens = greatest(tokens, ${tokens}),
      progress = case when ${end.status === 'done'} then 1 else progress end, finished_at = now()
    where id = ${id} and run = ${run} and status = 'processing'
    returning id`
  if (ended.length === 0) return
  await addEvent(sql, { project_id, mission_id: id }, 'state', { status: end.status })
}

async function requeueMission(
  sql: Sql,
  { project_id, id, run, tokens }: Of,
  end: Extract<End, { status: 'queued' | 'interrupted' }>,
): Promise<void> {
  const isInterrupted = end.status === 'interrupted'
  const waits_for = end.status === 'queued' ? (end.waits_for ?? null) : 'model'
  // Null: whoever only waits is not given up, however often that was interrupted before.
  const most = isInterrupted ? MAX_INTERRUPTIONS : null
  const [back] = await sql<{ status: string }>`
    update hub.missions
    set run = null,
      tokens = greatest(tokens, ${tokens}),
      interruptions = interruptions + ${isInterrupted ? 1 : 0},
      status = case when interruptions >= ${most}::integer then 'failed' else 'queued' end,
      finished_at = case when interruptions >= ${most}::integer then now() end,
      waits_for = case when interruptions >= ${most}::integer then null else ${waits_for}::text end,
      reason = ${stored(end.reason)}
    where id = ${id} and run = ${run} and status = 'processing'
    returning status`
  if (back) {
    await addEvent(sql, { project_id, mission_id: id }, 'state', { ...back, waits_for })
  }
  if (waits_for !== 'approval') return
  // The decision may have been made between the query and this line.
  await sql`
    update hub.missions set waits_for = null
    where id = ${id} and status = 'queued' and not exists (
      select from hub.approvals where mission_id = ${id} and status = 'waiting')`
}

/**
 * Continues the missions that were running when the process ended, or gives them up with the
 * reason; with `lost`, those of these runs, whose end could not be stored.
 */
export async function recoverMissions(db: Database, lost?: string[]): Promise<number> {
  const [again, given_up] = lost ? [say.lost, say.fault] : [say.interrupted, say.given_up]
  return everywhere(db, async (sql) => {
    const rows = await sql<{ id: string; project_id: string; status: string }>`
      update hub.missions
      set run = null, interruptions = interruptions + 1,
        status = case when interruptions >= ${MAX_INTERRUPTIONS} then 'failed' else 'queued' end,
        finished_at = case when interruptions >= ${MAX_INTERRUPTIONS} then now() end,
        reason = case when interruptions >= ${MAX_INTERRUPTIONS}
          then ${stored(given_up)}::hub.words else ${stored(again)}::hub.words end
      where status = 'processing' and (${lost ?? null}::uuid[] is null or run = any(${lost ?? null}))
      returning id, project_id, status`
    for (const { id, project_id, status } of rows) {
      await addEvent(sql, { project_id, mission_id: id }, 'state', { status })
    }
    return rows.length
  })
}
