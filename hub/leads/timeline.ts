import type { Sql } from '../../shared/sql.ts'

type ActivityKind =
  | 'created'
  | 'imported'
  | 'merged'
  | 'unmerged'
  | 'edited'
  | 'stage'
  | 'tagged'
  | 'moved'
  | 'copied'
  | 'note'
  | 'task'
  | 'task_done'
  | 'evidence'
  | 'draft'
  | 'approved'
  | 'sent'
  | 'opened'
  | 'clicked'
  | 'replied'
  | 'bounced'
  | 'unsubscribed'
  | 'away'
  | 'answered'
  | 'sequence'

type Activity = {
  project_id: string
  lead_id: string
  kind: ActivityKind
  details?: object
}

/** recordActivity adds to a lead's timeline. */
export async function recordActivity(sql: Sql, activity: Activity): Promise<void> {
  await recordActivities(sql, [activity])
}

/** recordActivities adds to the timelines of many leads at once; nothing else inserts there. */
export async function recordActivities(sql: Sql, activities: Activity[]): Promise<void> {
  const rows = activities.map((activity) => ({ details: {}, ...activity }))
  await sql`
    insert into hub.activities (project_id, lead_id, kind, details)
    select project_id, lead_id, kind, details
    from jsonb_to_recordset(${JSON.stringify(rows)})
      as activity (project_id uuid, lead_id uuid, kind text, details jsonb)`
}
