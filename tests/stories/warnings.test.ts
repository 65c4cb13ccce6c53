import { expect, test } from 'vitest'
import { z } from 'zod'
import { usgs } from '../../functions/feeds/usgs.ts'
import { registerFeeds } from '../../functions/jobs/ingest.ts'
import { registerSource } from '../support/jobs.ts'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// Somebody draws a zone that can never send an alert. They are told so at once, whichever way they came to it, and when
// a change leads there too.
let person: Person
const at = createStory({
  prepare: async ({ service, jobs }) => {
    await service.database.query('delete from watchpost.sources')
    await registerSource(service, 'old')
    await registerFeeds(jobs.db, [usgs])
    person = await service.person()
  },
})

const Warned = z.object({
  zone: z.object({ id: z.uuid() }),
  warnings: z.array(z.string()).optional(),
})
const HERE = { label: 'Etna', lat: 37.75, lon: 14.99 }
const channel = { kind: 'webhook', target: 'https://hooks.example.com/in' }

test('a zone without any channel says so, until there is one', async () => {
  const made = parsed(await at.ask(person, 'POST', 'zones', HERE), 201, Warned)
  expect(made.warnings).toEqual([
    'No enabled channel gets the alerts of this zone: they are recorded but not sent.',
  ])
  expect((await at.ask(person, 'POST', 'channels', channel)).status).toBe(201)
  const read = parsed(await at.ask(person, 'GET', `zones/${made.zone.id}`), 200, Warned)
  expect(read.warnings).toBeUndefined()
})

const WAYS: [string, object, string[]][] = [
  [
    'types that never reach the threshold',
    { types: ['volcano'] },
    [
      'min_severity 40 can never be reached by events of type volcano: their highest severity is 20, and with severity_multiplier 1 the highest effective severity is 20.',
    ],
  ],
  [
    'one of two types that never reaches it',
    { types: ['earthquake', 'other'], min_severity: 60, severity_multiplier: 2 },
    [
      'min_severity 60 can never be reached by events of type other: their highest severity is 20, and with severity_multiplier 2 the highest effective severity is 40.',
    ],
  ],
  [
    'a threshold that nothing reaches',
    { min_severity: 60, severity_multiplier: 0.5 },
    [
      'min_severity 60 can never be reached: with severity_multiplier 0.5 the highest effective severity is 50.',
    ],
  ],
  [
    'a source that is mistyped, and one that is switched off',
    { sources: ['usgss', 'old'] },
    [
      'The source "old" is switched off in this service.',
      'This service has no source "usgss". GET /api/sources/health lists its sources.',
    ],
  ],
  [
    'types that no source has',
    { types: ['flood'] },
    ['No source of this service matches the sources and types of the zone.'],
  ],
  [
    'one of two types that no source has',
    { types: ['earthquake', 'flood'] },
    ['No source of the zone has events of type flood.'],
  ],
  ['a zone that is switched off', { enabled: false }, ['The zone is switched off.']],
  ['no channel', { channel_ids: [] }, ['channel_ids is empty: alerts are recorded but not sent.']],
  [
    'volcanoes with a multiplier that lifts them',
    { types: ['volcano'], severity_multiplier: 2 },
    [],
  ],
  ['a source and a type that are there', { sources: ['usgs'], types: ['earthquake'] }, []],
  ['a source of one’s own beside a feed', { sources: ['custom', 'usgs'] }, []],
]

test.each(WAYS)('%s: said on create, on change and on read', async (_, fields, expected) => {
  const made = parsed(await at.ask(person, 'POST', 'zones', { ...HERE, ...fields }), 201, Warned)
  expect(made.warnings ?? []).toEqual(expected)
  const good = parsed(await at.ask(person, 'POST', 'zones', HERE), 201, Warned)
  expect(good.warnings).toBeUndefined()
  const changed = await at.ask(person, 'PATCH', `zones/${good.zone.id}`, fields)
  expect(parsed(changed, 200, Warned).warnings ?? []).toEqual(expected)
  const read = parsed(await at.ask(person, 'GET', `zones/${good.zone.id}`), 200, Warned)
  expect(read.warnings ?? []).toEqual(expected)
})

test('a channel that is switched off counts as none', async () => {
  const made = await at.ask(person, 'POST', 'channels', { ...channel, enabled: false })
  const { id } = parsed(made, 201, z.object({ channel: z.object({ id: z.uuid() }) })).channel
  const body = { ...HERE, channel_ids: [id] }
  expect(parsed(await at.ask(person, 'POST', 'zones', body), 201, Warned).warnings).toEqual([
    'No enabled channel gets the alerts of this zone: they are recorded but not sent.',
  ])
})

test('a zone whose owner stopped paying says so to the team that shares it', async () => {
  const member = await at.service.person()
  const team = await at.service.organisation(person, [member, 'member'])
  await at.ask(person, 'POST', 'channels', { ...channel, org_id: team })
  const made = await at.ask(member, 'POST', 'zones', { ...HERE, org_id: team })
  const { zone, warnings } = parsed(made, 201, Warned)
  expect(warnings).toBeUndefined()
  await at.query(`update watchpost.accounts set plan = 'free' where user_id = $1`, [member.user_id])
  const changed = await at.ask(person, 'PATCH', `zones/${zone.id}`, { radius_km: 60 })
  expect(parsed(changed, 200, Warned).warnings).toEqual([
    'The zone is paused, because the account of its owner is below the Pro plan.',
  ])
})
