import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Channel } from '../../../shared/schemas/channel.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/channels'
const TARGET = 'https://hooks.example.com/in/s3cret-path'
const One = z.object({ channel: Channel })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())

async function create(owner: Person, fields: Record<string, unknown> = {}) {
  const body = { kind: 'webhook', target: TARGET, ...fields }
  return parsed(await service.request('POST', PATH, { key: owner.key, body }), 201, One).channel
}
const patch = (person: Person, id: string, body: object) =>
  service.request('PATCH', `${PATH}/${id}`, { key: person.key, body })

describe('a change that waits for another one', () => {
  /** Sends a patch while another transaction has changed the channel and not yet committed. */
  async function patchedMeanwhile(change: string, body: object, fields = {}) {
    const owner = await service.person()
    const { id } = await create(owner, fields)
    const other = await service.transaction()
    await other.query(`update watchpost.channels set ${change} where id = $1`, [id])
    const answer = patch(owner, id, body)
    await vi.waitFor(async () => {
      const waiting = await service.database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      expect(waiting).toHaveLength(1)
    }, 20_000)
    await other.commit()
    return answer
  }

  test.each([
    ['its target was changed', `target_sealed = 'another'`, { target: `${TARGET}/new` }],
    ['its headers were changed', `config_sealed = 'another'`, { target: `${TARGET}/new` }],
    ['it was deleted', 'deleted_at = now()', { label: 'x' }],
  ])('is 409 when %s, which stays', async (_, change, body) => {
    const answer = await patchedMeanwhile(change, body, { config: { headers: { 'X-A': 'b' } } })
    expect(answer).toMatchObject({
      status: 409,
      body: {
        code: 'conflict',
        detail: 'The channel was changed in the meantime. Read it again and retry.',
      },
    })
  })

  test('switches on a channel that was switched off by then, and clears why', async () => {
    const failed = `enabled = false, status = 'disabled', disabled_reason = 'It answered HTTP 410.'`
    const answer = await patchedMeanwhile(failed, { enabled: true })
    expect(parsed(answer, 200, One).channel).toMatchObject({
      enabled: true,
      status: 'ok',
      disabled_reason: null,
    })
  })
})

test('a new receiver has not failed yet; what else changes leaves its failures', async () => {
  const owner = await service.person()
  const { id } = await create(owner)
  await service.database.query(
    `update watchpost.channels set status = 'failing', failing_reason = 'It answered HTTP 500.',
      failing_since = now(), failures = 3, paused_until = now() + interval '1 hour' where id = $1`,
    [id],
  )
  const kept = parsed(await patch(owner, id, { label: 'x', target: TARGET }), 200, One).channel
  expect(kept).toMatchObject({ status: 'failing', failing_reason: 'It answered HTTP 500.' })
  const fresh = parsed(await patch(owner, id, { target: `${TARGET}/new` }), 200, One).channel
  expect(fresh).toMatchObject({ status: 'ok', failing_reason: null, failing_since: null })
  const [row] = await service.database.query(
    'select failures, paused_until, failing_reason from watchpost.channels where id = $1',
    [id],
  )
  expect(row).toEqual({ failures: 0, paused_until: null, failing_reason: null })
  // What it was like before does not show on a channel that is well.
  await service.database.query(
    `update watchpost.channels set failing_reason = 'old', failing_since = now() where id = $1`,
    [id],
  )
  const well = await service.request('GET', `${PATH}/${id}`, owner)
  expect(parsed(well, 200, One).channel).toMatchObject({
    failing_reason: null,
    failing_since: null,
  })
})

test('a channel comes into an organisation only by one of its admins', async () => {
  const [owner, member, stranger] = [
    await service.person(),
    await service.person(),
    await service.person(),
  ]
  const org_id = await service.organisation(owner, [member, 'member'])
  const into = async (person: Person) => patch(person, (await create(person)).id, { org_id })
  expectProblem(await into(member), 403, 'forbidden')
  const refused = await into(stranger)
  expectProblem(refused, 422, 'invalid')
  expect(refused.body).toMatchObject({
    errors: [{ path: 'org_id', code: 'unknown_organisation' }],
  })
  expect((await into(owner)).status).toBe(200)
})

test('a new receiver of a channel that is off leaves it off, with its reason', async () => {
  const owner = await service.person()
  const { id } = await create(owner)
  await service.database.query(
    `update watchpost.channels set enabled = false, status = 'disabled', disabled_reason = 'gone'
    where id = $1`,
    [id],
  )
  const answer = await patch(owner, id, { target: `${TARGET}/new` })
  expect(parsed(answer, 200, One).channel).toMatchObject({
    ...{ enabled: false, status: 'disabled', disabled_reason: 'gone' },
  })
})

describe('a signing secret', () => {
  test('is sent back as it was shown, and no other one is taken', async () => {
    const owner = await service.person()
    const { id, signing_secret } = await create(owner)
    expect((await patch(owner, id, { signing_secret, label: 'x' })).status).toBe(200)
    const refused = await patch(owner, id, { signing_secret: `${signing_secret}x`, label: 'y' })
    expectProblem(refused, 422, 'invalid')
    expect(refused.body).toMatchObject({ errors: [{ path: 'signing_secret', code: 'read_only' }] })
    expect(refused.text).not.toContain(signing_secret)
  })

  test('is of webhooks alone, so that of others is not rotated', async () => {
    const owner = await service.person()
    const target = 'https://hooks.slack.com/services/T0000AAAA/B0000BBBB/abcdefghijklmnopqrstuvwx'
    const { id, signing_secret } = await create(owner, { kind: 'slack', target })
    expect(signing_secret).toBeNull()
    const refused = await service.request('POST', `${PATH}/${id}/rotate-secret`, owner)
    expectProblem(refused, 409, 'conflict')
    expect(refused.body).toMatchObject({ detail: expect.stringContaining('Only webhooks') })
  })
})
