import { afterAll, beforeAll, test } from 'vitest'
import { ago, type Case, createQuestions } from '../questions.ts'

/** What is read near a zone, and what becomes of the steps of an alert, at their edges. Answers are in golden/. */
let questions: Awaited<ReturnType<typeof createQuestions>>
beforeAll(async () => {
  questions = await createQuestions()
})
afterAll(() => questions?.close())
const agree = (name: string, cases: Case[]) => questions.agree(name, cases)

const claims = (who: string) =>
  `select set_config('request.jwt.claims', '{"sub": "${questions.world.ids[who]}"}', true);`
const zone = (name: string) => `(select id from watchpost.zones where label = '${name}')`

test('events near the zones of a caller: their window, filters and pages', async () => {
  type Asked = {
    from?: string
    before?: string
    id?: string
    source?: string
    type?: string
    least?: string
    limit?: number
    boxes?: number
    status?: string
    at?: string
    in?: string
  }
  const near = (asked: Asked = {}) => {
    const {
      from = ago('1 hour'),
      before = 'now()',
      id = 'null',
      source = 'null',
      type = 'null',
      least = 'null',
    } = asked
    const { limit = 100, boxes = 400, status = 'null', at = 'null', in: where = 'null' } = asked
    return `select array(select n.event_id || ' ' || cardinality(n.zone_ids) from private.events_near(${where}, ${from}, ${before}, ${id}, ${source}, ${type}, ${least}, ${limit}, ${boxes}, ${status}, ${at}) n)`
  }
  /** Events of these minutes ago, in an empty world but for the zones. */
  const events = (...given: [name: string, minutes: number, more?: string][]) =>
    `delete from watchpost.events; delete from watchpost.positions;${given
      .map(
        ([name, minutes, more = "'active', 50, null::timestamptz"]) =>
          `insert into watchpost.events (id, source, type, title, ts, status, severity, ends_at, lon, lat, extent)
          select 'test:${name}', 'test', 'other', '', now() - interval '${minutes} minutes', ${more}, 2, 1, box '(2,1),(2,1)';`,
      )
      .join('')}${claims('owner')}`
  const three = events(['a', 1], ['b', 1], ['c', 2])
  const many = events(
    ...Array.from({ length: 30 }, (_, n): [string, number] => [
      `e${10 + n}`,
      1 + Math.floor(n / 3),
    ]),
  )
  const ends = (at: string): [string, number, string] => [
    'e',
    1,
    `'active', 50, now() + interval '${at}'`,
  ]
  const boxes = `insert into watchpost.zone_boxes (zone_id, part, box, min_severity) select zone_id, n, box, 40 from watchpost.zone_boxes, generate_series(2, 8) n;`
  const both = (about: string, asked: Asked, before: string): Case[] => [
    [about, near(asked), before],
    [`${about}, by time`, near({ ...asked, boxes: 1 }), before],
  ]
  await agree('near', [
    ...both('the newest first, of one time the last name', {}, three),
    ...both('the first page', { limit: 1 }, three),
    ...both('the next page', { limit: 2, before: ago('1 minute'), id: "'test:b'" }, three),
    ...both('from the beginning of the window on', { from: ago('2 minutes') }, three),
    ...both('until its end', { before: ago('1 minute') }, three),
    ...both('a small page of many', { limit: 4 }, many + boxes),
    ...both('a page that is not full', { limit: 40 }, many + boxes),
    ...both('of one zone', { in: zone('shared') }, three),
    ...both('of the zone of a stranger', { in: zone('foreign') }, three),
    ...both(
      'of a deleted zone',
      { in: zone('shared') },
      `${three} update watchpost.zones set deleted_at = now();`,
    ),
    ...both('of another source', { source: "'else'" }, three),
    ...both('of another type', { type: "'flood'" }, three),
    ...both('as severe as asked', { least: '50' }, three),
    ...both('less severe', { least: '51' }, three),
    ...both('that are active', { status: "'active'" }, three),
    ...both('that have ended', { status: "'ended'" }, three),
    ...both('that stood then', { at: 'now()' }, events(ends('1 s'), ['n', 1])),
    ...both('that ended just then', { at: 'now()' }, events(ends('0 s'))),
    ...both('that had not begun', { at: ago('2 minutes') }, events(ends('1 hour'))),
    ...both('that began just then', { at: ago('1 minute') }, events(ends('1 hour'))),
    ...['owner', 'member', 'stranger'].flatMap((who) =>
      both(`all that they may see: ${who}`, {}, claims(who)),
    ),
    ['with as many boxes as are searched one by one', near({ limit: 4, boxes: 16 }), many + boxes],
    ['with one more', near({ limit: 4, boxes: 15 }), many + boxes],
  ])
})

test('steps of alerts: when they begin, which are due, and what they do', async () => {
  const alert = (set: string) => `update watchpost.alerts set ${set} where zone_name = 'private';`
  const alertId = `(select id from watchpost.alerts where zone_name = 'private')`
  const channel = (name: string) => `(select id from watchpost.channels where label = '${name}')`
  const plan = `update watchpost.zones set escalation = jsonb_build_array(
    jsonb_build_object('after_minutes', 5, 'channel_ids', jsonb_build_array(${channel('shared')}, ${channel('private')}, ${channel('foreign')})),
    jsonb_build_object('after_minutes', 9, 'channel_ids', jsonb_build_array(${channel('private')})));`
  const none = 'delete from watchpost.alert_steps;'
  const start = `select private.start_steps(array[${alertId}]);`
  const steps = `select s.round, s.step, s.status, s.reason, round(extract(epoch from s.due_at - now())) from watchpost.alert_steps s`
  const worse = alert(`updates = '[{"kind": "revised"}, {"kind": "escalated"}]'`)
  const drill = (escalates: boolean) =>
    `update watchpost.drills set escalates = ${escalates}; ${alert('drill_id = (select id from watchpost.drills limit 1)')}`
  const ready = `${none}${plan}`
  await agree('steps-begun', [
    ['of an alert that is sent', steps, ready + start],
    ['called twice', steps, ready + start + start],
    ...['held', 'suppressed', 'recorded', 'failed'].map(
      (status): Case => [`of one ${status}`, steps, ready + alert(`status = '${status}'`) + start],
    ),
    ['of one that was seen', steps, ready + alert("seen_at = now(), seen_via = 'api'") + start],
    ['of one that is resolved', steps, ready + alert('resolved = true') + start],
    ['of one that is worse: anew', steps, ready + start + worse + start],
    [
      'of one that is worse, where a step ran',
      steps,
      `${ready}${start} update watchpost.alert_steps set status = 'ran', settled_at = now() where step = 1; ${worse}${start}`,
    ],
    [
      'of a deleted zone',
      steps,
      `${ready} update watchpost.zones set deleted_at = now(); ${start}`,
    ],
    ['of a drill that asked for them', steps, ready + drill(true) + start],
    ['of a drill that did not', steps, ready + drill(false) + start],
    ...[
      ['seen', "seen_at = now(), seen_via = 'api'"],
      ['resolved', 'resolved = true'],
      ['ended', `updates = '[{"kind": "ended"}]'`],
      ['revised', `updates = '[{"kind": "revised"}]'`],
      ['noted', "note = 'x'"],
    ].map(
      ([about, set = '']): Case => [
        `stopped when it is ${about}`,
        steps,
        `${ready}${start} update watchpost.alert_steps set status = 'ran', settled_at = now() where step = 1; set local session_replication_role = origin; ${alert(set)}`,
      ],
    ),
  ])

  const due = (limit = 10) =>
    `select array(select d.step || ' ' || coalesce(d.off, 'on') || ' ' || coalesce(d.calm, 'open') || ' ' || d.is_in_zone from private.due_steps(${limit}) d)`
  const begun = `${ready}${start} update watchpost.alert_steps set due_at = now();`
  const others = `${none}${plan} insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at)
    select id, 0, 1, 5, now(), now() - case zone_name when 'shared' then interval '2 minutes' else interval '1 minute' end from watchpost.alerts where zone_name in ('private', 'shared');`
  const names = `select array(select a.zone_name from private.due_steps(1) d join watchpost.alerts a on a.id = d.alert_id)`
  const settle = (call: string) =>
    `${begun} insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at) values (${alertId}, 1, 1, 5, now(), now()); update watchpost.alert_steps set status = 'ran', settled_at = now() where step = 2; ${call}`
  await agree('steps-due', [
    ['due', due(), begun],
    [
      'due in a second',
      due(),
      `${begun} update watchpost.alert_steps set due_at = now() + interval '1 s' where step = 2`,
    ],
    [
      'that ran',
      due(),
      `${begun} update watchpost.alert_steps set status = 'ran', settled_at = now() where step = 1`,
    ],
    [
      'in the order of their time',
      due(),
      `${begun} update watchpost.alert_steps set due_at = now() - interval '1 s' where step = 2`,
    ],
    ['of the alert that has waited longest', names, others],
    [
      'the zone is deleted',
      due(),
      `${begun} update watchpost.zones set deleted_at = now(), enabled = false`,
    ],
    ['the zone is off', due(), `${begun} update watchpost.zones set enabled = false`],
    [
      'the owner is on the free plan',
      due(),
      `${begun} update watchpost.accounts set plan = 'free', banned_until = 'infinity'`,
    ],
    [
      'the owner is banned',
      due(),
      `${begun} update watchpost.accounts set banned_until = 'infinity'`,
    ],
    [
      'the zone has no such step any more',
      due(),
      `${begun} update watchpost.zones set escalation = '[{"after_minutes": 9, "channel_ids": []}]'`,
    ],
    [
      'one is delayed, of its round',
      steps,
      settle(`select private.delay_step(${alertId}, 0, 1, now() + interval '1 hour')`),
    ],
    [
      'one that ran is not delayed',
      steps,
      settle(`select private.delay_step(${alertId}, 0, 2, now() + interval '1 hour')`),
    ],
    [
      'one is stopped, of its round',
      steps,
      settle(`select private.stop_step(${alertId}, 0, 1, 'x')`),
    ],
    [
      'one that ran is not stopped',
      steps,
      settle(`select private.stop_step(${alertId}, 0, 2, 'x')`),
    ],
  ])

  const run = (step = 1) => `select private.run_step(${alertId}, 0, ${step});`
  const ran = `select s.round, s.step, s.status, s.reason, jsonb_path_query_array(s.channels, '$[*].outcome'),
    array(select c.label || ' ' || (d.step ->> 'steps') from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id where d.step ->> 'step' = s.step::text order by 1)
    from watchpost.alert_steps s`
  const set = (change: string) => `update watchpost.channels set ${change} where label = 'private';`
  await agree('steps-run', [
    ['each channel that it may still use', ran, begun + run()],
    ['another step', ran, begun + run(2)],
    ['once', ran, begun + run() + run()],
    [
      'a round of its own',
      ran,
      `${begun} insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at) values (${alertId}, 1, 1, 5, now(), now()); ${run()}`,
    ],
    ['one that is off', ran, begun + set('enabled = false') + run()],
    ['one that is deleted', ran, begun + set('deleted_at = now()') + run()],
    ['one that is not confirmed', ran, begun + set("status = 'unconfirmed'") + run()],
    ['one that takes no such message', ran, begun + set("messages = '{alert.ended}'") + run()],
    ['none that is left', ran, begun + set('enabled = false') + run(2)],
  ])
})
