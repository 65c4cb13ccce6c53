import { test } from 'vitest'
import { ago, type Case } from '../questions.ts'
import { agree, by, id, REAL, useQuestions } from './scene.ts'

/** Who may do what with drills, messages, links and sessions, and when no longer. Answers are in golden/. */
useQuestions()

const PEOPLE = ['owner', 'admin', 'member', 'stranger']
const of = (table: string, name: string, column = 'label') =>
  `(select id from watchpost.${table} where ${column} = '${name}')`
const zone = (name: string) => of('zones', name)
const channel = (name: string) => of('channels', name)
const alert = (name: string) =>
  `(select id from watchpost.alerts where zone_name = '${name}' order by org_id nulls first limit 1)`
const ANSWER = `create function pg_temp.answer(p_question text, p_then text) returns text language plpgsql as $$
  declare
    answer text;
    afterwards text;
  begin
    execute p_question into answer;
    execute p_then into afterwards;
    return concat_ws(', then ', coalesce(answer, 'nothing'), afterwards);
  exception when others then
    return sqlstate;
  end $$;`
/** A case: what somebody who is signed in is answered, after what is prepared without triggers. */
const asks = (
  about: string,
  question: string,
  prepared = '',
  who = 'owner',
  claims = {},
  then = 'select null',
): Case => [
  about,
  `select pg_temp.answer($question$${question}$question$, $then$${then}$then$)`,
  `${ANSWER} ${prepared}; ${by(who, claims)}`,
]
/** The same for all people, and for a key that may only read. */
const everybody = (about: string, question: string, prepared = ''): Case[] => [
  ...PEOPLE.map((who) => asks(`${about}: ${who}`, question, prepared, who)),
  asks(`${about}: a key that only reads`, question, prepared, 'owner', { scopes: ['read'] }),
]
/** A case: what the login of the API is answered for somebody whom it does not know yet. */
const nobody = (about: string, question: string, prepared = '', then = 'select null'): Case => [
  about,
  `select pg_temp.answer($question$${question}$question$, $then$${then}$then$)`,
  `${ANSWER} ${prepared}; ${REAL}`,
]
const set = (table: string, change: string, where = 'true') =>
  `update watchpost.${table} set ${change} where ${where};`

test('drills: who begins one, how many, and who is told what of it', async () => {
  const begin = (name: string) =>
    `select private.begin_drill(${zone(name)}, '{"type": "flood"}', true, false) ->> 'status'`
  const fill = (count: number, age: string, name = 'private') =>
    `delete from watchpost.drills; insert into watchpost.drills (zone_id, event, ignores_quiet_hours, escalates, created_at)
    select ${zone(name)}, '{}', false, false, ${ago(age)} from generate_series(1, ${count});`
  await agree('acts-drills-begun', [
    ...everybody('of a private zone', begin('private')),
    ...everybody('of a shared zone', begin('shared')),
    asks('of a deleted zone', begin('private'), set('zones', 'deleted_at = now()')),
    asks('the twentieth of a day', begin('private'), fill(19, '23 hours')),
    asks('one more', begin('private'), fill(20, '23 hours')),
    asks('one more, with those of the day before', begin('private'), fill(20, '24 hours')),
    asks('the hundredth of an account', begin('private'), fill(99, '23 hours', 'shared')),
    asks('one more of an account', begin('private'), fill(100, '23 hours', 'shared')),
    asks('one more, the day after', begin('private'), fill(100, '24 hours', 'shared')),
    asks('one more, with those of others', begin('private'), fill(100, '1 hour', 'foreign')),
  ])

  const drill = (name: string) =>
    `(select d.id from watchpost.drills d where d.zone_id = ${zone(name)})`
  const read = (name: string, its = name) =>
    `select private.drill_json(${zone(its)}, ${drill(name)})`
  const brief = (name: string, its = name) =>
    `select concat_ws(' ', j ->> 'status', jsonb_array_length(j -> 'channels'), j ->> 'hidden_channels',
      jsonb_path_query_array(j, '$.channels[*].outcome')) from private.drill_json(${zone(its)}, ${drill(name)}) j`
  const decide = (decision: string) =>
    set(
      'drills',
      `decided_at = now(), decision = '${decision}', channels = jsonb_build_array(
        jsonb_build_object('channel_id', ${channel('shared')}, 'reason', null),
        jsonb_build_object('channel_id', ${channel('foreign')}, 'reason', 'It is off.'))`,
    )
  const sent = decide('{"is_sent": true}')
  const messages = (status: string) => set('deliveries', `status = '${status}'`)
  const none = 'delete from watchpost.deliveries;'
  await agree('acts-drills-read', [
    asks('as it is', read('private')),
    ...everybody('of a private zone', brief('private')),
    ...everybody('of a shared zone', brief('shared')),
    asks('by another zone', brief('private', 'shared')),
    asks('of a deleted zone', brief('private'), set('zones', 'deleted_at = now()')),
    ...['queued', 'held', 'sending', 'succeeded', 'failed', 'expired', 'cancelled'].map((status) =>
      asks(`sent, its messages ${status}`, brief('private'), sent + messages(status)),
    ),
    asks('sent to none', brief('private'), sent + none),
    asks('held', brief('private'), `${decide('{"is_sent": false, "outcome": "held"}')}${none}`),
    asks('stopped', brief('private'), `${decide('{"is_sent": false, "outcome": "off"}')}${none}`),
    asks(
      'with a digest that it went in',
      brief('private'),
      `${sent} insert into watchpost.deliveries (alert_id, channel_id, type, status)
      select a.id, ${channel('private')}, 'alert.digest', 'succeeded' from watchpost.alerts a where a.drill_id = ${drill('private')}`,
    ),
  ])

  const settle = (given: string) => `select private.settle_drill(${drill('private')}, '${given}');`
  const settled = `select concat_ws(' ', d.decision, d.channels, d.escalation, (
    select count(*) from pgboss.job j where j.name = 'drill' and j.start_after > now() + interval '14 min'))
    from watchpost.drills d order by d.decided_at nulls last limit 1`
  const count = `select count(decided_at) from watchpost.drills`
  const end = `select private.end_drill(${drill('private')})`
  const looked = `select extract(epoch from max(j.start_after) - now())::integer from pgboss.job j where j.name = 'drill'`
  const step = (status: string, due: string, settled = 'null') =>
    `insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at, status, settled_at)
    select a.id, 0, 1, 5, now(), ${due}, '${status}', ${settled} from watchpost.alerts a where a.drill_id = ${drill('private')};`
  await agree('acts-drills-ended', [
    nobody('sent', settled, settle('{"is_sent": true}')),
    nobody('not sent', settled, settle('{"is_sent": false}')),
    nobody('the first decision stays', settled, settle('{"a": 1}') + settle('{"a": 2}')),
    nobody('no other is decided with it', count, settle('{"is_sent": true}')),
    nobody('ended', end, '', looked),
    nobody('a step waits', end, step('waiting', ago('1 hour')), looked),
    nobody('a step ran lately', end, step('ran', ago('1 hour'), ago('14 minutes')), looked),
    nobody('a step ran long ago', end, step('ran', ago('1 hour'), ago('15 minutes')), looked),
  ])
})

test('messages that are sent once more: whose, which and how often', async () => {
  const failed = set('deliveries', `status = 'failed'`)
  const again = (name: string, ids = 'null') =>
    `select concat_ws(' ', jsonb_array_length(r -> 'delivery_ids'), r -> 'skipped') from private.redeliver(${alert(name)}, ${ids}) r`
  const repeated = (count: number, name = 'private') =>
    `insert into watchpost.deliveries (alert_id, channel_id, type, status, redelivery_of)
    select d.alert_id, d.channel_id, d.type, 'failed', d.id from watchpost.deliveries d, generate_series(1, ${count}) where d.last_error = '${name}';`
  const recorded = `delete from watchpost.deliveries where last_error = 'private'; ${set('alerts', "status = 'recorded'", "zone_name = 'private'")}`
  const delivery = (name: string) => `array[${of('deliveries', name, 'last_error')}]`
  const recover = (name: string, limit = 9) =>
    `select private.recover_channel(${channel(name)}, ${ago('1 hour')}, ${limit})`
  const ended = (age: string) => set('deliveries', `updated_at = ${ago(age)}`)
  await agree('acts-again', [
    ...everybody('of a shared alert', again('shared'), failed),
    ...everybody('of a private alert', again('private'), failed),
    asks('of a drill', again('drill'), `${failed} ${set('zones', 'enabled = true')}`),
    asks('with 99 sent before', again('private', delivery('private')), failed + repeated(99)),
    asks('with 100 sent before', again('private', delivery('private')), failed + repeated(100)),
    asks(
      'with 100 of another',
      again('private', delivery('private')),
      failed + repeated(100, 'shared'),
    ),
    asks('a delivery of another alert', again('private', delivery('shared')), failed),
    asks(
      'what was cancelled, where what failed was sent again before',
      again('private'),
      `${failed + repeated(1)} ${set('deliveries', `status = 'succeeded'`, 'redelivery_of is not null')}
      insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status)
      select alert_id, channel_id, 'alert.ended', 1, 'cancelled' from watchpost.deliveries where last_error = 'private'`,
    ),
    asks('one that reached nobody', again('private'), recorded),
    asks(
      'one that reached nobody, after it was cancelled for another channel',
      again('private'),
      set('alerts', "status = 'recorded'", "zone_name = 'private'") +
        set(
          'deliveries',
          `status = 'cancelled', channel_id = ${channel('foreign')}`,
          `last_error = 'private'`,
        ),
    ),
    ...['deleted_at = now()', 'channel_ids = array[]::uuid[]'].map((change) =>
      asks(
        `one that reached nobody, now ${change}`,
        again('private'),
        recorded + set('zones', change),
      ),
    ),
    ...[`plan = 'free'`, `banned_until = 'infinity'`].map((change) =>
      asks(
        `one that reached nobody, now ${change}`,
        again('private'),
        recorded + set('accounts', change),
      ),
    ),
    ...everybody('of a shared channel', recover('shared'), failed),
    ...everybody('of a private channel', recover('private'), failed),
    asks(
      'of a deleted channel',
      recover('private'),
      failed + set('channels', 'deleted_at = now()'),
    ),
    asks('so many at a time', recover('private', 1), failed),
    asks('ended just then', recover('private'), failed + ended('1 hour')),
    asks('ended before', recover('private'), failed + ended('61 minutes')),
    asks('with some sent again before', recover('private'), failed + repeated(1)),
    ...['queued', 'held', 'sending', 'succeeded', 'expired', 'cancelled'].map((status) =>
      asks(`that are ${status}`, recover('private'), set('deliveries', `status = '${status}'`)),
    ),
  ])
})

test('records of an alert: whose they are', async () => {
  const read = (name: string) =>
    `select concat_ws(' ', e.record, e.is_due, e.facts is not null) from private.my_evidence(${alert(name)}) e`
  const second = `insert into watchpost.evidence (alert_id, number, record, read_at, is_settled, frozen_at)
    select id, 2, 'the last', now(), true, now() from watchpost.alerts where zone_name = 'private';`
  await agree('acts-evidence', [
    ...everybody('private', read('private')),
    ...everybody('shared', read('shared')),
    asks('of a drill', read('drill')),
    asks('the last of two', read('private'), second),
    asks('beside one that has two', read('shared'), second),
    asks(
      'of an alert without one',
      read('private'),
      `delete from watchpost.evidence where record = 'private'`,
    ),
    nobody(
      'a second key beside one that signs',
      `select private.add_evidence_key('other', 'sealed', '{}')`,
      '',
      'select array(select kid from watchpost.evidence_keys)',
    ),
    asks('not due', read('private'), 'delete from watchpost.evidence_due'),
  ])
})

test('links in messages: what they show and do, and when no longer', async () => {
  const shown = (name = 'private', to = name) =>
    `select concat_ws(' ', j ->> 'channel', j ->> 'zone', j ->> 'is_seen_here') from private.alert_behind_link(${alert(name)}, ${channel(to)}) j`
  const see = (to = 'private') =>
    `select concat_ws(' ', j ->> 'outcome', j #>> '{alert,is_seen_here}')
    from private.acknowledge_alert(${alert('private')}, ${channel(to)}) j`
  const seen = `select array(select concat_ws(' ', zone_name, seen_via) from watchpost.alerts where seen_at is not null order by 1)`
  const sent = set('deliveries', `status = 'succeeded'`)
  const states = ['queued', 'held', 'sending', 'succeeded', 'failed', 'expired', 'cancelled']
  await agree('acts-links', [
    ...states.map((status) =>
      nobody(`its message is ${status}`, shown(), set('deliveries', `status = '${status}'`)),
    ),
    nobody('it was tried', shown(), set('deliveries', `status = 'failed', attempts = 1`)),
    nobody(
      'of a channel without a name',
      `select j ->> 'channel' from private.alert_behind_link(${alert('private')}, (select id from watchpost.channels where label is null)) j`,
      `${sent} ${set('channels', 'label = null', "label = 'private'")}`,
    ),
    nobody('of a channel that was never sent it', shown('private', 'shared'), sent),
    nobody('of the channel of somebody else', shown('private', 'foreign'), sent),
    nobody('of a deleted channel', shown(), sent + set('channels', 'deleted_at = now()')),
    nobody('of a zone that is deleted', shown(), sent + set('zones', 'deleted_at = now()')),
    nobody('seen', see(), sent, seen),
    nobody(
      'seen by another before',
      see(),
      sent + set('alerts', `seen_at = now(), seen_via = 'api'`, `zone_name = 'private'`),
    ),
    nobody('seen through a channel that was never sent it', see('shared'), sent, seen),
  ])

  const first = `'00000000-0000-4000-8000-000000000001'`
  const mail = (more = 'confirmed_at = null') =>
    set('channels', `kind = 'email', confirmation_id = ${first}, status = 'unconfirmed', ${more}`)
  const call = (name: string, confirmation = first) =>
    `select private.${name}(${channel('private')}, ${confirmation})`
  const confirmed = `select array(select concat_ws(' ', label, enabled) from watchpost.channels where confirmed_at is not null order by 1)`
  await agree(
    'acts-addresses',
    ['address_behind_link', 'confirm_address', 'unsubscribe_address'].flatMap((name) => [
      nobody(`${name}: not confirmed`, call(name), mail(), confirmed),
      nobody(`${name}: confirmed`, call(name), mail('confirmed_at = now()'), confirmed),
      nobody(`${name}: of an address before`, call(name, 'gen_random_uuid()'), mail(), confirmed),
      nobody(`${name}: of a deleted channel`, call(name), mail('deleted_at = now()'), confirmed),
      nobody(`${name}: of another kind`, call(name, 'null')),
    ]),
  )

  const feed = (name = 'shared', days = 7, limit = 5) =>
    `select string_agg(f.label || ' ' || jsonb_array_length(f.alerts), ',') from private.feed_of(sha256('${name}'), ${days}, ${limit}) f`
  const maker = (who: string) => set('feed_links', `owner_id = ${id(who)}`)
  const more = (count: number, status = 'dispatched', at = 'now()') =>
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity,
      reason, first_reason, status, raised_at, checks, zone_version, event_revision)
    select z.id, 'more', z.owner_id, z.org_id, 'test:' || n, 'test', '{}', 50, '', '', '${status}', ${at}, '[]', 1, 1
    from watchpost.zones z, generate_series(1, ${count}) n where z.label = 'shared';`
  const account = (who: string, change: string) => set('accounts', change, `user_id = ${id(who)}`)
  await agree('acts-feeds', [
    nobody('of a zone', feed()),
    nobody('of another zone', feed('private')),
    nobody('unknown', feed('none')),
    nobody('of a deleted zone', feed(), set('zones', 'deleted_at = now()')),
    ...PEOPLE.map((who) => nobody(`made by: ${who}`, feed(), maker(who))),
    ...[`plan = 'free'`, `banned_until = 'infinity'`].flatMap((change) => [
      nobody(`its zone’s owner has ${change}`, feed(), maker('admin') + account('owner', change)),
      nobody(`its maker has ${change}`, feed(), maker('admin') + account('admin', change)),
    ]),
    nobody('as many as asked, and one that says there are more', feed('shared', 7, 2), more(5)),
    nobody('suppressed', feed(), more(3, 'suppressed')),
    nobody('recorded', feed(), more(3, 'recorded')),
    nobody(
      'just within its days',
      feed(),
      more(3, 'dispatched', `${ago('7 days')} + interval '1 s'`),
    ),
    nobody('just before', feed(), more(3, 'dispatched', ago('7 days'))),
  ])
})

test('sessions: whose they are, and when they are over', async () => {
  const session = `'00000000-0000-4000-8000-000000000002'::uuid`
  const made = (more = '', columns = '') =>
    `${set('accounts', 'confirmed_at = now()')}
    insert into watchpost.sessions (id, user_id${columns}) values (${session}, ${id('owner')}${more});
    insert into watchpost.sessions (user_id) values (${id('owner')}), (${id('stranger')});
    insert into watchpost.refresh_tokens (token_hash, session_id) values (sha256('old'), ${session});`
  const found = `select count(*) from private.session_of(${session})`
  const holder = (who: string) =>
    `select h.email from private.session_holder(${id(who)}, ${session}) h`
  const refresh = (from = 'old', to = 'new') =>
    `select r.verdict from private.refresh_session(sha256('${from}'), sha256('${to}'), '{}') r`
  const used = (age: string, next = '') =>
    `${made()} ${set('refresh_tokens', `used_at = clock_timestamp() - interval '${age}'`)} ${next}`
  const next = (used_at = 'null') =>
    `insert into watchpost.refresh_tokens (token_hash, session_id, used_at) values (sha256('new'), ${session}, ${used_at});`
  const states: [about: string, prepared: string][] = [
    ['fresh', made()],
    ['ended', made(', now()', ', ended_at')],
    ['of a banned account', made() + set('accounts', `banned_until = 'infinity'`)],
    ['of an address that is not confirmed', made() + set('accounts', 'confirmed_at = null')],
    ['not refreshed for 30 days', made(`, ${ago('30 days')}`, ', refreshed_at')],
    [
      'refreshed just within 30 days',
      made(`, ${ago('30 days')} + interval '1 minute'`, ', refreshed_at'),
    ],
  ]
  const link = (more: string) =>
    `${set('accounts', 'confirmed_at = now()')} insert into watchpost.sign_in_links (token_hash, user_id, expires_at) values (sha256('link'), ${id('owner')}, ${more});`
  const redeem = (hash = 'link') =>
    `select r.email from private.redeem_link(sha256('${hash}'), sha256('first'), '{}') r`
  const left = 'select count(*) from watchpost.sign_in_links'
  const end = (scope: string) => `select private.end_sessions(${session}, '${scope}', '{}')`
  const ended = `select array(select a.email from watchpost.sessions s join watchpost.accounts a using (user_id) where s.ended_at is not null)`
  await agree('acts-sessions', [
    ...states.flatMap(([about, prepared]) => [
      nobody(`${about}: found`, found, prepared),
      nobody(`${about}: its holder`, holder('owner'), prepared),
      nobody(`${about}: refreshed`, refresh(), prepared),
    ]),
    nobody('held by somebody else', holder('stranger'), made()),
    nobody('refreshed with an unknown token', refresh('none'), made()),
    nobody('refreshed once more at once', refresh(), used('5 s', next())),
    nobody('refreshed once more, its successor was used', refresh(), used('5 s', next('now()'))),
    nobody(
      'refreshed once more with another successor',
      refresh('old', 'other'),
      used('5 s', next()),
    ),
    nobody('refreshed once more later', refresh(), used('11 s', next())),
    nobody('a link, which is then used up', redeem(), link(`now() + interval '1 s'`), left),
    nobody('a link that is over', redeem(), link('now()')),
    nobody('an unknown link', redeem('none'), link(`now() + interval '1 s'`)),
    nobody(
      'a link of a banned account',
      redeem(),
      link(`now() + interval '1 s'`) + set('accounts', `banned_until = 'infinity'`),
    ),
    nobody(
      'a link of an address that is not confirmed',
      redeem(),
      link(`now() + interval '1 s'`) + set('accounts', 'confirmed_at = null'),
    ),
    ...['local', 'others', 'global'].map((scope) =>
      nobody(`ended: ${scope}`, end(scope), made(), ended),
    ),
    nobody('ended by one that has ended', end('global'), made(', now()', ', ended_at')),
  ])
})
