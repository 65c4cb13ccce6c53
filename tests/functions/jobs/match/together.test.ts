import { expect, test, vi } from 'vitest'
import type { FinishTogether, Work } from '../../../../functions/jobs/queue.ts'
import { createTogether } from '../../../../functions/jobs/together.ts'
import type { Sql } from '../../../../shared/sql.ts'

const sql: Sql = async () => []
// safe: only the id and the queue of a job matter here
const job = (id: string, name = 'deliver') => ({ id, name, data: {} }) as unknown as Work

/** Records which jobs ended together, and refuses the transactions that a test wants to fail. */
function setUp(refuses: (ids: string[]) => boolean = () => false) {
  const ended: { ids: string[]; items: object[] }[] = []
  let items: object[] = []
  const together = createTogether(async (jobs, work) => {
    const ids = jobs.map(({ id }) => id)
    await work(sql)
    if (refuses(ids)) throw new Error(`refused ${ids}`)
    ended.push({ ids, items })
  })
  const store: Parameters<FinishTogether>[2] = async (_, given) => {
    items = given
  }
  return { ended, together, store }
}

test('jobs that end at the same moment share a transaction, those that come meanwhile the next', async () => {
  const { ended, together, store } = setUp()
  const first = ['a', 'b'].map((id) => together(job(id), { id }, store))
  await first[0]
  await Promise.all([together(job('c'), { id: 'c' }, store), ...first])
  expect(ended).toEqual([
    { ids: ['a', 'b'], items: [{ id: 'a' }, { id: 'b' }] },
    { ids: ['c'], items: [{ id: 'c' }] },
  ])
})

test('there is one transaction at a time, and one again after all were done', async () => {
  const begun: string[][] = []
  const ends: (() => void)[] = []
  const together = createTogether(async (jobs) => {
    begun.push(jobs.map(({ id }) => id))
    await new Promise<void>((resolve) => ends.push(resolve))
  })
  const store = async () => undefined
  const end = (id: string) => together(job(id), {}, store)
  const a = end('a')
  await vi.waitUntil(() => ends.length === 1)
  const others = [end('b'), end('c')]
  await new Promise(setImmediate)
  expect(begun).toEqual([['a']])
  ends[0]?.()
  await vi.waitUntil(() => ends.length === 2)
  ends[1]?.()
  await Promise.all([a, ...others])
  await new Promise(setImmediate)
  const d = end('d')
  await vi.waitUntil(() => ends.length === 3)
  ends[2]?.()
  await d
  expect(begun).toEqual([['a'], ['b', 'c'], ['d']])
})

test('never more than a hundred', async () => {
  const { ended, together, store } = setUp()
  await Promise.all(Array.from({ length: 220 }, (_, nr) => together(job(`${nr}`), {}, store)))
  expect(ended.map(({ ids }) => ids.length)).toEqual([100, 100, 20])
})

test('one that cannot end fails alone', async () => {
  const { ended, together, store } = setUp((ids) => ids.includes('b'))
  const results = await Promise.allSettled(
    ['a', 'b', 'c'].map((id) => together(job(id), { id }, store)),
  )
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(ended.map(({ ids }) => ids)).toEqual([['a'], ['c']])
  await together(job('d'), {}, store)
  expect(ended.at(-1)?.ids).toEqual(['d'])
})

test('jobs of two queues, and what is stored in two ways, end apart', async () => {
  const { ended, together, store } = setUp()
  await Promise.all([
    together(job('a'), {}, store),
    together(job('b', 'match'), {}, store),
    together(job('c', 'match'), {}, async () => undefined),
  ])
  expect(ended.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c']])
})
