import { afterAll, beforeAll, test } from 'vitest'
import { ago, type Case, createQuestions, varied } from './questions.ts'

/**
 * What the functions that decide in SQL answer, case by case: each at an edge, and on both sides of
 * it. The cases that belong together are in one file of golden/.
 */
let questions: Awaited<ReturnType<typeof createQuestions>>
beforeAll(async () => {
  questions = await createQuestions()
})
afterAll(() => questions?.close())

const agree = (name: string, cases: Case[]) => questions.agree(name, cases)

test('how a source is, and when its zones are blind', async () => {
  const states = [
    '',
    'enabled: false',
    ...['179 s', '180 s', '181 s'].map((time) => `last_success_at: ${ago(time)}`),
    ...['599 s', '600 s'].map((time) => `interval_seconds: 200; last_success_at: ${ago(time)}`),
    `last_success_at: null; created_at: ${ago('179 s')}`,
    `last_success_at: null; created_at: ${ago('180 s')}`,
    `last_success_at: null; error_at: now(); created_at: now(); error: 'see https://a:b@c.example/d?e'`,
    `last_success_at: ${ago('1 hour')}; error_at: ${ago('1 hour')}; error: 'x'`,
    `last_success_at: ${ago('1 hour')}; error_at: ${ago('59 minutes')}; error: 'x'; error_code: 'fetch'`,
    `last_success_at: now(); error_at: now(); error: 'x'`,
    ...[3599, 3600, 3601].map(
      (s) => `last_success_at: now(); longest_silence_seconds: 1; last_event_at: ${ago(`${s} s`)}`,
    ),
    ...[7200, 7201, 9000].map(
      (s) =>
        `last_success_at: now(); longest_silence_seconds: ${s}; last_event_at: ${ago('1 day')}`,
    ),
    ...['2, 10', '3, 9', '3, 10'].map((both) => {
      const [polls, items] = both.split(', ')
      return `last_success_at: now(); garbled_polls: ${polls}; garbled_items: ${items}`
    }),
  ]
  const asked =
    'private.source_status(r), private.source_cause(r), private.source_trouble(r), private.silent_after(r)'
  await agree('source-states', varied('sources', "source = 'test'", asked, states))
  await agree(
    'source-times',
    varied(
      'sources',
      "source = 'test'",
      'private.blind_after(r)::text, private.well_after(r)::text',
      [...[1, 149, 150, 151, 299, 300, 301].map((seconds) => `interval_seconds: ${seconds}`)],
    ),
  )
})

test('which zones miss events without a source', async () => {
  const other = (changes: string) => `
    insert into watchpost.sources (source, title, attribution, types, interval_seconds, last_success_at)
    values ('other', 'Other', 'another', '{other,flood}', 60, now());
    update watchpost.sources set stand_ins = '[{"by": "other", "types": ["other"], "from_severity": 40}]',
      region = array[box '(10,10),(-10,-10)'] where source = 'test';
    ${changes}`
  const ask = `select private.is_blind_without(z, s) from watchpost.zones z, watchpost.sources s
    where z.label = 'private' and s.source = 'test'`
  const zone = (set: string) => `update watchpost.zones set ${set};`
  const source = (set: string, name = 'test') =>
    `update watchpost.sources set ${set} where source = '${name}';`
  const changes = [
    '',
    zone("sources = '{test}', min_severity = 10"),
    zone("sources = '{other}', min_severity = 10"),
    zone("sources = '{test,other}'"),
    zone("types = '{flood}'"),
    zone("types = '{other}', min_severity = 10"),
    zone("types = '{other,flood}', min_severity = 90"),
    ...[39, 40, 41].map((least) => zone(`min_severity = ${least}`)),
    ...[79, 80, 81].map((least) => zone(`min_severity = ${least}, severity_multiplier = 2`)),
    zone("boxes = '{(30,30),(20,20)}'"),
    zone("boxes = '{(11,11),(10,10)}', min_severity = 1"),
    zone("boxes = '{(30,30),(20,20);(1,1),(0,0)}', min_severity = 1"),
    source('region = null'),
    ...[59, 60, 61].map(
      (least) =>
        `${source(`ceilings = '{"other": 60}', region = null, stand_ins = '[]'`)}${zone(`min_severity = ${least}`)}`,
    ),
    `${source("types = '{other,flood}'")}${zone('min_severity = 50')}`,
    `${source("types = '{other,flood}'")}${zone("min_severity = 50, types = '{other}'")}`,
    source(`stand_ins = '[]'`),
    `${source('enabled = false', 'other')}`,
    `${source("types = '{flood}'", 'other')}${zone("types = '{other}', min_severity = 50")}`,
    `${source("types = '{flood}'", 'other')}${zone('min_severity = 50')}`,
    `${source("region = array[box '(5,5),(-5,-5)']", 'other')}${zone('min_severity = 50')}`,
    `${source("region = array[box '(2,2),(1.5,1)']", 'other')}${zone('min_severity = 50')}`,
    `${source("region = array[box '(3,2),(1,0)']", 'other')}${zone('min_severity = 50')}`,
  ]
  await agree(
    'blind',
    changes.map((change) => [change || 'as it is', ask, other(change)]),
  )
  const asked = `private.coverage(null, null)`
  await agree('coverage', [
    ['all', `select ${asked}`, other('')],
    ['of a source', `select private.coverage('{other}', null)`, other('')],
    ['of a type', `select private.coverage(null, '{flood}')`, other('')],
    ['of neither', `select private.coverage('{test}', '{flood}')`, other('')],
    [
      'without what people push',
      `select ${asked}, (select array_agg(s.source) from private.source_states() s)`,
      other(`insert into watchpost.sources (source, title, attribution, types, interval_seconds)
        values ('customary', 'C', 'c', '{other}', 60)`),
    ],
    [
      'what may keep a zone silent',
      `select set_config('request.jwt.claims', '${questions.world.claims.owner}', true) is null,
        private.zone_obstacles('${questions.world.ids.owner}', null, '{test,other,none,custom}', '{other,flood,storm}')`,
      other(`${source('enabled = false')}${source(`ceilings = '{"flood": 7}'`, 'other')}`),
    ],
    [
      'what a source that is off could tell',
      `select set_config('request.jwt.claims', '${questions.world.claims.owner}', true) is null,
        private.zone_obstacles('${questions.world.ids.owner}', null, null, '{flood}')`,
      other(`${source(`ceilings = '{"flood": 7}', enabled = false`, 'other')}`),
    ],
    [
      'of somebody else',
      `select set_config('request.jwt.claims', '${questions.world.claims.stranger}', true) is null,
        private.zone_obstacles('${questions.world.ids.owner}', null, '{test}', '{other}')`,
    ],
    [
      'attributions',
      `select private.attribution_among(private.attributions(), 'test'),
        private.attribution_among(private.attributions(), 'unknown'), private.attribution_among(null, 'test')`,
    ],
  ])
})

test('which channels an alert goes to, and why one gets nothing', async () => {
  const id = (name: string) => `(select id from watchpost.channels where label = '${name}')`
  const { owner, member, stranger, team, theirs } = questions.world.ids
  const goes = (who = owner, org = 'null', chosen = 'null') => `
    select array(select c.label from private.zone_channels('${who}', ${org}, ${chosen}) z
      join watchpost.channels c on c.id = z.channel_id order by 1),
      set_config('request.jwt.claims', '{"sub": "${who}"}', true) is null,
      private.zone_reach('${who}', ${org}, ${chosen}, jsonb_build_array(
        jsonb_build_object('after_minutes', 5, 'channel_ids', jsonb_build_array(${id('private')})),
        jsonb_build_object('after_minutes', 9, 'channel_ids',
          jsonb_build_array(${id('shared')}, ${id('foreign')}))))`
  const set = (name: string, change: string) =>
    `update watchpost.channels set ${change} where label = '${name}'`
  const org = `'${team}'`
  const both = `array[${id('private')}, ${id('shared')}]`
  const askers: Case[] = [
    ['of the owner', goes()],
    ['of the team', goes(owner, org)],
    ['of another organisation', goes(owner, `'${theirs}'`)],
    ['of a member', goes(member, org)],
    ['of a member alone', goes(member)],
    ['none', goes(owner, 'null', `'{}'`)],
    ['a chosen one', goes(owner, 'null', `array[${id('private')}]`)],
    ['a chosen one of the team', goes(owner, 'null', `array[${id('shared')}]`)],
    ['both', goes(owner, org, both)],
    ['that of somebody else', goes(owner, 'null', `array[${id('foreign')}]`)],
    ['of a stranger', goes(stranger, 'null', both)],
  ]
  const worlds: Case[] = [
    ['', ''],
    ['private off', set('private', 'enabled = false')],
    ['private deleted', set('private', 'deleted_at = now()')],
    ['private unconfirmed', set('private', "status = 'unconfirmed'")],
    ['shared off', set('shared', 'enabled = false')],
    ['shared deleted', set('shared', 'deleted_at = now()')],
    ['shared unconfirmed', set('shared', "status = 'unconfirmed'")],
    ['shared takes no new alert', set('shared', "messages = '{alert.ended}'")],
    ['private is the team’s as well', set('private', `org_id = ${org}`)],
    ['the owner has left', `delete from watchpost.members where user_id = '${owner}'`],
  ]
  await agree(
    'channels',
    worlds.flatMap(([what, before]) =>
      askers.map(([who, ask]): Case => [`${what}: ${who}`, ask, before]),
    ),
  )
  const refusal = `select private.refusal_of(c, z), (
      select coalesce(array_agg(d.reason order by d.reason), '{}') from private.drill_channels(z) d)
    from watchpost.channels c, watchpost.zones z where c.label = 'private' and z.label = 'private'`
  await agree('refusals', [
    ['none', refusal],
    ['deleted', refusal, set('private', 'deleted_at = now()')],
    ['off', refusal, set('private', 'enabled = false')],
    ['unconfirmed', refusal, set('private', "status = 'unconfirmed'")],
    ['takes other messages', refusal, set('private', "messages = '{alert.ended}'")],
    ['zone deleted', refusal, 'update watchpost.zones set deleted_at = now()'],
    ['zone sends elsewhere', refusal, `update watchpost.zones set channel_ids = '{}'`],
    ['free', refusal, "update watchpost.accounts set plan = 'free'"],
    ['banned', refusal, `update watchpost.accounts set banned_until = now() + interval '1 s'`],
    ['was banned', refusal, 'update watchpost.accounts set banned_until = now()'],
    ['of another', refusal, `update watchpost.zones set owner_id = '${stranger}'`],
  ])
  const types = 'raised,revised,escalated,ended,acknowledged,resolved,reopened,digest'.split(',')
  await agree('takes', [
    ...types.map(
      (type): Case => [
        type,
        `select private.takes(null, 'alert.${type}'), private.takes('{alert.revised}', 'alert.${type}')`,
      ],
    ),
  ])
  await agree(
    'trouble',
    varied('channels', "label = 'private'", 'private.is_in_trouble(r)', [
      '',
      ...['14 minutes 59 s', '15 minutes', '16 minutes'].flatMap((time) =>
        ['ok', 'failing'].map((status) => `status: '${status}'; failing_since: ${ago(time)}`),
      ),
      `status: 'failing'; failing_since: ${ago('1 hour')}; deleted_at: now()`,
      "status: 'disabled'; disabled_reason: 'It was switched off.'",
      "status: 'disabled'; disabled_reason: 'Gone.'",
    ]),
  )
  const teller = `select (select label from watchpost.channels where id = private.teller_for(c))
    from watchpost.channels c where c.label = 'private'`
  const second = (set = '') => `
    insert into watchpost.channels (owner_id, kind, label, host, target_sealed, target_masked)
      values ('${owner}', 'webhook', 'second', 'b', 'x', 'x'), ('${owner}', 'webhook', 'third', 'a', 'x', 'x');
    update watchpost.channels set host = 'a' where label = 'private';
    update watchpost.channels set created_at = now() - interval '1 day' where label = 'third';
    ${set}`
  await agree('tellers', [
    ['none', teller],
    ['at another host', teller, second()],
    ...[
      'deleted_at = now()',
      'enabled = false',
      "status = 'failing'",
      `org_id = ${org}`,
      "messages = '{alert.raised}'",
      `owner_id = '${stranger}'`,
      "host = 'a'",
      "host = 'a', created_at = now() - interval '2 days'",
      "host = 'a', kind = 'slack'",
    ].map((change): Case => [`second: ${change}`, teller, second(set('second', change))]),
    ['free', teller, second("update watchpost.accounts set plan = 'free'")],
    ['banned', teller, second("update watchpost.accounts set banned_until = 'infinity'")],
  ])
})

test('what of a channel is forgotten when it changes', async () => {
  const asked = `select c.status, c.confirmed_at is not null as is_confirmed,
      c.confirmation_id = '00000000-0000-4000-8000-000000000001' as is_same, c.host
    from watchpost.channels c where c.label = 'private'`
  const channel = (set: string) => `update watchpost.channels set ${set} where label = 'private';`
  const real = 'set local session_replication_role = origin;'
  const mail = channel(
    `kind = 'email', confirmation_id = '00000000-0000-4000-8000-000000000001', confirmed_at = now(), host = 'h'`,
  )
  const changes = [
    "label = 'private'",
    "target_sealed = 'other'",
    'target_sealed = target_sealed, config_sealed = null, enabled = false',
    "config_sealed = 'other'",
    "status = 'failing'",
    "status = 'disabled'",
  ]
  await agree('channel-changes', [
    ...changes.map((set): Case => [`an address: ${set}`, asked, mail + real + channel(set)]),
    ...changes.map(
      (set): Case => [`a webhook: ${set}`, asked, channel("host = 'h'") + real + channel(set)],
    ),
    [
      'an address that is not confirmed',
      asked,
      `${mail}${channel('confirmed_at = null')}${real}${channel("status = 'ok'")}`,
    ],
    [
      'an address that gets confirmed',
      asked,
      `${mail}${channel("confirmed_at = null, status = 'unconfirmed'")}${real}${channel('confirmed_at = now()')}`,
    ],
  ])
})

test('what callers may know and name of channels, and until when keys and secrets hold', async () => {
  const { ids, claims } = questions.world
  const as = (who: 'owner' | 'admin' | 'member' | 'stranger') =>
    `select set_config('request.jwt.claims', '${claims[who]}', true)`
  const people = ['owner', 'admin', 'member', 'stranger'] as const
  const all = 'array(select id from watchpost.channels order by label)'
  await agree('channels-named', [
    ...people.flatMap((who) =>
      people.map(
        (whose): Case => [
          `${who} names none of these for a zone of ${whose}`,
          `select array(select c.label from unnest(private.unusable_channels(${all}, '${ids[whose]}')) u (id)
            join watchpost.channels c using (id) order by 1)`,
          as(who),
        ],
      ),
    ),
    ...people.map(
      (who): Case => [
        `${who} is told where a zone of the team reaches, and one of the owner`,
        `select private.zone_reach('${ids.owner}', '${ids.team}', null, null) is not null,
          private.zone_reach('${ids.owner}', null, null, null) is not null`,
        as(who),
      ],
    ),
    [
      'secrets that still sign, the newest first',
      `select jsonb_path_query_array(private.living_secrets(jsonb_build_array(
        jsonb_build_object('n', 1, 'until', now()), jsonb_build_object('n', 2, 'until', now() + interval '1 s'),
        jsonb_build_object('n', 3, 'until', now() + interval '2 s'))), '$[*].n')`,
    ],
    ...["now() + interval '1 s'", 'now()', 'null'].map(
      (expires_at): Case => [
        `a key until ${expires_at}`,
        "select count(*) from private.key_holder(sha256('private'))",
        `update watchpost.api_keys set expires_at = ${expires_at}`,
      ],
    ),
    ...[
      ['200 days', '101 days'],
      ['200 days', '100 days'],
      ['99 days', '98 days'],
    ].map(
      ([first, next]): Case => [
        `states of an account from ${first} and ${next} ago on`,
        `select private.purge_account_states(10)`,
        `delete from watchpost.account_states; insert into watchpost.account_states (user_id, plan, org_ids, valid_from)
          select '${ids.owner}', 'pro', '{}', now() - ago from unnest(array['${first}', '${next}']::interval[]) as ago`,
      ],
    ),
  ])
})

test('what support sees', async () => {
  const views = [
    'accounts',
    'plans',
    'api_keys',
    'organisations',
    'members',
    'zones',
    'channels',
    'feeds',
    'alerts_today',
    'deliveries_failing',
    'queue',
    'dead_letters',
    'audit',
  ]
  const before = `
    select private.enqueue('deliver', gen_random_uuid(), '{}', now() + interval '1 hour');
    select private.enqueue('match', gen_random_uuid(), '{}', now() - interval '1 hour');
    select private.enqueue('match', gen_random_uuid(), '{}', now() - interval '3 hours');
    update watchpost.deliveries set status = 'failed' where last_error = 'shared';
    update watchpost.alerts set status = 'failed' where zone_name = 'foreign';
    update watchpost.alerts set raised_at = now() - interval '25 hours' where zone_name = 'private';
    update watchpost.zones set deleted_at = now() where label = 'foreign';
    update watchpost.channels set deleted_at = now() where label = 'foreign';
    update watchpost.api_keys set expires_at = now() where name = 'foreign'`
  const hours = `round(extract(epoch from (to_jsonb(v) ->> 'oldest')::interval) / 3600)`
  const rows = (view: string) =>
    `select to_jsonb(v) - 'oldest' || jsonb_build_object('hours', ${hours}) from support.${view} v`
  await agree('support', [
    ...views.map((view): Case => [view, rows(view)]),
    ...views.map((view): Case => [`${view}, later`, rows(view), before]),
  ])
})
