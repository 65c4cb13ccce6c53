import type { Sql } from '../../shared/sql.ts'
import { type Origin, originOf, traceparentOf } from '../tracing/tracing.ts'
import type { Work } from './queue.ts'

type Row = { id: string; digest_id: string | null; trace: string | null }

/**
 * What the traces of jobs go on from: of a delivery what made it; that of a digest is linked to what made the messages
 * that it carries.
 */
export async function originsOfDeliveries(
  sql: Sql,
  jobs: Work[],
  deliveryOf: (job: Work) => string,
): Promise<Map<string, Origin>> {
  const ids = jobs.map(deliveryOf)
  const rows = await sql<Row>`
    select id, digest_id, trace from watchpost.deliveries
    where trace is not null and (id = any(${ids}::uuid[]) or digest_id = any(${ids}::uuid[]))`
  return new Map(
    jobs.map((job) => {
      const delivery = deliveryOf(job)
      const own = originOf(rows.find(({ id }) => id === delivery)?.trace)
      const carried = rows.filter(({ digest_id }) => digest_id === delivery)
      const links = carried.flatMap(({ trace }) => (trace ? [traceparentOf(trace)] : []))
      return [job.id, { ...own, links: [...new Set([...(own.links ?? []), ...links])] }]
    }),
  )
}
