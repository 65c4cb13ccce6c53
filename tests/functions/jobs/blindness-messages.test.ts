import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BlindMessage, MAX_NAMED_ZONES } from '../../../shared/schemas/webhook.ts'
import { feed, tell, watchOf } from '../../support/blindness.ts'
import { createDeliveryService, type DeliveryService } from '../../support/delivery-service.ts'
import { type Person, sendResult } from '../../support/service.ts'

let at: DeliveryService
let person: Person
beforeAll(async () => {
  at = await createDeliveryService()
})
afterAll(() => at.close())
beforeEach(async () => {
  await at.reset()
  await at.query(
    'truncate watchpost.key_usage, watchpost.blindness, watchpost.accounts, watchpost.sources cascade',
  )
  person = await at.service.person()
})

const {
  given,
  set,
  fail,
  heal,
  look,
  later,
  goBlind,
  comeBack,
  heard,
  told,
  zoneOf,
  channelTo,
  patch,
  deliveriesOf,
} = watchOf(() => at)

describe('once', () => {
  let channel: string
  beforeEach(async () => {
    await given(feed('usgs'))
    channel = await channelTo(person, 'in')
    await zoneOf(person, 'A')
  })

  test('of ten processes that look at once', async () => {
    await fail('usgs')
    await look()
    await later(15)
    await Promise.all(Array.from({ length: 10 }, look))
    await at.jobs.drain()
    expect(told()).toEqual(tell('A'))
    await heal('usgs')
    await look()
    await later(5)
    await Promise.all(Array.from({ length: 10 }, look))
    await at.jobs.drain()
    expect(told().map(({ type }) => type)).toEqual(['zone.blind', 'zone.sighted'])
  })

  test('a process that stays looks by itself, and says in the log what it told', async () => {
    await fail('usgs')
    await look()
    await later(15)
    const running = at.jobs.runner.start()
    await vi.waitFor(() => expect(told()).toEqual(tell('A')), 10_000)
    await running.stop()
    expect(at.jobs.lines).toContainEqual({ msg: 'source', source: 'usgs', told: 'blind' })
  })

  test('a look answers what was told of which', async () => {
    await fail('usgs')
    await look()
    await later(15)
    expect(await look()).toEqual([{ told: [{ source: 'usgs', told: 'blind' }] }])
    expect(await look()).toEqual([{ told: [] }])
  })

  test('what is made while it is blind hears nothing of it', async () => {
    await goBlind()
    await channelTo(person, 'late')
    await zoneOf(person, 'Late')
    await later(60)
    await look()
    await comeBack()
    expect(told()).toEqual([...tell('A'), { to: '/in', type: 'zone.sighted', zones: ['A'] }])
  })

  test('it is tried again like any message, in the same words', async () => {
    at.service.receiver.answer = () => sendResult(503)
    await goBlind()
    at.service.receiver.answer = () => sendResult(200)
    await patch(person, `channels/${channel}`, { label: 'Renamed' })
    await at.query(`update watchpost.zones set label = 'Renamed'`)
    await at.retryNow({ channel })
    expect(told()).toEqual([...tell('A'), ...tell('A')])
    const [first, second] = at.service.receiver.requests
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.body).toBe(first?.body)
    expect(await deliveriesOf(person, channel)).toMatchObject([
      {
        kind: 'zone.blind',
        alert_id: null,
        status: 'succeeded',
        attempts: 2,
        attempt_log: [{ status_code: 503 }, { status_code: 200 }],
      },
    ])
  })

  test('a channel that refused it does not hear that it is over', async () => {
    at.service.receiver.answer = () => sendResult(400)
    await goBlind()
    at.service.receiver.requests.length = 0
    await comeBack()
    expect(told()).toEqual([])
  })

  test('it is sent again on request; an alert’s redelivery leaves it alone', async () => {
    at.service.receiver.answer = () => sendResult(400)
    await goBlind()
    at.service.receiver.answer = () => sendResult(200)
    const recover = () =>
      at.service.request('POST', `/api/v1/channels/${channel}/recover`, {
        ...person,
        body: { since: new Date(Date.now() - 60_000).toISOString() },
      })
    expect(await recover()).toMatchObject({ status: 202, body: { recovered: 1 } })
    await at.jobs.drain()
    expect(told()).toEqual([...tell('A'), ...tell('A')])
    const [again, first] = await deliveriesOf(person, channel)
    expect(again).toMatchObject({ status: 'succeeded', redelivery_of: first?.id })
    expect((await recover()).status).toBe(409)
  })

  test('when its zones are gone by then it is cancelled, with the reason', async () => {
    await fail('usgs')
    await look()
    await later(15)
    await look()
    await at.query('update watchpost.zones set deleted_at = now()')
    await at.jobs.drain()
    expect(told()).toEqual([])
    expect(await deliveriesOf(person, channel)).toMatchObject([
      { status: 'cancelled', last_error: 'The zone was deleted.' },
    ])
    await comeBack()
    expect(told()).toEqual([])
  })

  test('when its channel is deleted it is cancelled with it, and of the end it hears nothing', async () => {
    await goBlind()
    const answer = await at.service.request('DELETE', `/api/v1/channels/${channel}`, person)
    expect(answer.status).toBe(204)
    at.service.receiver.requests.length = 0
    await comeBack()
    expect(told()).toEqual([])
  })

  test('its history is kept as long as alerts are, and then goes with its messages', async () => {
    await goBlind()
    await comeBack()
    const left = async () => (await at.query('select from watchpost.deliveries')).length
    await at.query('select private.purge()')
    expect(await left()).toBe(2)
    await at.query(`update watchpost.blindness set ended_at = now() - interval '401 days'`)
    await at.query('select private.purge()')
    expect(await left()).toBe(0)
  })
})

test('a message names the first zones and says how many there are, and stays small', async () => {
  await given(feed('usgs'))
  await channelTo(person, 'in')
  const label = '"🌋'.repeat(60)
  for (let nth = 0; nth <= MAX_NAMED_ZONES; nth += 1) await zoneOf(person, label)
  await goBlind()
  const [request] = at.service.receiver.requests
  const { data } = BlindMessage.parse(JSON.parse(request?.body ?? ''))
  expect(data.zones).toHaveLength(MAX_NAMED_ZONES)
  expect(data.zones_total).toBe(MAX_NAMED_ZONES + 1)
  expect(Buffer.byteLength(request?.body ?? '')).toBeLessThan(20_000)
})

test('what it says of the source has no secrets', async () => {
  await given(feed('usgs'))
  await channelTo(person, 'in')
  await zoneOf(person, 'A')
  await fail('usgs')
  await set({ error: `'GET https://me:pw@feeds.example.com/k3y?key=k3y ' || repeat('x', 300)` })
  await look()
  await later(15)
  await look()
  await at.jobs.drain()
  const [{ data }] = heard() as [ReturnType<typeof heard>[number]]
  expect(data.source.reason).toMatch(/^GET https:\/\/feeds\.example\.com\/… x+…$/)
  expect(data.source.reason).toHaveLength(200)
})

test('a Turkish message tells a known cause in Turkish and quotes what a program said', async () => {
  await given(feed('usgs'))
  await zoneOf(person, 'A')
  const target = 'https://hooks.slack.com/services/T0000AAAA/B0000BBBB/abcdefghijklmnopqrstuvwx'
  const body = { kind: 'slack', target, language: 'tr' }
  await at.service.request('POST', '/api/v1/channels', { ...person, body })
  const expectCause = async (columns: Record<string, string>, cause: string) => {
    await set({ error_code: 'null', ...columns })
    await look()
    await at.query(`update watchpost.blindness set began_at = began_at - interval '1 hour'`)
    await look()
    await at.jobs.drain()
    const [{ body = '' } = {}] = at.service.receiver.requests.splice(0)
    expect(body).toContain(cause)
    await at.query('truncate watchpost.blindness cascade')
  }
  const failing = { last_success_at: `now() - interval '1 hour'`, error_at: 'now()' }
  const error = `'answered HTTP 503'`
  const http = { ...failing, error, error_code: `'http_status'` }
  await expectCause(http, 'Neden: kaynak hata yanıtı verdi (“answered HTTP 503”).')
  await expectCause({ ...failing, error }, 'Neden: kaynak hata verdi (“answered HTTP 503”).')
  const silent = { last_success_at: `now() - interval '1 hour'`, error: 'null', error_at: 'null' }
  await expectCause(silent, 'Neden: kaynaktan veri gelmiyor, son veri: ')
})
