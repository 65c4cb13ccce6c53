import type { Sql } from '../../shared/sql.ts'
import type { FinishTogether, Work } from './queue.ts'

/** So many jobs end in one transaction at most. */
const MAX_TOGETHER = 100

type Waiting = {
  job: Work
  item: object
  store: (sql: Sql, items: object[]) => Promise<void>
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Ends jobs in few transactions: those that come while one is under way share the next. If one job of them cannot end,
 * each of them ends by itself.
 */
export function createTogether(
  finish: (jobs: Work[], work: (sql: Sql) => Promise<void>) => Promise<void>,
): FinishTogether {
  const waiting: Waiting[] = []
  let isRunning = false

  async function end(some: Waiting[]): Promise<void> {
    const [first] = some
    if (!first) return
    try {
      await finish(
        some.map(({ job }) => job),
        (sql) =>
          first.store(
            sql,
            some.map(({ item }) => item),
          ),
      )
      for (const { resolve } of some) resolve()
    } catch (error) {
      if (some.length === 1) return first.reject(error)
      for (const one of some) await end([one])
    }
  }

  async function run(): Promise<void> {
    isRunning = true
    // What ends at the same moment comes along.
    await Promise.resolve()
    for (let first = waiting[0]; first; first = waiting[0]) {
      const { job, store } = first
      const others = waiting.findIndex((one) => one.store !== store || one.job.name !== job.name)
      const count = Math.min(others === -1 ? waiting.length : others, MAX_TOGETHER)
      await end(waiting.splice(0, count))
    }
    isRunning = false
  }

  return (job, item, store) =>
    new Promise((resolve, reject) => {
      waiting.push({ job, item, store, resolve, reject })
      if (!isRunning) run()
    })
}
