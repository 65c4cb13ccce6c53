import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool } from '../../functions/db.ts'
import { createService, type Person, type Service } from '../support/service.ts'

/** Stands in every value, on a line of its own too: it may be in no answer and no log. */
const CANARY = 'the-callers-own-words'

/** Statements that refuse their value, whatever the routes let through, by SQLSTATE. */
const REFUSALS: [sqlstate: string, statement: string, value: string][] = [
  ['22007', 'select $1::timestamptz', CANARY],
  ['22008', 'select $1::timestamptz', '0000-01-01T00:00:00Z'],
  ['22P02', 'select $1::uuid', `${CANARY}\n    at ${CANARY}`],
  ['22P02', 'select $1::jsonb', `{"${CANARY}`],
  ['22003', 'select $1::text::integer', '77777777777777'],
  ['22023', 'select make_timestamptz(2026, 1, 1, 0, 0, 0, $1)', CANARY],
]

let service: Service
let person: Person
let statement = ''
let value = ''
beforeAll(async () => {
  service = await createService({
    connect: (database) => {
      const pool = createPool({ url: database.apiUrl, max: 2 })
      return {
        ...pool,
        connect: async () => {
          const connection = await pool.connect()
          return {
            ...connection,
            query: (text, values) =>
              text.includes('private.alert_in_json(a, null)')
                ? connection.query(statement, [value])
                : connection.query(text, values),
          }
        },
      }
    },
  })
  person = await service.person()
})
afterAll(() => service?.close())

test.each(REFUSALS)('%s is a mistake of the caller: %s', async (_, refusing, given) => {
  statement = refusing
  value = given
  const before = service.lines.length
  const answer = await service.request('GET', '/api/v1/alerts', person)
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ code: 'malformed' })
  const said = answer.text + JSON.stringify(service.lines.slice(before))
  for (const line of given.split('\n')) expect(said).not.toContain(line.trim())
  // That a value came so far is for whoever keeps the routes: its state is told.
  expect(said).toMatch(/SQLSTATE 22/)
})
