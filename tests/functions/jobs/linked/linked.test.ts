import { describe, expect, test } from 'vitest'
import { KNOWN_FEEDS } from '../../../../functions/feeds/feeds.ts'
import { linkRuleOf } from '../../../../shared/decide/link.ts'
import { Preview } from '../../../../shared/preview/preview.ts'
import { EVENT_TYPES } from '../../../../shared/schemas/event.ts'
import { parsed } from '../../../support/service.ts'
import {
  alertsOf,
  ask,
  draw,
  explained,
  idsOf,
  ingest,
  jobs,
  places,
  previewed,
  sent,
  service,
  setUp,
  shift,
  types,
  useService,
} from './linked-scene.ts'

// One earthquake, storm, fire or tsunami as several sources report it: a zone is alerted once.
useService()

test('what only one source reports is followed next to what several do', async () => {
  const { person, report } = await setUp()
  const flood = report('gdacs', {
    id: 'gdacs:flood',
    type: 'flood',
    title: 'Flood',
    magnitude: null,
  })
  const shock = report('gdacs')
  await ingest(flood, shock)
  const from = jobs.lines.length
  await ingest({ ...flood, title: 'Great flood' }, { ...shock, title: 'M 5.1' })
  const alerts = await alertsOf(person)
  expect(alerts.map(({ updates }) => updates.map(({ kind }) => kind))).toEqual([
    ['revised'],
    ['revised'],
  ])
  expect(jobs.lines.slice(from)).toContainEqual(
    expect.objectContaining({ batches: 1, revisions: 2, pairs: 2, alerts: 0, updates: 2 }),
  )
})

describe('an earthquake that two sources report', () => {
  test('raises one alert with both ids, and is sent once', async () => {
    const { person, zone, report, ts } = await setUp()
    const usgs = report('usgs')
    const emsc = report('emsc', { ts: shift(ts, 3), magnitude: 5.2, severity: 59 })
    await ingest(usgs)
    await ingest(emsc)
    const alerts = await alertsOf(person)
    expect(alerts.map(idsOf)).toEqual([[usgs.id, emsc.id]])
    expect(alerts[0]).toMatchObject({
      event_id: usgs.id,
      severity: 60,
      reason: expect.stringContaining('severity 60 × 1 = 60 reaches 40'),
      updates: [{ kind: 'linked', event_id: emsc.id, changes: {} }],
      event_ids: [
        { source: 'usgs', link: null, attribution: 'a test' },
        {
          source: 'emsc',
          title: emsc.title,
          severity: 59,
          magnitude: 5.2,
          link: {
            event_id: usgs.id,
            rule: 'earthquake',
            seconds_apart: 3,
            distance_km: 0,
            magnitude_apart: 0.2,
          },
        },
      ],
    })
    expect(types()).toEqual(['alert.raised'])
    // By any of its events.
    for (const { id } of [usgs, emsc]) {
      expect(await alertsOf(person, `event_id=${id}`)).toEqual(alerts)
      expect(await alertsOf(person, `event_id=${id}&zone_id=${zone}`)).toEqual(alerts)
    }
    expect(await alertsOf(person, `event_id=${usgs.id}0`)).toEqual([])
    const why = await explained(person, zone, emsc.id)
    expect(why).toMatchObject({
      live: false,
      raised: false,
      duplicate: { passed: false, linked_event_id: usgs.id, link: { seconds_apart: 3 } },
    })
    expect(why.reason).toBe(
      `${emsc.title}: the same was reported as ${usgs.id} (3 s, 0 km and 0.2 in magnitude apart); ` +
        'an alert exists already (raised, at most 60 so far).',
    )
    expect(await explained(person, zone, usgs.id)).toMatchObject({ live: false, raised: true })
    const preview = await previewed(person, zone)
    expect(preview).toMatchObject({ count: 1, events: [{ event_id: usgs.id }] })
    expect(preview.suppressed).toMatchObject({ duplicate: 1, severity: 0 })
  })

  test('escalates once when the second is a band higher, with the highest severity', async () => {
    const { person, zone, report } = await setUp()
    const usgs = report('usgs', { severity: 58 })
    const emsc = report('emsc', { severity: 66, magnitude: 5.4 })
    await ingest(usgs)
    await ingest(emsc)
    const gdacs = report('gdacs', { severity: 60 })
    await ingest(gdacs)
    const [alert, ...more] = await alertsOf(person)
    expect(more).toEqual([])
    expect(alert).toMatchObject({ severity: 66, event_id: usgs.id, current: { severity: 58 } })
    expect(alert?.updates).toMatchObject([
      { kind: 'escalated', event_id: emsc.id, changes: { severity: [58, 66] } },
      { kind: 'linked', event_id: gdacs.id },
    ])
    expect(types()).toEqual(['alert.raised', 'alert.escalated'])
    expect(sent()[1].data.alert.event_ids).toMatchObject([
      { event_id: usgs.id },
      { event_id: emsc.id, severity: 66 },
    ])
    expect(await explained(person, zone, emsc.id)).toMatchObject({
      live: false,
      raised: false,
      duplicate: { escalates: true, linked_event_id: usgs.id },
    })
    // The first source follows: no more is told than the zone knows.
    await ingest({ ...usgs, severity: 65, revised_at: new Date().toISOString() })
    expect((await alertsOf(person))[0]).toMatchObject({ severity: 66, current: { severity: 65 } })
    expect(types()).toEqual(['alert.raised', 'alert.escalated'])
  })

  test('alerts a zone that hears of the later source only, and one that the first did not reach', async () => {
    const { person, here, report } = await setUp({ sources: ['emsc'] })
    await draw(person, { ...here, radius_km: 200, label: 'High', min_severity: 62 })
    await jobs.drain()
    await ingest(report('usgs'))
    expect(await alertsOf(person)).toEqual([])
    const emsc = report('emsc', { severity: 64 })
    await ingest(emsc)
    const alerts = await alertsOf(person)
    expect(alerts.map(({ zone_name }) => zone_name).sort()).toEqual(['A place', 'High'])
    expect(alerts.map(idsOf)).toEqual([[emsc.id], [emsc.id]])
  })

  test('is not mixed up with its aftershock, nor two of one source with each other', async () => {
    const { person, report, ts } = await setUp()
    const main = report('usgs')
    const twin = report('usgs', { id: `usgs:${places}-twin`, ts: shift(ts, 1) })
    const after = report('emsc', { ts: shift(ts, 20) })
    await ingest(main)
    await ingest(twin)
    await ingest(after)
    expect((await alertsOf(person)).flatMap(idsOf).sort()).toEqual(
      [main.id, twin.id, after.id].sort(),
    )
    expect(await alertsOf(person)).toHaveLength(3)
  })

  test('of one’s own is linked with nothing', async () => {
    const { person, report } = await setUp()
    await ingest(report('usgs'))
    const { source, ts, lat, lon } = report('emsc')
    const event = { id: 's1', type: 'earthquake', title: source, ts, lat, lon, severity: 60 }
    const pushed = await ask(person, 'POST', 'events', { source: 'custom:sensor', events: [event] })
    expect(pushed.status).toBeLessThan(300)
    await jobs.drain()
    expect(await alertsOf(person)).toHaveLength(2)
  })
})

test('a preview asks for earlier reports of just the events that may be linked', async () => {
  const pairs = KNOWN_FEEDS.flatMap(({ source }) => EVENT_TYPES.map((type) => ({ source, type })))
  const asked = await service.database.query(
    `select source, type from jsonb_to_recordset($1) as x (source text, type text)
    where private.may_link(source, type, interval '1 hour')`,
    [JSON.stringify(pairs)],
  )
  expect(asked).toEqual(pairs.filter((pair) => linkRuleOf(pair) !== null))
})

test('a preview remembers what another source reported before its window', async () => {
  const { person, zone, report } = await setUp()
  const midnight = Date.parse(`${new Date().toISOString().slice(0, 10)}T00:00:00Z`)
  const ts = new Date(midnight - 600_000).toISOString()
  const seen = (source: string, at: number) => ({
    ...report(source, { ts }),
    first_seen_at: new Date(at).toISOString(),
  })
  await jobs.ingest(seen('usgs', midnight - 300_000))
  await jobs.ingest(seen('emsc', midnight))
  await jobs.drain()
  const answer = await ask(person, 'GET', `zones/${zone}/preview?days=1`)
  const preview = parsed(answer, 200, Preview)
  expect(preview.count).toBe(0)
  expect(preview.suppressed).toMatchObject({ duplicate: 1, enabled: 0 })
})

describe('what becomes of the alert', () => {
  test('it is retracted when the last of its sources withdraws the event', async () => {
    const { person, zone, report } = await setUp()
    const usgs = report('usgs')
    const emsc = report('emsc')
    await ingest(usgs)
    await ingest(emsc)
    const gone = { status: 'retracted' as const, revised_at: new Date().toISOString() }
    await ingest({ ...usgs, ...gone })
    expect(types()).toEqual(['alert.raised'])
    expect((await alertsOf(person))[0]).toMatchObject({
      current: { status: 'retracted' },
      updates: [
        { kind: 'linked' },
        { kind: 'unlinked', changes: { status: ['active', 'retracted'] } },
      ],
    })
    await ingest({ ...emsc, ...gone })
    expect(types()).toEqual(['alert.raised', 'alert.retracted'])
    expect((await alertsOf(person))[0]?.updates.at(-1)).toMatchObject({
      kind: 'retracted',
      event_id: emsc.id,
      changes: { status: ['active', 'retracted'] },
    })
    // What was withdrawn stands in for nothing: a third source is believed.
    await ingest(report('gdacs'))
    expect(types()).toEqual(['alert.raised', 'alert.retracted', 'alert.raised'])
    expect((await previewed(person, zone)).count).toBe(2)
  })

  test('a held one that a second source makes an emergency is about that source', async () => {
    const clock = (minutes: number) =>
      new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
    const { person, zone, report } = await setUp({
      quiet_hours_start: clock(-60),
      quiet_hours_end: clock(60),
      emergency_severity: 65,
    })
    const usgs = report('usgs')
    const emsc = report('emsc', { severity: 70 })
    await ingest(usgs)
    expect(await alertsOf(person)).toMatchObject([{ status: 'held', event_id: usgs.id }])
    await ingest(emsc)
    const alerts = await alertsOf(person)
    expect(alerts).toMatchObject([
      { status: 'dispatched', event_id: emsc.id, event: { source: 'emsc' }, severity: 70 },
    ])
    expect(alerts.map(idsOf)).toEqual([[emsc.id, usgs.id]])
    expect(types()).toEqual(['alert.raised'])
    expect(await explained(person, zone, emsc.id)).toMatchObject({ live: false, raised: true })
    expect(await explained(person, zone, usgs.id)).toMatchObject({ live: false, raised: false })
    expect(await previewed(person, zone)).toMatchObject({
      count: 1,
      events: [{ event_id: emsc.id }],
      suppressed: { quiet_hours: 0 },
    })
    // The first source goes on to tell of the same alert.
    await ingest({ ...usgs, severity: 85, revised_at: new Date().toISOString() })
    expect(await alertsOf(person)).toMatchObject([{ severity: 85, event_id: emsc.id }])
    expect(types()).toEqual(['alert.raised', 'alert.escalated'])
  })

  test('a held one that went out meanwhile is escalated, and stays about the first source', async () => {
    const clock = (minutes: number) =>
      new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
    const quiet = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
    const { person, zone, report } = await setUp({ ...quiet, emergency_severity: 65 })
    const usgs = report('usgs')
    const emsc = report('emsc', { severity: 70 })
    await ingest(usgs)
    const loud = { quiet_hours_start: null, quiet_hours_end: null }
    expect((await ask(person, 'PATCH', `zones/${zone}`, loud)).status).toBe(200)
    await jobs.drain()
    expect(types()).toEqual(['alert.digest'])
    await ingest(emsc)
    await ingest({ ...usgs, severity: 85, revised_at: new Date().toISOString() })
    const alerts = await alertsOf(person)
    expect(alerts).toMatchObject([{ event_id: usgs.id, severity: 85 }])
    expect(alerts.map(idsOf)).toEqual([[usgs.id, emsc.id]])
    expect(types()).toEqual(['alert.digest', 'alert.escalated', 'alert.escalated'])
  })

  test('an event that is revised to be another one raises an alert of its own', async () => {
    const { person, here, zone, report } = await setUp()
    const usgs = report('usgs')
    const emsc = report('emsc')
    await ingest(usgs)
    await ingest(emsc)
    const revised_at = new Date().toISOString()
    await ingest({ ...emsc, lon: here.lon + 0.1, revised_at })
    expect(await alertsOf(person)).toHaveLength(1)
    const ts = shift(usgs.ts, 90)
    await ingest({ ...emsc, ts, revised_at: new Date().toISOString() })
    const alerts = await alertsOf(person)
    expect(alerts.map(idsOf).sort()).toEqual([[usgs.id], [emsc.id]].sort())
    expect(await explained(person, zone, emsc.id)).toMatchObject({ live: false, raised: true })
    expect(types().filter((type) => type === 'alert.raised')).toHaveLength(2)
    expect((await previewed(person, zone)).count).toBe(2)
  })
})

describe('other things that two sources report', () => {
  test('a storm is one by its name, and ends with the last report of it', async () => {
    const { person, here, report, ts } = await setUp()
    const ends_at = new Date(Date.now() + 3_600_000).toISOString()
    const storm = { type: 'storm' as const, magnitude: null, ends_at }
    const nhc = report('nhc', { ...storm, title: 'Hurricane Teddy', subject: 'nhc:al202020' })
    const gdacs = report('gdacs', {
      ...{ ...storm, id: `gdacs:TC${places}`, lon: here.lon + 1, ts: shift(ts, -7200) },
      title: 'Orange Tropical Cyclone TEDDY-20 in Bermuda',
    })
    const other = report('gdacs', {
      ...{ ...storm, id: `gdacs:TC${places}-2`, title: 'Green Tropical Cyclone TWO-20' },
    })
    await ingest(nhc)
    await ingest(gdacs)
    await ingest(other)
    expect((await alertsOf(person)).map(idsOf)).toEqual([[other.id], [nhc.id, gdacs.id]])
    // A zone that is drawn now hears of the standing storm once as well.
    const zone = await draw(person, { ...here, radius_km: 200, label: 'New' })
    await jobs.drain()
    const fresh = await alertsOf(person, `zone_id=${zone}`)
    expect(fresh.map((alert) => idsOf(alert).length).sort()).toEqual([1, 2])
    service.receiver.requests.length = 0
    const over = { status: 'ended' as const, revised_at: new Date().toISOString() }
    await ingest({ ...nhc, ...over })
    expect(types()).toEqual([])
    await ingest({ ...gdacs, ...over })
    expect(types()).toEqual(['alert.ended', 'alert.ended'])
  })
})
