import { test } from 'vitest'
import type { Case } from '../questions.ts'
import {
  agree,
  alert,
  delivery,
  deliveryOf,
  drill,
  due,
  idOf,
  questions,
  useQuestions,
} from './scene.ts'

/** What a record says, what makes it due, and who reads it; the answers are in golden/. */
useQuestions()

test('what a record says of its alert', async () => {
  const { owner, admin, member, stranger, team } = questions.world.ids
  const facts = (path: string, name = 'shared') =>
    `select private.evidence_facts(${idOf(name)}) ${path}`
  const each = (list: string, field: string) =>
    facts(`#> '{${list}}'`).replace(
      /^select (.*)$/s,
      `select jsonb_path_query_array($1, '$[*].${field}')`,
    )
  const log = (account: string | undefined, actor: string | undefined, action: string, more = '') =>
    `insert into watchpost.audit (xid, account_id, actor_id, action, target_type, target_id, at)
    values ('7', '${account}', '${actor}', '${action}', 'alert', ${idOf('shared')}, now()${more});`
  const acts = each('audit', 'action')
  const revise = (event: string, revision: number, minutes: number, more = '') =>
    `insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title, ts, severity, status, lon, lat, extent, tenant_id)
    values ('${event}', ${revision}, now() - interval '${minutes} minutes', 'test', 'other', 'x', now(), 50, 'active', 2, 1, box '(2,1),(2,1)', ${more || 'null'});`
  const revisions = `select jsonb_path_query_array(f.f #> '{revisions}', '$[*].event_id'), jsonb_path_query_array(f.f #> '{revisions}', '$[*].revision'), f.f -> 'revision_count'
    from (select private.evidence_facts(${idOf('shared')}) as f) f`
  const many = (count: number) =>
    `insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title, ts, severity, status, lon, lat, extent)
    select 'test:public', n, now() - n * interval '1 s', 'test', 'other', 'x', now(), 50, 'active', 2, 1, box '(2,1),(2,1)' from generate_series(2, ${count}) n;`
  const version = (number: number) =>
    `insert into watchpost.zone_versions (zone_id, version, definition) select zone_id, ${number}, definition || '{"channel_ids": [], "escalation": []}' from watchpost.zone_versions
    where zone_id = (select id from watchpost.zones where label = 'shared') and version = 1;`
  const versions = `select jsonb_path_query_array(f.v, '$[*].version'), jsonb_path_query_array(f.v, '$[*].definition.keyvalue() ? (@.key like_regex "channel|escal|owner|org").key')
    from (select private.evidence_facts(${idOf('shared')}) -> 'zone_versions' as v) f`
  const attempt = `insert into watchpost.delivery_attempts (delivery_id, attempt, outcome, duration_ms, at)
    values (${deliveryOf('shared')}, 2, 'ok', 1, now() - interval '1 day');`
  const linked = `update watchpost.alerts set raised_at = now() - interval '1 day'; update watchpost.alert_events set zone_version = 3;`
  const later = delivery("created_at = now() + interval '1 s'", 'mixed')
  await agree('evidence-facts', [
    [
      'an act once, however many logs it is in',
      acts,
      `${log(owner, owner, 'x')}${log(admin, owner, 'x')}${log(member, owner, 'x')}`,
    ],
    [
      'acts in their order',
      acts,
      `${log(owner, owner, 'b')}${log(owner, owner, 'a')}${log(owner, owner, 'c')}`,
    ],
    ['an act of a member in their log', acts, log(member, member, 'x')],
    [
      'one of an operator in the log of an admin',
      acts,
      log(admin, undefined, 'x').replace("'undefined'", 'null'),
    ],
    ['one of somebody who has left, in their log', acts, log(stranger, stranger, 'x')],
    [
      'one of an operator in the log of a stranger',
      acts,
      log(stranger, undefined, 'x').replace("'undefined'", 'null'),
    ],
    [
      'one on a zone of the same id',
      acts,
      log(owner, owner, 'x').replace("'alert', (", "'zone', ("),
    ],
    [
      'when it was done first',
      `select (private.evidence_facts(${idOf('shared')}) #>> '{audit,0,at}') = private.iso(now() - interval '1 hour')`,
      `${log(owner, owner, 'x', " - interval '1 hour'")}${log(admin, owner, 'x')}`,
    ],
    [
      'the first 1000 acts, and how many there were',
      `select jsonb_array_length(f.f -> 'audit'), f.f -> 'audit_count', f.f #>> '{audit,999,action}' from (select private.evidence_facts(${idOf('shared')}) as f) f`,
      `insert into watchpost.audit (xid, account_id, actor_id, action, target_type, target_id) select '7', '${owner}', '${owner}', n::text, 'alert', ${idOf('shared')} from generate_series(1, 1001) n`,
    ],
    ['decisions as they were made', each('decisions', 'event_id'), linked],
    [
      'the versions that decided, without what names anybody',
      versions,
      `${version(2)}${version(3)}${linked}`,
    ],
    [
      'revisions of all its events, in their order',
      revisions,
      `${revise('test:public', 2, 1)}${revise('other:public', 1, 30)}${revise('else:public', 1, 1)}`,
    ],
    [
      'revisions that its readers could see',
      revisions,
      `${revise('test:public', 2, 1, `'${team}'`)}${revise('test:public', 3, 1, `'${owner}'`)}${revise('test:public', 4, 1, `'${stranger}'`)}`,
    ],
    [
      'the newest 1000 revisions, and how many there were',
      `select jsonb_array_length(f.f -> 'revisions'), f.f -> 'revision_count', f.f #> '{revisions,0,revision}', f.f #> '{revisions,999,revision}' from (select private.evidence_facts(${idOf('shared')}) as f) f`,
      many(1001),
    ],
    [
      'why a message was cancelled',
      each('deliveries', 'cancelled_because'),
      `${later}${delivery("status = 'cancelled'", 'shared')}`,
    ],
    [
      'messages in their order',
      `select (private.evidence_facts(${idOf('shared')}) #>> '{deliveries,0,id}')::uuid = ${deliveryOf('mixed')}`,
      delivery("created_at = now() - interval '1 day'", 'mixed'),
    ],
    [
      'the same, the other way round',
      `select (private.evidence_facts(${idOf('shared')}) #>> '{deliveries,0,id}')::uuid = ${deliveryOf('shared')}`,
      delivery("created_at = now() - interval '1 day'", 'shared'),
    ],
    [
      'attempts in their order',
      `select jsonb_path_query_array(private.evidence_facts(${idOf('shared')}), '$.deliveries[*].attempts[*].attempt')`,
      `${later}${attempt}`,
    ],
  ])
})

test('what makes a record of an alert due, and for whom it is', async () => {
  const { owner, member, stranger, team } = questions.world.ids
  const isDue = `select array(select a.zone_name from watchpost.evidence_due d join watchpost.alerts a on a.id = d.alert_id)`
  const real = 'delete from watchpost.evidence_due; set local session_replication_role = origin;'
  const after = (prepared: string, act: string): string => `${prepared}${real}${act}`
  const updates = (...kinds: string[]) =>
    `updates = '${JSON.stringify(kinds.map((kind) => ({ kind })))}'`
  const over = alert('resolved = true')
  const again = `insert into watchpost.deliveries (alert_id, channel_id, type, redelivery_of)
    select alert_id, channel_id, type, id from watchpost.deliveries where last_error = 'private'`
  const seen = alert("seen_at = now(), seen_via = 'api'")
  const noted: [string, string, string][] = [
    ['resolved', '', over],
    ['reopened', over, alert('resolved = false')],
    ['its event ended', '', alert(updates('ended'))],
    ['its event goes on after all', alert(updates('ended')), alert(updates('ended', 'revised'))],
    ['its event was revised', '', alert(updates('revised'))],
    ['over, and its state changed', over, alert("status = 'failed'")],
    ['over, and noted', over, alert("note = 'x'")],
    ['over, and seen', over, seen],
    ['over, and told more', over, alert(updates('revised'))],
    ['over, and the same again', over, alert('resolved = true, note = note')],
    ['not over, and noted', '', alert("note = 'x'")],
    ['a drill', drill, over],
    ['sent again when it is over', over, again],
    ['sent again when it is not', '', again],
    ['a drill that is sent again', `${drill}${over}`, again],
    [
      'over, and sent for the first time',
      over,
      again.replace(', redelivery_of)', ')').replace('type, id', "'alert.ended'"),
    ],
  ]
  const token = `select count(*)::integer from watchpost.evidence_due d where d.look_at = now() and d.token <> '${owner}'`
  const mine = (who: string | undefined, name: string) =>
    `select set_config('request.jwt.claims', '{"sub": "${who}"}', true) is null,
      (select m.number from private.my_evidence(${idOf(name)}) m)`
  const second = `insert into watchpost.evidence (alert_id, number, record, read_at, is_settled, frozen_at)
    select id, 2, 'second', now(), true, now() from watchpost.alerts;`
  await agree('evidence-noted', [
    ...noted.map(([about, prepared, act]): Case => [about, isDue, after(prepared, act)]),
    [
      'due anew: at once, and as another change',
      token,
      `${due(`token = '${owner}', look_at = now() + interval '1 hour'`)}delete from watchpost.evidence_due where alert_id <> ${idOf('private')}; select private.note_evidence_due(${idOf('private')})`,
    ],
    ['the newest record for its owner', mine(owner, 'private'), second],
    ['nothing for a member', mine(member, 'private'), second],
    ['a shared one for a member', mine(member, 'shared'), second],
    ['nothing for a stranger', mine(stranger, 'shared'), `${second} select '${team}'`],
    ['nothing of a drill', mine(owner, 'private'), `${second}${drill}`],
    [
      'the newest record to go on from',
      `select array(select s.number from private.evidence_sources(${idOf('private')}) s)`,
      second,
    ],
    [
      'none to go on from for a drill',
      `select array(select s.number from private.evidence_sources(${idOf('private')}) s)`,
      `${second}${drill}`,
    ],
  ])
})
