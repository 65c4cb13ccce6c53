import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNews } from '../../functions/news.ts'
import { expectProblem } from '../support/attacks/refusals.ts'
import { createService, type Person, type Service } from '../support/service.ts'

const news = createNews()
let waiting = 0
let service: Service
beforeAll(async () => {
  service = await createService({
    news: {
      wait: (ms, signal) => {
        waiting += 1
        return news.wait(ms, signal)
      },
    },
  })
})
afterAll(() => service?.close())

const follow = (person: Person) =>
  service.request('GET', '/api/v1/alerts/changes?after=now', person).then((now) => {
    const { next_cursor } = now.body as { next_cursor: string } // safe: as the API documents it
    return service.request('GET', `/api/v1/alerts/changes?wait=30&after=${next_cursor}`, person)
  })

test('ten requests of an account wait at a time, and those that have ended count no more', async () => {
  const [busy, other] = [await service.person(), await service.person()]
  const ten = Array.from({ length: 10 }, () => follow(busy))
  await expect.poll(() => waiting).toBe(10)
  const refused = await follow(busy)
  expectProblem(refused, 429, 'rate_limited')
  expect(refused.headers.get('Retry-After')).toBe('2')
  const another = follow(other)
  await expect.poll(() => waiting).toBe(11)
  news.stop()
  const answers = await Promise.all([...ten, another])
  expect(answers.map(({ status, body }) => [status, body])).toEqual(
    answers.map(() => [200, { changes: [], next_cursor: expect.any(String) }]),
  )
  const again = await Promise.all(Array.from({ length: 10 }, () => follow(busy)))
  expect(again.map(({ status }) => status)).toEqual(again.map(() => 200))
})

test('of a database that was just restored from a backup nothing is told yet', async () => {
  const person = await service.person()
  const [row] = await service.database.query<{ seen_in: string }>(
    'select seen_in::text from watchpost.change_history',
  )
  const setSeen = (at: string | undefined) =>
    service.database.query('update watchpost.change_history set seen_in = $1::xid8', [at])
  await setSeen('9000000000000000000')
  try {
    for (const things of ['alerts', 'events']) {
      const answer = await service.request('GET', `/api/v1/${things}/changes`, person)
      expectProblem(answer, 503, 'unavailable')
      expect(answer.headers.get('Retry-After')).toBe('5')
      expect(answer.body).toMatchObject({
        detail: 'The database was restored from a backup and is being prepared. Try again.',
      })
    }
  } finally {
    await setSeen(row?.seen_in)
  }
  expect((await service.request('GET', '/api/v1/alerts/changes', person)).status).toBe(200)
})
