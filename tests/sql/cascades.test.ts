import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { createWorld, type World } from './world.ts'

let database: TestDatabase
let world: World
let client: pg.Client
beforeAll(async () => {
  database = await createTestDatabase()
  world = await createWorld(database)
  client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
})
afterAll(async () => {
  await client?.end()
  await database?.drop()
})

describe('with a row goes what belongs to it, and nothing else', () => {
  /** How many rows of which table a statement takes away. */
  async function gone(statement: string): Promise<string[]> {
    const tables = await database.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'watchpost'::regnamespace
        and relkind in ('r', 'p') and not relispartition order by 1`,
    )
    const counts = async () => {
      const { rows } = await client.query(
        tables
          .map(({ name }) => `select '${name}' as name, count(*)::integer from watchpost.${name}`)
          .join(' union all '),
      )
      return new Map<string, number>(rows.map((row) => [row.name, row.count]))
    }
    await client.query('begin')
    try {
      const before = await counts()
      await client.query(statement)
      const after = await counts()
      return [...before].flatMap(([name, count]) => {
        const less = count - (after.get(name) ?? 0)
        return less > 0 ? [`${name} ${less}`] : []
      })
    } finally {
      await client.query('rollback')
    }
  }

  test('of a key its usage', async () => {
    expect(await gone("delete from watchpost.api_keys where name = 'private'")).toEqual([
      'api_keys 1',
      'key_usage 1',
    ])
  })
  test('of an alert its deliveries, further events and records, and of those their attempts', async () => {
    expect(await gone("delete from watchpost.alerts where zone_name = 'shared'")).toEqual([
      'alert_events 1',
      'alert_steps 1',
      'alerts 1',
      'deliveries 2',
      'delivery_attempts 2',
      'evidence 1',
      'evidence_due 1',
    ])
  })
  test('of a channel its deliveries', async () => {
    expect(await gone("delete from watchpost.channels where label = 'private'")).toEqual([
      'channels 1',
      'deliveries 4',
      'delivery_attempts 4',
    ])
  })
  test('of a zone all that it decided', async () => {
    expect(await gone("delete from watchpost.zones where label = 'private'")).toEqual([
      'alert_events 1',
      'alert_steps 1',
      'alerts 2',
      'blind_zones 1',
      'deliveries 3',
      'delivery_attempts 3',
      'drills 1',
      'evidence 1',
      'evidence_due 1',
      'feed_links 1',
      'match_memory 1',
      'zone_boxes 1',
      'zone_shapes 1',
      'zone_versions 1',
      'zones 1',
    ])
  })
  test('of an event its aliases', async () => {
    expect(await gone("delete from watchpost.events where title = 'public'")).toEqual([
      'event_aliases 1',
      'events 1',
    ])
  })
  test('of an organisation its members; zones, channels and alerts go back to their owners', async () => {
    const id = world.ids.team
    expect(await gone(`delete from watchpost.organisations where id = '${id}'`)).toEqual([
      'members 4',
      'organisations 1',
    ])
  })
  test('of an account everything of its own', async () => {
    const id = world.ids.stranger
    expect(await gone(`delete from watchpost.accounts where user_id = '${id}'`)).toEqual([
      'accounts 1',
      'alert_events 1',
      'alert_steps 1',
      'alerts 1',
      'api_keys 1',
      'channel_troubles 1',
      'channels 1',
      'deliveries 1',
      'delivery_attempts 1',
      'drills 1',
      'event_aliases 1',
      'events 1',
      'evidence 1',
      'evidence_due 1',
      'feed_links 1',
      'idempotency_keys 1',
      'key_usage 1',
      'match_memory 1',
      'members 1',
      'zone_boxes 1',
      'zone_shapes 1',
      'zone_versions 1',
      'zones 1',
    ])
  })
})
