import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  CreatedZone,
  createDeliveryService,
  type DeliveryService,
} from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'

// Who shows what a source said has to name it as it asks to be named, wherever they read it.
let fixture: DeliveryService
beforeAll(async () => {
  fixture = await createDeliveryService()
})
afterAll(() => fixture?.close())

const WORDS = 'Data © Example Survey, CC BY 4.0'

test('every event, alert and message names its source in the words of the source', async () => {
  await fixture.query(`update watchpost.sources set attribution = $1 where source = 'test'`, [
    WORDS,
  ])
  const person = await fixture.service.person()
  await fixture.channelOf(person)
  const here = fixture.place()
  await fixture.make(person, 'zones', { label: 'Here', ...here, min_severity: 0 }, CreatedZone)
  const read = async (path: string) => {
    const answer = await fixture.service.request('GET', `/api/v1/${path}`, person)
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }
  const following = (await read('events/changes')) as { next_cursor: string } // safe: the next lines use it
  const event = quake(here)
  const ship = quake({ ...here, type: 'vessel', subject: 'mmsi:230000001', severity: 0 })
  await fixture.jobs.ingest(event, ship)
  await fixture.jobs.drain()

  const named = { attribution: WORDS }
  expect(await read('events')).toMatchObject({ events: [named, named] })
  expect(await read(`events/${event.id}`)).toMatchObject({ event: named })
  expect(await read(`events/${ship.id}`)).toMatchObject({ event: named })
  expect(await read(`events/changes?after=${following.next_cursor}`)).toMatchObject({
    changes: [{ kind: 'upsert', event: named }],
  })
  const { lat, lon } = here
  const box = [lon - 1, lat - 1, lon + 1, lat + 1].join(',')
  expect(await read(`events/map?bbox=${box}&zoom=8`)).toMatchObject({
    features: [{ properties: named }],
  })
  expect(await read('alerts')).toMatchObject({ alerts: [named, named] })
  for (const { body } of fixture.service.receiver.requests) {
    expect(JSON.parse(body)).toMatchObject({ data: { alert: named } })
  }
  expect(fixture.service.receiver.requests).toHaveLength(2)
})
