import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { createWorld, type World } from './world.ts'

/**
 * Of two transactions at once: whether the second waits for the first, and what it has begun to write by
 * then. What decides by rows that others change has to lock them before it decides. Answers are in golden/.
 */
let database: TestDatabase
let world: World
let first: pg.Client
let second: pg.Client
beforeAll(async () => {
  database = await createTestDatabase()
  world = await createWorld(database)
  await database.query(prepared())
  ;[first, second] = await Promise.all([connection(), connection()])
})
afterAll(async () => {
  await Promise.all([first?.end(), second?.end()])
  await database?.drop()
})

async function connection(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  return client
}

const id = (name: string) => `'${world.ids[name]}'::uuid`
const by = (who: string) =>
  `select set_config('request.jwt.claims', '{"sub": "${world.ids[who]}", "signed_in": true, "scopes": ["read", "write"]}', true);`
const zone = (name = 'private') => `(select id from watchpost.zones where label = '${name}')`
const channel = (name = 'private') => `(select id from watchpost.channels where label = '${name}')`
const alert = (name = 'private') => `(select id from watchpost.alerts where zone_name = '${name}')`
const delivery = (name: string) =>
  `(select id from watchpost.deliveries where last_error = '${name}')`

/** Something of everything that two may want at once. */
const prepared = () => `
  begin; set local session_replication_role = replica;
  update watchpost.accounts set email = email || '@x', confirmed_at = now();
  insert into watchpost.sources (source, title, attribution, types, interval_seconds) values ('other', 'Other', 'x', '{other}', 60);
  insert into watchpost.sessions (id, user_id) values ('00000000-0000-4000-8000-000000000001', ${id('owner')});
  insert into watchpost.refresh_tokens (token_hash, session_id) values (sha256('old'), '00000000-0000-4000-8000-000000000001');
  insert into watchpost.members (org_id, email, role, status, invite_hash, invite_expires_at)
    values (${id('theirs')}, 'owner@x', 'member', 'invited', sha256('invite'), now() + interval '1 day');
  update watchpost.deliveries set status = 'failed' where last_error = 'private';
  insert into watchpost.deliveries (channel_id, type, status, last_error) values (${channel()}, 'channel.test', 'sending', 'test');
  insert into watchpost.deliveries (alert_id, channel_id, type, status, last_error, turn_at)
    values (${alert()}, ${channel()}, 'alert.digest', 'queued', 'digest', now());
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status, last_error)
    select ${alert()}, ${channel()}, 'alert.revised', n, 'queued', 'waiting ' || n from generate_series(1, 3) n;
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status, last_error)
    values (${alert('shared')}, ${channel('shared')}, 'alert.ended', 1, 'held', 'held');
  insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status, last_error, next_attempt_at)
    values (${alert('foreign')}, ${channel('foreign')}, 'alert.revised', 1, 'held', 'held update', now());
  update watchpost.alerts set status = 'held', held_until = now() where zone_name = 'shared';
  update watchpost.alerts set status = 'pending' where zone_name = 'private';
  update watchpost.alerts set status = 'dispatched' where zone_name = 'foreign';
  update watchpost.alert_steps set due_at = now() - interval '1 minute';
  update watchpost.zones set escalation = jsonb_build_array(jsonb_build_object('after_minutes', 10, 'channel_ids', jsonb_build_array(${channel()})));
  delete from watchpost.match_memory;
  insert into watchpost.match_memory (zone_id, key, memory, seen_at, updated_at)
    select id, 'key', '{"kind": "stay", "alert": "out", "last_seen_at": "2026-01-01T00:00:00Z"}', '2026-01-01', '2026-01-01' from watchpost.zones;
  update watchpost.evidence_due set look_at = now() - interval '1 minute';
  select private.enqueue('deliver', gen_random_uuid(), '{}');
  insert into pgboss.job (id, name, data, source_name) select '00000000-0000-4000-8000-000000000002', 'dead',
    jsonb_build_object('delivery_id', ${delivery('waiting 1')}), 'deliver';
  commit`

/** What becomes of the second of two transactions, of which the first stays open. */
async function becomes(begun: string, then: string): Promise<string> {
  await Promise.all([first.query('begin'), second.query('begin')])
  try {
    await first.query(begun)
    const [{ pid }] = (await second.query('select pg_backend_pid() as pid')).rows
    let ended: string | undefined
    const running = second.query(then).then(
      (all) => {
        const { rows } = [all].flat().at(-1) ?? { rows: [] }
        ended = `goes on ${JSON.stringify(rows.map((row) => Object.values(row)))}`
      },
      (error: Error) => {
        ended = `fails: ${error.message}`
      },
    )
    for (;;) {
      const [now] = await database.query<{ waits: boolean; writes: string[] }>(
        `select cardinality(pg_blocking_pids($1)) > 0 as waits, array(
          select distinct relation::regclass::text from pg_locks l join pg_class c on c.oid = l.relation
          where l.pid = $1 and l.mode = 'RowExclusiveLock' and c.relkind in ('r', 'p')
            and c.relnamespace in ('watchpost'::regnamespace, 'pgboss'::regnamespace) order by 1) as writes`,
        [pid],
      )
      if (ended !== undefined) return ended
      if (now?.waits) {
        await first.query('rollback')
        await running
        return `waits, having begun to write ${now.writes.join(', ') || 'nothing'}`
      }
    }
  } finally {
    await Promise.all([first.query('rollback'), second.query('rollback')])
  }
}

type Case = [about: string, begun: string, then?: string]

async function agree(name: string, cases: Case[]): Promise<void> {
  const lines: string[] = []
  for (const [about, begun, then = begun] of cases) {
    lines.push(`${about}\n  ${await becomes(begun, then)}\n`)
  }
  await expect(lines.join('')).toMatchFileSnapshot(`golden/${name}.txt`)
}

test('what is counted is counted by one at a time', async () => {
  const key = (who: string) =>
    `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes) values (${id(who)}, 'wp', sha256(gen_random_uuid()::text::bytea), '{read}')`
  const invite = (org: string) =>
    `insert into watchpost.members (org_id, email, role, invite_hash) values (${id(org)}, gen_random_uuid() || '@x', 'member', sha256(gen_random_uuid()::text::bytea))`
  const made = (who: string) =>
    `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked) values (${id(who)}, 'webhook', 'x', 'x')`
  const link = (name: string) =>
    `insert into watchpost.feed_links (zone_id, owner_id, label, token_hash) select id, owner_id, 'x', sha256(gen_random_uuid()::text::bytea) from watchpost.zones where label = '${name}'`
  const drill = (who: string, name: string) =>
    `${by(who)} select private.begin_drill(${zone(name)}, '{}', false, false) is not null`
  const org = (who: string) => `${by(who)} select private.create_org('New') is not null`
  const zones = (who: string) => `select private.lock_zones(${id(who)})`
  await agree('locks-counted', [
    ['keys', key('owner')],
    ['keys of others', key('owner'), key('stranger')],
    ['members', invite('team')],
    ['members of another organisation', invite('team'), invite('theirs')],
    ['channels', made('owner')],
    ['channels of others', made('owner'), made('stranger')],
    ['zones', zones('owner')],
    ['zones of others', zones('owner'), zones('stranger')],
    ['feed links', link('private')],
    ['feed links of another zone', link('private'), link('shared')],
    ['drills', drill('owner', 'private'), drill('owner', 'shared')],
    ['drills of others', drill('owner', 'private'), drill('stranger', 'foreign')],
    ['organisations', org('owner')],
    ['organisations of others', org('owner'), org('stranger')],
  ])
})

test('accounts, organisations and sessions change one after the other', async () => {
  const joins = (who: string, org: string) =>
    `insert into watchpost.members (org_id, user_id, email, role, status) values (${id(org)}, ${id(who)}, 'x@y', 'member', 'active')`
  const plan = (who: string) =>
    `update watchpost.accounts set plan = 'enterprise' where user_id = ${id(who)}`
  const rename = (who: string, org = 'team') =>
    `${by(who)} select private.rename_org(${id(org)}, 'Renamed')`
  const heard = (name: string) =>
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity, reason, first_reason, status, raised_at, checks, zone_version, event_revision)
    select zone_id, zone_name, owner_id, org_id, 'test:new', source, event, severity, reason, first_reason, 'recorded', raised_at, checks, zone_version, event_revision
    from watchpost.alerts where zone_name = '${name}'`
  const accept = `${by('owner')} select private.accept_invite(sha256('invite'), null) is not null`
  const erase = (who: string) => `select private.erase_account(${id(who)})`
  const refresh = `select verdict from private.refresh_session(sha256('old'), sha256('new'), '{}')`
  const lock = (who: string) => `select private.lock_account(${id(who)})`
  const issuer = `select private.add_issuer_key('kid', 'x', '{}')`
  await agree('locks-people', [
    ['the states of an account', plan('member'), joins('member', 'theirs')],
    ['the states of others', plan('member'), joins('admin', 'theirs')],
    ['what is done with an account', lock('owner')],
    ['what is done with others', lock('owner'), lock('stranger')],
    ['an organisation by its owner and an admin', rename('owner'), rename('admin')],
    ['another organisation', rename('owner'), rename('stranger', 'theirs')],
    ['who joins while an alert is being written', heard('shared'), joins('stranger', 'team')],
    ['an alert while somebody joins', joins('stranger', 'team'), heard('shared')],
    ['an alert of nobody’s organisation', joins('stranger', 'team'), heard('private')],
    ['an invite', accept],
    ['an account that is deleted twice', erase('member')],
    ['accounts of two', erase('stranger'), erase('member')],
    ['a token that is used twice', refresh],
    ['the first key of the issuer', issuer],
  ])
})

test('a delivery is changed by one at a time, and judged by what the other left', async () => {
  const change = (name: string, set = "status = 'succeeded'") =>
    `update watchpost.deliveries set ${set} where last_error = '${name}'`
  const claim = (name: string) =>
    `select count(*) from private.claim_deliveries(array[${delivery(name)}], '{"webhook": {"schedule": "webhook"}}')`
  const settle = `select private.settle_states(jsonb_build_array(jsonb_build_object('id', ${delivery('waiting 1')}, 'status', 'succeeded')))`
  const noted = `update watchpost.alerts set note = 'x' where zone_name = 'private'`
  const bundle = `select private.bundle_delivery(${delivery('waiting 1')}); select count(digest_id) from watchpost.deliveries`
  const alone = `delete from watchpost.deliveries where last_error = 'digest';`
  const locks = (name: string) =>
    `select from watchpost.deliveries where last_error = '${name}' for update`
  const test = `${by('owner')} select private.end_test(${delivery('test')}, 'ok', 200, 1, null, null, null)`
  const gone = (table: string, name: string) =>
    `update watchpost.${table} set deleted_at = now() where label = '${name}'`
  const discard = `select private.discard_dead(array['00000000-0000-4000-8000-000000000002'::uuid], 'x')`
  const dead = `update pgboss.job set state = 'cancelled' where name = 'dead'`
  await agree('locks-deliveries', [
    ['taken up twice', claim('waiting 1')],
    ['two that are taken up', claim('waiting 1'), claim('shared')],
    ['settled while its alert changes', noted, settle],
    [
      'sent first while its alert changes',
      noted,
      `delete from watchpost.deliveries where last_error = 'private'; select private.deliver_alerts(array[${alert()}])`,
    ],
    ['bundled in a digest that is taken up', locks('digest'), bundle],
    ['bundled with one that is taken up', locks('waiting 2'), alone + bundle],
    ['the end of a test', test],
    [
      'cancelled with its channel while it is settled',
      change('waiting 1'),
      gone('channels', 'private'),
    ],
    ['cancelled with its zone while it is settled', change('waiting 1'), gone('zones', 'private')],
    ['cancelled with another channel', change('waiting 1'), gone('channels', 'shared')],
    ['given up with its job twice', discard],
    ['given up with a job that is taken up', dead, discard],
    ['given up while it is settled', change('waiting 1'), discard],
    ['sent again twice', `${by('owner')} select private.redeliver(${alert()}, null) is not null`],
    [
      'recovered twice',
      `${by('owner')} select private.recover_channel(${channel()}, now() - interval '1 day', 10) is not null`,
    ],
  ])
})

test('alerts, their steps and what is remembered are dealt with once', async () => {
  const snooze = `update watchpost.zones set snoozed_until = now() + interval '1 hour' where label = 'shared'`
  const release = (name = 'shared') => `select private.release_held(${zone(name)})`
  const noted = (name: string) =>
    `update watchpost.alerts set note = 'x' where zone_name = '${name}'`
  const due = `select count(*) from private.due_steps(10)`
  const run = `select private.run_step(${alert()}, 0, 1)`
  const settled = `select count(*) from private.settled_alerts(10)`
  const unseen = `select count(*) from private.unseen_stays(now(), 10)`
  const trouble = `update watchpost.channel_troubles set reason = 'x'`
  const watch = `select private.watch_channel(c) from watchpost.channels c where label = 'foreign'`
  const ingest = (source: string, name: string) =>
    `select count(*) from private.ingest_events('${source}', jsonb_build_array(jsonb_build_object('id', '${source}:${name}', 'type', 'other', 'title', '', 'lat', 1, 'lon', 1, 'ts', '2026-01-01T00:00:00Z', 'severity', 1, 'status', 'active', 'box', '[1, 1, 1, 1]'::jsonb, 'ends_at', '2026-01-02T00:00:00Z')))`
  await agree('locks-alerts', [
    ['released while its zone is snoozed', snooze, release()],
    ['released while it changes', noted('shared'), release()],
    ['released twice', release()],
    ['what is held of an alert that is out, released twice', release('foreign')],
    [
      'acknowledged through two channels',
      `select private.acknowledge_alert(${alert()}, ${channel()}) ->> 'outcome'`,
    ],
    ['steps that are due', 'select', due],
    ['steps that are due twice', due],
    ['a step that runs twice', run],
    ['records that are due', 'select', settled],
    ['records that are due twice', settled],
    ['stays that end', 'select', unseen],
    ['stays that end twice', unseen],
    ['a trouble that is looked at while it changes', trouble, watch],
    ['events of one source', ingest('test', 'a'), ingest('test', 'b')],
    ['events of two sources', ingest('test', 'a'), ingest('other', 'b')],
  ])
})
