import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { SendRequest } from '../../functions/channels/transport/send.ts'
import { Alert } from '../../shared/schemas/alert.ts'
import { DigestMessage } from '../../shared/schemas/webhook.ts'
import { CreatedZone } from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { type Person, parsed, sendResult } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// A night with many earthquakes: what quiet hours held is told in the morning, all of it, and an alert
// counts as told only when a message with it arrived.
const at = createStory()

const clock = (minutes: number) =>
  new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
const One = z.object({ alert: Alert })

/** Somebody with a quiet zone and one channel, and as many held alerts as there are titles. */
async function night(titles: string[]) {
  const person = await at.service.person()
  const { id: channel } = await at.channelOf(person)
  const here = at.place()
  const quiet = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
  const body = { label: 'The coast', ...here, ...quiet }
  const { zone } = await at.make(person, 'zones', body, CreatedZone)
  const severities = titles.map((_, n) => 50 + ((n * 7) % 50))
  await at.jobs.ingest(
    ...titles.map((title, n) => quake({ ...here, title, severity: severities[n] })),
  )
  await at.jobs.drain()
  expect(messages()).toEqual([])
  return { person, channel, zone: zone.id }
}

async function morning({ person, zone }: { person: Person; zone: string }) {
  const body = { quiet_hours_start: null, quiet_hours_end: null }
  const { key } = person
  const patched = await at.service.request('PATCH', `/api/v1/zones/${zone}`, { key, body })
  expect(patched.status).toBe(200)
  await at.jobs.drain()
}

const digestIn = ({ body }: SendRequest) => DigestMessage.parse(JSON.parse(body)).data
const messages = () => at.service.receiver.requests
const idsIn = (request: SendRequest) => digestIn(request).alerts.map(({ id }) => id)
const bytesOf = ({ body }: SendRequest) => Buffer.byteLength(body)

async function alertsOf({ key }: Person): Promise<Alert[]> {
  const answer = await at.service.request('GET', '/api/v1/alerts?limit=500', { key })
  return parsed(answer, 200, z.object({ alerts: z.array(Alert) })).alerts
}

test('27 earthquakes at night are 27 alerts in the morning, in as many messages as it takes', async () => {
  const told = await night(Array.from({ length: 27 }, (_, n) => `M 5.${n % 10} - number ${n}`))
  await morning(told)

  const parts = messages().map(digestIn)
  expect(parts.length).toBeGreaterThan(1)
  expect(parts.map(({ part }) => part).sort()).toEqual(parts.map((_, n) => n + 1))
  for (const part of parts) {
    expect(part).toMatchObject({ parts: parts.length, alerts_total: 27, alert: part.alerts[0] })
  }
  expect(Math.max(...messages().map(bytesOf))).toBeLessThanOrEqual(20_000)
  const all = await alertsOf(told.person)
  expect(messages().flatMap(idsIn).sort()).toEqual(all.map(({ id }) => id).sort())
  expect(new Set(messages().map(({ headers }) => headers['webhook-id'])).size).toBe(parts.length)
  expect(all.map(({ status }) => status)).toEqual(Array(27).fill('dispatched'))
})

test('a few alerts are one message, part 1 of 1', async () => {
  await morning(await night(['M 5.0', 'M 6.0']))
  expect(messages().map(digestIn)).toMatchObject([{ part: 1, parts: 1, alerts_total: 2 }])
})

test('when the receiver refuses the second message, its alerts have failed and no others; sent again it carries the same alerts, and nothing goes beside it', async () => {
  const told = await night(Array.from({ length: 40 }, (_, n) => `M 5.${n % 10} - number ${n}`))
  at.service.receiver.answer = (request) => sendResult(digestIn(request).part === 2 ? 400 : 200)
  await morning(told)
  const second = messages().find((request) => digestIn(request).part === 2)
  if (!second) throw new Error('there was no second message')
  const lost = idsIn(second).sort()
  const failed = (await alertsOf(told.person)).filter(({ status }) => status === 'failed')
  expect(failed.map(({ id }) => id).sort()).toEqual(lost)

  // The analyst asks for the last of the lost alerts: the message that held it goes out again.
  await at.reset()
  const path = `/api/v1/alerts/${lost.at(-1)}/redeliver`
  const answer = await at.service.request('POST', path, { key: told.person.key, body: {} })
  const { alert } = parsed(answer, 202, One)
  await at.jobs.drain()
  expect(messages().flatMap(idsIn).sort()).toEqual(lost)
  expect(messages().map(digestIn)).toMatchObject(
    messages().map(() => ({ alerts_total: lost.length })),
  )
  expect(messages()[0]?.headers['webhook-id']).not.toBe(second.headers['webhook-id'])
  expect((await alertsOf(told.person)).map(({ status }) => status)).toEqual(
    Array(40).fill('dispatched'),
  )
  expect(alert.deliveries.map(({ kind, status }) => [kind, status])).toContainEqual([
    'alert.raised',
    'queued',
  ])
})

test('an alert that is too large by itself says what its message leaves out', async () => {
  const told = await night(['M 5.0 - one with a long note', 'M 5.1 - another'])
  const [first] = await alertsOf(told.person)
  const note = '記'.repeat(2000)
  const { key } = told.person
  const noted = await at.service.request('PATCH', `/api/v1/alerts/${first?.id}`, {
    key,
    body: { resolved: false, note: `${note.slice(1)}!` },
  })
  expect(noted.status).toBe(200)
  await at.query(
    `update watchpost.alerts set updates = (
      select jsonb_agg(jsonb_build_object('at', '2026-01-01T00:00:00.000Z', 'kind', 'revised'))
      from generate_series(1, 300)) where id = $1`,
    [first?.id],
  )
  await morning(told)
  const data = messages().map(digestIn)
  expect(Math.max(...messages().map(bytesOf))).toBeLessThanOrEqual(20_000)
  const large = data.find(({ alert }) => alert.id === first?.id)
  expect(large?.left_out).toEqual(['deliveries', 'updates'])
  expect(large?.alert).toMatchObject({
    deliveries: [],
    updates: [],
    note: expect.stringMatching('記!'),
  })
  expect(data.filter(({ left_out }) => left_out)).toHaveLength(1)
})

const title = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 500 })
  .map((text) => text.replaceAll('\0', '') || 'M 5')

test('whatever is held, every alert is in exactly one message, and settled is what arrived', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(title, { minLength: 1, maxLength: 45 }),
      fc.integer({ min: 1, max: 4 }),
      async (titles, refused) => {
        await at.reset()
        const told = await night(titles)
        at.service.receiver.answer = (request) =>
          sendResult(digestIn(request).part === refused ? 400 : 200)
        await morning(told)
        const alerts = await alertsOf(told.person)
        expect(messages().flatMap(idsIn).sort()).toEqual(alerts.map(({ id }) => id).sort())
        for (const request of messages()) {
          expect(bytesOf(request)).toBeLessThanOrEqual(20_000)
          const { part, parts, alerts_total } = digestIn(request)
          expect([parts, alerts_total]).toEqual([messages().length, titles.length])
          const status = part === refused ? 'failed' : 'dispatched'
          const carried = alerts.filter(({ id }) => idsIn(request).includes(id))
          expect(carried.map((alert) => alert.status)).toEqual(carried.map(() => status))
          for (const { deliveries } of carried) {
            const states = deliveries.map((delivery) => delivery.status)
            expect(new Set(states)).toEqual(new Set([part === refused ? 'failed' : 'succeeded']))
          }
        }
      },
    ),
    { numRuns: 12 },
  )
})
