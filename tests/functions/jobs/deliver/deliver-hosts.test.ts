import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createHostSlots } from '../../../../functions/jobs/deliver-hosts.ts'

// A place is waited for by the clock, which stands still here but where a test moves it.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

type Hosts = ReturnType<typeof createHostSlots>

async function enterMany(hosts: Hosts, slots: number, count: number) {
  const places = []
  for (let nr = 0; nr < count; nr += 1) places.push(await hosts.enter('slow', slots))
  return places
}

test('one host gets three quarters of the slots, and others the rest', async () => {
  const hosts = createHostSlots()
  const places = await enterMany(hosts, 20, 20)
  expect(places.filter((leave) => leave !== undefined)).toHaveLength(15)
  expect(await hosts.enter('fast', 20)).toBeDefined()
  places[0]?.()
  expect(await hosts.enter('slow', 20)).toBeDefined()
  vi.advanceTimersByTime(50)
  expect(await hosts.enter('slow', 20)).toBeUndefined()
  for (const leave of places.slice(1)) leave?.()
  expect(await hosts.enter('slow', 20)).toBeDefined()
})

test.each([
  [1, 1],
  [3, 3],
  [4, 3],
  [5, 4],
])('of %i slots it gets %i', async (slots, given) => {
  const places = await enterMany(createHostSlots(), slots, slots)
  expect(places.filter((leave) => leave !== undefined)).toHaveLength(given)
})

test('a place is waited for where another was just given back, and not where none was', async () => {
  const hosts = createHostSlots()
  const [first, second] = await enterMany(hosts, 4, 3)
  expect(await hosts.enter('slow', 4)).toBeUndefined()
  first?.()
  expect(await hosts.enter('slow', 4)).toBeDefined()
  const waiting = hosts.enter('slow', 4)
  second?.()
  expect(await waiting).toBeDefined()
})

test('who no longer waits for a place takes none from who does', async () => {
  const hosts = createHostSlots()
  const [first, second] = await enterMany(hosts, 4, 3)
  first?.()
  await hosts.enter('slow', 4)
  const tired = [hosts.enter('slow', 4), hosts.enter('slow', 4)]
  await vi.advanceTimersByTimeAsync(50)
  expect(await Promise.all(tired)).toEqual([undefined, undefined])
  second?.()
  const third = await hosts.enter('slow', 4)
  const waiting = hosts.enter('slow', 4)
  third?.()
  expect(await waiting).toBeDefined()
})

test('a place is waited for as long as others are given back, and a quarter of a second at most', async () => {
  const hosts = createHostSlots()
  const places = await enterMany(hosts, 20, 15)
  /** Gives a place back, which somebody who comes at that moment takes. */
  const pass = () => {
    places.shift()?.()
    void hosts.enter('slow', 20).then((place) => places.push(place))
  }
  pass()
  let answer: unknown = 'waiting'
  void hosts.enter('slow', 20).then((place) => {
    answer = place
  })
  for (let ms = 40; ms < 250; ms += 40) {
    await vi.advanceTimersByTimeAsync(40)
    expect(answer, `after ${ms} ms`).toBe('waiting')
    pass()
  }
  await vi.advanceTimersByTimeAsync(9)
  expect(answer).toBe('waiting')
  await vi.advanceTimersByTimeAsync(1)
  expect(answer).toBeUndefined()
})
