import { expect, test } from 'vitest'
import { createHostSlots } from '../../../functions/jobs/deliver-hosts.ts'

test('one host gets three quarters of the slots, and others the rest', () => {
  const hosts = createHostSlots()
  const places = Array.from({ length: 20 }, () => hosts.enter('slow', 20))
  expect(places.filter((leave) => leave !== undefined)).toHaveLength(15)
  expect(hosts.enter('fast', 20)).toBeDefined()
  places[0]?.()
  expect(hosts.enter('slow', 20)).toBeDefined()
  expect(hosts.enter('slow', 20)).toBeUndefined()
  for (const leave of places.slice(1)) leave?.()
  expect(hosts.enter('slow', 20)).toBeDefined()
})

test.each([
  [1, 1],
  [3, 3],
  [4, 3],
  [5, 4],
])('of %i slots it gets %i', (slots, given) => {
  const hosts = createHostSlots()
  const places = Array.from({ length: slots }, () => hosts.enter('slow', slots))
  expect(places.filter((leave) => leave !== undefined)).toHaveLength(given)
})
