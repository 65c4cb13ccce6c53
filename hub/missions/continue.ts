import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import type { MissionInput } from '../agents/agent.ts'
import type { AgentName } from '../agents/names.ts'
import { type Route, routeNamed } from '../agents/run/route.ts'
import { bilingual, joined } from '../i18n/words.ts'
import { missionText } from './mission.text.ts'
import { addMission, type Department, type Status } from './mission.ts'
import { canContinue } from './thread.ts'

const say = bilingual(missionText)

/** Who goes on, and why. */
type RoutedOn = Omit<Route, 'decided_by'> & { decided_by: Route['decided_by'] | 'given' }
export type Continued = { department: AgentName; thread: string }

/**
 * requireDone returns what a mission that goes on from another needs of it; throws 409 unless that
 * one is done.
 */
export async function requireDone(
  sql: Sql,
  id: string,
): Promise<Continued & { input: MissionInput }> {
  const [old] = await sql<Continued & { input: MissionInput; status: Status }>`
    select department, coalesce(thread, id) as thread, input, status
    from hub.missions where id = ${id}`
  if (!old) throw new ApiError('not_found', 'There is no such mission.')
  if (canContinue(old.status)) return old
  const what = old.status === 'queued' || old.status === 'processing' ? 'wait' : 'retry'
  throw new ApiError('wrong_state', joined([say.states[old.status], say.cannot_continue[what]]))
}

/** Which agent goes on: the given one, the one that the words name, or else the same as before. */
export function routeOn(task: string, given: Department, before: AgentName): RoutedOn {
  const by_hand = { decided_by: 'given' as const, reason: say.by_hand, candidates: [] }
  if (given !== 'auto') return { agent: given, ...by_hand }
  return routeNamed(task) ?? { agent: before, ...by_hand, reason: say.same_agent }
}

/**
 * continueMission creates a mission that goes on from a finished one. It is given what that one was
 * given, except whom it was for: that is found anew from the words.
 */
export async function continueMission(
  sql: Sql,
  project_id: string,
  given: { id: string; task: string; department: Department; input?: MissionInput },
): Promise<{ id: string; routed: RoutedOn }> {
  const { id, task, input = {} } = given
  const old = await requireDone(sql, id)
  const routed = routeOn(task, given.department, old.department)
  const { text, files, urls } = old.input
  const material = {
    ...(text ? { text } : {}),
    ...(files ? { files } : {}),
    ...(urls ? { urls } : {}),
  }
  const made = await addMission(sql, {
    project_id,
    department: routed.agent ?? old.department,
    task,
    input: { ...material, ...input },
    routed_by: routed.decided_by === 'given' ? 'given' : 'phrase',
    routed_because: routed.reason,
    continues: id,
    thread: old.thread,
  })
  return { id: made, routed }
}
