import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rebuild } from '../../hub/backup/scratch.ts'
import { ROOT } from '../../scripts/postgres/migrate.ts'
import { compareSchemas, withClient } from '../../scripts/schema/schema.ts'
import { startHub, type TestHub } from '../hub/support/hub.ts'
import { createEmptyDatabase } from '../support/servers/database.ts'
import { type Recorded, readRecorded } from './recorded.ts'
import { loadRows, lostRows, readRows } from './rows.ts'
import { HUB_SCHEMAS } from './what.ts'

/** Starts a hub on a database as a release left it: its schema, then its rows. */
async function hubOf({ schema, rows }: Recorded): Promise<TestHub> {
  const old = await createEmptyDatabase()
  try {
    await withClient(old.adminUrl, (client) => rebuild(client, join(ROOT, 'hub/sql'), schema))
    await loadRows(old.adminUrl, rows)
    expect(await readRows(old.adminUrl, HUB_SCHEMAS)).toEqual(rows)
    return await startHub({ template: old.name })
  } finally {
    await old.drop()
  }
}

describe.each(readRecorded('hub'))('a hub of release $version', (recorded) => {
  let fresh: TestHub
  let hub: TestHub
  beforeAll(async () => {
    fresh = await startHub()
    hub = await hubOf(recorded)
  })
  afterAll(async () => {
    await fresh.close()
    await hub.close()
  })

  test('keeps every row', async () => {
    expect(lostRows(recorded.rows, await readRows(hub.owner_url, HUB_SCHEMAS))).toEqual([])
  })

  test('has the schema of a new database', async () => {
    const { differences } = await compareSchemas(
      { name: 'new', url: fresh.owner_url },
      { name: 'upgraded', url: hub.owner_url },
    )
    expect(differences.filter((line) => !line.startsWith('contents '))).toEqual([])
  })

  test('answers what it answered', async () => {
    expect(recorded.answers.length).toBeGreaterThan(3)
    for (const { path, body } of recorded.answers) {
      const answer = await hub.call('GET', path)
      expect(answer.status, path).toBe(200)
      expect(await answer.json(), path).toMatchObject(body as object) // safe: answers are objects
    }
  })
})
