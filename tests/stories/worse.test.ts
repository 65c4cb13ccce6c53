import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../shared/schemas/alert.ts'
import { CreatedZone } from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// An analyst closes an alert, and its event goes on changing: what changed is said, from and to, and what gets
// worse comes back into sight.
const at = createStory()

async function watch(fields: object = {}) {
  const person = await at.service.person()
  await at.channelOf(person)
  const here = at.place()
  const body = { label: 'The coast', ...here, ...fields }
  const { zone } = await at.make(person, 'zones', body, CreatedZone)
  await at.jobs.drain()
  return { person, zone: zone.id, here }
}

async function tell(event: ReturnType<typeof quake>) {
  await at.jobs.ingest(event)
  await at.jobs.drain()
}

const sent = () =>
  at.service.receiver.requests.map(
    ({ body }) => JSON.parse(body) as { type: string; data: { alert: Alert } },
  )

async function resolve(person: Person, note: string): Promise<Alert> {
  const { id } = await at.alertOf(person)
  const answer = await at.ask(person, 'PATCH', `alerts/${id}`, { resolved: true, note })
  return parsed(answer, 200, z.object({ alert: Alert })).alert
}

describe('a resolved alert', () => {
  test('whose event gets worse is open again, with its note, and the message says so', async () => {
    const { person, here } = await watch()
    const event = quake({ ...here, severity: 45, title: 'M 4.1' })
    await tell(event)
    const resolved = await resolve(person, 'All sites called in.')
    expect(resolved).toMatchObject({ resolved: true, resolved_by: person.user_id })
    await at.reset()
    await tell({ ...event, severity: 85, title: 'M 6.5' })

    const open = {
      resolved: false,
      resolved_at: null,
      resolved_by: null,
      resolved_via: null,
      note: 'All sites called in.',
      updates: [
        { kind: 'escalated', changes: { severity: [45, 85], title: ['M 4.1', 'M 6.5'] } },
        { kind: 'reopened', changes: { resolved: [true, false] } },
      ],
    }
    expect(await at.alertOf(person)).toMatchObject(open)
    expect(sent()).toMatchObject([{ type: 'alert.escalated', data: { alert: open } }])
    const unresolved = await at.ask(person, 'GET', 'alerts?resolved=false')
    expect(unresolved.body).toMatchObject({ alerts: [{ id: resolved.id }] })
    const audit = await at.ask(person, 'GET', 'audit')
    expect(audit.text).toContain('"alert.reopened"')
  })

  test('was acknowledged, and has to be again when it gets worse', async () => {
    const { person, here } = await watch()
    const event = quake({ ...here, severity: 45 })
    await tell(event)
    const { id } = await at.alertOf(person)
    const answer = await at.ask(person, 'POST', `alerts/${id}/acknowledge`)
    const { seen_at } = parsed(answer, 200, z.object({ alert: Alert })).alert
    expect(seen_at).not.toBeNull()
    await tell({ ...event, severity: 47 })
    expect(await at.alertOf(person)).toMatchObject({ seen_at, seen_by: person.user_id })
    await at.reset()
    await tell({ ...event, severity: 85 })
    const open = {
      seen_at: null,
      seen_by: null,
      seen_via: null,
      updates: [
        { kind: 'revised' },
        { kind: 'escalated', changes: { severity: [47, 85], seen_at: [seen_at, null] } },
      ],
    }
    expect(await at.alertOf(person)).toMatchObject(open)
    expect(sent()).toMatchObject([{ type: 'alert.escalated', data: { alert: open } }])
  })

  test('stays resolved when its event is merely revised or over', async () => {
    const { person, here } = await watch()
    const event = quake({ ...here, severity: 45 })
    await tell(event)
    await resolve(person, 'Done.')
    await tell({ ...event, severity: 47 })
    await tell({ ...event, severity: 47, status: 'ended' })
    const { resolved, updates } = await at.alertOf(person)
    expect(resolved).toBe(true)
    expect(updates.map(({ kind }) => kind)).toEqual(['revised', 'ended'])
  })

  test('that was suppressed by a snooze comes back too when it gets worse after it', async () => {
    const { person, zone, here } = await watch({
      snoozed_until: new Date(Date.now() + 3_600_000).toISOString(),
    })
    const event = quake({ ...here, severity: 45 })
    await tell(event)
    await resolve(person, 'Seen.')
    await at.ask(person, 'PATCH', `zones/${zone}`, { snoozed_until: null })
    await tell({ ...event, severity: 90 })
    expect(await at.alertOf(person)).toMatchObject({
      status: 'dispatched',
      resolved: false,
      note: 'Seen.',
      updates: [{ kind: 'escalated' }, { kind: 'reopened' }],
    })
  })
})

test('what quiet hours held, and somebody released early, still tells when it gets worse', async () => {
  const clock = (minutes: number) =>
    new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  const { person, zone, here } = await watch({
    quiet_hours_start: clock(-60),
    quiet_hours_end: clock(60),
  })
  const event = quake({ ...here, severity: 45 })
  await tell(event)
  const loud = { quiet_hours_start: null, quiet_hours_end: null }
  await at.ask(person, 'PATCH', `zones/${zone}`, loud)
  await at.jobs.drain()
  expect(sent().map(({ type }) => type)).toEqual(['alert.digest'])
  await tell({ ...event, severity: 90 })
  expect(sent().map(({ type }) => type)).toEqual(['alert.digest', 'alert.escalated'])
})

describe('the event of an alert', () => {
  test('stays as it was, with the newest beside it and every change from and to', async () => {
    const { person, here } = await watch()
    const ends_at = new Date(Date.now() + 3_600_000).toISOString()
    const event = quake({
      ...here,
      type: 'storm',
      title: 'Storm warning',
      severity: 45,
      subject: 'vtec:KOKX.SV.W.0001',
      magnitude: 4.4,
      depth_km: 11.2,
      ends_at,
    })
    await tell(event)
    const before = { title: 'Storm warning', severity: 45, status: 'active', magnitude: 4.4 }
    const told = { ...before, subject: 'vtec:KOKX.SV.W.0001', depth_km: 11.2, ends_at }
    expect(await at.alertOf(person)).toMatchObject({ event: told, current: told })

    const moved = { ...event, lat: here.lat + 0.1, severity: 48 }
    await tell(moved)
    await tell({ ...moved, status: 'ended' })
    const alert = await at.alertOf(person)
    expect(alert.event).toMatchObject({ ...told, lat: here.lat })
    expect(alert.current).toMatchObject({ severity: 48, lat: moved.lat, status: 'ended' })
    expect(alert.updates.map(({ kind, changes }) => [kind, changes])).toEqual([
      [
        'revised',
        {
          severity: [45, 48],
          place: [here, { lat: moved.lat, lon: here.lon }],
        },
      ],
      ['ended', { status: ['active', 'ended'] }],
    ])
    const [raised] = sent()
    expect(raised?.data.alert.event).toMatchObject(told)
  })

  test('is current also where no update told of it, and after the event itself was deleted for its age', async () => {
    const { person, here } = await watch()
    const event = quake({ ...here, severity: 45, depth_km: 10 })
    await tell(event)
    await tell({ ...event, depth_km: 12 })
    expect(await at.alertOf(person)).toMatchObject({
      updates: [],
      event: { depth_km: 10 },
      current: { depth_km: 12 },
    })
    await tell({ ...event, severity: 48, depth_km: 12 })
    await at.query('delete from watchpost.events where id = $1', [event.id])
    expect(await at.alertOf(person)).toMatchObject({
      event: { severity: 45 },
      current: { severity: 48, depth_km: 12 },
    })
  })

  test('names its source, in the history and in every message', async () => {
    const { person, here } = await watch()
    const words = 'Data © Example Survey, CC BY 4.0'
    await at.query(`update watchpost.sources set attribution = $1 where source = 'test'`, [words])
    await tell(quake(here))
    expect(await at.alertOf(person)).toMatchObject({ attribution: words })
    expect(sent()).toMatchObject([{ data: { alert: { attribution: words } } }])
  })
})
