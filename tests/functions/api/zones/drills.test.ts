import { describe, expect, test } from 'vitest'
import type { Drill } from '../../../../shared/schemas/drill.ts'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { quake } from '../../../support/jobs.ts'
import { parsed } from '../../../support/service.ts'
import {
  ask,
  at,
  begin,
  bodies,
  drilled,
  failed,
  get,
  MadeZone,
  One,
  scene,
  useDrills,
} from './drilling.ts'

useDrills()

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
