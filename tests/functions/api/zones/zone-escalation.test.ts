import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

let service: Service
let jobs: TestJobs
let me: Person
let channel: string
beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
  me = await service.person()
  channel = await channelOf(me)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const ask = (who: Pick<Person, 'key'>, method: string, path: string, body?: object) =>
  service.request(method, `/api/v1/${path}`, { key: who.key, body })
const Zone = z.looseObject({ id: z.uuid(), version: z.int(), escalation: z.unknown() })
const One = z.object({ zone: Zone, warnings: z.array(z.string()).optional() })

async function channelOf(who: Person, more: object = {}): Promise<string> {
  const body = { kind: 'webhook', target: 'https://hooks.example.com/in', ...more }
  const made = await ask(who, 'POST', 'channels', body)
  return parsed(made, 201, z.object({ channel: z.object({ id: z.uuid() }) })).channel.id
}
const make = (who: Person, more: object) =>
  ask(who, 'POST', 'zones', { label: 'The quay', lat: 1, lon: 2, ...more })
const step = (after_minutes: number, ...channel_ids: string[]) => ({ after_minutes, channel_ids })
const changed = async (id: string, body: object) =>
  parsed(await ask(me, 'PATCH', `zones/${id}`, body), 200, One)

describe('the escalation of a zone', () => {
  test('is stored, read, sent back whole, changed and cleared; each change is a version', async () => {
    const escalation = [step(10, channel), step(60, channel)]
    const { zone } = parsed(await make(me, { escalation }), 201, One)
    expect(zone.escalation).toEqual(escalation)
    const read = parsed(await ask(me, 'GET', `zones/${zone.id}`), 200, One).zone
    expect(read.escalation).toEqual(escalation)
    expect((await changed(zone.id, read)).zone.version).toBe(zone.version)
    expect((await changed(zone.id, { label: 'Other' })).zone.escalation).toEqual(escalation)
    const shorter = [step(5, channel)]
    expect((await changed(zone.id, { escalation: shorter })).zone.escalation).toEqual(shorter)
    expect((await changed(zone.id, { escalation: null })).zone.escalation).toBeNull()
    const versions = await ask(me, 'GET', `zones/${zone.id}/versions`)
    expect(versions.body).toMatchObject({
      versions: [
        { changes: { escalation: [shorter, null] } },
        { changes: { escalation: [escalation, shorter] } },
        { changes: { label: ['The quay', 'Other'] } },
        {},
      ],
    })
  })

  test.each([
    ['escalation.1.after_minutes', [10, 10]],
    ['escalation.2.after_minutes', [10, 20, 15]],
    ['escalation', []],
    ['escalation', [1, 2, 3, 4, 5, 6]],
    ['escalation.0.after_minutes', [1441]],
  ])('names %s when it is wrong', async (path, minutes) => {
    const answer = await make(me, { escalation: minutes.map((after) => step(after, channel)) })
    expectProblem(answer, 422, 'invalid')
    expect(answer.body).toMatchObject({ errors: [{ path }] })
  })

  test('names each channel that its owner and the caller do not both see', async () => {
    const stranger = await service.person()
    const theirs = await channelOf(stranger)
    const refused = await make(me, { escalation: [step(5, channel), step(9, channel, theirs)] })
    expectProblem(refused, 422, 'invalid')
    expect(refused.body).toMatchObject({
      errors: [{ path: 'escalation.1.channel_ids.1', code: 'unknown_channel' }],
    })
    const { zone } = parsed(await make(me, { escalation: [step(5, channel)] }), 201, One)
    const body = { escalation: [step(5, theirs)] }
    const patched = await ask(me, 'PATCH', `zones/${zone.id}`, body)
    expect(patched.body).toMatchObject({ errors: [{ path: 'escalation.0.channel_ids.0' }] })

    const admin = await service.person()
    const org = await service.organisation(me, [admin, 'admin'])
    await ask(me, 'PATCH', `zones/${zone.id}`, { org_id: org })
    const own = { escalation: [step(5, channel), step(6, await channelOf(admin))] }
    const byAdmin = await ask(admin, 'PATCH', `zones/${zone.id}`, own)
    // The channel that it had is not asked about again.
    expect(byAdmin.body).toMatchObject({ errors: [{ path: 'escalation.1.channel_ids.0' }] })
  })

  test('warns of steps that tell nobody, or not all', async () => {
    const [off, mute, gone] = [
      await channelOf(me, { enabled: false }),
      await channelOf(me, { messages: ['alert.ended'] }),
      await channelOf(me),
    ]
    const escalation = [
      step(1, channel),
      step(2),
      step(3, off, mute),
      step(4, gone),
      step(5, gone, channel),
    ]
    const { zone } = parsed(await make(me, { escalation }), 201, One)
    await ask(me, 'DELETE', `channels/${gone}`)
    const read = async () => {
      const { zone: stored, warnings } = parsed(await ask(me, 'GET', `zones/${zone.id}`), 200, One)
      const ours = warnings?.filter((warning) => warning.startsWith('The step')) ?? []
      return { zone: stored, warnings: ours }
    }
    const { warnings } = await read()
    expect(
      warnings.map((warning) => warning.match(/after (\d) minutes (.*?)[:.]/)?.slice(1)),
    ).toEqual([
      ['2', 'does nothing'],
      ['3', 'tells nobody'],
      ['4', 'tells nobody'],
      ['5', 'tells 1 of its 2 channels'],
    ])
    // One that is gone for good leaves the steps; those stay, and the zone can be sent back.
    await service.database.query('delete from watchpost.channels where id = $1', [gone])
    const left = await read()
    expect(left.zone.escalation).toEqual([
      step(1, channel),
      step(2),
      step(3, off, mute),
      step(4),
      step(5, channel),
    ])
    expect(left.warnings).toHaveLength(3)
    expect((await changed(zone.id, left.zone)).zone.version).toBe(left.zone.version)
  })

  test('does not hinder a channel that goes for good, however often the zone was changed', async () => {
    const gone = await channelOf(me)
    const { zone } = parsed(await make(me, { escalation: [step(4, gone, channel)] }), 201, One)
    await service.database.query(
      `insert into watchpost.zone_versions (zone_id, version, definition, ended_at)
      select $1, -n, '{}', now() from generate_series(1, 500) n`,
      [zone.id],
    )
    await service.database.query('delete from watchpost.channels where id = $1', [gone])
    const read = parsed(await ask(me, 'GET', `zones/${zone.id}`), 200, One).zone
    expect(read.escalation).toEqual([step(4, channel)])
    const refused = await ask(me, 'PATCH', `zones/${zone.id}`, { escalation: [step(5, channel)] })
    expect(refused.status).toBe(409)
  })

  test('is previewed: when its steps would have run', async () => {
    const here = { lat: -70, lon: 60 }
    await jobs.ingest(quake({ ...here, severity: 60 }))
    await jobs.drain()
    const zone = { label: 'A draft', ...here, escalation: [step(10, channel), step(60, channel)] }
    const Preview = z.looseObject({
      events: z.array(z.looseObject({ raised_at: z.string(), steps_at: z.array(z.string()) })),
    })
    const drafted = await ask(me, 'POST', 'zones/preview', zone)
    const [event] = parsed(drafted, 200, Preview).events
    const minutes = event?.steps_at.map(
      (at) => (Date.parse(at) - Date.parse(event.raised_at)) / 60_000,
    )
    expect(minutes).toEqual([10, 60])
    const { id } = parsed(await make(me, zone), 201, One).zone
    const saved = parsed(await ask(me, 'GET', `zones/${id}/preview`), 200, Preview)
    expect(saved.events).toEqual([event])
  })
})
