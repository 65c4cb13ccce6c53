import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { createWorld } from './world.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createTestDatabase()
  await createWorld(database)
  client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
})
afterAll(async () => {
  await client?.end()
  await database?.drop()
})

const x = (length: number) => `repeat('x', ${length})`
const bytes = (length: number) => `decode(repeat('00', ${length}), 'hex')`
const range = (from: string, below: string, to: string, above: string) => ({
  takes: [from, to],
  refuses: [below, above],
})
const words = (takes: string[]) => ({
  takes: takes.map((word) => `'${word}'`),
  refuses: ["'other'", "''", ...takes.map((word) => `'${word}x'`)],
})
const hash = { takes: [bytes(32)], refuses: [bytes(31), bytes(33)] }
const name = { takes: [x(1), x(120)], refuses: ["''", x(121)] }
const clock = {
  takes: ["'00:00'", "'19:59'", "'23:59'"],
  refuses: ["'24:00'", "'7:00'", "'12:60'", "'x12:00'", "'12:000'"],
}
const place = {
  lat: range('-90', '-90.1', '90', '90.1'),
  lon: range('-180', '-180.1', '180', '180.1'),
}

/** What each column takes, just at its limit, and what it refuses, just beyond. */
const COLUMNS: Record<string, Record<string, { takes: string[]; refuses: string[] }>> = {
  accounts: {
    email: { takes: ["'x'"], refuses: ["''"] },
    plan: words(['free', 'pro', 'enterprise']),
  },
  api_keys: {
    name,
    key_hash: hash,
    scopes: {
      takes: ["'{read}'", "'{read,write,ingest}'"],
      refuses: ["'{}'", "'{admin}'", "'{read,admin}'"],
    },
  },
  evidence: {
    number: { takes: ['1', '7'], refuses: ['0', '-1'] },
    signature: { takes: ['null'], refuses: ["'signed by nobody'"] },
  },
  evidence_keys: {
    kid: { takes: [x(1), x(100)], refuses: ["''", x(101)] },
    private_sealed: { takes: ["'sealed'"], refuses: ['null'] },
    withdrawn_reason: { takes: ['null'], refuses: ["''", x(1), x(501)] },
  },
  feed_links: {
    label: { takes: [x(1), x(120), 'null'], refuses: ["''", x(121)] },
    token_hash: hash,
  },
  idempotency_keys: { key: { takes: [x(1), x(255)], refuses: ["''", x(256)] } },
  positions: { flag: words(['gap', 'jump']) },
  organisations: { name },
  members: {
    email: {
      takes: ["'a@b'", `'a@' || ${x(252)}`],
      refuses: ["'a'", "'@b'", "'a@'", "'a b@c'", "'a@b@c'", "'a@b c'", `'a@' || ${x(253)}`],
    },
    role: words(['admin', 'member']),
    'status, user_id, invite_hash': {
      takes: [
        "'active', (select user_id from watchpost.accounts limit 1), null",
        `'invited', null, ${bytes(32)}`,
      ],
      refuses: [
        "'active', null, null",
        `'active', (select user_id from watchpost.accounts limit 1), ${bytes(32)}`,
        "'invited', null, null",
        `'invited', (select user_id from watchpost.accounts limit 1), ${bytes(32)}`,
        `'invited', null, ${bytes(31)}`,
        `'left', null, ${bytes(32)}`,
      ],
    },
  },
  sources: {
    source: { takes: ["'a'", "'a-1'"], refuses: ["'1a'", "'A'", "'a_b'", "''", "'-a'"] },
    interval_seconds: { takes: ['1'], refuses: ['0', '-1'] },
  },
  events: {
    ...place,
    severity: range('0', '-1', '100', '101'),
    status: words(['active', 'ended', 'retracted']),
  },
  zones: {
    ...place,
    label: name,
    radius_km: range('0.1', '0.09', '5000', '5000.1'),
    match: words(['point', 'footprint']),
    min_severity: range('0', '-0.1', '100', '100.1'),
    severity_multiplier: range('0.1', '0.09', '5', '5.1'),
    dwell_minutes: range('0', '-0.1', '10080', '10080.1'),
    quiet_mode: words(['hold', 'drop']),
    emergency_severity: {
      takes: ['0', '100', 'null'],
      refuses: ['-0.1', '100.1'],
    },
    aftershocks: {
      takes: [`'{"magnitude_gap": 0.5}'`, `'{"magnitude_gap": 5}'`, 'null'],
      refuses: [`'{"magnitude_gap": 0.49}'`, `'{"magnitude_gap": 5.01}'`, "'{}'", "'[]'"],
    },
    max_alerts_per_hour: { takes: ['1', '1000', 'null'], refuses: ['0', '1001'] },
    escalation: {
      takes: ["'[1]'", "'[1,2,3,4,5]'", 'null'],
      refuses: ["'[]'", "'{}'", "'[1,2,3,4,5,6]'"],
    },
    external_id: { takes: ["'a'", x(200), 'null'], refuses: ["''", x(201)] },
    color: {
      takes: ["'#09afff'", 'null'],
      refuses: ["'#09AFFF'", "'#09aff'", "'x#09afff'", "'#09afff0'"],
    },
    icon: { takes: ["'a'", `'a-1'`, x(32), 'null'], refuses: ["''", "'A'", "'a_b'", x(33)] },
    boxes: { takes: ["'{(1,1),(0,0)}'"], refuses: ["'{}'"] },
    'shape_type, polygon': {
      takes: ["'circle', null", "'circle', '{}'", "'polygon', '{}'"],
      refuses: ["'polygon', null", "'square', '{}'"],
    },
    'quiet_hours_start, quiet_hours_end, quiet_windows': {
      takes: [
        'null, null, null',
        "'22:00', '07:00', null",
        "null, null, '[1]'",
        "null, null, '[1,2,3,4,5,6,7,8]'",
        ...clock.takes.flatMap((time) => [`${time}, '12:00', null`, `'12:00', ${time}, null`]),
      ],
      refuses: [
        "'22:00', null, null",
        "null, '07:00', null",
        "'22:00', '07:00', '[1]'",
        "null, null, '[]'",
        "null, null, '{}'",
        "null, null, '[1,2,3,4,5,6,7,8,9]'",
        ...clock.refuses.flatMap((time) => [`${time}, '12:00', null`, `'12:00', ${time}, null`]),
      ],
    },
  },
  zone_shapes: { hash, bytes: { takes: ['1'], refuses: ['0'] } },
  channels: {
    kind: { takes: ["'a'", x(32)], refuses: ["''", x(33), "'A'", "'a1'", "'a b'"] },
    label: { takes: [x(1), x(120), 'null'], refuses: ["''", x(121)] },
    status: words(['ok', 'failing', 'disabled', 'unconfirmed']),
    messages: { takes: ["'{alert.raised}'", 'null'], refuses: ["'{}'"] },
  },
  alerts: {
    status: words(['pending', 'held', 'dispatched', 'failed', 'suppressed', 'recorded']),
    resolved_via: words(['api', 'console', 'mcp']),
    'seen_at, seen_via, seen_channel_id': {
      takes: [
        ...['api', 'console', 'mcp'].map((via) => `now(), '${via}', null`),
        "now(), 'channel', gen_random_uuid()",
        "now(), 'channel', null",
        'null, null, null',
      ],
      refuses: [
        "now(), 'chat', null",
        'now(), null, null',
        "null, 'api', null",
        "now(), 'api', gen_random_uuid()",
      ],
    },
    note: { takes: ["''", x(4000), 'null'], refuses: [x(4001)] },
  },
  alert_steps: {
    step: { takes: ['1', '5'], refuses: ['0', '6'] },
    after_minutes: { takes: ['1', '1440'], refuses: ['0', '1441'] },
    'status, reason, settled_at': {
      takes: ["'waiting', null, null", "'ran', null, now()", "'stopped', 'ended', now()"],
      refuses: [
        "'told', null, now()",
        "'waiting', null, now()",
        "'waiting', 'ended', null",
        "'ran', null, null",
        "'ran', 'ended', now()",
        "'stopped', null, now()",
        "'stopped', 'ended', null",
      ],
    },
  },
  deliveries: {
    trace: { takes: [x(70)], refuses: [x(71)] },
    type: words([
      ...[
        'raised',
        'revised',
        'escalated',
        'ended',
        'retracted',
        'acknowledged',
        'resolved',
        'reopened',
        'digest',
      ].map((word) => `alert.${word}`),
      'channel.test',
    ]),
    'type, blindness_id': {
      takes: ["'zone.blind', gen_random_uuid()", "'zone.sighted', gen_random_uuid()"],
      refuses: ["'zone.blind', null", "'alert.raised', gen_random_uuid()", "'zone.x', null"],
    },
    'type, trouble_id': {
      takes: ["'channel.failing', gen_random_uuid()", "'channel.recovered', gen_random_uuid()"],
      refuses: ["'channel.failing', null", "'alert.raised', gen_random_uuid()"],
    },
    status: words(['queued', 'held', 'sending', 'succeeded', 'failed', 'expired', 'cancelled']),
    remote_ref: { takes: [x(500), 'null'], refuses: [x(501)] },
  },
  batches: { trace: { takes: [x(70)], refuses: [x(71)] } },
  blindness: { status: words(['stale', 'down']) },
  drills: {
    'decided_at, decision': {
      takes: ["now(), '{}'", 'null, null'],
      refuses: ['now(), null', "null, '{}'"],
    },
  },
  heartbeat: { is_only: { takes: ['true'], refuses: ['false'] } },
  operator_sessions: {
    operator: { takes: [x(1), x(80)], refuses: ["''", x(81)] },
    link_hash: { ...hash, refuses: [...hash.refuses, 'null'] },
    session_hash: { takes: ['null'], refuses: [bytes(31), bytes(32), bytes(33)] },
  },
  operator_acts: {
    operator: { takes: [x(1), x(80)], refuses: ["''", x(81)] },
    via: words(['command', 'page']),
  },
  channel_troubles: { status: words(['failing', 'disabled']) },
  source_hours: { rejected: { takes: ['0', '2'], refuses: ['-1', '3'] } },
  delivery_attempts: {
    outcome: words(['ok', 'retry', 'fail_permanent', 'disable_channel']),
    request_id: { takes: [x(200), 'null'], refuses: [x(201)] },
  },
  visibility_changes: { thing: words(['alert', 'event']) },
}

/** Runs a statement and undoes it; answers the code of its error, or 'done'. */
async function tried(statement: string): Promise<string> {
  // Without triggers and foreign keys, which have their own tests.
  await client.query('begin; set local session_replication_role = replica')
  try {
    await client.query(statement)
    return 'done'
  } catch (error) {
    return (error as pg.DatabaseError).code ?? String(error)
  } finally {
    await client.query('rollback')
  }
}
const CHECK_VIOLATION = '23514'
const UNIQUE_VIOLATION = '23505'

describe.each(Object.entries(COLUMNS))('a row of %s', (table, columns) => {
  test.each(Object.entries(columns))(
    'takes %s up to the limit and no further',
    async (names, given) => {
      const set = (values: string) =>
        tried(
          `update watchpost.${table} set (${names}) = row(${values})
        where ctid = (select ctid from watchpost.${table} limit 1)`,
        )
      for (const values of given.takes) expect(await set(values), values).toBe('done')
      for (const values of given.refuses) expect(await set(values), values).toBe(CHECK_VIOLATION)
    },
  )
})

// Rows of the world above are none of these; the tests of sessions and of retention write them.
const UNTRIED = [
  'change_history',
  'issuer_keys',
  // A partition of positions.
  'positions_default',
  'refresh_tokens',
  'retention',
  'sign_in_links',
]

test('no table has a limit that is tried nowhere', async () => {
  const rows = await database.query<{ name: string }>(
    `select distinct conrelid::regclass::text as name from pg_constraint
    where contype = 'c' and connamespace = 'watchpost'::regnamespace and conparentid = 0 order by 1`,
  )
  const untried = rows
    .map(({ name }) => name.replace('watchpost.', ''))
    .filter((table) => !Object.hasOwn(COLUMNS, table) && !/_\d{8}$/.test(table))
  expect(untried).toEqual(UNTRIED)
})

describe('there is only one', () => {
  const copy = (table: string, changes: string, where: string) =>
    tried(
      `create temporary table copied on commit drop as select * from watchpost.${table} where ${where} limit 1;
      alter table copied drop column if exists tenant_id;
      update copied set ${changes};
      do $$ declare names text; begin
        select string_agg(quote_ident(attname), ', ') into names from pg_attribute
        where attrelid = 'copied'::regclass and attnum > 0 and not attisdropped;
        execute format('insert into watchpost.${table} (%1$s) select %1$s from copied', names);
      end $$`,
    )
  const id = 'id = gen_random_uuid()'

  test.each([
    ['key of a hash', 'api_keys', id, 'true', `${id}, key_hash = sha256('new')`],
    ['feed link of a hash', 'feed_links', id, 'true', `${id}, token_hash = sha256('new')`],
    [
      'invite of a hash',
      'members',
      `${id}, email = 'new@x'`,
      "status = 'invited'",
      `${id}, email = 'new@x', invite_hash = sha256('new')`,
    ],
    [
      'invite of an address, in whatever case',
      'members',
      `${id}, email = upper(email), invite_hash = sha256('new')`,
      "status = 'invited'",
      `${id}, email = 'new@x', invite_hash = sha256('new')`,
    ],
    [
      'membership of an account',
      'members',
      `${id}, role = 'member'`,
      "role = 'admin'",
      `${id}, user_id = gen_random_uuid()`,
    ],
    [
      'owner of an organisation',
      'members',
      `${id}, user_id = gen_random_uuid()`,
      "role = 'owner'",
      `${id}, user_id = gen_random_uuid(), role = 'admin'`,
    ],
    ['first message of a type and number', 'deliveries', id, 'true', `${id}, sequence = 1`],
    ['message about an act', 'deliveries', id, 'true', `${id}, act = 1`],
  ])('%s', async (_, table, same, where, other) => {
    expect(await copy(table, same, where)).toBe(UNIQUE_VIOLATION)
    expect(await copy(table, other, where)).toBe('done')
  })

  test('but messages sent once more and digests are as many as there are', async () => {
    const again = `${id}, redelivery_of = id`
    expect(await copy('deliveries', again, 'true')).toBe('done')
    expect(await copy('deliveries', `${id}, type = 'alert.digest'`, 'true')).toBe('done')
  })
})
