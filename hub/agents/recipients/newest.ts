import type { Sql } from '../../../shared/sql.ts'
import { type LeadRow, leadRowColumns } from '../evidence/given.ts'

const MAX_NEWEST = 3

/** newestLeads lists whom marketing writes to when the task names nobody: new leads without a draft. */
export function newestLeads(sql: Sql, project_id: string): Promise<LeadRow[]> {
  return sql<LeadRow>`
    select ${leadRowColumns} from hub.leads l
    where l.project_id = ${project_id} and l.stage = 'new' and l.email is not null
      and not exists (select from hub.drafts d where d.audience ->> 'lead_id' = l.id::text)
    order by l.score desc nulls last, l.created_at desc, l.id limit ${MAX_NEWEST}`
}
