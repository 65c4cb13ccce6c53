import { test } from 'vitest'
import { ago, type Case, varied } from '../questions.ts'
import {
  agree,
  alert,
  carried,
  delivery,
  drill,
  due,
  idOf,
  questions,
  record,
  useQuestions,
} from './scene.ts'

/**
 * What functions in SQL answer about the records of alerts: when one is made, and what is kept of it.
 * The cases that belong together are in one file of golden/.
 */
useQuestions()

test('when an alert is over, and when it has settled', async () => {
  const updates = [[], ['ended'], ['retracted'], ['ended', 'revised'], ['revised', 'ended']]
  const over = varied('alerts', "zone_name = 'private'", 'private.is_over(r)', [
    ...updates.map(
      (kinds) => `updates: '${JSON.stringify(kinds.map((kind) => ({ kind })))}'::jsonb`,
    ),
    'resolved: true',
  ])
  const asked = `select private.is_settled(a), array(select m.last_error from private.messages_of(a.id) m order by 1)
    from watchpost.alerts a where a.zone_name = 'private'`
  const sent = `${alert('resolved = true')}${delivery("status = 'succeeded'")}${delivery("status = 'succeeded'", 'foreign')}`
  await agree('evidence-settled', [
    ...over,
    ['resolved and sent', asked, sent],
    ['not over', asked, `${sent}${alert('resolved = false')}`],
    ...['pending', 'held', 'failed', 'suppressed', 'recorded'].map(
      (status): Case => [status, asked, `${sent}${alert(`status = '${status}'`)}`],
    ),
    ...['queued', 'held', 'sending', 'failed', 'expired', 'cancelled'].map(
      (status): Case => [
        `a message ${status}`,
        asked,
        `${sent}${delivery(`status = '${status}'`)}`,
      ],
    ),
    ['sent in a digest', asked, `${sent}${carried}`],
    [
      'in a digest that is on its way',
      asked,
      `${sent}${carried}${delivery("status = 'sending'", 'foreign')}`,
    ],
  ])
})

test('what the last record of an alert holds of what is to be deleted', async () => {
  const holds = (what: string, at: string) =>
    `select private.holds_${what}(${idOf('private')}, ${at})`
  const settled = record('is_settled = true, read_at = now()')
  const open = record('is_settled = false, read_at = now()')
  const older = `${record("read_at = now() - interval '1 day'")}
    insert into watchpost.evidence (alert_id, number, record, read_at, is_settled, frozen_at)
    values (${idOf('private')}, 2, '{}', now(), true, now());`
  const attempt: Case[] = [
    ['settled: an attempt at that moment', holds('attempt', 'now()'), settled],
    ['settled: one a moment later', holds('attempt', `now() + interval '1 ms'`), settled],
    ['not settled: one an hour before', holds('attempt', ago('1 hour')), open],
    ['not settled: one within that hour', holds('attempt', ago('59 minutes')), open],
    ['by the newest of two records', holds('attempt', ago('1 minute')), older],
    ['without a record', holds('attempt', ago('1 year')), 'delete from watchpost.evidence'],
  ]
  const revision: Case[] = [
    ['a revision a minute before', holds('revision', ago('1 minute')), open],
    ['one within that minute', holds('revision', ago('59 s')), open],
    ['a revision by the newest of two', holds('revision', ago('1 hour')), older],
    [
      'a revision without a record',
      holds('revision', ago('1 year')),
      'delete from watchpost.evidence',
    ],
  ]
  const names = (wanted: string) =>
    `select array(select a.zone_name from ${wanted} as w (id) join watchpost.alerts a on a.id = w.id order by 1)`
  const wants = (what: string) =>
    names(`watchpost.delivery_attempts t cross join lateral private.wants_attempt(t)`).replace(
      'order by 1',
      `where t.error = '${what}' order by 1`,
    )
  const none = 'delete from watchpost.evidence;'
  await agree('evidence-held', [
    ...attempt,
    ...revision,
    ['an attempt that no record holds', wants('private'), none],
    ['one that the record holds', wants('private'), record("read_at = now() + interval '1 hour'")],
    ['one of a drill', wants('private'), `${none}${drill}`],
    ['one of a digest: both alerts', wants('foreign'), `${none}${carried}`],
    ['a revision', names(`private.wants_revision('test:public', now())`), none],
    ['a revision of another source', names(`private.wants_revision('other:public', now())`), none],
    [
      'a revision of a drill',
      names(`private.wants_revision('test:public', now())`),
      `${none}${drill}`,
    ],
    [
      'a revision that records hold',
      names(`private.wants_revision('test:public', ${ago('1 hour')})`),
    ],
  ])
})

test('which alerts are due for a record, and what becomes of the others', async () => {
  const only = `delete from watchpost.evidence_due where alert_id <> ${idOf('private')};`
  const over = `${only}${alert('resolved = true')}${delivery("status = 'succeeded'")}`
  const none = 'delete from watchpost.evidence;'
  const asked = `with taken as materialized (select a.zone_name from private.settled_alerts(10) s join watchpost.alerts a on a.id = s.alert_id)
    select array(select zone_name from taken)`
  const look = `do $$ begin perform from private.settled_alerts(10); end $$;`
  const left = `select array(select greatest(0, round(extract(epoch from look_at - now()))) from watchpost.evidence_due)`
  const at = (minutes: number, settled = true) =>
    record(`is_settled = ${settled}, frozen_at = now() - interval '${minutes} minutes'`)
  const cases: [string, string][] = [
    ['settled, without a record', `${over}${none}`],
    ['not over', only],
    ['over, with a message on its way', `${over}${none}${delivery("status = 'queued'")}`],
    ['with a record 59 minutes old', `${over}${at(59)}`],
    ['with a record an hour old', `${over}${at(60)}`],
    ['with a record that was made before something was deleted', `${over}${at(1, false)}`],
    ['looked at before its time', `${over}${none}${due("look_at = now() + interval '1 s'")}`],
    ['looked at in its time', `${over}${none}${due('look_at = now()')}`],
  ]
  const resolved = `${none}update watchpost.alerts set resolved = true; update watchpost.deliveries set status = 'succeeded';`
  await agree('evidence-due', [
    ...cases.flatMap(([about, before]): Case[] => [
      [about, asked, before],
      [`${about}: seconds until the next look`, left, `${before}${look}`],
    ]),
    [
      'of several the one that has waited longest',
      `select array(select a.zone_name from private.settled_alerts(1) s join watchpost.alerts a on a.id = s.alert_id)`,
      `${resolved}${due("look_at = now() - interval '1 hour'", 'shared')}`,
    ],
  ])
})

test('what is kept of a record, and for how long', async () => {
  const token = `(select token from watchpost.evidence_due where alert_id = ${idOf('private')})`
  const keep = (number: number, text: string, { settled = true, change = token } = {}) =>
    `select private.keep_evidence(${idOf('private')}, ${number}, ${text}, null, null, now(), ${settled}, ${change});`
  const rows = `select e.number, e.record, e.is_settled, round(extract(epoch from e.read_at - now())) from watchpost.evidence e
    where e.alert_id = ${idOf('private')}`
  const isDue = `select count(*)::integer from watchpost.evidence_due where alert_id = ${idOf('private')}`
  const older = record("read_at = now() - interval '1 hour', is_settled = false")
  const second = `insert into watchpost.evidence (alert_id, number, record, read_at, is_settled, frozen_at)
    values (${idOf('private')}, 2, 'second', now() - interval '1 minute', false, now());`
  await agree('evidence-records', [
    ['the same again: it is read later', rows, `${older}${keep(1, 'null')}`],
    [
      'the same again, read before',
      rows,
      `${record("read_at = now() + interval '1 hour'")}${keep(1, 'null')}`,
    ],
    [
      'settled once, it stays so',
      rows,
      `${record('is_settled = true')}${keep(1, 'null', { settled: false })}`,
    ],
    ['of two only the one that is the same', rows, `${older}${second}${keep(2, 'null')}`],
    ['another one', rows, `${older}${keep(2, "'second'")}`],
    ['one that another process was first with', rows, `${older}${keep(1, "'mine'")}`],
    ['the sixth: the last five are kept', rows, `${older}${second}${keep(6, "'sixth'")}`],
    ['the seventh', rows, `${older}${second}${keep(7, "'seventh'")}`],
    ['settled: due no longer', isDue, keep(2, "'x'")],
    ['another process was first with this number: still due', isDue, keep(1, "'mine'")],
    ['not settled: still due', isDue, keep(2, "'x'", { settled: false })],
    ['changed meanwhile: still due', isDue, keep(2, "'x'", { change: 'gen_random_uuid()' })],
  ])

  const sign = (text: string, number = 1) =>
    `select private.sign_evidence(${idOf('private')}, ${number}, '${text}', 'key', 'signature');`
  const signed = `select a.zone_name, e.number, e.signature from watchpost.evidence e join watchpost.alerts a on a.id = e.alert_id
    where e.signature is not null`
  const unsigned = `select array(select record from private.unsigned_evidence(2))`
  await agree('evidence-signatures', [
    ['of the record that was signed', signed, `${second}${sign('private')}`],
    ['of another text', signed, sign('other')],
    [
      'of one that is signed already',
      signed,
      `${record("kid = 'key', signature = 'first'")}${sign('private')}`,
    ],
    [
      'those that have waited longest',
      unsigned,
      `${record("frozen_at = now() - interval '2 hours'", 'shared')}${record("frozen_at = now() - interval '1 hour'", 'foreign')}`,
    ],
    [
      'without those that are signed',
      unsigned,
      `${second}${record("kid = 'key', signature = 'x'", 'shared')}${record("kid = 'key', signature = 'x'", 'foreign')}`,
    ],
  ])
})

test('keys that sign, and one that is withdrawn', async () => {
  const second = `insert into watchpost.evidence_keys (kid, public_jwk, created_at, retired_at) values ('old', '{}', now() - interval '1 day', now() - interval '1 hour');
    update watchpost.evidence set kid = 'old', signature = 'x' where record = 'private';
    update watchpost.evidence set kid = 'key', signature = 'y' where record = 'shared';`
  const withdraw = (from: string, kid = 'old') =>
    `select private.withdraw_evidence_key('${kid}', ${from}, 'stolen');`
  const rows = `select k.kid, k.private_sealed, round(extract(epoch from k.retired_at - now())),
      round(extract(epoch from k.withdrawn_from - now())), k.withdrawn_reason,
      array(select e.record from watchpost.evidence e where e.kid = k.kid) from watchpost.evidence_keys k`
  await agree('evidence-keys', [
    ['the newest first', `select array(select kid from private.evidence_public_keys())`, second],
    [
      'the one that signs',
      `select kid, private_sealed from private.evidence_signing_key()`,
      second,
    ],
    ['withdrawn', rows, `${second}${withdraw(ago('2 hours'))}`],
    [
      'withdrawn once more, since later',
      rows,
      `${second}${withdraw(ago('2 hours'))}${withdraw(ago('1 hour'))}`,
    ],
    [
      'withdrawn once more, since earlier',
      rows,
      `${second}${withdraw(ago('2 hours'))}${withdraw(ago('3 hours'))}`,
    ],
    ['the one that signs withdrawn', rows, `${second}${withdraw(ago('2 hours'), 'key')}`],
    [
      'one that there is not',
      `select private.withdraw_evidence_key('none', now(), 'stolen')`,
      second,
    ],
    [
      'how many records it had signed',
      `select private.withdraw_evidence_key('old', now(), 'stolen')`,
      second,
    ],
  ])
})

test('a person who is deleted is replaced where they acted, and only there', async () => {
  const { member, owner } = questions.world.ids
  const pseudonym = '00000000-0000-4000-8000-000000000001'
  const rows = `select a.zone_name, e.record, e.signature from watchpost.evidence e join watchpost.alerts a on a.id = e.alert_id`
  const erase = `select private.erase_from_evidence('${member}', '${pseudonym}');`
  const named = `update watchpost.evidence set record = record || ' by ${member}', kid = 'key', signature = 'x';`
  const log = (account: string, actor: string, type = 'alert') =>
    `insert into watchpost.audit (account_id, actor_id, action, target_type, target_id)
    values ('${account}', '${actor}', 'x', '${type}', ${idOf('shared')});`
  await agree('evidence-erased', [
    ['resolved it', rows, `${named}${alert(`resolved_by = '${member}'`, 'shared')}${erase}`],
    ['saw it', rows, `${named}${alert(`seen_by = '${member}'`, 'shared')}${erase}`],
    ['acted on it', rows, `${named}${log(owner ?? '', member ?? '')}${erase}`],
    ['has it in their log', rows, `${named}${log(member ?? '', owner ?? '')}${erase}`],
    ['acted on something else', rows, `${named}${log(owner ?? '', member ?? '', 'zone')}${erase}`],
    [
      'is not named: the signature stays',
      rows,
      `update watchpost.evidence set kid = 'key', signature = 'x';${alert(`resolved_by = '${member}'`, 'shared')}${erase}`,
    ],
  ])
})
