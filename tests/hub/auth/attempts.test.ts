import { beforeEach, describe, expect, test } from 'vitest'
import { createAttempts } from '../../../hub/auth/attempts.ts'

const MINUTE_MS = 60_000
let now = 0
let attempts: ReturnType<typeof createAttempts>
beforeEach(() => {
  now = 1_000_000
  attempts = createAttempts(() => now)
})

const guess = (address: string, right = false) =>
  attempts.attempt({ address, is_reserved: false }, async () => right)
/** How many seconds the client has to wait, or 0. */
const refusal = (work: () => unknown): Promise<number> =>
  Promise.resolve()
    .then(work)
    .then(
      () => 0,
      (error: { code: string; headers: Record<string, string>; message: string }) => {
        expect(error.code).toBe('rate_limited')
        const seconds = error.headers['Retry-After']
        expect(error.message).toContain(`${seconds} s`)
        return Number(seconds)
      },
    )
async function wrong(address: string, times: number) {
  for (let nth = 0; nth < times; nth += 1) await guess(address)
}

describe('an address that guesses wrong', () => {
  test('waits from the fourth guess on, twice as long each time, a minute at most', async () => {
    const waits: number[] = []
    await wrong('10.0.0.1', 3)
    for (let nth = 0; nth < 8; nth += 1) {
      expect(await refusal(() => guess('10.0.0.1'))).toBe(0)
      const seconds = await refusal(() => guess('10.0.0.1'))
      waits.push(seconds)
      now += seconds * 1000 - 1
      expect(await refusal(() => guess('10.0.0.1'))).toBe(1)
      now += 1
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60, 60])
  })

  test('starts anew after a right one, and after a quarter of an hour', async () => {
    await wrong('10.0.0.1', 3)
    expect(await guess('10.0.0.1', true)).toBe(true)
    await wrong('10.0.0.1', 4)
    expect(await refusal(() => guess('10.0.0.1'))).toBe(2)
    now += 15 * MINUTE_MS - 1
    await wrong('10.0.0.1', 1)
    expect(await refusal(() => guess('10.0.0.1'))).toBe(4)
    now += 15 * MINUTE_MS
    await wrong('10.0.0.1', 3)
    expect(await refusal(() => guess('10.0.0.1'))).toBe(0)
  })

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002::1', true],
    ['10.0.0.1', '::ffff:10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['unknown', 'unknown', true],
    ['unknown', 'elsewhere', false],
  ])('%s and %s are one client: %s', async (first, second, isSame) => {
    await wrong(first, 4)
    expect(await refusal(() => guess(second))).toBe(isSame ? 2 : 0)
  })

  test('is forgotten when 10,000 others have guessed since', async () => {
    await wrong('10.0.0.1', 4)
    await wrong('10.0.0.2', 4)
    for (let nth = 0; nth < 9_998; nth += 1) {
      await guess(`11.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}`)
    }
    expect(await refusal(() => guess('10.0.0.1'))).toBe(2)
    await guess('12.0.0.1')
    expect(await refusal(() => guess('10.0.0.1'))).toBe(0)
    expect(await refusal(() => guess('10.0.0.3'))).toBe(0)
  })
})

describe('many at once', () => {
  /** Guesses that wait until they are let go. */
  function held() {
    let release = () => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    let running = 0
    let most = 0
    const order: string[] = []
    const attempt = (address: string, is_reserved = false) =>
      attempts.attempt({ address, is_reserved }, async () => {
        running += 1
        most = Math.max(most, running)
        order.push(address)
        await until
        running -= 1
        return true
      })
    return { attempt, release: () => release(), most: () => most, order }
  }

  test('of one address are four, one checked at a time', async () => {
    const { attempt, release, most } = held()
    const three = [1, 2, 3].map(() => attempt('10.0.0.1'))
    const fourth = attempt('10.0.0.1')
    // Each is counted as wrong before it is checked, so the fifth waits for the count.
    expect(await refusal(() => attempt('10.0.0.1'))).toBe(2)
    now += 2000
    expect(await refusal(() => attempt('10.0.0.1'))).toBe(5)
    release()
    expect(await Promise.all([...three, fourth])).toEqual([true, true, true, true])
    expect(most()).toBe(1)
    expect(await refusal(() => guess('10.0.0.1'))).toBe(0)
  })

  test('of strangers are eight, and none of them takes the four places of this machine', async () => {
    const { attempt, release, most, order } = held()
    const strangers = Array.from({ length: 8 }, (_, nth) => attempt(`10.0.1.${nth}`))
    expect(await refusal(() => attempt('10.0.2.1'))).toBe(5)
    const reserved = Array.from({ length: 4 }, (_, nth) => attempt(`127.0.0.${nth}`, true))
    expect(await refusal(() => attempt('127.0.0.9', true))).toBe(5)
    release()
    await Promise.all([...strangers, ...reserved])
    expect(most()).toBe(1)
    // The first was running already; then those of this machine.
    expect(order.slice(0, 5)).toEqual([
      '10.0.1.0',
      '127.0.0.0',
      '127.0.0.1',
      '127.0.0.2',
      '127.0.0.3',
    ])
    // Their places are free again.
    const again = held()
    const more = Array.from({ length: 8 }, (_, nth) => again.attempt(`10.0.3.${nth}`))
    again.release()
    expect(await Promise.all(more)).toEqual(Array(8).fill(true))
  })

  test('work of a client that has shown the secret comes first', async () => {
    const { attempt, release, order } = held()
    const running = attempt('10.0.0.1')
    const others = [attempt('10.0.0.2'), attempt('127.0.0.1', true)]
    const alone = attempts.alone(async () => order.push('alone'))
    release()
    await Promise.all([running, ...others, alone])
    expect(order).toEqual(['10.0.0.1', 'alone', '127.0.0.1', '10.0.0.2'])
  })

  test('a check that fails frees its place', async () => {
    for (let nth = 0; nth < 9; nth += 1) {
      const failing = attempts.attempt(
        { address: `10.0.0.${nth}`, is_reserved: false },
        async () => {
          throw new Error('no disk')
        },
      )
      await expect(failing).rejects.toThrow('no disk')
    }
  })
})

describe('a wrong token or link', () => {
  test.each(['token', 'link'] as const)(
    '%s is free thirty times, by itself and of each address',
    async (door) => {
      for (let nth = 0; nth < 31; nth += 1) attempts.wrong(door, '10.0.0.1')
      expect(await refusal(() => attempts.wrong(door, '10.0.0.1'))).toBe(2)
      expect(
        await refusal(() => attempts.wrong(door === 'link' ? 'token' : 'link', '10.0.0.1')),
      ).toBe(0)
      expect(await refusal(() => attempts.wrong(door, '10.0.0.2'))).toBe(0)
      expect(await refusal(() => guess('10.0.0.1'))).toBe(0)
    },
  )
})
