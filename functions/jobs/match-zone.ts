import { BURST_KEY, type BurstMemory, burstEnd } from '../../shared/decide/burst.ts'
import { quietWindowAt } from '../../shared/decide/quiet-hours.ts'
import { parseZoneVersion } from '../../shared/schemas/zone-version.ts'
import type { Sql } from '../../shared/sql.ts'
import { type Tracing, traceCall } from '../tracing/tracing.ts'
import { decideAll, lockLinks } from './match.ts'
import type { Candidate } from './match-ahead.ts'
import { each, type Queue } from './queue.ts'

/**
 * Runs after a zone was created or changed. It matches ongoing events and events that were seen
 * while the change was being committed, and releases what was held if the zone is no longer quiet;
 * what a burst held, if the zone may send again.
 */
export const matchZone: Queue = {
  name: 'match_zone',
  slots: 2,
  run: each(async (context, job) => {
    const zone_id = job.data.zone_id ?? ''
    const counts = await context.finish(job, async (sql) => {
      await lockMatching(sql)
      await releaseUnlessQuiet(sql, zone_id, context.tracing)
      return matchStanding(sql, zone_id, { runId: job.id, tracing: context.tracing })
    })
    return { zone_id, ...counts }
  }),
}

type Found = Candidate & { standing: boolean }

/**
 * The same locks in the same order as in `match`, so that only one process reads and writes the match memory of an
 * event; before the release, because matching changes the same alerts under them.
 */
async function lockMatching(sql: Sql): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended('match:' || source, 0))
    from (select source from watchpost.sources order by source) s`
  await lockLinks(sql)
}

async function matchStanding(
  sql: Sql,
  zoneId: string,
  { runId, tracing }: { runId: string; tracing: Tracing },
) {
  const found = await sql<Found>`select * from private.zone_candidates(${zoneId})`
  const missed = found.filter((event) => !event.standing)
  const standing = found.filter((event) => event.standing)
  const first = await decideAll(sql, missed, runId, { tracing, is_part: true })
  const second = await decideAll(sql, standing, runId, {
    at: new Date(),
    tracing,
    is_part: true,
  })
  return { pairs: first.pairs + second.pairs, alerts: first.alerts + second.alerts }
}

async function releaseUnlessQuiet(sql: Sql, zoneId: string, tracing: Tracing): Promise<void> {
  const [held] = await sql<{ definition: unknown; burst: BurstMemory | null }>`
    select private.version_definition(v) as definition, m.memory as burst
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    left join watchpost.match_memory m on m.zone_id = z.id and m.key = ${BURST_KEY}
    where z.id = ${zoneId} and z.deleted_at is null
      and exists (
        select from watchpost.alerts a
        where a.zone_id = z.id and (a.status = 'held' or exists (
          select from watchpost.deliveries d where d.alert_id = a.id and d.status = 'held')))`
  const now = new Date()
  const zone = held && parseZoneVersion(held.definition)
  if (!zone || quietWindowAt(zone, now)) return
  const until = burstEnd(zone, held.burst, now)?.toISOString() ?? null
  await traceCall(
    { tracing, sql },
    { name: 'release_held' },
    () => sql`select private.release_held(${zoneId}, true, ${until}::timestamptz)`,
  )
}
