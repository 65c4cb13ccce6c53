import { expect, test } from 'vitest'
import { Pushed } from '../../shared/schemas/push.ts'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

let me: Person
let neighbour: Person
const at = createStory({
  prepare: async ({ service }) => {
    me = await service.person()
    neighbour = await service.person()
  },
})

const flood = (severity: number, over: object = {}) => ({
  id: 'gauge-3',
  type: 'flood',
  title: 'Gauge 3: 4.1 m',
  lat: 41,
  lon: 29,
  ts: new Date().toISOString(),
  severity,
  ...over,
})
const push = async (who: Person, event: object) => {
  const answer = await at.ask(who, 'POST', 'events', { source: 'custom:gauges', events: [event] })
  return parsed(answer, 200, Pushed).results[0]
}
const watch = (who: Person, over: object = {}) =>
  at.ask(who, 'POST', 'zones', { label: 'The valley', lat: 41, lon: 29, min_severity: 50, ...over })

test('a gauge of one’s own raises an alert in one’s own zone only, escalates it and ends it', async () => {
  await watch(me, { sources: ['custom:gauges'] })
  await watch(neighbour)
  const pushed = await push(me, flood(60))
  await at.jobs.drain()
  expect(await at.alertOf(me)).toMatchObject({
    event_id: pushed?.event_id,
    event: { source: 'custom:gauges', title: 'Gauge 3: 4.1 m' },
    severity: 60,
  })
  expect(await at.alertsOf(neighbour)).toEqual([])

  await push(me, flood(90))
  await at.jobs.drain()
  expect((await at.alertOf(me)).updates.map(({ kind }) => kind)).toEqual(['escalated'])

  await push(me, flood(90, { status: 'ended' }))
  await at.jobs.drain()
  expect((await at.alertOf(me)).updates.map(({ kind }) => kind)).toEqual(['escalated', 'ended'])
})

test('a zone for another source of one’s own stays silent', async () => {
  const quiet = await at.service.person()
  await watch(quiet, { sources: ['custom:doors'] })
  await push(quiet, flood(80))
  await at.jobs.drain()
  expect(await at.alertsOf(quiet)).toEqual([])
})

test('an event whose end passes is ended without being sent again', async () => {
  const other = await at.service.person()
  await watch(other)
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const pushed = await push(other, flood(70, { ends_at: soon }))
  await at.jobs.drain()
  await at.service.database.query(
    `update watchpost.events set ends_at = now() - interval '1 second' where id = $1`,
    [pushed?.event_id],
  )
  await at.service.database.query('select private.end_events()')
  await at.jobs.drain()
  expect((await at.alertOf(other)).updates.map(({ kind }) => kind)).toEqual(['ended'])
})
