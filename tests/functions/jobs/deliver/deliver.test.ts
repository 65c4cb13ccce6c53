import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { failedSend, type SendResult } from '../../../../functions/channels/transport/send.ts'
import { verify } from '../../../../shared/signing.ts'
import {
  CreatedChannel,
  createDeliveryService,
  type DeliveryService,
  type TriedDelivery,
} from '../../../support/delivery-service.ts'
import { quake } from '../../../support/jobs.ts'
import { parsed, sendResult } from '../../../support/service.ts'

let fixture: DeliveryService
beforeAll(async () => {
  fixture = await createDeliveryService()
})
afterAll(() => fixture?.close())
beforeEach(() => fixture.reset())

const query = (statement: string, values: unknown[] = []) => fixture.query(statement, values)

const broken = () => sendResult(500, 'broken')
const busy = (retry_after?: number): SendResult => ({
  ok: true,
  status: 429,
  headers: new Headers(retry_after === undefined ? {} : { 'retry-after': String(retry_after) }),
  body: '',
  duration_ms: 12,
})

describe('after a rotation', () => {
  test.each([
    ['1 hour', true],
    ['0 seconds', false],
    ['-1 second', false],
  ])('the previous secret signs too while it has %s left: %s', async (left, signs) => {
    const told = await fixture.deliverOnce(broken)
    const rotated = await fixture.service.request(
      'POST',
      `/api/v1/channels/${told.channel}/rotate-secret`,
      told.person,
    )
    const { signing_secret } = parsed(rotated, 200, CreatedChannel).channel
    await query(
      `update watchpost.channels set former_secrets_sealed = jsonb_set(
        former_secrets_sealed, '{0,until}', to_jsonb(private.iso(now() + $2::interval))) where id = $1`,
      [told.channel, left],
    )
    await fixture.retryNow(told)
    const [sent, ...others] = fixture.service.receiver.requests
    if (!sent) throw new Error('nothing was sent')
    expect(others).toEqual([])
    const { headers, body } = sent
    const isSignedBy = async (secret: string) =>
      (await verify({ headers, body, secret, now: new Date() })).ok
    // The library of the standard, which the verifier of Svix wraps, must agree.
    const isVerifiedBy = (secret: string) => {
      try {
        new Webhook(secret).verify(body, headers)
        return true
      } catch {
        return false
      }
    }
    for (const holds of [isSignedBy, isVerifiedBy]) {
      expect(await holds(signing_secret)).toBe(true)
      expect(await holds(told.secret)).toBe(signs)
    }
  })
})

test('a message that cannot be written fails for good, and the log says why', async () => {
  const told = await fixture.deliverOnce(broken)
  await query(`update watchpost.channels set kind = 'slack' where id = $1`, [told.channel])
  await query('update watchpost.deliveries set payload = $2 where id = $1', [
    told.delivery,
    '{"timestamp":"2026-11-23T00:00:00Z","alert":null,"zone":null}',
  ])
  await fixture.retryNow(told)
  expect(fixture.service.receiver.requests).toEqual([])
  expect(await fixture.deliveryOf(told)).toMatchObject({
    status: 'failed',
    attempts: 2,
    last_error: expect.stringContaining('could not be written for slack'),
  })
  expect(fixture.jobs.lines).toContainEqual(
    expect.objectContaining({
      msg: 'writing a message',
      delivery_id: told.delivery,
      kind: 'slack',
    }),
  )
})

describe('a channel that fails', () => {
  const channelState = async ({ channel }: Pick<TriedDelivery, 'channel'>) => {
    const [row] = await query(
      `select failures, status, extract(epoch from paused_until - updated_at)::float8 as pause
      from watchpost.channels where id = $1`,
      [channel],
    )
    return row
  }

  test('or is gone, or works again, changes no other channel', async () => {
    const others = [
      await fixture.deliverOnce(broken),
      await fixture.deliverOnce(() => sendResult(200)),
    ]
    await fixture.reset()
    const told = await fixture.deliverOnce(broken)
    const seen = async ({ channel }: Pick<TriedDelivery, 'channel'>) =>
      (await query('select * from watchpost.channels where id = $1', [channel]))[0]
    const before = await Promise.all(others.map(seen))
    expect(before).toMatchObject([
      { status: 'failing', failures: 1, failing_reason: 'The receiver answered HTTP 500.' },
      { status: 'ok', failures: 0, failing_reason: null },
    ])
    for (const [answer, expected] of [
      [broken, { enabled: true, status: 'failing', failures: 2 }],
      [() => sendResult(200), { enabled: true, status: 'ok', failures: 0, failing_since: null }],
    ] as const) {
      fixture.service.receiver.answer = answer
      await fixture.retryNow(told)
      expect(await seen(told)).toMatchObject(expected)
      expect(await Promise.all(others.map(seen))).toEqual(before)
    }
    const gone = await fixture.deliverOnce(() => sendResult(410))
    expect(await seen(gone)).toMatchObject({
      enabled: false,
      status: 'disabled',
      disabled_reason: 'The receiver answered HTTP 410.',
      failing_reason: null,
      failing_since: null,
    })
    expect(await Promise.all(others.map(seen))).toEqual(before)
  })

  test('is left alone from its fifth failure in a row on, twice as long each time, at most 30 minutes', async () => {
    const told = await fixture.deliverOnce(broken)
    const pauses: unknown[] = []
    for (const before of [0, 3, 4, 5, 6, 11, 12, 100]) {
      await query('update watchpost.channels set failures = $2 where id = $1', [
        told.channel,
        before,
      ])
      await query('delete from watchpost.delivery_attempts where delivery_id = $1', [told.delivery])
      fixture.service.receiver.answer = broken
      await fixture.retryNow(told)
      const { failures, status, pause } = (await channelState(told)) ?? {}
      expect([failures, status]).toEqual([before + 1, 'failing'])
      pauses.push([before + 1, pause])
    }
    expect(pauses).toEqual([
      [1, 0],
      [4, 0],
      [5, 10],
      [6, 20],
      [7, 40],
      [12, 1280],
      [13, 1800],
      [101, 1800],
    ])
  })

  test.each([
    [0, 0],
    [7, 7],
    [undefined, 10],
    [600, 600],
    [86_400, 1800],
  ])('and answers 429 with %s seconds waits %i for all its deliveries', async (asked, pause) => {
    const told = await fixture.deliverOnce(() => busy(asked))
    expect(await channelState(told)).toMatchObject({ failures: 1, pause })
  })

  test('is not told sooner than it asked because another answer asked for less', async () => {
    const told = await fixture.deliverOnce(broken)
    fixture.service.receiver.answer = async () => {
      // As another process would that was asked for an hour.
      await query(
        `update watchpost.channels set paused_until = now() + interval '1 hour' where id = $1`,
        [told.channel],
      )
      return busy(5)
    }
    await fixture.retryNow(told)
    const [row] = await query(
      `select paused_until > now() + interval '50 minutes' as waits from watchpost.channels where id = $1`,
      [told.channel],
    )
    expect(row).toEqual({ waits: true })
  })

  test('gets nothing while it is paused, which uses no attempt up, and everything afterwards', async () => {
    const told = await fixture.deliverOnce(broken)
    const pause = (time: string) =>
      query('update watchpost.channels set paused_until = now() + $2::interval where id = $1', [
        told.channel,
        time,
      ])
    await pause('20 minutes')
    await fixture.retryNow(told, { is_paused: true })
    expect(fixture.service.receiver.requests).toEqual([])
    expect(await fixture.deliveryOf(told)).toMatchObject({ status: 'queued', attempts: 1 })
    const waiting = await query(
      `select start_after = (select date_trunc('milliseconds', paused_until) from watchpost.channels where id = $2) as is_due_then
      from pgboss.job where name = 'deliver' and state = 'created' and data ->> 'delivery_id' = $1`,
      [told.delivery, told.channel],
    )
    expect(waiting).toEqual([{ is_due_then: true }])
    await pause('0 seconds')
    await fixture.retryNow(told, { is_paused: true })
    expect(fixture.service.receiver.requests).toHaveLength(1)
    expect(await fixture.deliveryOf(told)).toMatchObject({ status: 'succeeded', attempts: 2 })
  })

  test('is well again after one success, and only then', async () => {
    const told = await fixture.deliverOnce(broken)
    await query(`update watchpost.channels set failures = 9 where id = $1`, [told.channel])
    fixture.service.receiver.answer = () => sendResult(400)
    await fixture.retryNow(told)
    expect(await channelState(told)).toMatchObject({ failures: 10, status: 'failing' })
    await fixture.jobs.ingest(quake(told.here))
    fixture.service.receiver.answer = () => sendResult(200)
    await query(
      `update watchpost.channels set paused_until = now() - interval '1 second' where id = $1`,
      [told.channel],
    )
    await fixture.retryNow(told, { is_paused: true })
    expect(await channelState(told)).toEqual({ failures: 0, status: 'ok', pause: null })
  })

  test('and was switched off meanwhile stays off, whatever it answers', async () => {
    for (const answer of [broken, () => sendResult(200), () => sendResult(410)]) {
      const told = await fixture.deliverOnce(broken)
      fixture.service.receiver.answer = async () => {
        const body = { enabled: false }
        const { key } = told.person
        await fixture.service.request('PATCH', `/api/v1/channels/${told.channel}`, { key, body })
        return answer()
      }
      await fixture.retryNow(told)
      const [row] = await query('select enabled, status from watchpost.channels where id = $1', [
        told.channel,
      ])
      expect(row).toEqual({ enabled: false, status: 'disabled' })
    }
  })
})

describe('a delivery is given up', () => {
  const past = (count: number, status: number | null) => Array.from({ length: count }, () => status)

  // The first attempt, which `tell` makes, is the first of these.
  test.each<[string, (number | null)[], () => SendResult, string, string]>([
    ['after eight attempts that were answered 5xx', past(7, 500), broken, 'failed', 'failed'],
    ['not after seven', past(6, 500), broken, 'queued', 'pending'],
    [
      'after eight that nobody answered',
      past(7, null),
      () => failedSend('timeout'),
      'failed',
      'failed',
    ],
    ['not for any number of 429', past(40, 429), () => busy(1), 'queued', 'pending'],
    [
      'not sooner because of 429s between',
      [...past(6, 500), ...past(9, 429)],
      broken,
      'queued',
      'pending',
    ],
    ['not by a 429 when all but one are used up', past(7, 500), () => busy(1), 'queued', 'pending'],
    ['at once when the answer is for good', [500], () => sendResult(404), 'failed', 'failed'],
  ])('%s', async (_, before, answer, status, alert) => {
    const told = await fixture.deliverOnce(broken)
    await query('delete from watchpost.delivery_attempts where delivery_id = $1', [told.delivery])
    await query(
      `insert into watchpost.delivery_attempts (delivery_id, attempt, outcome, status_code, duration_ms)
      select $1, nr, 'retry', code, 1 from unnest($2::smallint[]) with ordinality as t (code, nr)`,
      [told.delivery, before],
    )
    await query('update watchpost.deliveries set attempts = $2 where id = $1', [
      told.delivery,
      before.length,
    ])
    fixture.service.receiver.answer = answer
    await fixture.retryNow(told)
    expect(fixture.service.receiver.requests).toHaveLength(1)
    expect(await fixture.deliveryOf(told)).toMatchObject({
      status,
      alert,
      attempts: before.length + 1,
    })
    const [open] = await query(
      `select count(*)::integer from pgboss.job where name = 'deliver' and state = 'created' and data ->> 'delivery_id' = $1`,
      [told.delivery],
    )
    expect(open).toEqual({ count: status === 'queued' ? 1 : 0 })
  })

  test.each([
    ['47 hours 59 minutes', 'queued'],
    ['48 hours', 'expired'],
  ])('%s after its first attempt it is %s, even for a 429', async (age, status) => {
    const told = await fixture.deliverOnce(() => busy(1))
    await query(
      `update watchpost.deliveries set first_attempt_at = now() - $2::interval, expires_at = now() - $2::interval + interval '48 hours' where id = $1`,
      [told.delivery, age],
    )
    fixture.service.receiver.answer = () => busy(1)
    await fixture.retryNow(told)
    expect(await fixture.deliveryOf(told)).toMatchObject({ status })
  })

  test('when its deadline passes during an attempt, which counts', async () => {
    const told = await fixture.deliverOnce(broken)
    await query(
      `update watchpost.deliveries set expires_at = now() + interval '1500 ms' where id = $1`,
      [told.delivery],
    )
    fixture.service.receiver.answer = async () => {
      const over = 'select from watchpost.deliveries where id = $1 and expires_at <= now()'
      await vi.waitUntil(async () => (await query(over, [told.delivery])).length, 10_000)
      return broken()
    }
    await fixture.retryNow(told)
    expect(await fixture.deliveryOf(told)).toMatchObject({
      ...{ status: 'expired', alert: 'failed', attempts: 2 },
      last_error: expect.stringContaining('HTTP 500'),
    })
  })
})

test.each([
  [500, true],
  [501, false],
])('a name of %i characters that the receiver gave is kept: %s', async (length, is_kept) => {
  const person = await fixture.service.person()
  const topic = { kind: 'ntfy', target: 'https://ntfy.sh/a-topic' }
  await fixture.make(person, 'channels', topic, z.unknown())
  const here = fixture.place()
  await fixture.make(person, 'zones', { label: 'A place', ...here }, z.unknown())
  const id = 'x'.repeat(length)
  fixture.service.receiver.answer = () => sendResult(200, JSON.stringify({ id }))
  await fixture.jobs.ingest(quake(here))
  await fixture.jobs.drain()
  const stored = await query(
    `select d.status, d.remote_ref from watchpost.deliveries d
    join watchpost.channels c on c.id = d.channel_id where c.owner_id = $1`,
    [person.user_id],
  )
  expect(stored).toEqual([{ status: 'succeeded', remote_ref: is_kept ? id : null }])
})

test.each(['held', 'succeeded', 'failed', 'expired', 'cancelled'])(
  'a job for a delivery that is %s sends nothing and changes nothing',
  async (status) => {
    const told = await fixture.deliverOnce(broken)
    await query('update watchpost.deliveries set status = $2 where id = $1', [
      told.delivery,
      status,
    ])
    const before = await fixture.deliveryOf(told)
    await fixture.retryNow(told)
    expect(fixture.service.receiver.requests).toEqual([])
    expect(await fixture.deliveryOf(told)).toEqual(before)
    const left = await query(
      `select from pgboss.job where name = 'deliver' and state <> 'completed' and data ->> 'delivery_id' = $1`,
      [told.delivery],
    )
    expect(left).toEqual([])
  },
)

test('a retry repeats the words of the first attempt', async () => {
  const sent: string[] = []
  const told = await fixture.deliverOnce(broken)
  await fixture.retryNow(told)
  sent.push(fixture.service.receiver.requests[0]?.body ?? '')
  await query(`update watchpost.deliveries set status = 'queued' where id = $1`, [told.delivery])
  await query(`update watchpost.alerts set reason = 'Another reason.', note = 'a note'`)
  await query(
    `select private.enqueue('deliver', gen_random_uuid(), jsonb_build_object('delivery_id', $1::text))`,
    [told.delivery],
  )
  await fixture.retryNow(told)
  sent.push(fixture.service.receiver.requests[1]?.body ?? '')
  expect(sent[0]).toMatch(/alert\.raised/)
  expect(sent[1]).toBe(sent[0])
})
