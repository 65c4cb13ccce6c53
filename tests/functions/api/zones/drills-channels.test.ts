import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { quake } from '../../../support/jobs.ts'
import { parsed, sendResult } from '../../../support/service.ts'
import { ask, at, bodies, drilled, get, scene, useDrills } from './drilling.ts'

useDrills()

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
      `select private.bundle_delivery(d.id) as is_bundled, d.id,
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
      `select private.bundle_delivery(d.id) as is_bundled
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
