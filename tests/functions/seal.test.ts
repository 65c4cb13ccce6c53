import { expect, test } from 'vitest'
import { createSeal, rememberOpened } from '../../functions/seal.ts'

const seal = createSeal([Buffer.alloc(32, 3).toString('base64')])

/** A seal that counts how often it really opens something. */
function counted(now?: () => number) {
  let opened = 0
  const unseal = (sealed: string) => {
    opened += 1
    return seal.unseal(sealed)
  }
  const remembering = rememberOpened({ ...seal, unseal }, now)
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

test('it is opened again after ten minutes, also when it was used meanwhile', async () => {
  let minutes = 0
  const { remembering, opened } = counted(() => minutes * 60_000)
  const one = await seal.seal('one')
  for (const [at, times] of [
    [0, 1],
    [9.9, 1],
    [10, 2],
    [19.9, 2],
    [20, 3],
  ] as const) {
    minutes = at
    expect(await remembering.unseal(one)).toBe('one')
    expect([at, opened()]).toEqual([at, times])
  }
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
