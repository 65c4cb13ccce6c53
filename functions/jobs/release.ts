import type { Queue } from './queue.ts'

/** At the end of a zone's quiet window: what was held goes out as one digest per channel. */
export const release: Queue = {
  name: 'release',
  slots: 2,
  run: async (context, job) => {
    const zone_id = job.data.zone_id ?? ''
    const [row] = await context.finish(
      job,
      (sql) => sql<{ released: number }>`select private.release_held(${zone_id}) as released`,
    )
    return { zone_id, released: row?.released ?? 0 }
  },
}
