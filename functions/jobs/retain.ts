import type { Queue } from '../jobs.ts'

const BUDGET_MS = 60_000

/** Deletes what is past its time, in small batches, and makes the partitions of the days ahead. */
export const retain: Queue = {
  name: 'retain',
  slots: 1,
  run: async (context, job) => {
    const deadline = performance.now() + BUDGET_MS
    await context.step((sql) => sql`select private.ensure_partitions()`)
    let deleted = 0
    for (;;) {
      const [row] = await context.step(
        (sql) => sql<{ deleted: number }>`select private.retain() as deleted`,
      )
      deleted += row?.deleted ?? 0
      if (!row?.deleted || performance.now() > deadline) break
    }
    await context.finish(job, async () => undefined)
    return { deleted }
  },
}
