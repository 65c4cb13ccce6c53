import { expect, test } from 'vitest'
import { createZoneStore, type ZoneAtTime } from '../../../../functions/jobs/zone-store.ts'

const zone = (id: string, { vertices = 0, version = 1 } = {}) =>
  ({ id, version, label: id, prepared: { vertices } }) as ZoneAtTime // safe: no more of it is read
const kept = (store: ReturnType<typeof createZoneStore>, ids: string) =>
  [...ids].filter((id) => store.get(id)).join('')

test('a circle takes room too, and those that were kept first make it', () => {
  const store = createZoneStore(24)
  for (const id of 'abc') store.keep(zone(id))
  expect(kept(store, 'abc')).toBe('abc')
  store.keep(zone('d'))
  expect(kept(store, 'abcd')).toBe('bcd')
})

test('a zone with many vertices takes the room of several', () => {
  const store = createZoneStore(40)
  for (const id of 'abcde') store.keep(zone(id))
  store.keep(zone('f', { vertices: 12 }))
  expect(kept(store, 'abcdef')).toBe('def')
})

test('another version takes the place of the former one, and its room', () => {
  const store = createZoneStore(24)
  for (const id of 'abc') store.keep(zone(id))
  for (let version = 2; version < 9; version += 1) store.keep(zone('b', { version }))
  expect(kept(store, 'abc')).toBe('abc')
  expect(store.get('b')?.version).toBe(8)
})

test('a zone that is larger than all the room is kept alone', () => {
  const store = createZoneStore(24)
  store.keep(zone('a'))
  store.keep(zone('b', { vertices: 100 }))
  expect(kept(store, 'ab')).toBe('b')
  store.keep(zone('c'))
  expect(kept(store, 'abc')).toBe('c')
})
