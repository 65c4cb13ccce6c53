import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import {
  CreatedZone,
  createDeliveryService,
  type DeliveryService,
} from '../../support/delivery-service.ts'
import { quake } from '../../support/jobs.ts'

// What becomes of what a feed says, until it is decided on.
let fixture: DeliveryService
beforeAll(async () => {
  fixture = await createDeliveryService()
})
afterAll(() => fixture?.close())

const query = (statement: string, values: unknown[] = []) => fixture.query(statement, values)

/** What ingesting answers, for these events of the source `test`. */
async function ingest(events: NormalisedEvent[], owner: (string | null)[] = [null, null]) {
  const rows = events.map((event) => ({
    ...event,
    box: [event.lon, event.lat, event.lon, event.lat],
  }))
  const [answer] = await query(
    `select inserted, revised, unchanged, batch_id is not null as has_batch
    from private.ingest_events('test', $1, true, $2, $3)`,
    [JSON.stringify(rows), ...owner],
  )
  return answer
}

async function stored(id: string) {
  const [row] = await query(
    `select e.title, e.severity, e.revision, (
      select count(*)::integer from watchpost.event_revisions r where r.event_id = e.id) as revisions
    from watchpost.events e where e.id = $1`,
    [id],
  )
  return row
}

const NEW = { inserted: 1, revised: 0, unchanged: 0, has_batch: true }
const REVISED = { inserted: 0, revised: 1, unchanged: 0, has_batch: true }
const SAME = { inserted: 0, revised: 0, unchanged: 1, has_batch: false }

describe('an event that is told again', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

  test.each<[string, string | null, string | null, object]>([
    ['later than before', at(5), at(6), REVISED],
    ['as of the same moment', at(5), at(5), REVISED],
    ['as of an earlier moment', at(5), at(4), SAME],
    ['without a moment', at(5), null, REVISED],
    ['with a moment, the first without', null, at(1), REVISED],
  ])('and differs, %s: %s, then %s', async (_, first, second, answer) => {
    const event = quake({ title: 'before', revised_at: first })
    expect(await ingest([event])).toEqual(NEW)
    expect(await ingest([{ ...event, title: 'after', revised_at: second }])).toEqual(answer)
    const count = answer === REVISED ? 2 : 1
    expect(await stored(event.id)).toEqual({
      title: answer === REVISED ? 'after' : 'before',
      severity: 60,
      revision: count,
      revisions: count,
    })
  })

  test.each<[keyof NormalisedEvent, unknown]>([
    ['type', 'storm'],
    ['title', 'another'],
    ['lat', 1],
    ['lon', 1],
    ['ts', at(0)],
    ['severity', 61],
    ['status', 'ended'],
    ['url', 'https://example.com/'],
    ['geometry', { type: 'Point', coordinates: [1, 2] }],
    ['ends_at', at(9)],
  ])('and differs in its %s is revised, and then is the same', async (field, value) => {
    const event = quake({ revised_at: at(1) })
    await ingest([event])
    const changed = { ...event, [field]: value }
    expect(await ingest([changed])).toEqual(REVISED)
    expect(await ingest([changed])).toEqual(SAME)
  })

  test('and differs in nothing but its moment is the same', async () => {
    const event = quake({ revised_at: at(1) })
    await ingest([event])
    expect(await ingest([{ ...event, revised_at: at(2), aliases: ['test:other-name'] }])).toEqual(
      SAME,
    )
  })

  test('under another name is the event that had this name, before one that a later name of it had', async () => {
    const [older, newer] = [quake({ id: 'test:a-first' }), quake({ id: 'test:b-second' })]
    const [name, other] = ['test:c-name', 'test:d-name']
    await ingest([
      { ...older, aliases: [other] },
      { ...newer, aliases: [name] },
    ])
    const renamed = { ...newer, id: name, aliases: [other], title: 'renamed' }
    expect(await ingest([quake(), renamed])).toMatchObject({ inserted: 1, revised: 1 })
    expect(await stored(newer.id)).toMatchObject({ title: 'renamed', revisions: 2 })
    expect(await stored(older.id)).toMatchObject({ title: older.title, revisions: 1 })
    // Neither is what it is called by its own name only: then the first of those it was known as.
    const both = { ...quake({ id: 'test:e-name' }), aliases: [name, other], title: 'both' }
    expect(await ingest([both])).toMatchObject({ inserted: 0, revised: 1 })
    expect(await stored(older.id)).toMatchObject({ title: 'both', revisions: 2 })
  })

  test('twice in one answer counts as it was told last', async () => {
    const event = quake()
    expect(await ingest([event, { ...event, title: 'last' }])).toMatchObject({ inserted: 1 })
    expect(await stored(event.id)).toMatchObject({ title: 'last', revisions: 1 })
  })

  test('for another account or organisation changes nothing of the first', async () => {
    const { user_id } = await fixture.service.person()
    const other = await fixture.service.person()
    const org = await fixture.service.organisation(other)
    for (const owner of [
      [null, null],
      [user_id, null],
      [other.user_id, org],
    ]) {
      for (const thief of [
        [null, null],
        [user_id, null],
        [other.user_id, null],
        [other.user_id, org],
      ]) {
        const event = quake({ title: 'mine' })
        await ingest([event], owner)
        const isSame = (thief[1] ?? thief[0]) === (owner[1] ?? owner[0])
        expect(await ingest([{ ...event, title: 'theirs' }], thief)).toEqual(
          isSame ? REVISED : SAME,
        )
        expect(await stored(event.id)).toMatchObject({ title: isSame ? 'theirs' : 'mine' })
      }
    }
  })

  test('as a position of what moves is the same, whatever it says', async () => {
    const event = quake({ type: 'vessel', subject: 'mmsi:1' })
    expect(await ingest([event])).toEqual(NEW)
    expect(await ingest([{ ...event, title: 'another' }])).toEqual(SAME)
    expect(await stored(event.id)).toBeUndefined()
  })
})

test('a source’s newest event is remembered by its time, whatever came last', async () => {
  const times = ['2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', '2026-01-01T00:00:00Z']
  await query(`update watchpost.sources set last_event_at = null where source = 'test'`)
  for (const ts of times) await ingest([quake({ ts })])
  await ingest([])
  const [row] = await query(
    `select last_event_at = '2026-03-01T00:00:00Z' as is_newest from watchpost.sources where source = 'test'`,
  )
  expect(row).toEqual({ is_newest: true })
})

describe('a zone', () => {
  /** How many alerts a zone with these fields raises about these events. */
  async function raised(fields: object, events: Partial<NormalisedEvent>[]) {
    const person = await fixture.service.person()
    const here = fixture.place()
    const { zone } = await fixture.make(
      person,
      'zones',
      { label: 'A', ...here, ...fields },
      CreatedZone,
    )
    await fixture.jobs.drain()
    for (const event of events) await fixture.jobs.ingest(quake({ ...here, ...event }))
    // Seen by matching only through the zone's boxes: nothing was remembered or changed meanwhile.
    await query(`delete from pgboss.job where name = 'match_zone'`)
    await fixture.jobs.drain()
    const rows = await query('select event_id from watchpost.alerts where zone_id = $1', [zone.id])
    return rows.length
  }

  test.each<[object, Partial<NormalisedEvent>, number]>([
    [{ min_severity: 60 }, { severity: 60 }, 1],
    [{ min_severity: 60 }, { severity: 59 }, 0],
    [{ min_severity: 60, severity_multiplier: 0.6 }, { severity: 100 }, 1],
    [{ min_severity: 60, severity_multiplier: 0.6 }, { severity: 99 }, 0],
    [{ min_severity: 60, severity_multiplier: 3 }, { severity: 20 }, 1],
    [{ min_severity: 100, severity_multiplier: 5 }, { severity: 20 }, 1],
    [{ min_severity: 100, severity_multiplier: 5 }, { severity: 19 }, 0],
    [{ min_severity: 0 }, { severity: 0 }, 1],
    [{ sources: ['test'] }, {}, 1],
    [{ sources: ['usgs'] }, {}, 0],
    [{ sources: ['usgs', 'test'] }, {}, 1],
    [{ types: ['earthquake'] }, {}, 1],
    [{ types: ['storm'] }, {}, 0],
    [{ types: ['storm', 'earthquake'] }, {}, 1],
    [{ enabled: false }, {}, 0],
    [{}, { status: 'ended' }, 0],
  ])('%j hears of %j %i times', async (fields, event, count) => {
    expect(await raised(fields, [event])).toBe(count)
  })

  test('follows what moves whatever its severity, for a stay begins with it', async () => {
    const subject = 'mmsi:230000999'
    const at = (minute: number, severity: number) => ({
      id: `test:${subject}-${minute}`,
      subject,
      type: 'vessel' as const,
      severity,
      ts: new Date(Date.now() + (minute - 60) * 60_000).toISOString(),
    })
    const fields = { types: ['vessel'], min_severity: 50, dwell_minutes: 10 }
    expect(await raised(fields, [at(0, 0), at(5, 0), at(11, 60)])).toBe(1)
    expect(await raised(fields, [at(5, 0), at(11, 60)])).toBe(0)
  })

  test('decides as it was when the event was first seen, not as it is when that is matched', async () => {
    const person = await fixture.service.person()
    const here = fixture.place()
    const { zone } = await fixture.make(
      person,
      'zones',
      { label: 'A', ...here, min_severity: 50 },
      CreatedZone,
    )
    await fixture.jobs.drain()
    await fixture.jobs.ingest(quake({ ...here, severity: 60, id: 'test:before' }))
    const body = { min_severity: 90 }
    const path = `/api/v1/zones/${zone.id}`
    expect((await fixture.service.request('PATCH', path, { key: person.key, body })).status).toBe(
      200,
    )
    await fixture.jobs.ingest(quake({ ...here, severity: 60, id: 'test:after' }))
    await fixture.jobs.drain()
    const alerts = await query(
      'select event_id, zone_version from watchpost.alerts where zone_id = $1',
      [zone.id],
    )
    expect(alerts).toEqual([{ event_id: 'test:before', zone_version: 1 }])
  })

  test('hears that what it told of has moved away, weakened or ended', async () => {
    const person = await fixture.service.person()
    const here = fixture.place()
    const { zone } = await fixture.make(person, 'zones', { label: 'A', ...here }, CreatedZone)
    await fixture.jobs.drain()
    const changes = [{ lon: here.lon + 90 }, { severity: 1 }, { status: 'ended' as const }]
    const events = changes.map(() => quake(here))
    for (const event of events) await fixture.jobs.ingest(event)
    await fixture.jobs.drain()
    for (const [n, event] of events.entries())
      await fixture.jobs.ingest({ ...event, ...changes[n] })
    await fixture.jobs.drain()
    const rows = await query(
      `select updates -> 0 ->> 'kind' as kind from watchpost.alerts where zone_id = $1 order by event_id`,
      [zone.id],
    )
    expect(rows.map(({ kind }) => kind).sort()).toEqual(['ended', 'revised', 'revised'])
  })
})

describe('a source', () => {
  test('is polled when it is due and switched on, and once however many ask', async () => {
    await query(`delete from pgboss.job where name = 'ingest'`)
    await query(`update watchpost.sources set enabled = false`)
    await query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds, next_poll_at, enabled)
      values ('due', '', '', '{}', 60, now(), true), ('late', '', '', '{}', 600, now() - interval '1 day', true),
        ('early', '', '', '{}', 60, now() + interval '1 minute', true),
        ('off', '', '', '{}', 60, now() - interval '1 day', false),
        ('paused', '', '', '{}', 60, now() - interval '1 day', true)`,
    )
    await query(
      `update watchpost.sources set paused_at = now(), paused_reason = 'Too loud' where source = 'paused'`,
    )
    const counts = [
      await query('select private.enqueue_due() as n'),
      await query('select private.enqueue_due() as n'),
    ]
    expect(counts.flat()).toEqual([{ n: 2 }, { n: 0 }])
    const asked = await query(
      `select data ->> 'source' as source from pgboss.job where name = 'ingest' order by 1`,
    )
    expect(asked).toEqual([{ source: 'due' }, { source: 'late' }])
    const next = await query(
      `select source, round(extract(epoch from next_poll_at - now()) / 60)::integer as minutes
      from watchpost.sources where source in ('due', 'late') order by 1`,
    )
    expect(next).toEqual([
      { source: 'due', minutes: 1 },
      { source: 'late', minutes: 10 },
    ])
  })

  // enabled, interval, last success, last error, since when it is known
  test.each<[boolean, number, string | null, string | null, string, string]>([
    [false, 60, '1 second', null, '1 day', 'disabled'],
    [true, 60, '1 second', null, '1 day', 'ok'],
    [true, 60, '179 seconds', '1 second', '1 day', 'ok'],
    [true, 60, '181 seconds', null, '1 day', 'stale'],
    [true, 60, '181 seconds', '1 second', '1 day', 'down'],
    [true, 60, '181 seconds', '200 seconds', '1 day', 'stale'],
    [true, 600, '1799 seconds', null, '1 day', 'ok'],
    [true, 600, '1801 seconds', null, '1 day', 'stale'],
    [true, 60, null, null, '179 seconds', 'stale'],
    [true, 60, null, null, '181 seconds', 'down'],
    [true, 60, null, '1 second', '2 seconds', 'down'],
  ])(
    'switched on %s, every %i s, well %s ago, failing %s ago, known for %s: %s',
    async (...given) => {
      const [row] = await query(
        `select private.source_status(jsonb_populate_record(null::watchpost.sources, jsonb_build_object(
          'source', 'x', 'enabled', $1::boolean, 'interval_seconds', $2::integer, 'state', '{}'::jsonb,
          'last_success_at', now() - $3::interval, 'error_at', now() - $4::interval,
          'created_at', now() - $5::interval))) as status`,
        given.slice(0, 5),
      )
      expect(row).toEqual({ status: given[5] })
    },
  )
})
