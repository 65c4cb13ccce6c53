import { afterAll, beforeAll, test } from 'vitest'
import { ago, type Case, createQuestions, varied } from './questions.ts'

/**
 * What functions in SQL answer about alerts and their messages: each at an edge, and on both sides of
 * it. The cases that belong together are in one file of golden/.
 */
let questions: Awaited<ReturnType<typeof createQuestions>>
beforeAll(async () => {
  questions = await createQuestions()
})
afterAll(() => questions?.close())

const agree = (name: string, cases: Case[]) => questions.agree(name, cases)

test('how urgent a message is, and when it is given up', async () => {
  const asked = `select private.is_emergency(d.type, a.severity, a.drill_id, z.emergency_severity),
      private.is_urgent(d), private.is_drill(d)
    from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
    join watchpost.zones z on z.id = a.zone_id where d.last_error = 'private'`
  const alert = (severity: number, more = '') =>
    `update watchpost.alerts set severity = ${severity};${more}`
  const zone = (least: number) => `update watchpost.zones set emergency_severity = ${least}`
  const type = (name: string) =>
    `update watchpost.deliveries set type = 'alert.${name}' where last_error = 'private'`
  await agree('urgent', [
    ...[79, 80, 100].map((severity): Case => [`${severity}`, asked, alert(severity)]),
    ...[29, 30].map((severity): Case => [`${severity} of 30`, asked, alert(severity, zone(30))]),
    ...['escalated', 'revised', 'ended', 'digest'].map(
      (name): Case => [name, asked, alert(100, type(name))],
    ),
    [
      'a drill',
      asked,
      alert(
        100,
        'update watchpost.alerts set drill_id = (select id from watchpost.drills limit 1)',
      ),
    ],
  ])
  const expiry = `(private.expiry_of(r, 'webhook', now()) - now())::text,
    (private.expiry_of(r, 'people', now()) - now())::text, private.step_number(r.step)`
  await agree(
    'expiry',
    varied('deliveries', "last_error = 'private'", expiry, [
      'due_at: now()',
      "due_at: now(); type: 'alert.digest'",
      "due_at: now(); type: 'zone.blind'",
      "due_at: now(); type: 'channel.test'",
      "due_at: now(); expires_at: now() + interval '1 hour'",
      `due_at: now(); step: '{"step": 2}'::jsonb`,
    ]),
  )
  const kinds = ['escalated', 'ended', 'retracted', 'revised', 'linked', 'acknowledged', 'reopened']
  const updates = [
    [],
    ...kinds.map((kind) => [kind]),
    ['ended', 'revised'],
    ['escalated', 'ended', 'linked'],
    ['escalated', 'revised', 'escalated'],
  ]
  await agree(
    'rounds',
    varied(
      'alerts',
      "zone_name = 'private'",
      'private.round_of(r), private.calm_of(r), private.is_bundled(r)',
      [
        ...updates.map(
          (list) => `updates: '${JSON.stringify(list.map((kind) => ({ kind })))}'::jsonb`,
        ),
        'resolved: true',
        'seen_at: now()',
        'resolved: true; seen_at: now()',
        `checks: '[{"name": "quiet_hours", "passed": true}, {"name": "burst", "passed": false}]'::jsonb`,
        `checks: '[{"name": "quiet_hours", "passed": false}, {"name": "burst", "passed": false}]'::jsonb`,
      ],
    ),
  )
})

test('what may be linked, heard and known', async () => {
  const sources = [
    'usgs',
    'emsc',
    'geonet',
    'gdacs',
    'tsunami',
    'nws',
    'nhc',
    'eonet',
    'firms',
    'cap',
  ]
  const kinds = ['earthquake', 'tsunami', 'storm', 'wildfire', 'flood']
  await agree(
    'links',
    sources.map(
      (source): Case => [
        source,
        `select ${kinds
          .flatMap((type) =>
            ['1 day', '25 hours', '10 days', '11 days'].map(
              (before) => `private.may_link('${source}', '${type}', interval '${before}')::integer`,
            ),
          )
          .join(', ')}`,
      ],
    ),
  )
  const { owner, stranger, team, theirs } = questions.world.ids
  const hears = (org: string, tenant: string, at = 'now()') =>
    `select private.could_hear('${owner}', ${org}, ${tenant}, ${at}), (
      select count(*)::integer from unnest(private.zones_in_tenant(array(select id from watchpost.zones), ${tenant}, ${at})))`
  await agree('hears', [
    ['its own', hears('null', `'${owner}'`)],
    ['its organisation’s', hears('null', `'${team}'`)],
    ['before it belonged to it', hears('null', `'${team}'`, ago('1 hour'))],
    ['another organisation’s', hears('null', `'${theirs}'`)],
    ['a stranger’s', hears('null', `'${stranger}'`)],
    ['shared: its own', hears(`'${team}'`, `'${owner}'`)],
    ['shared: the organisation’s', hears(`'${team}'`, `'${team}'`)],
    ['everybody’s', hears('null', 'null')],
  ])
  const stood = (at: string) =>
    `select private.stood_at('test:public', ${at}), private.stood_at('none', ${at})`
  const revise = `update watchpost.event_revisions set first_seen_at = now() - interval '2 hours' where event_id = 'test:public';
    insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title, ts, severity, status, lon, lat, extent)
    select event_id, 2, now() - interval '1 hour', source, type, title, ts, severity, 'ended', lon, lat, extent
    from watchpost.event_revisions where event_id = 'test:public'`
  await agree('stood', [
    ...['3 hours', '2 hours', '90 minutes', '1 hour', '0 s'].map(
      (time): Case => [`${time} ago`, stood(ago(time)), revise],
    ),
  ])
  const limits = ['zones', 'channels', 'members', 'keys', 'organisations', 'other']
  await agree('limits', [
    ...limits.map(
      (thing): Case => [
        thing,
        `select private.plan_limit('pro', '${thing}'), private.plan_limit('enterprise', '${thing}'), private.plan_limit('free', '${thing}')`,
      ],
    ),
    [
      'bans',
      `select private.is_banned(null), private.is_banned(now()), private.is_banned(now() + interval '1 ms'), private.is_banned('infinity')`,
    ],
    [
      'secrets that still sign',
      `select private.living_secrets(jsonb_build_array(jsonb_build_object('n', 1, 'until', now()),
        jsonb_build_object('n', 2, 'until', now() + interval '1 s'), jsonb_build_object('n', 3, 'until', now() + interval '2 s'))) @? '$[*]'`,
    ],
    ...[
      'see https://u:p@a.example/b?c#d now',
      `${'x'.repeat(200)}`,
      `${'x'.repeat(201)}`,
      'mailto:a@b.example',
      'WSS://u@a.example',
    ].map((text): Case => [text.slice(0, 60), `select private.without_secrets('${text}')`]),
    ...[
      ['{"a": 1, "note": "x"}', '{"a": 2, "note": "y"}'],
      ['{"target_sealed": 1, "key_hash": 1}', '{"target_sealed": 2, "key_hash": 2}'],
      ['{"a": 1}', '{"a": 1, "version": 2, "updated_at": 3, "failures": 4, "host": 5}'],
      ['{}', '{"a": null, "b": 1}'],
    ].map(
      ([from, to]): Case => [
        `${from} ${to}`,
        `select private.changed_fields('${from}', '${to}'), private.event_changes('${from}', '${to}'), private.label_of('${to}')`,
      ],
    ),
    ...[
      ['{"lat": 1, "lon": 2, "title": "a"}', '{"lat": 1, "lon": 2, "title": "b", "url": null}'],
      ['{"lat": 1, "lon": 2, "severity": 3}', '{"lat": 1, "lon": 3, "severity": 3}'],
    ].map(
      ([from, to]): Case => [`${from} ${to}`, `select private.event_changes('${from}', '${to}')`],
    ),
  ])
})

test('what a new or changed zone may concern', async () => {
  const asked = (zone = 'private') => `select array(
    select c.id || ' ' || c.revision || case when c.standing then ' stands' else '' end
    from private.zone_candidates((select id from watchpost.zones where label = '${zone}')) c)`
  /** What is there alone: public events, each with its time of end, and revisions, each with when it was first seen. */
  const there = ({ events = {}, revisions = {} }: Record<string, Record<string, string>>) =>
    `delete from watchpost.events; delete from watchpost.event_revisions;
    update watchpost.batches set matched_at = now(), matched_to = null;
    update watchpost.account_states set valid_from = ${ago('1 day')};
    update watchpost.zone_versions set valid_from = case version when 1 then ${ago('1 hour')} else now() end;
    ${Object.entries(events)
      .map(
        ([name, ends_at]) =>
          `insert into watchpost.events (id, source, type, title, ts, severity, status, ends_at, lon, lat, extent)
          values ('${name}', 'test', 'other', '', now(), 50, 'active', ${ends_at}, 2, 1, box '(2,1),(2,1)');`,
      )
      .join('')}${Object.entries(revisions)
      .map(
        ([name, first_seen_at]) =>
          `insert into watchpost.event_revisions (event_id, revision, batch_id, first_seen_at, source, type, title, ts, severity, status, lon, lat, extent)
          select '${name}', 2, id, ${first_seen_at}, 'test', 'other', '', now(), 50, 'active', 2, 1, box '(2,1),(2,1)' from watchpost.batches limit 1;`,
      )
      .join('')}`
  const standing = there({ events: { e: `now() + interval '1 s'` } })
  const seen = there({ revisions: { r: ago('30 minutes') } })
  const change = (table: string, set: string, where = 'true') =>
    `update watchpost.${table} set ${set} where ${where};`
  const id = (zone: string) => `(select id from watchpost.zones where label = '${zone}')`
  /** A zone with a second version, which is the one that counts. */
  const again = (zone: string, valid_from: string) =>
    `insert into watchpost.zone_versions (zone_id, version, definition, valid_from)
    select zone_id, 2, definition, ${valid_from} from watchpost.zone_versions where zone_id = ${id(zone)};
    update watchpost.zones set version = 2 where label = '${zone}';`
  const tenants = `${there({ events: { open: `now() + interval '1 h'` }, revisions: { open: 'now()' } })}
    insert into watchpost.events (id, source, type, title, ts, severity, status, ends_at, lon, lat, extent, owner_id, org_id)
    select 'of ' || label, 'test', 'other', '', now(), 50, 'active', now() + interval '1 h', 2, 1, box '(2,1),(2,1)', owner_id, org_id from watchpost.zones;
    insert into watchpost.event_revisions (event_id, revision, batch_id, first_seen_at, source, type, title, ts, severity, status, lon, lat, extent, tenant_id)
    select 'of ' || label, 1, b.id, now(), 'test', 'other', '', now(), 50, 'active', 2, 1, box '(2,1),(2,1)', tenant_id from watchpost.zones, watchpost.batches b;`
  const told = (revision: number) =>
    `insert into watchpost.alert_events (zone_id, event_id, alert_id, source, event, event_revision, checks, reason, zone_version, added_at)
    select zone_id, 'r', alert_id, 'other', '{}', ${revision}, '[]', '', 1, now() from watchpost.alert_events;`
  await agree('candidates', [
    ['an event that stands', asked(), standing],
    ['one that ends now', asked(), there({ events: { e: 'now()' } })],
    ['one without an end', asked(), there({ events: { e: 'null' } })],
    ['one that was ended', asked(), standing + change('events', "status = 'ended'")],
    ['one elsewhere', asked(), standing + change('events', "extent = box '(9,9),(9,9)'")],
    ['of a deleted zone', asked(), standing + change('zones', 'deleted_at = now()')],
    ['a revision since the change', asked(), seen],
    [
      'one just then',
      asked(),
      there({ revisions: { r: `date_trunc('milliseconds', ${ago('1 hour')})` } }),
    ],
    ['one just before', asked(), there({ revisions: { r: ago('1 hour 1 ms') } })],
    ['one before the last change', asked(), seen + again('private', ago('20 minutes'))],
    ['one since the last change', asked(), seen + again('private', ago('40 minutes'))],
    ['one before another zone changed', asked(), seen + again('shared', ago('20 minutes'))],
    ['one elsewhere', asked(), seen + change('event_revisions', "extent = box '(9,9),(9,9)'")],
    [
      'one before the owner’s plan changed',
      asked(),
      seen +
        change(
          'account_states',
          `valid_from = ${ago('20 minutes')}`,
          `user_id = '${questions.world.ids.owner}'`,
        ),
    ],
    [
      'one before the plan of somebody else changed',
      asked(),
      seen +
        change(
          'account_states',
          `valid_from = ${ago('20 minutes')}`,
          `user_id <> '${questions.world.ids.owner}'`,
        ),
    ],
    ['one of a batch that waits', asked(), seen + change('batches', 'matched_at = null')],
    [
      'one of a batch that was begun',
      asked(),
      seen + change('batches', 'matched_at = null, matched_to = gen_random_uuid()'),
    ],
    ['one of no batch', asked(), seen + change('event_revisions', 'batch_id = null')],
    ...[1, 2, 3].flatMap((revision): Case[] => [
      [
        `told with revision ${revision}`,
        asked(),
        seen +
          change('alerts', `event_id = 'r', event_revision = ${revision}`, "zone_name = 'private'"),
      ],
      [
        `told to another zone with revision ${revision}`,
        asked(),
        seen +
          change('alerts', `event_id = 'r', event_revision = ${revision}`, "zone_name = 'shared'"),
      ],
      [`told with revision ${revision} by another source`, asked(), seen + told(revision)],
    ]),
    [
      'told of another event',
      asked(),
      seen +
        change('alerts', "event_id = 's', event_revision = 3", "zone_name = 'private'") +
        change('alert_events', 'event_revision = 3'),
    ],
    ...['private', 'shared', 'foreign'].map(
      (zone): Case => [`of whom: ${zone}`, asked(zone), tenants],
    ),
  ])
})

test('which zones a batch may concern, some at a time', async () => {
  const name = (n: number) => `'00000000-0000-4000-8000-00000000000${n}'::uuid`
  const BATCH = name(9)
  const asked = (after = 'null', most = 'null') => `
    select array(select concat_ws(' ', c.id, c.revision, array(
        select z.label from watchpost.zones z where z.id = any(c.zone_ids) order by 1),
      'up to ' || right(c.cut_at::text, 1), 
        case when c.known_since < c.first_seen_at then 'known for ' || c.first_seen_at - c.known_since end)
    from private.batch_candidates(array[${BATCH}], ${after}, ${most}) c),
    array(select concat_ws(' ', z.key, 'in', right(z.zone_id::text, 1)) from private.batch_zones(array[${BATCH}]) z order by 1)`
  /** Zones 1 to 3 over the same place, which were changed long ago, and nothing else. */
  const zones = `delete from watchpost.zone_boxes; delete from watchpost.event_revisions; delete from watchpost.positions;
    delete from watchpost.match_memory; delete from watchpost.zones;
    insert into watchpost.zones (id, owner_id, label, lat, lon, boxes, updated_at)
    select given.id, '${questions.world.ids.owner}', right(given.id::text, 1), 1, 2, '{(3,2),(1,0)}', now() - interval '1 day'
    from (values (${name(1)}), (${name(2)}), (${name(3)})) as given (id);
    insert into watchpost.zone_boxes (zone_id, part, box, min_severity)
    select id, 1, box '(3,2),(1,0)', 40 from watchpost.zones;
    insert into watchpost.zone_versions (zone_id, version, definition, valid_from)
    select id, 1, to_jsonb(z), updated_at from watchpost.zones z;
    update watchpost.account_states set valid_from = now() - interval '1 day';`
  const event = (id = 'e', severity = 40, more: Record<string, string> = {}) => {
    const { revision = '1', batch = BATCH, seen = 'now()', tenant = 'null' } = more
    return `insert into watchpost.event_revisions (event_id, revision, batch_id, first_seen_at, source, type, title, ts,
        severity, status, lon, lat, extent, tenant_id)
      values ('${id}', ${revision}, ${batch}, ${seen}, 'test', 'other', '', now(), ${severity}, 'active', 2, 1,
        box '${more.box ?? '(2,1),(2,1)'}', ${tenant});`
  }
  const ship = `insert into watchpost.positions (event_id, batch_id, first_seen_at, source, type, title, ts, severity,
      subject, status, lon, lat, extent)
    values ('ship', ${BATCH}, now(), 'test', 'vessel', '', now(), 0, 'mmsi:1', 'active', 2, 1, box '(2,1),(2,1)');`
  const one = (table: string, set: string) =>
    `update watchpost.${table} set ${set} where ${table === 'zones' ? 'id' : 'zone_id'} = ${name(1)};`
  const remember = (key: string) =>
    `insert into watchpost.match_memory (zone_id, key, memory) values (${name(3)}, '${key}', '{}');`
  const far = { box: '(9,9),(9,9)' }
  const filters: [about: string, set: string][] = [
    ['takes its source', "sources = '{test}'"],
    ['takes other sources', "sources = '{else}'"],
    ['takes its type', "types = '{other,vessel}'"],
    ['takes other types', "types = '{flood}'"],
  ]
  const { owner, stranger } = questions.world.ids
  await agree('batch-candidates', [
    ['as severe as the zones want', asked(), zones + event()],
    ['less severe', asked(), zones + event('e', 39)],
    ['a position, whatever its severity', asked(), zones + ship],
    ['at the edge', asked(), zones + event('e', 40, { box: '(4,1),(3,1)' })],
    ['elsewhere', asked(), zones + event('e', 40, far)],
    ...filters.flatMap(([about, set]): Case[] => [
      [`a zone ${about}`, asked(), zones + event() + one('zone_boxes', set)],
      [`a zone ${about}, of a position`, asked(), zones + ship + one('zone_boxes', set)],
    ]),
    ['elsewhere, but remembered', asked(), zones + event('e', 1, far) + remember('e')],
    ['another is remembered', asked(), zones + event('e', 1, far) + remember('f')],
    [
      'a subject is remembered',
      asked(),
      `${zones}delete from watchpost.zone_boxes; ${ship}${remember('mmsi:1')}`,
    ],
    [
      'a zone changed since',
      asked(),
      zones + event('e', 1, far) + one('zones', `updated_at = now() + interval '1 s'`),
    ],
    [
      'a zone changed just then',
      asked(),
      zones + event('e', 1, far) + one('zones', 'updated_at = now()'),
    ],
    ['of another batch', asked(), zones + event('e', 40, { batch: name(8) })],
    [
      'in the order in which they were seen',
      asked(),
      zones + event('a') + event('b', 40, { seen: ago('1 s') }),
    ],
    [
      'revised',
      asked(),
      zones +
        event('d', 40, { batch: name(8), seen: ago('2 h') }) +
        event('e', 40, { batch: name(8), seen: ago('1 h') }) +
        event('e', 50, { revision: '2' }),
    ],
    ['of the owner', asked(), zones + event('e', 40, { tenant: `'${owner}'` })],
    ['of somebody else', asked(), zones + event('e', 40, { tenant: `'${stranger}'` })],
    ...[1, 2, 3].map(
      (most): Case => [`${most} at most`, asked('null', `${most}`), zones + event()],
    ),
    ['two at most, of two events', asked('null', '2'), zones + event() + event('f')],
    ...[1, 2].map(
      (most): Case => [
        `after the first, ${most} at most`,
        asked(name(1), `${most}`),
        zones + event(),
      ],
    ),
    ['after the last', asked(name(3), '2'), zones + event()],
    ['after the first', asked(name(1)), zones + event()],
  ])
})
