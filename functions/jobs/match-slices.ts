import type { Sql } from '../../shared/sql.ts'
import { type Ahead, type Portions, type Some, takeSome } from './match-ahead.ts'
import type { JobContext } from './queue.ts'

/** What one transaction decides: some zones, with their candidates. */
export type Slice = Pick<Some, 'candidates' | 'zone_ids'>

/** What a step of matching does: the slices of its zones, and what is left after them. */
type Step = Pick<Some, 'last' | 'rest'> & { slices: Slice[] }

/**
 * The next zones of batches. Those of a burst, after the first of them, are as many slices as several connections decide at
 * once; but what moves is decided in one transaction, with the word of which positions were decisive.
 */
export function takeStep(ahead: Ahead, portions: Portions, isMoving: boolean): Step {
  const { at_once, later = at_once, abreast = 1 } = portions
  if (ahead.after === null || abreast === 1 || isMoving) {
    const { last, rest, ...slice } = takeSome(ahead, portions)
    return { slices: [slice], last, rest }
  }
  const slices: Slice[] = []
  const enough = (later * abreast) / at_once
  for (let from = ahead; ; ) {
    const { last, rest, ...slice } = takeSome(from, { ...portions, later: at_once })
    slices.push(slice)
    if (rest === null || slices.length >= enough) return { slices, last, rest }
    from = rest
  }
}

/**
 * Decides slices in the transaction `sql`, and beside it in transactions of their own, which commit one by one: `sql` has
 * the locks, and records last how far the batches are. If it does not come to that, they are decided again, which changes
 * nothing. Ends when all have ended, so that nobody else has the locks meanwhile.
 */
export async function decideSlices<T>(
  {
    sql,
    step,
    slices,
    abreast = 1,
  }: { sql: Sql; step: JobContext['step']; slices: Slice[]; abreast?: number | undefined },
  decide: (sql: Sql, slice: Slice) => Promise<T>,
): Promise<T[]> {
  const done: T[] = []
  const left = [...slices]
  const lane = async (run: JobContext['step']) => {
    try {
      for (let slice = left.shift(); slice; slice = left.shift()) {
        const taken = slice
        done.push(await run((sql) => decide(sql, taken)))
      }
    } catch (error) {
      left.length = 0
      throw error
    }
  }
  const beside = Math.min(abreast, slices.length) - 1
  const lanes = await Promise.allSettled([
    lane((work) => work(sql)),
    ...Array.from({ length: beside }, () => lane(step)),
  ])
  const failed = lanes.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
  return done
}
