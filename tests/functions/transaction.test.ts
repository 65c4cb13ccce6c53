import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool, type Database } from '../../functions/db.ts'
import { prepareRoute } from '../support/attacks/prepare-route.ts'
import {
  createOwnedThings,
  expectProblem,
  pathOf,
  ROUTES,
  type Route,
} from '../support/attacks/refusals.ts'
import { createService, type Person, type Service } from '../support/service.ts'

let service: Service
let person: Person
/** How each transaction began. */
const begun: string[] = []
/** What is sent before the next commit. */
let disturbed: string | undefined
let wakes = 0

beforeAll(async () => {
  service = await createService({
    connect: ({ apiUrl }) => watched(createPool({ url: apiUrl, max: 2 })),
    wake: () => {
      wakes += 1
    },
  })
  // More channels than Pro has: each route gets its own.
  person = await service.person({ plan: 'enterprise' })
})
afterAll(() => service?.close())

function watched(pool: Database): Database {
  return {
    ...pool,
    connect: async () => {
      const connection = await pool.connect()
      return {
        ...connection,
        query: async (text, values) => {
          if (text.startsWith('begin')) begun.push(text)
          if (text === 'commit' && disturbed) {
            await connection.query(disturbed, []).catch(() => undefined)
          }
          return connection.query(text, values)
        },
      }
    },
  }
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`
/** The reads that need an answer of the database to ask further, or for several answers that agree. */
const ON_ONE_SNAPSHOT = [
  'GET /api/v1/alerts/changes',
  'GET /api/v1/events',
  'GET /api/v1/events/changes',
  'GET /api/v1/zones/{id}/explain',
  'GET /api/v1/zones/{id}/preview',
]

test('a route that only reads cannot write, in several steps it sees one snapshot, and it wakes nobody', async () => {
  const snapshots: string[] = []
  for (const route of ROUTES) {
    const { ids } = await createOwnedThings(service, person)
    await prepareRoute(service, route, ids)
    begun.length = 0
    wakes = 0
    const options = { key: person.key, body: route.body }
    const answer = await service.request(route.method, pathOf(route, ids), options)
    expect(answer.status, answer.text).toBeLessThan(300)
    const reads = begun.filter((text) => text.includes('read only')).length
    const is_read = route.method === 'GET' || route.path.endsWith('/preview')
    expect([nameOf(route), reads === begun.length, wakes > 0]).toEqual([
      nameOf(route),
      is_read,
      !is_read,
    ])
    if (begun.some((text) => text.includes('repeatable read'))) snapshots.push(nameOf(route))
  }
  expect(snapshots.sort()).toEqual(ON_ONE_SNAPSHOT)
})

test('what was rolled back at its commit is not said to be done', async () => {
  const body = { label: 'A place', lat: 41, lon: 29, external_id: 'rolled-back' }
  disturbed = 'select 1 / 0'
  wakes = 0
  try {
    const answer = await service.request('POST', '/api/v1/zones', { key: person.key, body })
    expectProblem(answer, 500, 'internal')
  } finally {
    disturbed = undefined
  }
  expect(wakes).toBe(0)
  const listed = await service.request('GET', '/api/v1/zones?external_id=rolled-back', person)
  expect(listed.body).toMatchObject({ zones: [] })
  const again = await service.request('POST', '/api/v1/zones', { key: person.key, body })
  expect(again.status).toBe(201)
})
