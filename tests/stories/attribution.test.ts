import { expect, test } from 'vitest'
import { CreatedZone } from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { createStory } from '../support/story.ts'

// Who shows what a source said has to name it as it asks to be named, wherever they read it.
const at = createStory()

const WORDS = 'Data © Example Survey, CC BY 4.0'

test('every event, alert and message names its source in the words of the source', async () => {
  await at.query(`update watchpost.sources set attribution = $1 where source = 'test'`, [WORDS])
  const person = await at.service.person()
  await at.channelOf(person)
  const here = at.place()
  await at.make(person, 'zones', { label: 'Here', ...here, min_severity: 0 }, CreatedZone)
  const read = async (path: string) => {
    const answer = await at.service.request('GET', `/api/v1/${path}`, person)
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }
  const following = (await read('events/changes')) as { next_cursor: string } // safe: the next lines use it
  const event = quake(here)
  const ship = quake({ ...here, type: 'vessel', subject: 'mmsi:230000001', severity: 0 })
  await at.jobs.ingest(event, ship)
  await at.jobs.drain()

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
  for (const { body } of at.service.receiver.requests) {
    expect(JSON.parse(body)).toMatchObject({ data: { alert: named } })
  }
  expect(at.service.receiver.requests).toHaveLength(2)
})
