import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyFiles, urlFor } from '../../../hub/db/keys.ts'
import { readText } from '../../../hub/files.ts'
import { stored, verbatim } from '../../../hub/i18n/words.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['mine', 'theirs'])
})
afterAll(() => hub.close())

const names = (rows: { name: string }[]) => rows.map(({ name }) => name)

type Client = {
  ask: (text: string) => Promise<Record<string, unknown>[]>
  end: () => Promise<void>
}

/**
 * A connection of the service key in one transaction of project `mine`, as the data agent has it.
 */
async function dataAgent({ read_only }: { read_only: boolean }): Promise<Client> {
  const key = (await readText(keyFiles(hub.paths).service))?.trim() ?? ''
  const client = new pg.Client({ connectionString: urlFor(key, hub.config.database) })
  await client.connect()
  await client.query('begin')
  if (read_only) await client.query('set transaction read only')
  await client.query("select set_config('hub.project', $1, true)", [hub.ids.mine])
  await client.query('set local role hub_data')
  return {
    ask: async (text) => {
      await client.query('savepoint before')
      try {
        const query: pg.QueryConfig & { queryMode: 'extended' } = {
          text,
          values: [],
          queryMode: 'extended',
        }
        return (await client.query<Record<string, unknown>>(query)).rows
      } catch (error) {
        await client.query('rollback to savepoint before')
        throw error
      }
    },
    end: async () => {
      await client.query('rollback')
      await client.end()
    },
  }
}

describe('the scope of a project', () => {
  const owned = async () =>
    names(
      await hub.query<{ name: string }>(
        `select t.relname as name from pg_catalog.pg_class as t
         join pg_catalog.pg_attribute as a on a.attrelid = t.oid and a.attname = 'project_id'
         where t.relnamespace = 'hub'::regnamespace and t.relkind in ('r', 'p') and a.attnotnull
         order by 1`,
      ),
    )

  /** One row in each table that has a project, with whatever its columns demand. */
  async function fill(project_id: string) {
    const made: Record<string, unknown> = { project_id }
    const waiting = new Set(await owned())
    for (let round = 0; waiting.size > 0 && round < 10; round += 1) {
      for (const table of waiting) {
        const columns = await hub.query<{ name: string; type: string; value: string | null }>(
          `select a.attname as name, format_type(a.atttypid, null) as type,
             (
               select (regexp_match(pg_get_constraintdef(c.oid), $$ARRAY\\['([^']+)'$$))[1]
               from pg_catalog.pg_constraint as c
               where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
               limit 1
             ) as value
           from pg_catalog.pg_attribute as a
           where a.attrelid = ('hub.' || $1)::regclass and a.attnum > 0 and not a.attisdropped
             and a.attgenerated = '' and (
               a.attnotnull and not a.atthasdef and a.attidentity = ''
               or a.attname in ('name', 'lead_id')
             )`,
          [table],
        )
        const values = columns.map(({ name, type, value }) => made[name] ?? value ?? sample(type))
        try {
          const [row] = await hub.query<{ row: { id?: string } }>(
            `insert into hub.${table} as t (${columns.map(({ name }) => name)})
             values (${columns.map((_, index) => `$${index + 1}`)}) returning to_jsonb(t) as row`,
            values,
          )
          if (row?.row.id) made[`${table.slice(0, -1)}_id`] = row.row.id
          waiting.delete(table)
        } catch (error) {
          // What it refers to comes in a later round.
          if (!(error instanceof pg.DatabaseError) || error.code !== '23503') throw error
        }
      }
    }
    expect([...waiting]).toEqual([])
  }

  function sample(type: string): unknown {
    if (type === 'uuid') return crypto.randomUUID()
    if (/int|numeric|real|double/.test(type)) return 1
    if (type === 'jsonb') return '{}'
    if (type === 'hub.words') return stored(verbatim('x'))
    if (type === 'text[]') return ['x']
    if (/time|date/.test(type)) return new Date()
    if (type === 'boolean') return true
    return `sample_${Math.random().toString(36).slice(2)}`
  }

  beforeAll(async () => {
    await fill(hub.ids.mine ?? '')
    await fill(hub.ids.theirs ?? '')
  })

  test('shows no other project’s rows in any table, and takes none', async () => {
    for (const table of await owned()) {
      const seen = await hub.deps.db.transaction(hub.ids.mine ?? '', async (_, client) => {
        const { rows } = await client.query(`select distinct project_id from hub.${table}`)
        return rows
      })
      expect([table, seen]).toEqual([table, [{ project_id: hub.ids.mine }]])
      const nothing = await hub.deps.db.transaction('', async (_, client) => {
        const { rows } = await client.query(`select from hub.${table}`)
        return rows
      })
      expect([table, nothing]).toEqual([table, []])
      const changed = await hub.deps.db.transaction(hub.ids.mine ?? '', async (_, client) => {
        const { rowCount } = await client.query(`delete from hub.${table} where project_id = $1`, [
          hub.ids.theirs,
        ])
        return rowCount
      })
      expect([table, changed]).toEqual([table, 0])
      const moving = hub.deps.db.transaction(hub.ids.mine ?? '', (_, client) =>
        client.query(`update hub.${table} set project_id = $1`, [hub.ids.theirs]),
      )
      await expect(moving, table).rejects.toThrow()
    }
  })

  const ATTACKS = [
    `select set_config('hub.project', '*', true) from hub.leads`,
    `select pg_catalog.set_config('hub.project', '*', false)`,
    `select * from hub.leads, lateral (select set_config('hub.project', '*', true)) as x`,
    `with x as (select set_config('hub.project', '*', true)) select leads.* from x, hub.leads`,
    `select current_setting('hub.project'), leads.* from hub.leads`,
    `set hub.project = '*'; select * from hub.leads`,
    `update pg_catalog.pg_settings set setting = '*' where name = 'hub.project' returning *`,
    `with x as (update pg_catalog.pg_settings set setting = '*' where name = 'hub.project' returning 1) select * from hub.leads`,
    `do $$ begin set local hub.project = '*'; raise exception '%', (select string_agg(project_id::text, ' ') from hub.leads); end $$`,
    `create function pg_temp.f() returns setof hub.leads language sql set hub.project = '*' return null`,
    `create temporary table t as select * from hub.leads`,
    `create temporary view v as select * from hub.leads`,
    `select query_to_xml('set hub.project = ''*''', true, true, '')`,
    `select query_to_xml('select set_config(''hub.project'', ''*'', true)', true, true, '')`,
    `select query_to_xml('select * from hub.leads', true, true, '')`,
    `select table_to_xml('hub.leads', true, true, '')`,
    `select schema_to_xml('hub', true, true, '')`,
    `select * from ts_stat('select to_tsvector(project_id::text) from hub.leads')`,
    `select * from ts_stat('set hub.project = ''*''')`,
    `select private.find_leads('sample', 100)`,
    `select * from (select * from hub.leads) as x; reset role`,
    `select (select 'x' from (set role hub_rw) as y)`,
    `select * from pg_catalog.pg_stats where schemaname = 'hub'`,
    `select * from pg_catalog.pg_stat_activity where query like '%hub%'`,
    `select * from hub.leads where pg_catalog.pg_sleep(0) is not null or project_id is not null`,
    `table hub.leads`,
    `copy hub.leads to stdout`,
    `select * from hub.suppression`,
    `select pg_read_file('/etc/passwd')`,
    `select lo_import('/etc/passwd')`,
    `select rolpassword from pg_catalog.pg_authid`,
    `explain analyze select * from hub.leads`,
    `prepare p as select * from hub.leads`,
    `grant hub_rw to hub_data`,
    `alter role hub_data set hub.project = '*'`,
    `merge into hub.leads using (values (1)) as v(x) on true when matched then delete`,
    `select * from hub.leads for update`,
    `select pg_advisory_lock(8770, 2), leads.* from hub.leads`,
    `select pg_notify('hub', name) from hub.leads`,
    `select pg_ls_dir('.')`,
    `select * from pg_catalog.pg_largeobject`,
    `select lo_from_bytea(0, 'x')`,
    `select pg_terminate_backend(pid) from pg_catalog.pg_stat_activity`,
  ]

  const BREAKOUTS = [
    `set local hub.project = '*'`,
    `set role hub_rw`,
    `reset role`,
    `select 1) as x; set local hub.project = '*'; select * from (select * from hub.leads`,
    `select 1) as x union all select * from (select project_id from hub.leads`,
    `select * from hub.leads) as x limit 1 --`,
    `select * from hub.leads /*`,
    `commit`,
    `values (1)) as x; commit; select * from (select * from hub.leads`,
  ]

  test.each([true, false])(
    'is not left by hub_data, whatever it sends (read only: %s)',
    async (read_only) => {
      const client = await dataAgent({ read_only })
      try {
        const own = await client.ask('select distinct project_id from hub.leads')
        expect(own).toEqual([{ project_id: hub.ids.mine }])
        // As it stands, and as the subquery that the data agent makes of it.
        const wrapped = [...ATTACKS, ...BREAKOUTS].map(
          (text) => `select * from (\n${text}\n) as answer limit 201`,
        )
        for (const attack of [...ATTACKS, ...wrapped]) {
          const told = await client.ask(attack).then(
            (rows) => JSON.stringify(rows),
            (error: Error) => error.message,
          )
          expect(told, attack).not.toContain(hub.ids.theirs)
          const after = await client.ask('select distinct project_id from hub.leads')
          expect(after, attack).toEqual([{ project_id: hub.ids.mine }])
        }
      } finally {
        await client.end()
      }
    },
  )

  test('cannot be set by hub_data through a function, a block or a table of its own', async () => {
    const client = await dataAgent({ read_only: false })
    try {
      for (const refused of [
        `select set_config('hub.project', '*', true)`,
        `do $$ begin end $$`,
        `create temporary table t ()`,
        `create function hub.f() returns int language sql return 1`,
        `update hub.leads set name = 'x'`,
        `delete from hub.leads`,
        `select private.find_leads('x', 1)`,
        // A lock of the session outlives the transaction: no mail would go out until a restart.
        `select pg_advisory_lock(8770, 2)`,
        `select pg_try_advisory_lock_shared(1)`,
        `select pg_advisory_xact_lock(1)`,
        `select pg_notify('hub', 'x')`,
      ]) {
        await expect(client.ask(refused), refused).rejects.toMatchObject({ code: '42501' })
      }
      const rights = await hub.query(
        `select has_function_privilege('hub_data', 'pg_catalog.set_config(text, text, boolean)', 'execute') as sets,
           has_language_privilege('hub_data', 'plpgsql', 'usage') as does,
           has_database_privilege('hub_data', current_database(), 'temporary') as keeps,
           pg_has_role('hub_data', 'hub_rw', 'member') or pg_has_role('hub_data', 'hub_ro', 'member') as rises`,
      )
      expect(rights).toEqual([{ sets: false, does: false, keeps: false, rises: false }])
    } finally {
      await client.end()
    }
  })
})
