import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

const PATH = '/api/v1/channels'
const CHANNEL = { kind: 'webhook', target: 'https://hooks.example.com/in' }
const One = z.object({
  channel: z.object({ id: z.uuid(), signing_secret: z.string().nullable(), label: z.unknown() }),
})
const Invited = z.object({ member: z.object({ id: z.uuid() }), invite_url: z.string().nullable() })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())

function post(person: Person, key: string, body: unknown = CHANNEL, path = PATH) {
  return service.request('POST', path, {
    key: person.key,
    body,
    headers: { 'Idempotency-Key': key },
  })
}

async function countOf(person: Person): Promise<number> {
  const rows = await service.database.query('select from watchpost.channels where owner_id = $1', [
    person.user_id,
  ])
  return rows.length
}

describe('Idempotency-Key', () => {
  test('the same request again answers the same thing, its secret null', async () => {
    const person = await service.person()
    const first = await post(person, 'a')
    const { channel } = parsed(first, 201, One)
    expect(channel.signing_secret).toMatch(/^whsec_/)
    const again = await post(person, 'a')
    expect(parsed(again, 201, One).channel).toEqual({ ...channel, signing_secret: null })
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'))
    expect(await countOf(person)).toBe(1)
  })

  test('a replay answers with the current state, or 409 if it was deleted', async () => {
    const person = await service.person()
    const { channel } = parsed(await post(person, 'a'), 201, One)
    const path = `${PATH}/${channel.id}`
    await service.request('PATCH', path, { key: person.key, body: { label: 'Later' } })
    expect(parsed(await post(person, 'a'), 201, One).channel.label).toBe('Later')
    await service.request('DELETE', path, person)
    expectProblem(await post(person, 'a'), 409, 'conflict')
    expect(await countOf(person)).toBe(1)
  })

  test('another body is 422', async () => {
    const person = await service.person()
    await post(person, 'a')
    const other = await post(person, 'a', { ...CHANNEL, label: 'Other' })
    expectProblem(other, 422, 'idempotency_mismatch')
    expect(await countOf(person)).toBe(1)
  })

  test('answers 409 while the first request is still running', async () => {
    const person = await service.person()
    const held = service.database.query(
      `select pg_advisory_lock(hashtextextended($1 || $2 || $3, 0))`,
      [person.user_id, `POST ${PATH}`, 'a'],
    )
    await held
    const answer = await post(person, 'a')
    expectProblem(answer, 409, 'idempotency_in_flight')
    expect(answer.headers.get('Retry-After')).toBe('1')
    expect(await countOf(person)).toBe(0)
  })

  test('of many simultaneous requests exactly one creates', async () => {
    const person = await service.person()
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(person, 'a')))
    const ids = answers
      .filter(({ status }) => status === 201)
      .map((answer) => parsed(answer, 201, One).channel.id)
    expect(new Set(ids).size).toBe(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectProblem(answer, 409, 'idempotency_in_flight')
    }
    expect(await countOf(person)).toBe(1)
  })

  test('a failed request is not remembered', async () => {
    const person = await service.person()
    const org_id = randomUUID()
    const body = { ...CHANNEL, org_id }
    expectProblem(await post(person, 'a', body), 422, 'invalid')
    await service.database.query(
      `with org as (insert into watchpost.organisations (id, name) values ($1, 'Late') returning id)
      insert into watchpost.members (org_id, user_id, email, role, status)
      select id, $2, $3, 'owner', 'active' from org`,
      [org_id, person.user_id, person.email],
    )
    parsed(await post(person, 'a', body), 201, One)
  })

  test('a key is an account’s own, and forgotten after 24 hours', async () => {
    const [person, other] = await Promise.all([service.person(), service.person()])
    const first = parsed(await post(person, 'a'), 201, One).channel.id
    expect(parsed(await post(other, 'a'), 201, One).channel.id).not.toBe(first)
    await service.database.query(
      `update watchpost.idempotency_keys set created_at = now() - interval '25 hours' where user_id = $1`,
      [person.user_id],
    )
    expect(parsed(await post(person, 'a'), 201, One).channel.id).not.toBe(first)
  })

  test('the same key for two organisations is two invites, and a replay shows no link', async () => {
    const owner = await service.person()
    const orgs = [await service.organisation(owner), await service.organisation(owner)]
    const body = { email: 'new@watchpost.test' }
    const invite = async (org: string | undefined) =>
      parsed(await post(owner, 'a', body, `/api/v1/orgs/${org}/members`), 201, Invited)
    const [first, second] = [await invite(orgs[0]), await invite(orgs[1])]
    expect(second.member.id).not.toBe(first.member.id)
    expect(await invite(orgs[0])).toEqual({ ...first, invite_url: null })
  })

  test('stores no secret', async () => {
    const person = await service.person()
    await post(person, 'a')
    const [row] = await service.database.query(
      'select * from watchpost.idempotency_keys where user_id = $1',
      [person.user_id],
    )
    expect(Object.keys(row ?? {}).sort()).toEqual([
      'created_at',
      'key',
      'request_hash',
      'resource_id',
      'route',
      'status',
      'user_id',
    ])
    expect(JSON.stringify(row)).not.toContain('hooks.example.com')
  })

  test.each(['', 'x'.repeat(256)])('a key of the wrong length is 400', async (key) => {
    const person = await service.person()
    const answer = await post(person, key)
    expectProblem(answer, 400, 'invalid_query')
    expect(answer.body).toMatchObject({
      detail: 'A header has a mistake. See "errors".',
      errors: [{ path: 'idempotency-key' }],
    })
  })
})
