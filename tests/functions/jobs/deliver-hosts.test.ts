import { expect, test } from 'vitest'
import { createHostSlots } from '../../../functions/jobs/deliver-hosts.ts'

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
  const hanging = performance.now()
  expect(await hosts.enter('slow', 4)).toBeUndefined()
  expect(performance.now() - hanging).toBeLessThan(40)
  first?.()
  expect(await hosts.enter('slow', 4)).toBeDefined()
  const waiting = hosts.enter('slow', 4)
  second?.()
  expect(await waiting).toBeDefined()
})
