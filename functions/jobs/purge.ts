import { freezeExpiring } from './evidence.ts'
import { each, type Queue } from './queue.ts'

// Two thousand rows of each kind take about 50 ms; on the edge platforms a call that continues
// after its answer lives for 30 s.
const BUDGET_MS = 10_000

/**
 * Deletes expired rows in small batches, and creates the partitions of the coming days. What it deletes of an alert is in
 * a record before: rows that are in none stay until the next time.
 */
export const purge: Queue = {
  name: 'purge',
  slots: 1,
  run: each(async (context, job) => {
    const deadline = performance.now() + BUDGET_MS
    await context.step((sql) => sql`select private.ensure_partitions()`)
    let deleted = 0
    for (;;) {
      const frozen = await freezeExpiring(context.deps)
      const [row] = await context.step(
        (sql) => sql<{ deleted: number }>`select private.purge() as deleted`,
      )
      deleted += row?.deleted ?? 0
      const isDone = frozen === 0 && !row?.deleted
      if (isDone || performance.now() > deadline) break
    }
    await context.finish(job, async () => undefined)
    return { deleted }
  }),
}
