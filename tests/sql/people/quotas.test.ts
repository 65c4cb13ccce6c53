import { test } from 'vitest'
import type { Case } from '../questions.ts'
import { agree, allow, by, id, OUTCOME, outcome, useQuestions } from './scene.ts'

/** How much of everything an account may have: what is counted, at the limit and beyond. Answers are in golden/. */
useQuestions()

const enterprise = (who = 'owner') =>
  `update watchpost.accounts set plan = 'enterprise' where user_id = ${id(who)};`

test('members and invites, by the plan of the owner', async () => {
  const fill = (count: number, org = 'team') =>
    `insert into watchpost.members (org_id, email, role, status, invite_hash)
    select ${id(org)}, n || '@x', 'member', 'invited', sha256(n::text::bytea) from generate_series(1, ${count}) n;`
  const one = `insert into watchpost.members (org_id, email, role, invite_hash) values (${id('team')}, 'new@x', 'member', sha256('new'))`
  await agree('quota-members', [
    outcome('the fiftieth', one, fill(45)),
    outcome('one more', one, fill(46)),
    outcome('one more, where another organisation has many', one, fill(46, 'theirs')),
    outcome('one more, of an owner on enterprise', one, fill(46) + enterprise()),
    outcome('one more, of an admin on enterprise', one, fill(46) + enterprise('admin')),
  ])
})

test('requests with an idempotency key, for a day', async () => {
  const begin = `select private.begin_idempotent('POST /zones', 'a', sha256('body'))`
  const used = (ago: string) =>
    `insert into watchpost.idempotency_keys (user_id, route, key, request_hash, status, resource_id, created_at)
    values (${id('owner')}, 'POST /zones', 'a', sha256('body'), 201, gen_random_uuid(), now() - interval '${ago}');`
  await agree('idempotency', [
    outcome('for the first time', begin, '', by('owner')),
    outcome('a moment before a day is over', begin, used('23:59:59.999'), by('owner')),
    outcome('as a day is over', begin, used('24:00:00'), by('owner')),
  ])
})

test('keys that work, and all that were made in a day', async () => {
  const fill = (count: number, more: string, who = 'owner') =>
    `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes, expires_at, revoked_at, created_at)
    select ${id(who)}, 'wp', sha256(n::text::bytea), '{read}', ${more} from generate_series(1, ${count}) n;`
  const old = "now() - interval '2 days'"
  const one = `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes) values (${id('owner')}, 'wp', sha256('new'), '{read}')`
  await agree('quota-keys', [
    outcome('the twentieth', one, fill(18, `null, null, ${old}`)),
    outcome('one more', one, fill(19, `null, null, ${old}`)),
    outcome(
      'one more, with those that expire in a second',
      one,
      fill(19, `now() + interval '1 s', null, ${old}`),
    ),
    outcome('one more, with those that have expired', one, fill(19, `now(), null, ${old}`)),
    outcome('one more, with those that were revoked', one, fill(19, `null, now(), ${old}`)),
    outcome(
      'one more, with those of somebody else',
      one,
      fill(19, `null, null, ${old}`, 'stranger'),
    ),
    outcome('the 200th of a day', one, fill(198, 'null, now(), now()')),
    outcome('one more of a day', one, fill(199, 'null, now(), now()')),
    outcome(
      'one more of a day, with some of the day before',
      one,
      fill(199, "null, now(), now() - interval '24 hours'"),
    ),
    outcome(
      'one more of a day, with some a moment younger',
      one,
      fill(199, "null, now(), now() - interval '23 hours 59 minutes'"),
    ),
    outcome(
      'one more of a day, with those of somebody else',
      one,
      fill(199, 'null, now(), now()', 'stranger'),
    ),
  ])
})

test('organisations that somebody owns', async () => {
  const fill = (count: number, role = 'owner') =>
    `with made as (insert into watchpost.organisations (name) select n::text from generate_series(1, ${count}) n returning id)
    insert into watchpost.members (org_id, user_id, email, role, status) select id, ${id('owner')}, 'x@y', '${role}', 'active' from made;
    update watchpost.accounts set email = email || '@x';`
  const one = `select private.create_org('new')`
  await agree('quota-organisations', [
    outcome('the twentieth', one, fill(18), by('owner')),
    outcome('one more', one, fill(19), by('owner')),
    outcome('one more, where they are an admin of some', one, fill(19, 'admin'), by('owner')),
    outcome('by a key', one, '', by('owner', { signed_in: false })),
  ])
})

test('zones, and those that were deleted', async () => {
  const fill = (count: number, deleted = 'null', org = 'null', who = 'owner') =>
    `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes, deleted_at)
    select ${id(who)}, ${org}, n::text, 1, 2, '{(3,2),(1,0)}', ${deleted} from generate_series(1, ${count}) n;${allow(5)}`
  const one = `insert into watchpost.zones (owner_id, label, lat, lon, boxes) values (${id('owner')}, 'new', 1, 2, '{(3,2),(1,0)}')`
  const restore = `update watchpost.zones set deleted_at = null where label = 'gone'`
  const gone = fill(1, 'now()').replace('n::text', "'gone'")
  const recent = "now() - interval '29 days 23 hours'"
  const long = "now() - interval '30 days'"
  const room = (about: string, prepared: string): Case => [
    about,
    'select room, code, refusal from private.room_for_zones()',
    `${prepared}; ${by('owner')}`,
  ]
  await agree('quota-zones', [
    outcome('the fifth', one, fill(2)),
    outcome('one more', one, fill(3)),
    outcome('one more, with shared ones', one, fill(3, 'null', id('team'))),
    outcome('one more, with deleted ones', one, fill(3, 'now()')),
    outcome('one more, with those of somebody else', one, fill(3, 'null', 'null', 'stranger')),
    outcome('one with 19 deleted', one, fill(19, recent)),
    outcome('one with 20 deleted', one, fill(20, recent)),
    outcome('one with 20 deleted long ago', one, fill(20, long)),
    outcome('restored as the fifth', restore, gone + fill(2)),
    outcome('restored as one more', restore, gone + fill(3)),
    outcome('restored beside deleted ones', restore, gone + fill(3, 'now()')),
    outcome(
      'changed, with too many',
      `update watchpost.zones set color = '#000000' where label = 'private'`,
      fill(9),
    ),
    room(
      'room for more',
      fill(1, 'null', id('team')) + fill(1, 'now()') + fill(1, 'null', 'null', 'stranger'),
    ),
    room('room with none left', fill(3)),
    room('room with too many', fill(9)),
    room('room with 19 deleted', fill(19, recent)),
    room('room with 20 deleted', fill(20, recent)),
    room('room with 20 deleted long ago', fill(20, long)),
  ])
})

test('channels, and those that were deleted', async () => {
  const fill = (count: number, deleted = 'null', org = 'null', who = 'owner') =>
    `insert into watchpost.channels (owner_id, org_id, kind, label, target_sealed, target_masked, deleted_at)
    select ${id(who)}, ${org}, 'webhook', n::text, 'x', 'x', ${deleted} from generate_series(1, ${count}) n;`
  const one = `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked) values (${id('owner')}, 'webhook', 'x', 'x')`
  const restore = `update watchpost.channels set deleted_at = null where label = 'gone'`
  const gone = fill(1, 'now()').replace('n::text', "'gone'")
  const recent = "now() - interval '29 days 23 hours'"
  await agree('quota-channels', [
    outcome('the fiftieth', one, fill(47)),
    outcome('one more', one, fill(48)),
    outcome('one more, with shared ones', one, fill(48, 'null', id('team'))),
    outcome('one more, with deleted ones', one, fill(48, 'now()')),
    outcome('one more, with those of somebody else', one, fill(48, 'null', 'null', 'stranger')),
    outcome('one with 199 deleted', one, fill(199, recent)),
    outcome('one with 200 deleted', one, fill(200, recent)),
    outcome('one with 200 deleted long ago', one, fill(200, "now() - interval '30 days'")),
    outcome('restored as the fiftieth', restore, gone + fill(47)),
    outcome('restored as one more', restore, gone + fill(48)),
    outcome(
      'changed, with too many',
      `update watchpost.channels set label = 'x' where label = 'private'`,
      fill(60),
    ),
  ])
})

test('feed links of a zone, tests of a channel, and mails that ask for consent', async () => {
  const link = (count: number, zone: string) =>
    `insert into watchpost.feed_links (zone_id, owner_id, token_hash)
    select (select id from watchpost.zones where label = '${zone}'), ${id('owner')}, sha256(n::text::bytea) from generate_series(1, ${count}) n;`
  const oneLink = `insert into watchpost.feed_links (zone_id, owner_id, token_hash)
    select id, owner_id, sha256('new') from watchpost.zones where label = 'private'`
  const channel = `(select id from watchpost.channels where label = 'private')`
  const sent = (count: number, age: string, type = 'channel.test', to = channel) =>
    `insert into watchpost.deliveries (channel_id, type, created_at) select ${to}, '${type}', now() - interval '${age}' from generate_series(1, ${count});`
  const oneTest = `select private.begin_test(${channel}, '{}')`
  const mail = `update watchpost.channels set kind = 'email', confirmation_id = gen_random_uuid(), status = 'unconfirmed';`
  const asked = (
    about: string,
    times: number,
    mailbox: string,
    who = 'owner',
    prepared = '',
  ): Case => [
    about,
    `select array(select round(private.begin_confirmation(c.id, ${mailbox}) / 3600.0, 1)::float8 from watchpost.channels c, generate_series(1, ${times}) n where c.label = 'shared' order by n)`,
    `${mail} ${prepared} ${by(who)}`,
  ]
  const pushed = (count: number, before: number): Case => [
    `${count} events of one’s own after ${before}, where the plan allows two a day and that of others more`,
    `select left(pg_temp.outcome($statement$select from private.push_events('custom:x', null, (
      select jsonb_agg(jsonb_build_object('id', n::text, 'type', 'other', 'title', '', 'lat', 1, 'lon', 1,
        'ts', '2026-01-01T00:00:00Z', 'severity', 1, 'status', 'active', 'aliases', '[]'::jsonb,
        'box', '[1, 1, 1, 1]'::jsonb)) from generate_series(1, ${count}) n),
      '{"pro": 9, "enterprise": 2}')$statement$), 5)`,
    `${OUTCOME} update watchpost.accounts set plan = 'enterprise' where user_id = ${id('stranger')};
    insert into watchpost.rate_limits (bucket, tat)
    select 'events:' || ${id('stranger')}, now() + interval '12 h' from generate_series(1, ${before});
    ${by('stranger')}`,
  ]
  await agree('quota-others', [
    outcome('the twentieth link', oneLink, link(18, 'private')),
    outcome('one more link', oneLink, link(19, 'private')),
    outcome('one more, with links of another zone', oneLink, link(19, 'shared')),
    outcome('the hundredth test of a day', oneTest, sent(99, '23 hours'), by('owner')),
    outcome('one more test', oneTest, sent(100, '23 hours'), by('owner')),
    outcome('one more, with those of the day before', oneTest, sent(100, '24 hours'), by('owner')),
    outcome(
      'one more, with other messages',
      oneTest,
      sent(100, '1 hour', 'channel.confirmation'),
      by('owner'),
    ),
    outcome(
      'one more, with tests of another channel',
      oneTest,
      sent(
        100,
        '1 hour',
        'channel.test',
        `(select id from watchpost.channels where label = 'shared')`,
      ),
      by('owner'),
    ),
    asked('mails to one mailbox', 4, "'a'"),
    asked('mails that one person asks for', 21, 'n::text'),
    [
      'asked for with a key that only reads',
      `select private.begin_confirmation(${channel}, 'a')`,
      mail + by('owner', { scopes: ['read'] }),
    ],
    asked('asked for by an admin', 1, "'a'", 'admin'),
    asked('asked for by a member: not their channel', 1, "'a'", 'member'),
    asked('asked for by a stranger', 1, "'a'", 'stranger'),
    asked(
      'of a deleted channel',
      1,
      "'a'",
      'owner',
      'update watchpost.channels set deleted_at = now();',
    ),
    outcome(
      'of a channel that needs none',
      `select private.begin_confirmation(${channel}, 'a')`,
      '',
      by('owner'),
    ),
    outcome(
      'of one that is confirmed',
      `select private.begin_confirmation(${channel}, 'a')`,
      `${mail} update watchpost.channels set confirmed_at = now()`,
      by('owner'),
    ),
    ...[1, 2].map((count) => pushed(count, 1)),
    ...[2, 3].map((count) => pushed(count, 0)),
    [
      'a test with a key that only reads',
      `select private.begin_test(${channel}, '{}')`,
      by('owner', { scopes: ['read'] }),
    ],
    ...['owner', 'admin', 'member', 'stranger'].map(
      (who): Case => [
        `a test of a shared channel by: ${who}`,
        `select private.begin_test((select id from watchpost.channels where label = 'shared'), '{}') is not null`,
        by(who),
      ],
    ),
    [
      'a test of a deleted channel',
      `select private.begin_test(${channel}, '{}')`,
      `update watchpost.channels set deleted_at = now(); ${by('owner')}`,
    ],
  ])
})
