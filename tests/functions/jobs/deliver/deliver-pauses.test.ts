import { expect, test } from 'vitest'
import type { Outcome } from '../../../../functions/channels/channel.ts'
import { type Claimed, openMessage } from '../../../../functions/jobs/deliver-claim.ts'
import {
  expiryReason,
  pausesAfter,
  planNextAttempt,
} from '../../../../functions/jobs/deliver-outcome.ts'
import { createSeal } from '../../../../functions/seal.ts'

const failed = (more: Partial<Outcome> = {}): Outcome => ({
  outcome: 'retry',
  throttled: false,
  counted: true,
  duration_ms: 12,
  ...more,
})
const answered = failed({ status: 500 })
const before = { kind: 'webhook', failures: 0, host_failures: 0 }

test.each([
  ['webhook', 3, 0],
  ['webhook', 4, 10],
  ['webhook', 5, 20],
  ['webhook', 11, 1280],
  ['webhook', 12, 1800],
  ['webhook', 1000, 1800],
  ['slack', 3, 0],
  ['slack', 4, 10],
  ['slack', 8, 160],
  ['slack', 9, 300],
  ['slack', 1000, 300],
])('a channel of the kind %s that failed %i times before is left alone for %i s', (...given) => {
  const [kind, failures, channel_seconds] = given
  expect(pausesAfter({ ...before, kind, failures }, answered)).toEqual({
    channel_seconds,
    host_seconds: 0,
  })
})

test.each([
  [null, 0],
  [8, 0],
  [9, 5],
  [10, 10],
  [12, 40],
  [13, 60],
  [1000, 60],
])(
  'a host that gave no answer %s times before is left alone for %i s',
  (host_failures, seconds) => {
    const { host_seconds } = pausesAfter({ ...before, host_failures }, failed())
    expect(host_seconds).toBe(seconds)
  },
)

test('whoever answers, takes the message or refuses it for good is a host that answers', () => {
  const often = { ...before, host_failures: 1000 }
  const outcomes = [answered, failed({ outcome: 'ok' }), failed({ outcome: 'fail_permanent' })]
  for (const outcome of outcomes) expect(pausesAfter(often, outcome).host_seconds).toBe(0)
})

test.each<[Partial<Outcome>, number, number]>([
  [{ retry_after_seconds: 120 }, 120, 0],
  [{ retry_after_seconds: 120, throttles: 'channel' }, 120, 0],
  [{ retry_after_seconds: 120, throttles: 'host' }, 0, 120],
  [{ throttles: 'host' }, 0, 10],
  [{}, 10, 0],
  [{ retry_after_seconds: 1801 }, 1800, 0],
  [{ retry_after_seconds: 1801, throttles: 'host' }, 0, 1800],
])('a pause that is asked for by %j is kept', (asked, channel_seconds, host_seconds) => {
  const outcome = failed({ status: 429, throttled: true, ...asked })
  expect(pausesAfter(before, outcome)).toEqual({ channel_seconds, host_seconds })
})

test('of a pause that is asked for and that of the breaker the longer one is kept', () => {
  const outcome = failed({ status: 429, throttled: true, retry_after_seconds: 15 })
  expect(pausesAfter({ ...before, failures: 4 }, outcome).channel_seconds).toBe(15)
  expect(pausesAfter({ ...before, failures: 6 }, outcome).channel_seconds).toBe(40)
})

test.each([
  ['slack', true, 0, failed(), 5],
  ['slack', false, 0, failed(), 30],
  ['webhook', true, 0, failed(), 5],
  ['webhook', true, 1, failed(), 300],
  ['slack', false, 1, failed(), 120],
  // One that was not counted waits as long as it is old, at least a minute.
  ['slack', true, 1, failed({ counted: false }), 60],
  ['slack', true, 0, failed({ retry_after_seconds: 90 }), 90],
])(
  'a message of %s, urgent: %s, tried %i times before, is tried again after a while',
  (...given) => {
    const [kind, is_urgent, used, outcome, seconds] = given
    const now = new Date('2026-03-01T12:00:00Z')
    const claimed = {
      kind,
      is_urgent,
      used,
      first_attempt_at: now.toISOString(),
      expires_at: '2026-03-01T18:00:00Z',
    } as Claimed // safe: all that it reads
    const next = planNextAttempt(claimed, outcome, now)
    const wait = 'at' in next ? (next.at.getTime() - now.getTime()) / 1000 : Number.NaN
    expect(wait).toBeGreaterThanOrEqual(outcome.retry_after_seconds ?? seconds * 0.9)
    expect(wait).toBeLessThanOrEqual(seconds * 1.1)
  },
)

test('a message whose deadline is over is given up, not tried too often', () => {
  const claimed = {
    kind: 'slack',
    used: 0,
    first_attempt_at: '2026-03-01T06:00:00Z',
    expires_at: '2026-03-01T12:00:00Z',
  } as Claimed // safe: all that it reads
  expect(planNextAttempt(claimed, failed(), new Date('2026-03-01T12:00:00Z'))).toEqual({
    give_up: 'too_old',
  })
})

test('a channel that was sealed with a lost key is not sent to, and says what to do', async () => {
  const [seal, lost] = [1, 2].map((byte) => createSeal([Buffer.alloc(32, byte).toString('base64')]))
  if (!seal || !lost) throw new Error('two seals')
  const sealedBy = async (by: typeof seal) => ({
    ...({ kind: 'webhook', payload: '{}', former_sealed: [], config_sealed: null } as const),
    secret_sealed: null,
    target_sealed: await by.seal('https://elsewhere.example/hook'),
  })
  const open = async (by: typeof seal) =>
    openMessage({ seal, public_url: 'https://us.example' }, (await sealedBy(by)) as never) // safe: it reads no more
  expect(await open(seal)).toMatchObject({ host: 'webhook elsewhere.example' })
  expect(await open(lost)).toEqual({
    host: '',
    issue: expect.stringContaining('SEAL_KEYS must hold the key it was sealed with'),
  })
})

test.each([
  [0, null, 'It was never its turn.'],
  [1, 'HTTP 500.', 'There was one attempt, the last with: HTTP 500.'],
  [2, 'HTTP 500.', 'There were 2 attempts, the last with: HTTP 500.'],
])('a message that is given up after %i attempts says so', (attempts, last_error, why) => {
  const claimed = { attempts, last_error } as Claimed // safe: it reads no more
  expect(expiryReason(claimed)).toBe(`It could not be delivered before its deadline. ${why}`)
})
