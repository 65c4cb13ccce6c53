import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createService, type Service } from '../../support/service.ts'

const PATH = '/api/sources/health'

let service: Service
beforeAll(async () => {
  service = await createService()
  await service.database.query('update watchpost.sources set enabled = false')
})
afterAll(() => service.close())
afterEach(async () => {
  await service.database.query(`delete from watchpost.events where source like 'test-%'`)
  await service.database.query('delete from watchpost.source_hours')
  await service.database.query('delete from watchpost.subjects')
  await service.database.query(`delete from watchpost.sources where source like 'test-%'`)
})

async function source(name: string, fields: Record<string, unknown> = {}) {
  const row = { last_success_at: new Date(), enabled: true, types: ['earthquake'], ...fields }
  const names = Object.keys(row)
  await service.database.query(
    `insert into watchpost.sources (source, title, attribution, interval_seconds, ${names.join(', ')})
    values ($1, 'A feed', 'Somebody', 60, ${names.map((_, i) => `$${i + 2}`).join(', ')})`,
    [`test-${name}`, ...Object.values(row)],
  )
}

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe('GET /api/sources/health', () => {
  test('anybody may read it and keep it for 30 seconds', async () => {
    await source('good')
    const { status, body, headers } = await service.request('GET', PATH)
    expect(status).toBe(200)
    expect(headers.get('Cache-Control')).toBe('public, max-age=30')
    expect(body).toMatchObject({
      status: 'ok',
      generated_at: expect.stringMatching(/Z$/),
      sources: expect.arrayContaining([
        {
          source: 'test-good',
          title: 'A feed',
          attribution: 'Somebody',
          status: 'ok',
          last_success_at: expect.stringMatching(/Z$/),
          last_event_at: null,
          events_24h: 0,
          error: null,
          latency_seconds: { p50: null, p95: null },
          delivery_seconds: { p50: null, p95: null },
          items_24h: 0,
          rejected_24h: 0,
          rejected_reason: null,
        },
      ]),
    })
  })

  test('of a source of positions the vessels count, and each once', async () => {
    await source('ships', { types: ['vessel'] })
    for (const [mmsi, minutes] of [
      [1, 5],
      [2, 600],
      [3, 25 * 60],
    ] as const) {
      await service.database.query(
        `insert into watchpost.subjects (
          source, subject, tenant_id, event_id, ts, lat, lon, severity, sampled_at, sampled_lat, sampled_lon)
        values ('test-ships', $1, '00000000-0000-0000-0000-000000000000', $1, $2, 1, 1, 0, $2, 1, 1)`,
        [`mmsi:${mmsi}`, ago(minutes)],
      )
    }
    const { body } = await service.request('GET', PATH)
    expect(body).toMatchObject({
      sources: expect.arrayContaining([
        expect.objectContaining({ source: 'test-ships', events_24h: 2 }),
      ]),
    })
  })

  test('a silent source is stale, a failing one down, and the whole degraded', async () => {
    await source('good')
    await source('silent', { last_success_at: ago(60) })
    await source('failing', { last_success_at: ago(60), error: 'It broke.', error_at: new Date() })
    await source('off', { enabled: false })
    const { body } = await service.request('GET', PATH)
    expect(body).toMatchObject({ status: 'degraded' })
    for (const [name, status, error] of [
      ['good', 'ok', null],
      ['silent', 'stale', expect.stringMatching(/^Nothing has come from it since .*Z\.$/)],
      ['failing', 'down', 'It broke.'],
      ['off', 'disabled', null],
    ]) {
      expect(body).toMatchObject({
        sources: expect.arrayContaining([
          expect.objectContaining({ source: `test-${name}`, status, error }),
        ]),
      })
    }
  })

  test('is down when no source is heard', async () => {
    await source('failing', { last_success_at: null, error: 'It broke.', error_at: new Date() })
    expect((await service.request('GET', PATH)).body).toMatchObject({ status: 'down' })
  })

  test('when every source is switched off it is down', async () => {
    expect((await service.request('GET', PATH)).body).toMatchObject({ status: 'down' })
  })

  test('an error shows no key that was in an address', async () => {
    await source('secretive', {
      last_success_at: ago(60),
      error:
        'GET https://me:pw@feeds.example.com/api/k3y/area?key=k3y answered 500 for https://b.example/k3y',
      error_at: new Date(),
    })
    const { body, text } = await service.request('GET', PATH)
    expect(text).not.toMatch(/k3y|me:pw/)
    expect(body).toMatchObject({
      sources: expect.arrayContaining([
        expect.objectContaining({
          error: 'GET https://feeds.example.com/… answered 500 for https://b.example/…',
        }),
      ]),
    })
  })

  test('latency is from the event’s own time until it was here', async () => {
    await source('quick')
    const at = ago(30)
    for (const seconds of [10, 20, 30]) {
      await service.database.query(
        `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, first_seen_at)
        values ($1, 'test-quick', 'earthquake', 'M 5', 0, 0, $2, 50, 'active', box '(0,0),(0,0)', $3)`,
        [`test-quick:${seconds}`, at, new Date(at.getTime() + seconds * 1000)],
      )
    }
    expect((await service.request('GET', PATH)).body).toMatchObject({
      sources: expect.arrayContaining([
        expect.objectContaining({
          source: 'test-quick',
          events_24h: 3,
          latency_seconds: { p50: 20, p95: 29 },
        }),
      ]),
    })
  })

  test('what was rejected is counted for a day, with the last reason and without its secrets', async () => {
    await source('strict')
    const count = (items: number, rejected: number, reason: string | null) =>
      service.database.query(`select private.count_items('test-strict', $1, $2, $3)`, [
        items,
        rejected,
        reason,
      ])
    const hoursAgo = (hours: number) =>
      service.database.query(
        `update watchpost.source_hours set hour = hour - make_interval(hours => $1)`,
        [hours],
      )
    await count(100, 90, 'too long ago')
    await hoursAgo(1)
    await count(5, 1, 'url: https://me:pw@feeds.example.com/k3y is no link')
    await hoursAgo(23)
    await count(7, 0, null)
    await count(8, 0, null)
    const { body, text } = await service.request('GET', PATH)
    expect(text).not.toMatch(/k3y|me:pw/)
    expect(body).toMatchObject({
      sources: expect.arrayContaining([
        expect.objectContaining({
          source: 'test-strict',
          status: 'ok',
          items_24h: 20,
          rejected_24h: 1,
          rejected_reason: 'url: https://feeds.example.com/… is no link',
        }),
      ]),
    })
    expect((await service.request('GET', '/status')).text).toContain(
      '<small>1 rejected: url: https://feeds.example.com/… is no link</small>',
    )
  })

  test('delivery is from the first sight of an event until a channel had accepted its alert', async () => {
    await source('quick')
    const person = await service.person()
    const { query } = service.database
    const [zone] = await query<{ id: string }>(
      `insert into watchpost.zones (owner_id, label, lat, lon, boxes)
      values ($1, 'A', 0, 0, array[box '(1,1),(0,0)']) returning id`,
      [person.user_id],
    )
    const [channel] = await query<{ id: string }>(
      `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
      values ($1, 'webhook', 'sealed', 'masked') returning id`,
      [person.user_id],
    )
    let count = 0
    const deliver = async (seconds: number, given: { alert?: string; delivery?: string } = {}) => {
      count += 1
      const [alert] = await query<{ id: string }>(
        `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
          first_reason, status, raised_at, checks, zone_version, event_revision)
        values ($1, 'A', $2, $3, 'test-quick', '{}', 50, 'r', 'r', 'dispatched', now() - interval '1 hour', '[]', 1, 1)
        returning id`,
        [zone?.id, person.user_id, `test-quick:${count}`],
      )
      await query(
        `insert into watchpost.deliveries (alert_id, channel_id, type, status, delivered_at)
        select id, $2, 'alert.raised', 'succeeded', raised_at + make_interval(secs => $3)
        from watchpost.alerts where id = $1`,
        [alert?.id, channel?.id, seconds],
      )
      if (given.alert)
        await query(`update watchpost.alerts set ${given.alert} where id = $1`, [alert?.id])
      if (given.delivery)
        await query(`update watchpost.deliveries set ${given.delivery} where alert_id = $1`, [
          alert?.id,
        ])
    }
    const measured = async () => {
      await query('select private.purge()')
      const [row] = await query(
        `select delivery_p50 as p50, delivery_p95 as p95 from private.sources_health() where source = 'test-quick'`,
      )
      return row
    }
    for (const seconds of [1, 2, 3, 4]) await deliver(seconds)
    await deliver(900, { alert: `raised_at = now() - interval '25 hours'` })
    await deliver(900, { alert: 'held_until = now()' })
    await deliver(900, { delivery: `type = 'alert.revised'` })
    await deliver(900, { delivery: `status = 'failed', delivered_at = null` })
    await deliver(900, { delivery: 'redelivery_of = id' })
    expect(await measured()).toEqual({ p50: null, p95: null })
    await deliver(5)
    expect(await measured()).toEqual({ p50: 3, p95: expect.closeTo(4.8) })
    expect((await service.request('GET', PATH)).body).toMatchObject({
      sources: expect.arrayContaining([
        expect.objectContaining({
          source: 'test-quick',
          delivery_seconds: { p50: 3, p95: expect.closeTo(4.8) },
        }),
      ]),
    })
    await query(`update watchpost.alerts set raised_at = now() - interval '25 hours'`)
    expect(await measured()).toEqual({ p50: null, p95: null })
    await query('delete from watchpost.alerts')
  })

  test('while the database is away it is still 200, and down', async () => {
    const away = await createService({ api_url: 'postgres://nobody:none@127.0.0.1:1/none' })
    const { status, body, headers } = await away.request('GET', PATH)
    expect(status).toBe(200)
    expect(headers.get('Cache-Control')).toBe('public, max-age=30')
    expect(body).toMatchObject({ status: 'down', sources: [] })
    const person = await away.person()
    const keyed = await away.request('GET', '/api/v1/me', person)
    expect(keyed.status).toBe(503)
    expect(keyed.body).toMatchObject({ code: 'unavailable' })
    expect(keyed.headers.get('Retry-After')).toBe('5')
    await away.close()
  })
})
