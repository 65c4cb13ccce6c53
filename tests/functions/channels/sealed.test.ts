import { expect, test } from 'vitest'
import { createSeal, rememberOpened } from '../../../functions/seal.ts'

const seal = createSeal([Buffer.alloc(32, 3).toString('base64')])

/** A seal that counts how often it really opens something. */
function counted() {
  let opened = 0
  const remembering = rememberOpened({
    ...seal,
    unseal: (sealed) => {
      opened += 1
      return seal.unseal(sealed)
    },
  })
  return { remembering, opened: () => opened }
}

test('what was opened once is not opened again', async () => {
  const { remembering, opened } = counted()
  const [one, other] = [await seal.seal('one'), await seal.seal('other')]
  expect(await Promise.all([one, one, other].map(remembering.unseal))).toEqual([
    'one',
    'one',
    'other',
  ])
  expect(await remembering.unseal(one)).toBe('one')
  expect(opened()).toBe(2)
})

test('what could not be opened is tried again', async () => {
  const { remembering, opened } = counted()
  await expect(remembering.unseal('broken')).rejects.toThrow('none of the configured keys')
  await expect(remembering.unseal('broken')).rejects.toThrow('none of the configured keys')
  expect(opened()).toBe(2)
})

test('the oldest is forgotten first when there are too many', async () => {
  let opened = 0
  const remembering = rememberOpened({
    ...seal,
    unseal: async (sealed) => {
      opened += 1
      return sealed
    },
  })
  for (let nr = 0; nr <= 3000; nr += 1) await remembering.unseal(`${nr}`)
  await remembering.unseal('1')
  expect(opened).toBe(3001)
  await remembering.unseal('0')
  expect(opened).toBe(3002)
})
