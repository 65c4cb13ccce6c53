/** What is recorded of an attempt, and what its log line says. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Outcome } from '../../../../functions/channels/channel.ts'
import { kindOf } from '../../../../functions/channels/sealed.ts'
import { type Claimed, type Opened, openMessage } from '../../../../functions/jobs/deliver-claim.ts'
import {
  describe as describeAttempt,
  failure,
  record,
  settle,
  waitUntil,
} from '../../../../functions/jobs/deliver-outcome.ts'
import type { JobContext, Work } from '../../../../functions/jobs/queue.ts'
import { createSeal } from '../../../../functions/seal.ts'
import { NO_TRACING } from '../../../../functions/tracing/tracing.ts'

const NOW = new Date('2026-03-01T12:00:00.000Z')
beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const seal = createSeal([Buffer.alloc(32, 1).toString('base64')])
const claimed = {
  ...{ id: 'd1', channel_id: 'c1', kind: 'telegram', type: 'alert.raised', attempts: 2, used: 1 },
  ...{ failures: 0, host_failures: 0, target_sealed: 'sealed', waits_for: 'turn' },
  payload: JSON.stringify({ alert: { raised_at: '2026-03-01T11:59:58.500Z' } }),
} as unknown as Claimed // safe: all that is read of it
const job = { id: 'j1', name: 'deliver', data: {} } as unknown as Work // safe: no more of it is read
const opened = { host: 'telegram api.telegram.org', kind: kindOf({ kind: 'telegram' }) } as Opened // safe: no more of it is read
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  ...{ outcome: 'ok', throttled: false, counted: true, duration_ms: 12.6, status: 200 },
  ...more,
})

/** A job that only notes what it would store. */
function noted() {
  const items: Record<string, unknown>[] = []
  const looks: [string, string][] = []
  const context = {
    deps: { seal },
    tracing: NO_TRACING,
    finishTogether: async (_: Work, item: Record<string, unknown>) => void items.push(item),
    lookAt: (queue: string, at: Date) => void looks.push([queue, at.toISOString()]),
  } as unknown as JobContext // safe: all that is used of it
  return { items, looks, context }
}
const recorded = async (
  more: Partial<Outcome>,
  next?: Parameters<typeof record>[2]['next'],
  at: Opened = opened,
) => {
  const { items, context } = noted()
  await record(context, job, { claimed, opened: at, outcome: outcome(more), next })
  return items[0] as { status: string; next_at: unknown; attempt: object; health: object }
}
const AT = new Date('2026-03-01T12:05:00.000Z')

describe('an attempt', () => {
  test('is recorded with all that the receiver said', async () => {
    const said = { remote_ref: '-100/7', response_excerpt: 'fine', request_id: 'r1' }
    expect(await recorded(said)).toEqual({
      ...{ id: 'd1', channel_id: 'c1', status: 'succeeded', next_at: null },
      attempt: {
        ...{ attempt: 3, outcome: 'ok', status_code: 200, duration_ms: 13, error: undefined },
        ...said,
      },
      health: {
        ...{ host: 'api.telegram.org', is_host_failure: false, moved: undefined },
        ...{ channel_seconds: 0, host_seconds: 0 },
      },
    })
  })

  test.each<[string, Partial<Outcome>, Parameters<typeof recorded>[1], string, string | null]>([
    ['is over when it was taken', {}, undefined, 'succeeded', null],
    ['is over when it was refused', { outcome: 'fail_permanent' }, undefined, 'failed', null],
    ['is made again', { outcome: 'retry' }, { at: AT }, 'queued', AT.toISOString()],
    ['came too late', { outcome: 'retry' }, { give_up: 'too_old' }, 'expired', null],
    ['was the last', { outcome: 'retry' }, { give_up: 'attempts_used' as never }, 'failed', null],
  ])('%s', async (_, more, next, status, next_at) => {
    expect(await recorded(more, next)).toMatchObject({ status, next_at })
  })

  test('without an answer is a failure of the host, and none of one that could not be opened', async () => {
    const silent = { outcome: 'retry', status: undefined, error: 'No answer.' } as const
    expect((await recorded(silent, { at: AT })).health).toMatchObject({ is_host_failure: true })
    const busy = { outcome: 'retry', status: 503 } as const
    expect((await recorded(busy, { at: AT })).health).toMatchObject({ is_host_failure: false })
    const issue = { host: '', issue: 'It does not open.' }
    expect((await recorded(failure('x'), undefined, issue)).health).toMatchObject({ host: null })
  })

  test('keeps what the receiver calls the message up to 500 characters', async () => {
    const refOf = async (length: number) =>
      (await recorded({ remote_ref: 'x'.repeat(length) })).attempt
    expect(await refOf(500)).toMatchObject({ remote_ref: 'x'.repeat(500) })
    expect(await refOf(501)).toMatchObject({ remote_ref: undefined })
    expect(await refOf(0)).toMatchObject({ remote_ref: undefined })
  })

  test('that found the receiver elsewhere stores where, sealed, and where it was', async () => {
    const { health } = await recorded({ new_target: '-1009' })
    const { moved } = health as { moved: { target_sealed: string; target_masked: string } }
    expect(moved).toMatchObject({ from: 'sealed' })
    expect(await seal.unseal(moved.target_sealed)).toBe('-1009')
    expect(moved.target_masked).not.toBe('')
    const unopened = await recorded({ new_target: '-1009' }, undefined, { host: '', issue: 'x' })
    expect(unopened.health).toMatchObject({ moved: undefined })
  })
})

test('a message that ends without an attempt says why', async () => {
  const { items, context } = noted()
  await settle(context, job, { claimed, status: 'expired', why: 'It was too late.' })
  expect(items).toEqual([
    { id: 'd1', channel_id: 'c1', status: 'expired', error: 'It was too late.' },
  ])
})

test('one that waits is looked at a moment after it is due', async () => {
  const { items, looks, context } = noted()
  await waitUntil(context, job, claimed, AT.toISOString())
  expect(items).toEqual([
    { id: 'd1', channel_id: 'c1', next_at: AT.toISOString(), waits_for: 'turn' },
  ])
  expect(looks).toEqual([['deliver', '2026-03-01T12:05:00.010Z']])
})

test('what could not be sent at all has failed for good, in no time', () => {
  expect(failure('It does not open.')).toEqual({
    ...{ outcome: 'fail_permanent', throttled: false, counted: true, duration_ms: 0 },
    error: 'It does not open.',
  })
})

describe('the log line of an attempt', () => {
  const line = { delivery_id: 'd1', channel_id: 'c1', kind: 'telegram', type: 'alert.raised' }

  test('says how long after its event an alert was taken', () => {
    const told = describeAttempt(claimed, outcome(), undefined)
    expect(told).toEqual({ ...line, attempt: 3, result: 'ok', latency_ms: 1500, status: 200 })
  })

  test.each<[string, Partial<Claimed>]>([
    ['an update', { type: 'alert.ended' }],
    ['a message without content', { payload: null }],
  ])('does not say that of %s', (_, more) => {
    const told = describeAttempt({ ...claimed, ...more }, outcome(), undefined)
    expect(told).not.toHaveProperty('latency_ms')
  })

  test('says of an event that this machine has yet to see that it took no time', () => {
    const payload = JSON.stringify({ alert: { raised_at: '2026-03-01T12:00:01.000Z' } })
    expect(describeAttempt({ ...claimed, payload }, outcome(), undefined)).toMatchObject({
      latency_ms: 0,
    })
  })

  test('says why one failed, and when it is tried again or why not', () => {
    const failed = outcome({ outcome: 'retry', status: undefined, error: 'No answer.' })
    const common = { ...line, attempt: 3, result: 'retry', error: 'No answer.' }
    expect(describeAttempt(claimed, failed, { at: AT })).toEqual({
      ...{ ...common, next_attempt_at: AT.toISOString() },
    })
    expect(describeAttempt(claimed, failed, { give_up: 'too_old' })).toEqual({
      ...{ ...common, gave_up: 'too_old' },
    })
  })
})

describe('a message is opened', () => {
  const open = async (more: Partial<Claimed>) =>
    openMessage(
      { seal, public_url: 'https://us.example' },
      {
        ...claimed,
        ...{ kind: 'webhook', payload: '{"part":1}', remote_ref: 'r', language: 'tr' },
        ...{ config_sealed: null, secret_sealed: null, former_sealed: [], time_zone: 'UTC' },
        target_sealed: await seal.seal('https://hooks.example/in'),
        ...more,
      },
    )

  test('with its target, its config and the secrets in use, the current one first', async () => {
    const found = await open({
      config_sealed: await seal.seal('{"headers":{"x-a":"b"}}'),
      secret_sealed: await seal.seal('one'),
      former_sealed: [{ sealed: await seal.seal('two'), until: '' }],
    })
    expect(found).toEqual({
      host: 'webhook hooks.example',
      kind: kindOf({ kind: 'webhook' }),
      message: {
        ...{ id: 'd1', target: 'https://hooks.example/in', config: { headers: { 'x-a': 'b' } } },
        notification: { type: 'alert.raised', part: 1 },
        ...{ secrets: ['one', 'two'], now: NOW, language: 'tr', time_zone: 'UTC' },
        ...{ public_url: 'https://us.example', remote_ref: 'r', acknowledge_url: null },
      },
    })
  })

  test('without what it does not have', async () => {
    expect(await open({ payload: null })).toMatchObject({
      message: { notification: { type: 'alert.raised' }, secrets: [] },
    })
    expect(await open({})).toHaveProperty('message.config', undefined)
  })

  test('or not, with what to do about it', async () => {
    expect(await open({ target_sealed: 'nothing' })).toEqual({
      host: '',
      issue:
        'What is sealed in this channel does not open: SEAL_KEYS must hold the key it was sealed with.',
    })
    expect(await open({ kind: 'pigeon' })).toEqual({
      host: '',
      issue: expect.stringContaining('"pigeon" does not exist'),
    })
  })
})
