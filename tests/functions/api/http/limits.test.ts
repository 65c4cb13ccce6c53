import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey } from '../../../../shared/key.ts'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { ADDRESS_HEADER, createService, type Service } from '../../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService({ limits: { pro: 3, enterprise: 5, address: 4 } })
})
afterAll(() => service.close())

const statuses = async (count: number, ask: () => ReturnType<Service['request']>) => {
  const seen: number[] = []
  for (let i = 0; i < count; i += 1) seen.push((await ask()).status)
  return seen
}

describe('the rate limit', () => {
  test('an account over its budget is 429, told when to come back', async () => {
    const person = await service.person()
    const ask = () => service.request('GET', '/api/v1/me', person)
    const first = await ask()
    expect(first.headers.get('RateLimit-Policy')).toBe('"account";q=3;w=60')
    expect(first.headers.get('RateLimit')).toMatch(/^"account";r=2;t=\d+$/)
    expect(await statuses(2, ask)).toEqual([200, 200])
    const refused = await ask()
    expectProblem(refused, 429, 'rate_limited')
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('Retry-After'))).toBeLessThanOrEqual(20)
    expect(refused.headers.get('RateLimit')).toMatch(/^"account";r=0;t=\d+$/)
    expect(refused.headers.get('RateLimit-Policy')).toBe('"account";q=3;w=60')
  })

  test('the row that every request updates has no index but that of its key', async () => {
    const indexes = await service.database.query<{ name: string }>(
      `select indexrelid::regclass::text as name from pg_index where indrelid = 'watchpost.rate_limits'::regclass`,
    )
    expect(indexes).toEqual([{ name: 'watchpost.rate_limits_pkey' }])
  })

  test('it is the account’s, not the key’s, and the plan sets it', async () => {
    const person = await service.person({ plan: 'enterprise' })
    const second = { key: await service.key(person) }
    expect(await statuses(3, () => service.request('GET', '/api/v1/me', person))).toEqual([
      200, 200, 200,
    ])
    expect(await statuses(3, () => service.request('GET', '/api/v1/me', second))).toEqual([
      200, 200, 429,
    ])
  })

  test('a refused write does nothing, and refusals count too', async () => {
    const person = await service.person()
    const body = { kind: 'webhook', target: 'https://hooks.example.com/in' }
    const bad = () => service.request('POST', '/api/v1/channels', { key: person.key, body: {} })
    expect(await statuses(3, bad)).toEqual([422, 422, 422])
    const refused = await service.request('POST', '/api/v1/channels', { key: person.key, body })
    expectProblem(refused, 429, 'rate_limited')
    const rows = await service.database.query(
      'select from watchpost.channels where owner_id = $1',
      [person.user_id],
    )
    expect(rows).toEqual([])
  })

  test('the limit comes before scope, body and id', async () => {
    const account = await service.account()
    const key = await service.key(account, { scopes: ['read'] })
    await statuses(3, () => service.request('GET', '/api/v1/me', { key }))
    const refused = await service.request('PATCH', '/api/v1/zones/x', { key, body: { nope: 1 } })
    expectProblem(refused, 429, 'rate_limited')
  })

  test('an address that tries unknown keys is 429 after a while, others are not', async () => {
    const ask = (address: string) =>
      service.request('GET', '/api/v1/me', {
        key: generateKey(),
        headers: { [ADDRESS_HEADER]: address },
      })
    expect(await statuses(6, () => ask('198.51.100.7'))).toEqual([401, 401, 401, 401, 429, 429])
    const limited = await ask('198.51.100.7')
    expectProblem(limited, 429, 'rate_limited')
    expect(limited.headers.get('Retry-After')).toMatch(/^\d+$/)
    expect((await ask('198.51.100.8')).status).toBe(401)
    // A good key from there still works: the address pays for bad ones only.
    const person = await service.person()
    const headers = { [ADDRESS_HEADER]: '198.51.100.7' }
    const good = await service.request('GET', '/api/v1/me', { key: person.key, headers })
    expect(good.status).toBe(200)
  })

  test('below Pro an address is 402 until its budget is used up', async () => {
    const person = await service.person({ plan: 'free' })
    const headers = { [ADDRESS_HEADER]: '198.51.100.9' }
    const ask = () => service.request('GET', '/api/v1/me', { key: person.key, headers })
    expect(await statuses(5, ask)).toEqual([402, 402, 402, 402, 429])
    expect((await ask()).headers.get('Retry-After')).toMatch(/^\d+$/)
  })

  test('the addresses of one IPv6 network have one budget, another network has its own', async () => {
    let host = 0
    const ask = (network = '2001:db8:0:7') => {
      host += 1
      const headers = { [ADDRESS_HEADER]: `${network}:${host}::1` }
      return service.request('GET', '/api/v1/me', { key: generateKey(), headers })
    }
    expect(await statuses(5, ask)).toEqual([401, 401, 401, 401, 429])
    expect((await ask('2001:db8:0:8')).status).toBe(401)
  })

  test('whoever is known finds each refusal in their log, counted', async () => {
    const [busy, free, keyed] = [
      await service.person(),
      await service.person({ plan: 'free' }),
      await service.person(),
    ]
    const headers = { [ADDRESS_HEADER]: '198.51.100.10' }
    await statuses(5, () => service.request('GET', '/api/v1/me', busy))
    await service.request('GET', '/api/v1/me', { key: free.key, headers })
    await service.request('GET', '/api/v1/account/keys', keyed)
    const logged = () =>
      service.database.query<{ user_id: string; code: string; count: number; route: string }>(
        `select account_id as user_id, details ->> 'code' as code, (details ->> 'count')::integer as count,
          target_id as route
        from watchpost.audit where action = 'request.refused' and account_id = any($1)
        order by array_position($1, account_id)`,
        [[busy, free, keyed].map(({ user_id }) => user_id)],
      )
    const route = 'GET /api/v1/me'
    await expect.poll(logged).toEqual([
      { user_id: busy.user_id, code: 'rate_limited', count: 2, route },
      { user_id: free.user_id, code: 'plan_required', count: 1, route },
      { user_id: keyed.user_id, code: 'forbidden', count: 1, route: 'GET /api/v1/account/keys' },
    ])
  })
})
