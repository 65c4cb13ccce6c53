import { traceCall } from '../tracing/tracing.ts'
import { each, type Queue } from './queue.ts'

/** Runs at the end of a zone's quiet hours: sends what was held as one digest per channel. */
export const release: Queue = {
  name: 'release',
  slots: 2,
  run: each(async (context, job) => {
    const zone_id = job.data.zone_id ?? ''
    const { tracing } = context
    const [row] = await context.finish(job, (sql) =>
      traceCall(
        { tracing, sql },
        { name: 'release_held' },
        () => sql<{ released: number }>`select private.release_held(${zone_id}) as released`,
      ),
    )
    return { zone_id, released: row?.released ?? 0 }
  }),
}
