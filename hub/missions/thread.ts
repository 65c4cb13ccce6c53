import type { Sql } from '../../shared/sql.ts'
import type { Earlier } from '../agents/agent.ts'
import type { Status, Turn } from './mission.ts'

/**
 * readEarlier lists the missions before one: the one it continues last, the first of the
 * conversation first. Drafts and results are as they are now, with what people edited.
 */
export function readEarlier(sql: Sql, continues: string): Promise<Earlier[]> {
  return sql<Earlier>`
    with recursive before as (
      select id, continues, 1 as distance from hub.missions where id = ${continues}
      union all
      select mission.id, mission.continues, before.distance + 1
      from hub.missions as mission join before on mission.id = before.continues
    )
    select mission.id, mission.department, mission.task, mission.input, mission.result,
      coalesce(
        (
          select array_agg(lead ->> 'id' order by nr)
          from hub.mission_steps as step,
            jsonb_array_elements(step.output -> 'leads') with ordinality as taken (lead, nr)
          where step.mission_id = mission.id and step.name = 'leads'
            and jsonb_typeof(step.output -> 'leads') = 'array'
        ),
        '{}'
      ) as lead_ids,
      coalesce(
        (
          select jsonb_agg(
            jsonb_build_object(
              'id', draft.id, 'audience', draft.audience, 'subject', draft.subject,
              'text', draft.text, 'state', draft.state
            )
            order by draft.created_at, draft.id
          )
          from hub.drafts as draft where draft.mission_id = mission.id
        ),
        '[]'
      ) as drafts
    from before join hub.missions as mission on mission.id = before.id
    order by before.distance desc`
}

/** readConversation lists all missions of a thread in their order. */
export function readConversation(sql: Sql, thread: string): Promise<Turn[]> {
  return sql<Turn>`
    select id, continues, department, task, status, result ->> 'summary' as summary, created_at
    from hub.missions
    where id = ${thread} or thread = ${thread}
    order by created_at, id`
}

/** Whether a mission's state lets another go on from it. */
export const canContinue = (status: Status) => status === 'done'
