import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { failedSend } from '../../../functions/channels/transport/send.ts'
import { Channel } from '../../../shared/schemas/channel.ts'
import { verify } from '../../../shared/signing.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  sendResult,
} from '../../support/service.ts'

const PATH = '/api/v1/channels'
const TARGET = 'https://hooks.example.com/in/s3cret-path'
const One = z.object({ channel: Channel })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())
beforeEach(() => {
  service.receiver.requests.length = 0
  service.receiver.answer = () => sendResult(200, 'ok')
})

async function create(owner: Person, fields: Record<string, unknown> = {}) {
  const body = { kind: 'webhook', target: TARGET, ...fields }
  return parsed(await service.request('POST', PATH, { key: owner.key, body }), 201, One).channel
}

async function get(person: Person, id: string) {
  return parsed(await service.request('GET', `${PATH}/${id}`, person), 200, One).channel
}

const Tested = z.object({ delivery: z.looseObject({ id: z.uuid() }) })

describe('testing a channel', () => {
  test('a marked, signed test goes out and the answer is told', async () => {
    const owner = await service.person()
    const { id, signing_secret } = await create(owner, { config: { headers: { 'X-A': 'b' } } })
    const answer = await service.request('POST', `${PATH}/${id}/test`, owner)
    const { delivery } = parsed(answer, 200, Tested)
    expect(delivery).toMatchObject({
      channel_id: id,
      channel: 'webhook',
      kind: 'channel.test',
      status: 'succeeded',
      attempts: 1,
      attempt_log: [{ attempt: 1, outcome: 'ok', status_code: 200, response_excerpt: 'ok' }],
    })
    const [sent] = service.receiver.requests
    expect(sent).toMatchObject({ url: TARGET, headers: { 'X-A': 'b', 'webhook-id': delivery.id } })
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      type: 'channel.test',
      data: { alert: null, zone: null },
    })
    expect(
      await verify({
        headers: sent?.headers ?? {},
        body: sent?.body ?? '',
        secret: signing_secret ?? '',
        now: new Date(),
      }),
    ).toEqual({ ok: true })
  })

  test.each([
    ['an error', () => sendResult(500, 'broken'), 'retry', 500, 'The receiver answered HTTP 500.'],
    ['no answer', () => failedSend('timeout', 15_000), 'retry', null, 'did not answer in time'],
    [
      'a private address',
      () => failedSend('refused'),
      'fail_permanent',
      null,
      'not a public address',
    ],
  ])('%s of the receiver still answers 200', async (_, answer, outcome, status_code, error) => {
    service.receiver.answer = answer
    const owner = await service.person()
    const { id } = await create(owner)
    const { delivery } = parsed(
      await service.request('POST', `${PATH}/${id}/test`, owner),
      200,
      Tested,
    )
    expect(delivery).toMatchObject({
      status: 'failed',
      last_error: expect.stringContaining(error),
      attempt_log: [{ outcome, status_code }],
    })
    expect((await get(owner, id)).status).toBe('ok')
  })

  test('no transaction is open while the receiver takes its time', async () => {
    const owner = await service.person()
    const { id } = await create(owner)
    let open: unknown
    service.receiver.answer = async () => {
      open = await service.database.query(
        `select state from pg_stat_activity
        where datname = current_database() and usename = 'watchpost_api' and state like 'idle in%'`,
      )
      return sendResult(200)
    }
    await service.request('POST', `${PATH}/${id}/test`, owner)
    expect(open).toEqual([])
  })

  test('lists the attempts; the excerpt is hidden from those who see the channel masked', async () => {
    const [owner, member] = await Promise.all([service.person(), service.person()])
    const org = await service.organisation(owner, [member, 'member'])
    const { id } = await create(owner, { org_id: org })
    const foreign = await create(owner)
    await service.request('POST', `${PATH}/${foreign.id}/test`, owner)
    service.receiver.answer = (request) =>
      sendResult(200, `you sent ${JSON.stringify(request.headers)}`)
    const older = await service.request('POST', `${PATH}/${id}/test`, owner)
    const newer = await service.request('POST', `${PATH}/${id}/test`, owner)
    const idOf = (answer: typeof older) => parsed(answer, 200, Tested).delivery.id
    const List = z.object({
      deliveries: z.array(
        z.object({
          id: z.uuid(),
          attempt_log: z.array(z.object({ response_excerpt: z.string() })),
        }),
      ),
      next_cursor: z.string().nullable(),
    })
    const path = `${PATH}/${id}/deliveries?limit=1`
    const first = parsed(await service.request('GET', path, owner), 200, List)
    const next = await service.request('GET', `${path}&cursor=${first.next_cursor}`, owner)
    const second = parsed(next, 200, List)
    expect([first, second].map(({ deliveries }) => deliveries[0]?.id)).toEqual(
      [newer, older].map(idOf),
    )
    const asked = `${PATH}/${id}/deliveries?delivery_id=${idOf(older)}`
    const one = parsed(await service.request('GET', asked, owner), 200, List)
    expect(one.deliveries.map((delivery) => delivery.id)).toEqual([idOf(older)])
    expect(second.next_cursor).toBeNull()
    // Of the same moment, the highest id comes first.
    await service.database.query(
      'update watchpost.deliveries set created_at = now() where channel_id = $1',
      [id],
    )
    const all = await service.request('GET', `${PATH}/${id}/deliveries`, owner)
    expect(parsed(all, 200, List).deliveries.map((one) => one.id)).toEqual(
      [newer, older].map(idOf).sort().reverse(),
    )
    const masked = await service.request('GET', path, member)
    expect(masked.body).toMatchObject({
      deliveries: [{ attempt_log: [{ response_excerpt: null, status_code: 200 }] }],
    })
    const mixed = `${PATH}/${foreign.id}/deliveries?cursor=${first.next_cursor}`
    expect((await service.request('GET', mixed, owner)).body).toMatchObject({
      code: 'invalid_cursor',
    })
  })
})

test('who sees a channel and may not change it recovers nothing', async () => {
  const [owner, member] = [await service.person(), await service.person()]
  const org_id = await service.organisation(owner, [member, 'member'])
  const { id } = await create(owner, { org_id })
  const body = { since: '2026-01-01T00:00:00Z' }
  const recover = ({ key }: Person) =>
    service.request('POST', `${PATH}/${id}/recover`, { key, body })
  expectProblem(await recover(member), 403, 'forbidden')
  expectProblem(await recover(owner), 409, 'nothing_to_send')
})

describe('rotating a secret', () => {
  test('the new one is shown once; the old one signs beside it for 24 hours', async () => {
    const owner = await service.person()
    const before = await create(owner)
    const path = `${PATH}/${before.id}`
    const rotated = parsed(await service.request('POST', `${path}/rotate-secret`, owner), 200, One)
    const secret = rotated.channel.signing_secret
    expect(secret).toMatch(/^whsec_/)
    expect(secret).not.toBe(before.signing_secret)
    expect((await get(owner, before.id)).signing_secret).toBeNull()
    const signatures = async () => {
      service.receiver.requests.length = 0
      await service.request('POST', `${path}/test`, owner)
      const [sent] = service.receiver.requests
      const { headers = {}, body = '' } = sent ?? {}
      const now = new Date()
      return Promise.all(
        [secret, before.signing_secret].map(
          async (s) => (await verify({ headers, body, secret: s ?? '', now })).ok,
        ),
      )
    }
    expect(await signatures()).toEqual([true, true])
    await service.database.query(
      `update watchpost.channels set former_secrets_sealed = jsonb_set(
        former_secrets_sealed, '{0,until}', to_jsonb(private.iso(now() - interval '1 second'))) where id = $1`,
      [before.id],
    )
    expect(await signatures()).toEqual([true, false])
  })
})
