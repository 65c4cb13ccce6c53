import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../../scripts/postgres/migrate.ts'
import type { StartedPostgres } from '../../scripts/postgres/postgres.ts'
import { startThrowawayPostgres } from '../../scripts/postgres/throwaway.ts'
import { migrateLikeSupabase, withClient } from '../../scripts/schema/schema.ts'

const ANNA = '00000000-0000-4000-8000-00000000000a'
const BERT = '00000000-0000-4000-8000-00000000000b'
const ZONE = '00000000-0000-4000-8000-0000000000f1'
const KEY = '00000000-0000-4000-8000-0000000000c1'
const HOOK = '00000000-0000-4000-8000-0000000000d1'
const REQUEST = '00000000-0000-4000-8000-0000000000e1'

const WORLD = `
  insert into auth.users (id, email) values ('${ANNA}', 'anna@example.com'), ('${BERT}', 'bert@example.com');
  update watchpost.accounts set plan = 'pro' where user_id = '${ANNA}';
  insert into watchpost.organisations (id, name) values ('${ANNA}', 'Harbour');
  insert into watchpost.members (org_id, user_id, email, role, status)
  values ('${ANNA}', '${ANNA}', 'anna@example.com', 'owner', 'active');
  insert into watchpost.api_keys (id, user_id, name, prefix, key_hash, scopes)
  values ('${KEY}', '${ANNA}', 'laptop', 'wp_live_ab12', sha256('one'), '{read}');
  insert into watchpost.sources (source, title, attribution, types, interval_seconds, last_success_at)
  values ('usgs', 'USGS', 'USGS', '{earthquake}', 60, now());
  insert into watchpost.zones (id, owner_id, label, lat, lon, radius_km, boxes)
  values ('${ZONE}', '${ANNA}', 'Pier', 10, 10, 50, array[box '(11,11),(9,9)']);
  insert into watchpost.channels (id, owner_id, kind, label, target_sealed, target_masked, signing_secret_sealed)
  values ('${HOOK}', '${ANNA}', 'webhook', 'Pager', 'MARK-sealed', 'https://example.com/…', 'MARK-signing');
  select private.ingest_events('usgs', jsonb_build_array(jsonb_build_object(
    'id', 'usgs:one', 'type', 'earthquake', 'title', 'M 6 near the pier', 'lat', 10, 'lon', 10, 'ts', now(),
    'severity', 60, 'status', 'active', 'aliases', '[]'::jsonb, 'box', '[10,10,10,10]'::jsonb)));
  update watchpost.batches set matched_at = now();
  select private.raise_alerts(jsonb_build_array(jsonb_build_object(
    'zone_id', '${ZONE}', 'zone_name', 'Pier', 'event_id', 'usgs:one', 'source', 'usgs',
    'severity', 60, 'reason', '60 is at least 40',
    'status', 'pending', 'raised_at', now(), 'checks', '[]'::jsonb, 'zone_version', 1, 'event_revision', 1)),
    '[{"event": {"id": "usgs:one", "title": "M 6 near the pier"}, "event_revision": 1}]', gen_random_uuid());
  update watchpost.deliveries
  set status = 'failed', attempts = 3, last_error = 'answered 410', payload = 'MARK-payload';
  select private.record_refusal('${ANNA}', '${KEY}', 'rate_limited', 'GET /api/v1/zones', '{}');
  update watchpost.audit set request_id = '${REQUEST}' where action = 'zone.created';
  insert into pgboss.job (name, data, state, source_name, source_retry_count, source_output)
  values ('dead', '{"source": "usgs"}', 'created', 'match', 20, '{"message": "out of patience"}');`

/** A hosted project: its own role makes everything and is no superuser, as at the dashboard. */
let server: StartedPostgres
let dashboard: string

beforeAll(async () => {
  server = await startThrowawayPostgres()
  dashboard = await migrateLikeSupabase(server.adminUrl)
  await withClient(server.adminUrl, (client) => client.query(WORLD))
})
afterAll(() => server?.stop())

type Row = Record<string, unknown>
async function run(sql: string): Promise<Row[]> {
  const { rows } = await withClient(dashboard, (client) => client.query<Row>(sql))
  return rows
}

/** The snippet with the values in its one line of input put in. */
async function snippet(name: string, input?: string): Promise<Row[]> {
  const text = await readFile(join(ROOT, 'supabase/snippets', `${name}.sql`), 'utf8')
  if (input === undefined) return run(text)
  const filled = text.replace(/(as \(values \(\n)[^\n]*/, (_, head: string) => `${head}  ${input}`)
  expect(filled).not.toBe(text)
  return run(filled)
}

describe('the views of support', () => {
  test('show the dashboard what there is', async () => {
    const one = async (view: string) => (await run(`select * from support.${view}`))[0]
    const anna = (await run(`select * from support.accounts where plan = 'pro'`))[0]
    expect(anna).toMatchObject({ email: 'anna@example.com', keys: '1', zones: '1', channels: '1' })
    expect(anna?.organisations).toBe('Harbour')
    expect(await run('select plan, accounts, zones from support.plans')).toEqual([
      { plan: 'free', accounts: '1', zones: 0 },
      { plan: 'pro', accounts: '1', zones: 1000 },
      { plan: 'enterprise', accounts: '0', zones: 10000 },
    ])
    expect(await one('api_keys')).toMatchObject({ prefix: 'wp_live_ab12', state: 'works' })
    expect(await one('organisations')).toMatchObject({ owner: 'anna@example.com', members: '1' })
    expect(await one('members')).toMatchObject({ organisation: 'Harbour', state: 'active' })
    expect(await one('zones')).toMatchObject({ label: 'Pier', state: 'watching', channels: null })
    expect(await one('channels')).toMatchObject({ state: 'ok', target: 'https://example.com/…' })
    expect(await one('feeds')).toMatchObject({ source: 'usgs', state: 'ok', events_24h: '1' })
    expect(await one('alerts_today')).toMatchObject({ zone: 'Pier', failed: '1', delivered: '0' })
    expect(await one('deliveries_failing')).toMatchObject({ last_error: 'answered 410' })
    const queue = await run(`select * from support.queue where queue in ('dead', 'match')`)
    expect(queue).toMatchObject([
      { queue: 'dead', waiting: '1' },
      { queue: 'match', waiting: '1', running: '0' },
    ])
    // How long the first of those that are due has waited, whatever else waits.
    const [oldest] = await withClient(server.adminUrl, async (client) => {
      const text = `insert into pgboss.job (name, data, start_after)
        select 'purge', '{}', now() - make_interval(hours => h) from unnest(array[1, 3, 2, -5]) as h
        returning id`
      const { rows } = await client.query<{ id: string }>(text)
      const told = await run(
        `select waiting, later, extract(epoch from oldest)::int / 3600 as hours from support.queue where queue = 'purge'`,
      )
      await client.query('delete from pgboss.job where id = any($1)', [rows.map(({ id }) => id)])
      return told
    })
    expect(oldest).toEqual({ waiting: '3', later: '1', hours: 3 })
    expect(await one('dead_letters')).toMatchObject({ queue: 'match', error: 'out of patience' })
    const made = await run(`select * from support.audit where action = 'zone.created'`)
    expect(made).toMatchObject([{ account: 'anna@example.com', actor: 'operator postgres' }])
  })

  test('show the same to service_role, and nothing to anybody else', async () => {
    const views = await run(
      `select relname as view from pg_class where relnamespace = 'support'::regnamespace`,
    )
    expect(views).toHaveLength(14)
    for (const { view } of views) {
      const read = (client: pg.Client) => client.query(`select * from support.${view}`)
      await withClient(server.adminUrl, async (client) => {
        await client.query('begin')
        const all = await read(client)
        await client.query('set local role service_role')
        expect((await read(client)).rows, String(view)).toEqual(all.rows)
        await client.query('commit')
        for (const role of ['anon', 'authenticated', 'watchpost_api', 'watchpost_jobs']) {
          await client.query(`reset role; set role ${role}`)
          await expect(read(client), `${view} as ${role}`).rejects.toMatchObject({ code: '42501' })
        }
      })
    }
  })

  test('hold no secret: no sealed text, no hash, no payload', async () => {
    const views = await run(
      `select relname as view from pg_class where relnamespace = 'support'::regnamespace`,
    )
    for (const { view } of views) {
      const text = JSON.stringify(await run(`select * from support.${view}`))
      expect(text).not.toContain('MARK-')
      expect(text).not.toMatch(/[0-9a-f]{64}/)
    }
    const secrets = ['channels (target_sealed)', 'channels (config_sealed)', 'api_keys (key_hash)']
    for (const secret of [...secrets, 'members (invite_hash)', 'deliveries (payload)']) {
      const [table, column] = secret.replace(')', '').split(' (')
      await expect(
        withClient(server.adminUrl, (client) =>
          client.query(`set role service_role; select ${column} from watchpost.${table}`),
        ),
      ).rejects.toMatchObject({ code: '42501' })
    }
  })
})

describe('the snippet', () => {
  test('each is run by a test here', async () => {
    const source = await readFile(import.meta.filename, 'utf8')
    for (const file of await readdir(join(ROOT, 'supabase/snippets'))) {
      expect(source).toContain(`snippet('${file.replace('.sql', '')}'`)
    }
  })

  test.each(['anna@example.com', ANNA, KEY, 'wp_live_ab12', REQUEST])(
    'who_is_this_caller finds the account by %s',
    async (what) => {
      const rows = await snippet('who_is_this_caller', `'${what}'`)
      expect(rows).toMatchObject([{ email: 'anna@example.com', plan: 'pro', zones: '1' }])
      expect(rows[0]?.keys).toBe('wp_live_ab12… works read laptop')
      expect(rows[0]?.last_refusals).toMatch(/rate_limited 1 times GET/)
    },
  )

  test('who_is_this_caller says nothing of a stranger', async () => {
    expect(await snippet('who_is_this_caller', `'nobody@example.com'`)).toEqual([])
  })

  test('why_did_an_alert_not_go_out leads to the first thing that failed', async () => {
    const why = async (zone: string, event: string) =>
      snippet('why_did_an_alert_not_go_out', `'${zone}'::uuid, '${event}'`)
    const told = await why(ZONE, 'usgs:one')
    expect(told.map(({ answer }) => answer).join(' ')).toBe(
      'yes yes yes no yes yes yes yes yes yes no',
    )
    expect(told.at(-1)?.found).toBe('webhook Pager alert.raised failed, 3 attempts answered 410')
    const unknown = await why(ZONE, 'usgs:two')
    expect(unknown[0]?.answer).toBe('yes')
    expect(unknown[1]).toMatchObject({ answer: 'no', found: 'nothing found' })
    expect((await why(BERT, 'usgs:one'))[0]?.answer).toBe('no')
  })

  test('requeue_dead_letters puts a job back where it came from', async () => {
    expect(await snippet('requeue_dead_letters')).toEqual([{ queue: 'match', requeued: '1' }])
    expect(await run('select * from support.dead_letters')).toEqual([])
    const back = await run(
      `select data, retry_limit from pgboss.job where name = 'match' and data ? 'source'`,
    )
    expect(back).toContainEqual({ data: { source: 'usgs' }, retry_limit: 20 })
    expect(await snippet('requeue_dead_letters')).toEqual([])
  })

  test('change_a_plan changes it once, and the audit log says who', async () => {
    const change = () => snippet('change_a_plan', `'Bert@example.com', 'enterprise'`)
    expect(await change()).toMatchObject([{ plan: 'enterprise', outcome: 'changed' }])
    expect(await change()).toMatchObject([{ plan: 'enterprise', outcome: 'is so already' }])
    expect(await snippet('change_a_plan', `'no@example.com', 'pro'`)).toMatchObject([
      { outcome: 'no such account' },
    ])
    await withClient(server.adminUrl, (client) =>
      client.query(`insert into auth.users (id, email, is_sso_user)
        values ('00000000-0000-4000-8000-00000000000d', 'bert@example.com', true)`),
    )
    const several = await snippet('change_a_plan', `'bert@example.com', 'pro'`)
    expect(several.map(({ plan, outcome }) => [plan, outcome]).sort()).toEqual([
      ['enterprise', 'one of several: put its id instead'],
      ['free', 'one of several: put its id instead'],
    ])
    expect(await snippet('change_a_plan', `'${BERT}', 'pro'`)).toMatchObject([
      { user_id: BERT, plan: 'pro', outcome: 'changed' },
    ])
    const told = await run(
      `select actor from support.audit where action = 'account.plan_changed' and account like 'bert%'`,
    )
    expect(told).toEqual([1, 2].map(() => ({ actor: 'operator supabase_like' })))
  })

  test('revoke_a_key revokes it once', async () => {
    const revoke = (id: string) => snippet('revoke_a_key', `'${id}'::uuid`)
    expect(await revoke(KEY)).toMatchObject([{ name: 'laptop', outcome: 'revoked now' }])
    expect(await revoke(KEY)).toMatchObject([{ name: 'laptop', outcome: 'was revoked already' }])
    expect(await revoke(ANNA)).toMatchObject([{ outcome: 'no such key' }])
    expect(await run('select state from support.api_keys')).toEqual([{ state: 'revoked' }])
  })

  test('feed_status says how each feed is', async () => {
    expect(await snippet('feed_status')).toMatchObject([
      { source: 'usgs', state: 'ok', batches_unmatched: '0', error: null },
    ])
  })
})
