import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Key } from '../../../shared/schemas/account.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/account/keys'
let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

const query = (statement: string, values: unknown[] = []) =>
  service.database.query<Record<string, unknown>>(statement, values)

/** The keys as their owner lists them. */
async function keysOf(person: Person) {
  const answer = await service.request('GET', PATH, { key: await service.session(person) })
  return parsed(answer, 200, z.object({ keys: z.array(Key) })).keys
}

describe('when a key was last used', () => {
  test('is written behind the first answer it got, and for this key alone', async () => {
    const person = await service.person()
    await service.key(person)
    expect((await keysOf(person)).map(({ last_used_at }) => last_used_at)).toEqual([null, null])
    expect((await service.request('GET', '/api/v1/me', person)).status).toBe(200)
    let used: string[] = []
    while (used.length === 0) {
      used = (await keysOf(person)).flatMap(({ last_used_at }) => last_used_at ?? [])
    }
    expect(used).toHaveLength(1)
    const [row] = await query(
      `select k.created_at <= $1::timestamptz and $1::timestamptz <= now() as is_now
      from watchpost.api_keys k where k.user_id = $2 limit 1`,
      [used[0], person.user_id],
    )
    expect(row).toEqual({ is_now: true })
  })

  test.each([
    ['1 second', false],
    ['59 seconds', false],
    ['61 seconds', true],
    ['1 day', true],
  ])('is written again after %s: %s', async (age, again) => {
    const person = await service.person()
    const [key] = await keysOf(person)
    await query(
      `insert into watchpost.key_usage (key_id, last_used_at) values ($1, now() - $2::interval)`,
      [key?.id, age],
    )
    await query('select private.touch_key($1)', [key?.id])
    const [row] = await query(
      `select last_used_at > now() - interval '1 second' as is_new from watchpost.key_usage where key_id = $1`,
      [key?.id],
    )
    expect(row).toEqual({ is_new: again })
  })
})

describe('a key works', () => {
  test.each([
    ['1 minute', 200],
    ['0 seconds', 401],
    ['-1 second', 401],
  ])('with %s left with %i, in reading and in writing', async (left, status) => {
    const person = await service.person()
    await query(
      'update watchpost.api_keys set expires_at = now() + $2::interval where user_id = $1',
      [person.user_id, left],
    )
    expect((await service.request('GET', '/api/v1/me', person)).status).toBe(status)
    const body = { label: 'A place', lat: 41, lon: 29 }
    const made = await service.request('POST', '/api/v1/zones', { key: person.key, body })
    expect(made.status).toBe(status === 200 ? 201 : status)
    // What would travel behind the check is refused by itself too.
    const beside = await service
      .queryAs(person.key, 'select 1', [], 'rollback')
      .catch(() => 'WP401')
    expect(beside).toBe(status === 200 ? 1 : 'WP401')
  })

  test.each<[('read' | 'write' | 'ingest')[], number, number]>([
    [['read'], 200, 403],
    [['write'], 200, 201],
    [['read', 'write'], 200, 201],
    [['ingest'], 403, 403],
  ])('with the scopes %j it reads with %i and writes with %i', async (scopes, reads, writes) => {
    const account = await service.account()
    const key = await service.key(account, { scopes })
    expect((await service.request('GET', '/api/v1/me', { key })).status).toBe(reads)
    const body = { label: 'A place', lat: 41, lon: 29 }
    expect((await service.request('POST', '/api/v1/zones', { key, body })).status).toBe(writes)
    // And beside the routes: the policies ask for the scope as well.
    const statement = `update watchpost.zones set icon = 'x' where owner_id = $1`
    const changed = await service.queryAs(key, statement, [account.user_id], 'rollback')
    expect(changed).toBe(writes === 201 ? 1 : 0)
  })
})

describe('the limit of keys', () => {
  test('counts those that work: neither revoked nor expired ones', async () => {
    const person = await service.person()
    const fill = (count: number, state: string) =>
      query(
        `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes, ${state ? 'revoked_at, expires_at' : 'expires_at'})
        select $1, 'x', sha256(gen_random_uuid()::text::bytea), '{read}', ${state || 'null'}
        from generate_series(1, $2::integer)`,
        [person.user_id, count],
      )
    const session = await service.session(person)
    const make = async () =>
      (await service.request('POST', PATH, { key: session, body: { name: 'x', scopes: ['read'] } }))
        .status
    await fill(18, '')
    await fill(5, 'now(), null')
    await fill(5, `null, now() - interval '1 second'`)
    expect([await make(), await make()]).toEqual([201, 409])
  })
})

describe('an account makes 200 keys in a day', () => {
  test.each([
    ['within it, the next is refused, revoked ones counted', '23 hours', 409],
    ['before it, the next is made', '25 hours', 201],
  ])('%s', async (_, age, status) => {
    const person = await service.person()
    await query(
      `insert into watchpost.api_keys (user_id, name, prefix, key_hash, scopes, created_at, revoked_at)
      select $1::uuid, 'old', 'wp_live_old', sha256(convert_to($1::uuid::text || n, 'UTF8')), '{read}',
        now() - $2::interval, now() - $2::interval
      from generate_series(1, 199) n`,
      [person.user_id, age],
    )
    // The one that the person came with is the 200th, or the only one of this day.
    const answer = await service.request('POST', PATH, {
      key: await service.session(person),
      body: { name: 'next', scopes: ['read'] },
    })
    expect(answer.status).toBe(status)
    if (status === 409) expect(answer.text).toMatch(/200 keys in the last 24 hours/)
  })
})
