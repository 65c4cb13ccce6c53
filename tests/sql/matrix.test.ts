import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { asActor, type Ground, type Operation, reachableByAll, unlessRefused } from './behaviour.ts'
import { CLOSED, GRANTS, LOGIN_FUNCTIONS, POLICIES, REACH } from './expected.ts'
import { type Matrix, readMatrix } from './grants.ts'
import { ACTORS, type Actor, createWorld, type World } from './world.ts'

let database: TestDatabase
let world: World
let ground: Ground
let matrix: Matrix
let tables: string[]

beforeAll(async () => {
  database = await createTestDatabase()
  world = await createWorld(database)
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  ground = { database, world, client }
  matrix = await readMatrix(database)
  const rows = await database.query<{ name: string }>(
    `select relname as name from pg_class
    where relnamespace = 'watchpost'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  tables = rows.map(({ name }) => name)
})
afterAll(async () => {
  await ground?.client.end()
  await database?.drop()
})

const ours = (lines: string[]) =>
  lines
    .filter((line) => line.startsWith('watchpost.'))
    .map((line) => line.slice('watchpost.'.length))

describe('by the catalogue', () => {
  test('every grant on our tables is one that was decided on', () => {
    expect(ours(matrix.grants)).toEqual(GRANTS)
  })

  test('every policy is one that was decided on', () => {
    expect(ours(matrix.policies)).toEqual(POLICIES)
    expect(matrix.policies).toHaveLength(POLICIES.length)
  })

  test('every table of ours forces row-level security', () => {
    expect(ours(matrix.unguarded)).toEqual([])
  })

  test('only the jobs touch the queue, and nobody the accounts of Supabase', () => {
    const elsewhere = matrix.grants.filter((line) => !line.startsWith('watchpost.'))
    expect(elsewhere.length).toBeGreaterThan(5)
    for (const line of elsewhere) {
      expect(line).toMatch(/^pgboss\.\w+ watchpost_jobs: select, insert, update, delete$/)
    }
  })

  test('before it is anybody, the API calls only what checks a key or tells nothing', () => {
    const callable = matrix.functions.filter((line) => /^private\..* watchpost_api/.test(line))
    expect(callable.map((line) => line.replace(/\(.*/, ''))).toEqual(LOGIN_FUNCTIONS)
    const everybody = matrix.functions.filter((line) => /^private\..*\b(public|anon)\b/.test(line))
    expect(everybody).toEqual([])
  })

  test('whoever is signed in and the jobs call only what was decided on', async () => {
    const callable = matrix.functions.filter((line) =>
      /^private\..*\b(authenticated|watchpost_jobs)\b/.test(line),
    )
    const lines = callable.map((line) => line.replace(/\(.*\)/, '')).toSorted()
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/functions.txt')
  })
})

describe('by what happens', () => {
  test('each actor reads and changes these rows and no others', async () => {
    const found: string[] = []
    for (const table of [...tables].sort()) {
      for (const operation of ['select', 'update', 'delete'] satisfies Operation[]) {
        const reach = await reachableByAll(ground, table, operation)
        if (reach !== 'everybody denied') found.push(`${table} ${operation}: ${reach}`)
      }
    }
    expect(found).toEqual(REACH)
  })

  test('these tables are read by nobody', () => {
    const read = new Set(REACH.map((line) => line.split(' ')[0]))
    expect(tables.filter((table) => !read.has(table)).sort()).toEqual(CLOSED)
  })

  test('nobody inserts anywhere but into zones, feed links, channels and members', async () => {
    const open = new Set<string>()
    for (const actor of ACTORS) {
      for (const table of tables) {
        const refused = await asActor(ground, actor, async (client) => {
          try {
            await client.query(`insert into watchpost.${table} default values`)
            return false
          } catch (error) {
            return (
              error instanceof pg.DatabaseError && error.message.startsWith('permission denied')
            )
          }
        })
        if (!refused) open.add(table)
      }
    }
    expect([...open].sort()).toEqual(['channels', 'feed_links', 'members', 'zones'])
  })

  const zone = (more: string, values: string) =>
    `insert into watchpost.zones (label, lat, lon, boxes${more})
    values ('New', 1, 1, array[box '(1,1),(0,0)']${values})`
  const channel = (values: string) =>
    `insert into watchpost.channels (kind, target_sealed, target_masked, org_id)
    values ('webhook', 'sealed', 'masked', ${values})`
  const invite = (role: string, by = 'private.uid()', email = 'x@y.example') =>
    `insert into watchpost.members (org_id, email, role, invited_by, invite_hash)
    values (:team, '${email}', '${role}', ${by}, sha256('new'))`

  test.each<[what: string, statement: string, allowed: Actor[]]>([
    ['draws a private zone', zone('', ''), ['owner', 'admin', 'member', 'stranger']],
    ['draws a shared zone', zone(', org_id', ', :team'), ['owner', 'admin', 'member']],
    ['draws a zone for somebody else', zone(', owner_id', ', :owner'), []],
    ['makes a private channel', channel('null'), ['owner', 'admin', 'member', 'stranger']],
    ['makes a shared channel', channel(':team'), ['owner', 'admin']],
    ['invites a member', invite('member'), ['owner', 'admin']],
    ['invites an owner', invite('owner'), []],
    ['invites in another name', invite('member', ':stranger'), []],
    [
      'makes a member without an invite',
      `insert into watchpost.members (org_id, user_id, email, role, status)
      values (:team, private.uid(), 'x@y.example', 'admin', 'active')`,
      [],
    ],
    [
      'moves a zone to another account',
      'update watchpost.zones set owner_id = private.uid() where org_id = :team',
      [],
    ],
    [
      'gives a zone away to a foreign organisation',
      `update watchpost.zones set org_id = :theirs where label = 'private'`,
      ['admin', 'member', 'stranger'], // of nothing: they see no such row
    ],
    [
      'makes somebody owner',
      `update watchpost.members set role = 'owner' where email = 'member@team'`,
      ['member', 'stranger'], // of nothing: neither may change a member of the team
    ],
  ])('who %s', async (_, statement, allowed) => {
    const sql = statement.replaceAll(/:(\w+)/g, (_, name: string) => `'${world.ids[name]}'::uuid`)
    const done: Actor[] = []
    // The reader and those without claims are refused or reach no row, as the matrix above says.
    for (const actor of ['owner', 'admin', 'member', 'stranger'] satisfies Actor[]) {
      const result = await asActor(ground, actor, (client) => unlessRefused(client.query(sql)))
      if (result) done.push(actor)
      if (result?.command === 'UPDATE') expect(result.rowCount).toBe(0)
    }
    expect(done).toEqual(allowed)
    if (statement.startsWith('update')) return
    for (const actor of ['reader', 'nobody', 'anon'] satisfies Actor[]) {
      const result = await asActor(ground, actor, (client) => unlessRefused(client.query(sql)))
      expect(result, actor).toBeUndefined()
    }
  })

  test.each([
    ['owner', ['private']],
    ['team', ['private', 'shared']],
    ['stranger', ['foreign']],
    ['theirs', ['foreign']],
  ])('an event of %s concerns only zones whose every reader sees it', async (tenant, labels) => {
    const found = await database.query(
      `select label from watchpost.zones
      where id = any(private.zones_in_tenant(
        (select array_agg(id) from watchpost.zones), $1, now())) order by label`,
      [world.ids[tenant]],
    )
    expect(found.map(({ label }) => label)).toEqual(labels)
  })

  test('only its owner unshares a zone or channel, an admin changes it otherwise', async () => {
    for (const table of ['zones', 'channels']) {
      const unshare = `update watchpost.${table} set org_id = null where label = 'shared'`
      await expect(
        asActor(ground, 'admin', (client) => client.query(unshare)),
      ).rejects.toMatchObject({ code: 'WP403' })
      const owners = await asActor(ground, 'owner', (client) => client.query(unshare))
      expect(owners.rowCount).toBe(1)
    }
  })
})

/*
 * The trust boundary. The login of the API is not a caller: what it says in request.jwt.claims is
 * believed, because Postgres cannot know better. Whoever holds that login's password, or can make
 * the API send a statement of theirs, is every account. So the claims are written in one place
 * (asCaller), from what private.key_claims answers about a key's hash, as parameters, and for one
 * transaction; and the login by itself reads no table and becomes nobody but a caller: it is no
 * way to the jobs, to the owner of the tables, or past row-level security.
 */
describe('the login of the API', () => {
  async function asLogin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: database.apiUrl })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  const refused = { code: '42501' }

  test.each(['service_role', 'watchpost_jobs', 'watchpost_owner', 'postgres'])(
    'cannot become %s, nor can a caller',
    async (role) => {
      await asLogin(async (client) => {
        await expect(client.query(`set role ${role}`)).rejects.toMatchObject(refused)
        await expect(
          client.query(`select set_config('role', $1, false)`, [role]),
        ).rejects.toMatchObject(refused)
        await client.query('set role authenticated')
        await expect(client.query(`set role ${role}`)).rejects.toMatchObject(refused)
      })
    },
  )

  test('reads no table by itself, ours or another', async () => {
    const others = ['auth.users', 'pgboss.job', 'pgboss.queue']
    await asLogin(async (client) => {
      for (const table of [...tables.map((name) => `watchpost.${name}`), ...others]) {
        await expect(client.query(`select from ${table}`), table).rejects.toMatchObject(refused)
      }
    })
  })

  test('has its claims believed, so nobody else may set them', async () => {
    const forged = world.claims.owner
    const labels = await asLogin(async (client) => {
      await client.query('begin')
      await client.query(
        `select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
        [forged],
      )
      return (await client.query('select label from watchpost.zones order by label')).rows
    })
    expect(labels).toEqual([{ label: 'private' }, { label: 'shared' }])
  })

  test.each(['commit', 'rollback', 'an error'])(
    'is nobody again after %s: no claim, role or timeout outlives its transaction',
    async (end) => {
      await asLogin(async (client) => {
        const settings = `select current_user as role, current_setting('statement_timeout') as timeout,
          nullif(current_setting('request.jwt.claims', true), '') as claims`
        const before = (await client.query(settings)).rows[0]
        await client.query('begin')
        await client.query(
          `select set_config('request.jwt.claims', $1, true), set_config('statement_timeout', '10s', true),
            set_config('role', 'authenticated', true)`,
          [world.claims.owner],
        )
        const during = (await client.query(settings)).rows[0]
        expect(during).toEqual({
          role: 'authenticated',
          timeout: '10s',
          claims: world.claims.owner,
        })
        if (end === 'an error') await client.query('select 1 / 0').catch(() => undefined)
        await client.query(end === 'rollback' ? 'rollback' : 'commit')
        expect((await client.query(settings)).rows[0]).toEqual(before)
        expect(before).toMatchObject({ role: 'watchpost_api', claims: null })
        await client.query('begin; set local role authenticated')
        expect((await client.query('select from watchpost.zones')).rowCount).toBe(0)
      })
    },
  )
})
