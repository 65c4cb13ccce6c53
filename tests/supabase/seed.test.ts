import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT } from '../../scripts/postgres/migrate.ts'
import { boxesOf } from '../../shared/geometry/geometry.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

let database: TestDatabase
let seed: string

beforeAll(async () => {
  database = await createTestDatabase()
  seed = await readFile(join(ROOT, 'supabase/seed.sql'), 'utf8')
})
afterAll(() => database?.drop())

test('the seed makes an account with zones and nothing that could act as it', async () => {
  await database.query(seed)
  await database.query(seed)
  expect(await database.query('select email, plan from watchpost.accounts')).toEqual([
    { email: 'dev@watchpost.localhost', plan: 'pro' },
  ])
  expect(await database.query('select from watchpost.api_keys')).toEqual([])
  expect(await database.query('select from watchpost.channels')).toEqual([])
  expect(await database.query('select encrypted_password from auth.users')).toEqual([
    { encrypted_password: null },
  ])
})

test('its boxes equal those the API computes for the same circles', async () => {
  const zones = await database.query<{
    label: string
    lat: number
    lon: number
    radius_km: number
    east: number
    north: number
    west: number
    south: number
  }>(
    `select label, lat, lon, radius_km, ((boxes[1])[0])[0] as east, ((boxes[1])[0])[1] as north,
      ((boxes[1])[1])[0] as west, ((boxes[1])[1])[1] as south from watchpost.zones order by label`,
  )
  expect(zones.map(({ label }) => label)).toEqual(['Istanbul', 'San Francisco Bay', 'Tokyo'])
  for (const zone of zones) {
    const boxes = boxesOf({ ...zone, shape_type: 'circle', polygon: null })
    expect(boxes).toHaveLength(1)
    const { west = 0, south = 0, east = 0, north = 0 } = boxes[0] ?? {}
    expect(zone.west).toBeLessThan(west)
    expect(zone.south).toBeLessThan(south)
    expect(zone.east).toBeGreaterThan(east)
    expect(zone.north).toBeGreaterThan(north)
    expect(zone.east - zone.west).toBeLessThan((east - west) * 1.1)
  }
})

test('it refuses where anybody else has an account', async () => {
  await database.query(
    `insert into auth.users (id, email) values (gen_random_uuid(), 'customer@example.com')`,
  )
  await database.query(`update watchpost.accounts set plan = 'free'`)
  await expect(database.query(seed)).rejects.toThrow('people have accounts here')
  expect(await database.query(`select from watchpost.accounts where plan = 'pro'`)).toEqual([])
})
