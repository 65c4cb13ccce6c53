import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { KeysUnavailable } from '../../functions/sign-in/jwks.ts'
import { expectProblem } from '../support/attacks/refusals.ts'
import { ADDRESS_HEADER, createService, type Person, type Service } from '../support/service.ts'

const ZONES = '/api/v1/zones'
/** A text of the form of a session token; what it is worth, the test says. */
const TOKEN = 'eyJh.eyJz.c2ln'

/** An address that has shown too many wrong credentials. */
const EXHAUSTED = '198.51.100.1'

let service: Service
let me: Person
let verify: () => Promise<undefined> = async () => undefined
beforeAll(async () => {
  service = await createService({
    verify_session: () => verify(),
    address_limit: (address) => (address === EXHAUSTED ? 42 : 0),
  })
  me = await service.person()
})
afterAll(() => service?.close())

let addresses = 0
/** A request from an address of its own, so that no test uses up another's budget. */
function ask(authorization: string | undefined, headers: Record<string, string> = {}) {
  addresses += 1
  return service.request('GET', ZONES, {
    headers: {
      [ADDRESS_HEADER]: `203.0.113.${addresses}`,
      ...(authorization === undefined ? {} : { authorization }),
      ...headers,
    },
  })
}

describe('a credential', () => {
  test('is a bearer, in whatever case the word is', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await ask(`${scheme} ${me.key}`)).status).toBe(200)
    }
  })

  test('of another form is refused with the form to send, and no session is looked up', async () => {
    let looked = 0
    verify = async () => {
      looked += 1
      return undefined
    }
    for (const given of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      me.key,
      `Basic ${me.key}`,
      `Bearer ${me.key} x`,
      `Bearer  ${me.key}`,
      `Bearer ${me.key}x`,
      'Bearer a.b',
      'Bearer a.b.c.d',
      'Bearer .a.b',
      'Bearer a.b.c!',
      'Bearer !a.b.c',
    ]) {
      const answer = await ask(given)
      expectProblem(answer, 401, 'unauthenticated')
      expect(answer.body).toMatchObject({
        detail:
          'Send a valid API key as "Authorization: Bearer wp_live_…", or the access token of a session. Create keys in the account settings.',
      })
    }
    expect(looked).toBe(0)
    expectProblem(await ask(`Bearer ${TOKEN}`), 401, 'unauthenticated')
    expect(looked).toBe(1)
  })
})

test('a key that is used on and on is marked as used again after a minute', async () => {
  const key = await service.key(me)
  const clock = vi.spyOn(Date, 'now')
  const begun = Date.now()
  const used = async (after_ms: number) => {
    clock.mockReturnValue(begun + after_ms)
    expect((await ask(`Bearer ${key}`)).status).toBe(200)
  }
  const marks = () =>
    service.database.query<{ key_id: string }>(
      `delete from watchpost.key_usage where key_id = (
        select id from watchpost.api_keys where user_id = $1 order by created_at desc limit 1)
      returning key_id`,
      [me.user_id],
    )
  const isMarked = () => expect.poll(async () => (await marks()).length).toBe(1)
  try {
    await used(0)
    await isMarked()
    await used(60_000)
    await isMarked()
  } finally {
    clock.mockRestore()
  }
})

describe('a session that cannot be checked', () => {
  test.each([
    ['for as long as the issuer’s keys are away', new KeysUnavailable(17), 17],
    ['for five seconds when nobody knows', new Error('broken'), 5],
  ])('is 503 %s', async (_, error, seconds) => {
    verify = () => Promise.reject(error)
    const answer = await ask(`Bearer ${TOKEN}`)
    expectProblem(answer, 503, 'unavailable')
    expect(answer.headers.get('Retry-After')).toBe(String(seconds))
    expect(answer.body).toMatchObject({
      detail: `Session tokens cannot be verified right now. Try again in ${seconds} s.`,
    })
    // Whoever runs the service reads why; the caller does not.
    expect(service.lines.at(-1)).toMatchObject({
      code: 'unavailable',
      error: { message: error.message },
    })
    expect(answer.text).not.toContain(error.message)
  })
})

describe('an address that has shown too many wrong credentials', () => {
  const from = { [ADDRESS_HEADER]: EXHAUSTED }

  test('waits, whatever it shows, unless that is right', async () => {
    verify = () => Promise.reject(new Error('broken'))
    for (const given of [undefined, 'Basic x', `Bearer ${TOKEN}`]) {
      const answer = await ask(given, from)
      expectProblem(answer, 429, 'rate_limited')
      expect(answer.headers.get('Retry-After')).toBe('42')
      expect(answer.body).toMatchObject({ detail: 'Too many requests. Try again in 42 s.' })
    }
    expect((await ask(`Bearer ${me.key}`, from)).status).toBe(200)
  })
})

describe('what a refusal leaves in the audit', () => {
  test('is its code, its route, its address and the first 300 characters of its program', async () => {
    const reader = await service.key(me, { scopes: ['read'] })
    const agent = `${'a'.repeat(300)}b`
    const refused = await service.request('POST', ZONES, {
      key: reader,
      body: {},
      headers: { [ADDRESS_HEADER]: '192.0.2.77', 'user-agent': agent },
    })
    expectProblem(refused, 403, 'insufficient_scope')
    expect(refused.body).toMatchObject({
      detail: 'This requires a key with the scope "write". This key has: read.',
    })
    const rows = await vi.waitFor(async () => {
      const found = await service.database.query(
        `select outcome, target_id, ip, user_agent, key_id, details from watchpost.audit
        where account_id = $1 and outcome <> 'success'`,
        [me.user_id],
      )
      expect(found).toHaveLength(1)
      return found
    }, 20_000)
    expect(rows).toEqual([
      {
        outcome: 'failure',
        target_id: 'POST /api/v1/zones',
        ip: '192.0.2.77',
        user_agent: 'a'.repeat(300),
        key_id: expect.any(String),
        details: { code: 'insufficient_scope', count: 1 },
      },
    ])
  })
})

test.each(['/.well-known/watchpost-evidence.json', '/api/sources/health', '/api/v1/feeds/x.atom'])(
  '%s needs no credential, and is counted by the address',
  async (path) => {
    const answer = await service.request('GET', path, { headers: { [ADDRESS_HEADER]: EXHAUSTED } })
    expectProblem(answer, 429, 'rate_limited')
    expect(answer.headers.get('Retry-After')).toBe('42')
    expect(answer.body).toMatchObject({ detail: 'Too many requests. Try again in 42 s.' })
    const other = await service.request('GET', path, {
      headers: { [ADDRESS_HEADER]: '198.51.100.2' },
    })
    expect(other.status).not.toBe(429)
  },
)
