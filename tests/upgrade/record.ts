import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { upgradesIn } from '../../hub/backup/manifest.ts'
import { VERSION } from '../../shared/version.ts'
import { fillHub } from '../hub/support/backup-data.ts'
import { startHub, type TestHub } from '../hub/support/hub.ts'
import { createTenant } from '../support/attacks/tenants.ts'
import { createService, type Person, parsed, type Service } from '../support/service.ts'
import { type Recorded, writeRecorded } from './recorded.ts'
import { readRows } from './rows.ts'
import { HUB_PATHS, HUB_SCHEMAS, SERVICE_SCHEMAS } from './what.ts'

// `npm run release` runs this: it writes what the version that is released leaves in a database.
let service: Service
let hub: TestHub
beforeAll(async () => {
  service = await createService()
  hub = await startHub()
})
afterAll(async () => {
  await service.close()
  await hub.close()
})

test('records the service', async () => {
  const { person, fellow, ids } = await createTenant(service)
  const [first] = ids.zone
  const change = async (method: string, path: string, body: unknown, status: number) =>
    parsed(
      await service.request(method, `/api/v1${path}`, { key: person.key, body }),
      status,
      z.unknown(),
    )
  await change('PATCH', `/zones/${first}`, { label: 'Renamed', min_severity: 41 }, 200)
  const square = [
    [170, -10],
    [-170, -10],
    [-170, 10],
    [170, 10],
    [170, -10],
  ]
  const polygon = { type: 'Polygon', coordinates: [square] }
  const night = {
    quiet_hours_start: '22:00',
    quiet_hours_end: '07:00',
    quiet_hours_tz: 'Pacific/Auckland',
  }
  await change('POST', '/zones', { label: 'Date line', lat: 0, lon: 180, polygon, ...night }, 201)
  const gone = { label: 'Gone', lat: 1, lon: 2, radius_km: 3 }
  const made = z
    .object({ zone: z.object({ id: z.string() }) })
    .parse(await change('POST', '/zones', gone, 201))
  await change('DELETE', `/zones/${made.zone.id}`, undefined, 204)

  const [org] = ids.organisation
  const paths = [
    '/me',
    '/zones',
    '/channels',
    '/alerts',
    '/audit',
    `/orgs/${org}/members`,
    `/zones/${first}`,
    ...ids.channel.map((id) => `/channels/${id}/deliveries`),
    ...ids.event.map((id) => `/events/${id}`),
  ]
  const { database } = service
  const migrations = await database.query<{ file: string }>(
    `select version || '_' || name || '.sql' as file
     from supabase_migrations.schema_migrations order by 1`,
  )
  writeRecorded('service', {
    version: VERSION,
    recorded_at: new Date().toISOString(),
    schema: migrations.map(({ file }) => file),
    answers: [...(await answersOf(person, paths)), ...(await answersOf(fellow, paths))],
    rows: await readRows(database.adminUrl, SERVICE_SCHEMAS),
  })
})

async function answersOf(person: Person, paths: string[]): Promise<Recorded['answers']> {
  const answers: Recorded['answers'] = []
  const key = await service.session(person)
  for (const path of paths) {
    const { body, status } = await service.request('GET', `/api/v1${path}`, { key })
    if (status === 200) answers.push({ as: person.user_id, path, body })
  }
  expect(answers.length).toBeGreaterThan(5)
  return answers
}

test('records the hub', async () => {
  await fillHub(hub)
  const answers: Recorded['answers'] = []
  for (const path of HUB_PATHS) {
    const answer = await hub.call('GET', path)
    expect(answer.status, path).toBe(200)
    answers.push({ as: 'owner', path, body: await answer.json() })
  }
  writeRecorded('hub', {
    version: VERSION,
    recorded_at: new Date().toISOString(),
    schema: await upgradesIn(),
    answers,
    rows: await readRows(hub.owner_url, HUB_SCHEMAS),
  })
})
