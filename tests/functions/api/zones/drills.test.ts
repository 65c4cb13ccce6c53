import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Drill } from '../../../../shared/drill.ts'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { createDeliveryService, type DeliveryService } from '../../../support/delivery-service.ts'
import { quake } from '../../../support/jobs.ts'
import { type Person, parsed, sendResult } from '../../../support/service.ts'

let at: DeliveryService
beforeAll(async () => {
  at = await createDeliveryService()
})
afterAll(() => at?.close())
beforeEach(() => at.reset())

const One = z.object({ drill: Drill })
const MadeZone = z.object({ zone: z.looseObject({ id: z.uuid() }) })
const MadeChannel = z.object({ channel: z.looseObject({ id: z.uuid() }) })
type Scene = { person: Person; zone: string; channel: string; here: { lat: number; lon: number } }

const ask = ({ key }: Pick<Person, 'key'>, method: string, path: string, body?: object) =>
  at.service.request(method, `/api/v1/${path}`, { key, body })

/** A zone with one webhook. */
async function scene(fields: object = {}, channel: object = {}): Promise<Scene> {
  const person = await at.service.person()
  const { id } = (
    await at.make(
      person,
      'channels',
      { kind: 'webhook', target: 'https://hooks.example.com/in', label: 'Desk', ...channel },
      MadeChannel,
    )
  ).channel
  const here = at.place()
  const { zone } = await at.make(
    person,
    'zones',
    { label: 'The quay', ...here, ...fields },
    MadeZone,
  )
  await at.jobs.drain()
  return { person, zone: zone.id, channel: id, here }
}

async function begin({ person, zone }: Scene, body?: object): Promise<Drill> {
  return parsed(await ask(person, 'POST', `zones/${zone}/drill?wait=0`, body), 201, One).drill
}

async function get({ person, zone }: Scene, { id }: Pick<Drill, 'id'>): Promise<Drill> {
  return parsed(await ask(person, 'GET', `zones/${zone}/drills/${id}`), 200, One).drill
}

/** A drill with all jobs done. */
async function drilled(scene: Scene, body?: object): Promise<Drill> {
  const begun = await begin(scene, body)
  await at.jobs.drain()
  return get(scene, begun)
}

const Sent = z.looseObject({
  type: z.string(),
  data: z.looseObject({ drill: z.unknown().optional() }),
})
const bodies = () =>
  at.service.receiver.requests.map(({ body }) => Sent.parse(JSON.parse(String(body))))
const failed = ({ checks }: Drill) => checks.filter(({ passed }) => !passed).map(({ name }) => name)

describe('a drill', () => {
  test('goes the whole way, marked, and tells where it got', async () => {
    const here = await scene({ min_severity: 41, severity_multiplier: 2 })
    const begun = await begin(here)
    expect(begun).toMatchObject({
      status: 'waiting',
      decided_at: null,
      raised: null,
      channels: [],
      event: { type: 'earthquake', severity: 21, ...here.here },
    })
    await at.jobs.drain()
    const drill = await get(here, begun)
    expect(drill).toMatchObject({ status: 'done', raised: true, held_until: null, zone_version: 1 })
    expect(failed(drill)).toEqual([])
    expect(drill.checks.map(({ name }) => name)).toEqual([
      ...['enabled', 'filter', 'geometry', 'severity', 'duplicate', 'dwell', 'snooze'],
      'quiet_hours',
    ])
    expect(drill.channels).toEqual([
      expect.objectContaining({
        channel_id: here.channel,
        channel: 'Desk',
        outcome: 'succeeded',
        reason: null,
        step: null,
        attempts: [expect.objectContaining({ outcome: 'ok', status_code: 200, error: null })],
      }),
    ])
    const [body] = bodies()
    expect(body).toMatchObject({
      type: 'alert.raised',
      data: {
        drill: { id: drill.id },
        zone: { id: here.zone, label: 'The quay' },
        alert: {
          severity: 42,
          reason: expect.stringMatching(/^DRILL: Earthquake, no real event: /),
          event: { source: 'drill', title: 'DRILL: Earthquake, no real event' },
        },
      },
    })
    const [sent] = at.service.receiver.requests
    expect(sent?.headers['webhook-id']).toBe(drill.channels[0]?.delivery_id)
  })

  test('is answered with its outcome when the jobs are quick enough', async () => {
    const here = await scene()
    const asking = ask(here.person, 'POST', `zones/${here.zone}/drill?wait=20`, {})
    let is_done = false
    const answered = asking.finally(() => {
      is_done = true
    })
    while (!is_done) {
      await at.jobs.drain()
      await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 20))])
    }
    const answer = await asking
    const { drill } = parsed(answer, 201, One)
    expect(drill.status).toBe('done')
    const location = answer.headers.get('location')
    expect(location).toBe(`/api/v1/zones/${here.zone}/drills/${drill.id}`)
    const again = await at.service.request('GET', location ?? '', { key: here.person.key })
    expect(parsed(again, 200, One).drill).toEqual(drill)
  })

  test('is told in Turkish where the channel is', async () => {
    const fields = {
      kind: 'slack',
      target: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
    }
    const here = await scene({}, { ...fields, language: 'tr' })
    await drilled(here)
    const [request] = at.service.receiver.requests
    expect(String(request?.body)).toContain('TATBİKAT: Deprem, gerçek bir olay değil')
    expect(String(request?.body)).not.toContain('DRILL')
  })

  test('can pretend another event', async () => {
    const here = await scene({ sources: ['nws', 'usgs'], types: ['storm', 'flood'] })
    const first = await begin(here)
    expect(first.event).toMatchObject({ source: 'nws', type: 'storm', severity: 40 })
    const asked = { source: 'usgs', type: 'flood', severity: 77, lat: 1, lon: 2 }
    const other = await drilled(here, asked)
    expect(other.event).toEqual(asked)
    expect(other).toMatchObject({ status: 'stopped', raised: false })
    expect(failed(other)).toEqual(['geometry'])
    expectProblem(
      await ask(here.person, 'POST', `zones/${here.zone}/drill`, { lat: 1 }),
      422,
      'invalid',
    )
    expectProblem(
      await ask(here.person, 'POST', `zones/${here.zone}/drill`, { tittle: 'x' }),
      422,
      'invalid',
    )
  })

  test('happens inside a polygon whose label is not', async () => {
    const { lat, lon } = at.place()
    const ring = [
      [lon, lat],
      [lon + 1, lat],
      [lon + 1, lat + 1],
      [lon, lat],
    ]
    const polygon = { type: 'Polygon', coordinates: [ring] }
    const drill = await drilled(await scene({ lat: lat - 1, lon, polygon }))
    expect(drill).toMatchObject({ status: 'done', event: { lat, lon } })
  })

  test('of a vessel has stayed as long as the zone wants', async () => {
    const drill = await drilled(await scene({ types: ['vessel'], dwell_minutes: 30 }))
    expect(drill).toMatchObject({ status: 'done', event: { type: 'vessel', severity: 0 } })
    expect(drill.checks).toContainEqual(
      expect.objectContaining({ name: 'dwell', not_applicable: false, stayed_minutes: 30 }),
    )
  })
})

describe('what stops an alert stops a drill', () => {
  const soon = () => new Date(Date.now() + 3_600_000).toISOString()
  test.each([
    ['a severity below the threshold', { min_severity: 50 }, { severity: 49 }, 'severity'],
    ['a source that is not heard', { sources: ['usgs'] }, { source: 'nws' }, 'filter'],
    ['a zone that is switched off', { enabled: false }, {}, 'enabled'],
    ['a snooze', { snoozed_until: soon() }, {}, 'snooze'],
  ])('%s', async (_, fields, body, check) => {
    const drill = await drilled(await scene(fields), body)
    expect(drill).toMatchObject({ status: 'stopped', raised: false, held_until: null })
    expect(failed(drill)).toEqual([check])
    expect(drill.channels).toEqual([
      expect.objectContaining({ outcome: 'skipped', delivery_id: null, reason: drill.reason }),
    ])
    expect(at.service.receiver.requests).toEqual([])
  })

  test('and an owner whose plan has run out', async () => {
    const here = await scene()
    const begun = await begin(here)
    await at.query(`update watchpost.accounts set plan = 'free' where user_id = $1`, [
      here.person.user_id,
    ])
    await at.jobs.drain()
    await at.query(`update watchpost.accounts set plan = 'pro' where user_id = $1`, [
      here.person.user_id,
    ])
    const drill = await get(here, begun)
    expect(drill.status).toBe('stopped')
    expect(drill.checks[0]).toMatchObject({ name: 'enabled', reason: 'paused_by_plan' })
  })

  /** Quiet hours from an hour ago until in an hour. */
  const quiet = () => {
    const [quiet_hours_start, quiet_hours_end] = [-1, 1].map((hours) =>
      new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16),
    )
    return { quiet_hours_start, quiet_hours_end }
  }
  test('quiet hours hold it until their end, unless it is to ignore them', async () => {
    const hours = quiet()
    const here = await scene(hours)
    const held = await drilled(here)
    expect(held).toMatchObject({ status: 'held', raised: false })
    expect(held.held_until).toMatch(new RegExp(`T${hours.quiet_hours_end}:00.000Z$`))
    expect(held.channels).toEqual([expect.objectContaining({ outcome: 'held', delivery_id: null })])
    expect(await at.query(`select from pgboss.job where name = 'release'`)).toEqual([])
    expect(at.service.receiver.requests).toEqual([])

    const sent = await drilled(here, { ignore_quiet_hours: true })
    expect(sent).toMatchObject({ status: 'done', raised: false, held_until: held.held_until })
    expect(failed(sent)).toEqual(['quiet_hours'])
    expect(at.service.receiver.requests).toHaveLength(1)
  })

  test('but a snooze holds also one that ignores quiet hours', async () => {
    const here = await scene({ ...quiet(), snoozed_until: soon() })
    expect(await drilled(here, { ignore_quiet_hours: true })).toMatchObject({ status: 'stopped' })
  })

  test('a zone that has sent its alerts of the hour holds it; drills use none of them up', async () => {
    const here = await scene({ max_alerts_per_hour: 1 })
    expect((await drilled(here)).status).toBe('done')
    expect((await drilled(here)).status).toBe('done')
    at.service.receiver.requests.length = 0
    await at.jobs.ingest(quake(here.here))
    await at.jobs.drain()
    expect(bodies()).toEqual([expect.objectContaining({ type: 'alert.raised' })])
    const held = await drilled(here)
    expect(held.status).toBe('held')
    expect(failed(held)).toEqual(['burst'])
  })
})

describe('at its channels', () => {
  test('it fails with the reason, and is skipped with the reason', async () => {
    const here = await scene()
    const more = [
      { label: 'Off', enabled: false },
      { label: 'Only updates', messages: ['alert.ended'] },
      { label: 'Gone', target: 'https://gone.example.com/in' },
      { label: 'Busy', target: 'https://busy.example.com/in' },
    ]
    for (const fields of more) await at.channelOf(here.person, fields)
    at.service.receiver.answer = ({ url }) =>
      sendResult(url.includes('gone') ? 410 : url.includes('busy') ? 503 : 200)
    const drill = await drilled(here)
    expect(drill.status).toBe('sending')
    const fates = drill.channels.map(({ channel, outcome, reason }) => [channel, outcome, reason])
    expect(fates).toEqual([
      ['Busy', 'waiting', 'The receiver answered HTTP 503.'],
      ['Desk', 'succeeded', null],
      ['Gone', 'failed', 'The receiver answered HTTP 410.'],
      ['Off', 'skipped', 'The channel is switched off.'],
      ['Only updates', 'skipped', 'The channel takes no alert.raised.'],
    ])
  })

  test('nobody hears of it where there is none', async () => {
    const drill = await drilled(await scene({ channel_ids: [] }))
    expect(drill).toMatchObject({ status: 'no_channel', raised: true, channels: [] })
  })

  test('it overtakes no alert and shares no digest with one', async () => {
    const here = await scene({ min_severity: 95 })
    await at.jobs.ingest(quake({ ...here.here, severity: 99 }))
    await at.jobs.drain()
    await drilled(here)
    await drilled(here)
    await at.query(
      `update watchpost.deliveries set status = 'queued', attempts = 0, turn_at = null where channel_id = $1`,
      [here.channel],
    )
    const [mixed] = await at.query(
      `select private.bundle_delivery(d, c) as is_bundled, d.id,
        (select jsonb_agg(private.is_urgent(x)) from watchpost.deliveries x
          join watchpost.alerts a on a.id = x.alert_id where x.channel_id = c.id and a.drill_id is not null) as urgent
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      join watchpost.alerts a on a.id = d.alert_id
      where c.id = $1 and a.drill_id is not null
      limit 1`,
      [here.channel],
    )
    expect(mixed).toMatchObject({ is_bundled: true, urgent: [false, false] })
    const carried = await at.query(
      `select a.drill_id is not null as is_drill, d.digest_id is not null as is_carried
      from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
      where d.channel_id = $1 and d.type = 'alert.raised' order by 1`,
      [here.channel],
    )
    expect(carried).toEqual([
      { is_drill: false, is_carried: false },
      { is_drill: true, is_carried: true },
      { is_drill: true, is_carried: true },
    ])
    // Nor does an alert join the digest of drills that waits.
    await at.query(
      `update watchpost.deliveries set turn_at = now() + interval '1 hour' where type = 'alert.digest'`,
    )
    const [alone] = await at.query(
      `select private.bundle_delivery(d, c) as is_bundled
      from watchpost.deliveries d
      join watchpost.channels c on c.id = d.channel_id
      join watchpost.alerts a on a.id = d.alert_id
      where c.id = $1 and a.drill_id is null`,
      [here.channel],
    )
    expect(alone).toEqual({ is_bundled: false })
  })

  test('its steps run only where that was asked for, marked, and stop when it is seen', async () => {
    const here = await scene()
    const second = await at.channelOf(here.person, { label: 'Chief' })
    const escalation = [
      { after_minutes: 5, channel_ids: [second.id] },
      { after_minutes: 9, channel_ids: [second.id] },
    ]
    const fields = { channel_ids: [here.channel], escalation }
    parsed(await ask(here.person, 'PATCH', `zones/${here.zone}`, fields), 200, z.unknown())
    await at.jobs.drain()
    const plain = await drilled(here)
    expect(plain.escalation.map(({ status }) => status)).toEqual(['not_run', 'not_run'])
    const due = Date.parse(plain.escalation[0]?.due_at ?? '') - Date.parse(plain.decided_at ?? '')
    expect(due).toBe(5 * 60_000)
    expect(await at.query('select from watchpost.alert_steps')).toEqual([])

    const drill = await drilled(here, { escalate: true })
    expect(drill.escalation.map(({ status }) => status)).toEqual(['waiting', 'waiting'])
    at.service.receiver.requests.length = 0
    await at.query(`update watchpost.alert_steps set due_at = now() where step = 1`)
    await at.jobs.drain()
    expect(bodies()).toEqual([
      expect.objectContaining({
        data: expect.objectContaining({
          drill: { id: drill.id },
          unacknowledged: expect.objectContaining({ step: 1 }),
        }),
      }),
    ])
    await at.query(
      `select private.acknowledge_alert(id, $2) from watchpost.alerts where drill_id = $1`,
      [drill.id, second.id],
    )
    const seen = await get(here, drill)
    expect(seen.seen_at).not.toBeNull()
    expect(seen.escalation).toMatchObject([
      { status: 'ran', reason: null },
      { status: 'stopped', reason: 'acknowledged' },
    ])
    expect(seen.channels.map(({ channel, step }) => [channel, step])).toEqual([
      ['Desk', null],
      ['Chief', 1],
    ])
  })
})

describe('a drill is no alert', () => {
  test('it is told nowhere else, counts nowhere, and is linked with nothing', async () => {
    const here = await scene()
    const { person, zone, channel } = here
    const seen = async () => ({
      alerts: (await ask(person, 'GET', 'alerts')).body,
      changes: z
        .looseObject({ changes: z.array(z.unknown()) })
        .parse((await ask(person, 'GET', 'alerts/changes')).body).changes,
      analytics: (await ask(person, 'GET', 'analytics')).body,
      deliveries: (await ask(person, 'GET', `channels/${channel}/deliveries`)).body,
      events: (await ask(person, 'GET', 'events')).body,
      preview: z
        .looseObject({ count: z.int() })
        .parse((await ask(person, 'GET', `zones/${zone}/preview`)).body).count,
    })
    const before = await seen()
    const drill = await drilled(here)
    expect(drill.status).toBe('done')
    expect(await seen()).toEqual(before)
    expect(await at.query('select from watchpost.match_memory where zone_id = $1', [zone])).toEqual(
      [],
    )
    const [alert] = await at.query('select id from watchpost.alerts where drill_id = $1', [
      drill.id,
    ])
    const path = `alerts/${alert?.id}`
    expectProblem(await ask(person, 'GET', path), 404, 'not_found')
    expectProblem(await ask(person, 'PATCH', path, { resolved: true }), 404, 'not_found')
    expectProblem(await ask(person, 'POST', `${path}/acknowledge`), 404, 'not_found')
    expectProblem(await ask(person, 'POST', `${path}/redeliver`), 404, 'not_found')
    // The same happens in earnest: an alert of its own.
    at.service.receiver.requests.length = 0
    await at.jobs.ingest(quake({ ...here.here, severity: drill.event.severity }))
    await at.jobs.drain()
    expect(bodies().map(({ type, data }) => [type, data.drill])).toEqual([
      ['alert.raised', undefined],
    ])
    expect((await drilled(here)).status).toBe('done')
  })

  test('it is in no feed, is not sent again with what failed, and measures no latency', async () => {
    const here = await scene()
    const { person, zone, channel } = here
    at.service.receiver.answer = () => sendResult(400)
    const since = new Date(Date.now() - 60_000).toISOString()
    const drill = await drilled(here)
    expect(drill.channels[0]?.outcome).toBe('failed')
    expectProblem(
      await ask(person, 'POST', `channels/${channel}/recover`, { since }),
      409,
      'nothing_to_send',
    )
    const made = await ask(person, 'POST', `zones/${zone}/feed-links`, { label: 'Calendar' })
    const Made = z.object({ feed_link: z.object({ urls: z.object({ geojson: z.url() }) }) })
    const { pathname } = new URL(parsed(made, 201, Made).feed_link.urls.geojson)
    const feed = await at.service.request('GET', pathname)
    expect(parsed(feed, 200, z.looseObject({ features: z.array(z.unknown()) })).features).toEqual(
      [],
    )
    await at.query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds, enabled)
      values ('drill', 'x', 'x', '{earthquake}', 60, false) on conflict do nothing`,
    )
    at.service.receiver.answer = () => sendResult(200)
    for (let n = 0; n < 5; n++) await drilled(here)
    await at.query('select private.measure_delivery()')
    const measured = `select delivery_p50 from watchpost.sources where source = 'drill'`
    expect(await at.query(measured)).toEqual([{ delivery_p50: null }])
    await at.query(`delete from watchpost.sources where source = 'drill'`)
  })

  test('it stands in the audit log, and is deleted after 30 days without a trace', async () => {
    const here = await scene()
    const drill = await drilled(here)
    const { audit } = z
      .looseObject({ audit: z.array(z.looseObject({ action: z.string() })) })
      .parse((await ask(here.person, 'GET', 'audit')).body)
    expect(audit.filter(({ action }) => action === 'zone.drilled')).toEqual([
      expect.objectContaining({
        target_id: here.zone,
        details: expect.objectContaining({ drill_id: drill.id, escalate: false }),
      }),
    ])
    const left = () =>
      at.query(
        `select (select count(*) from watchpost.drills where zone_id = $1)::integer as drills,
          (select count(*) from watchpost.alerts where zone_id = $1)::integer as alerts,
          (select count(*) from watchpost.visibility_changes where audience = $2)::integer as told`,
        [here.zone, here.person.user_id],
      )
    const age = (days: number) =>
      at.query(
        'update watchpost.drills set created_at = now() - make_interval(days => $2) where id = $1',
        [drill.id, days],
      )
    await age(29)
    await at.query('select private.purge_drills(10)')
    expect(await left()).toEqual([{ drills: 1, alerts: 1, told: 0 }])
    await age(31)
    await at.query('select private.purge(10)')
    expect(await left()).toEqual([{ drills: 0, alerts: 0, told: 0 }])
    expectProblem(
      await ask(here.person, 'GET', `zones/${here.zone}/drills/${drill.id}`),
      404,
      'not_found',
    )
  })
})

describe('who may', () => {
  test('the owner and admins hold drills, everybody who sees the zone reads them, nobody else', async () => {
    const [owner, admin, member, stranger] = [
      await at.service.person(),
      await at.service.person(),
      await at.service.person(),
      await at.service.person(),
    ]
    const org_id = await at.service.organisation(owner, [admin, 'admin'], [member, 'member'])
    const own = await at.channelOf(owner, { label: 'My own' })
    const shared = await at.channelOf(owner, { label: 'Of the team', org_id })
    const fields = { label: 'Shared', ...at.place(), org_id, channel_ids: [own.id, shared.id] }
    const { zone } = await at.make(owner, 'zones', fields, MadeZone)
    const path = `zones/${zone.id}/drill?wait=0`
    expectProblem(await ask(member, 'POST', path), 403, 'forbidden')
    expectProblem(await ask(stranger, 'POST', path), 404, 'not_found')
    const reader = { key: await at.service.key(owner, { scopes: ['read'] }) }
    expectProblem(await ask(reader, 'POST', path), 403, 'insufficient_scope')
    const { drill } = parsed(await ask(admin, 'POST', path), 201, One)
    await at.jobs.drain()
    const read = async (who: { key: string }) =>
      parsed(await ask(who, 'GET', `zones/${zone.id}/drills/${drill.id}`), 200, One).drill
    const names = ({ channels }: Drill) => channels.map(({ channel }) => channel)
    const [whole, part] = [await read(owner), await read(member)]
    expect([names(whole), whole.hidden_channels]).toEqual([['My own', 'Of the team'], 0])
    expect([names(part), part.hidden_channels]).toEqual([['Of the team'], 1])
    expectProblem(
      await ask(stranger, 'GET', `zones/${zone.id}/drills/${drill.id}`),
      404,
      'not_found',
    )
    const another = await at.make(owner, 'zones', { label: 'Another', ...at.place() }, MadeZone)
    const astray = `zones/${another.zone.id}/drills/${drill.id}`
    expectProblem(await ask(owner, 'GET', astray), 404, 'not_found')
    const other = await scene()
    expectProblem(
      await ask(other.person, 'GET', `zones/${other.zone}/drills/${drill.id}`),
      404,
      'not_found',
    )
  })

  test('20 times a day and zone, 100 times for all zones of an owner', async () => {
    const here = await scene()
    const fill = (count: number) =>
      at.query(
        `insert into watchpost.drills (zone_id, created_at, event, ignores_quiet_hours, escalates)
        select $1, now() - interval '23 hours', '{}', false, false from generate_series(1, $2)`,
        [here.zone, count],
      )
    await fill(19)
    await begin(here)
    const path = (zone: string) => `zones/${zone}/drill?wait=0`
    expectProblem(await ask(here.person, 'POST', path(here.zone)), 409, 'conflict')
    const { zone } = await at.make(here.person, 'zones', { label: 'B', ...at.place() }, MadeZone)
    await fill(79)
    parsed(await ask(here.person, 'POST', path(zone.id)), 201, One)
    expectProblem(await ask(here.person, 'POST', path(zone.id)), 409, 'conflict')
    await at.query(`update watchpost.drills set created_at = now() - interval '25 hours'`)
    await begin(here)
  })

  test('once for an Idempotency-Key', async () => {
    const { person, zone } = await scene()
    const headers = { 'Idempotency-Key': 'once' }
    const post = () =>
      at.service.request('POST', `/api/v1/zones/${zone}/drill?wait=0`, {
        key: person.key,
        body: {},
        headers,
      })
    const [first, again] = [parsed(await post(), 201, One), parsed(await post(), 201, One)]
    expect(again.drill.id).toBe(first.drill.id)
    expect(await at.query('select from watchpost.drills where zone_id = $1', [zone])).toHaveLength(
      1,
    )
  })
})
