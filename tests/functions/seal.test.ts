import { expect, test } from 'vitest'
import { createSeal, decodeKey, rememberOpened } from '../../functions/seal.ts'

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

test('a key is 32 bytes, in any form of base64', () => {
  const bytes = Buffer.alloc(32, 0xfb)
  const text = bytes.toString('base64')
  expect(text).toMatch(/[+].*[/].*=/)
  expect(Buffer.from(decodeKey(text))).toEqual(bytes)
  expect(Buffer.from(decodeKey(bytes.toString('base64url')))).toEqual(bytes)
  expect(() => decodeKey(`${text.slice(0, 10)}=${text.slice(10)}`)).toThrow()
  for (const length of [0, 16, 31, 33, 64]) {
    const wrong = Buffer.alloc(length, 1).toString('base64')
    expect(() => decodeKey(wrong), `${length}`).toThrow(`32 bytes, this one has ${length}`)
  }
})

test('each key gives another one for each purpose, and always the same', async () => {
  const keys = [5, 6].map((byte) => Buffer.alloc(32, byte).toString('base64'))
  const signed = async (given: string[], purpose: string) => {
    const derived = await createSeal(given).macKeys(purpose)
    const marks = derived.map((key) => crypto.subtle.sign('HMAC', key, Buffer.from('x')))
    return (await Promise.all(marks)).map((mark) => Buffer.from(mark).toString('hex'))
  }
  // And none of them leaves the process.
  for (const key of await createSeal(keys).macKeys('link a')) expect(key.extractable).toBe(false)
  const [first, second] = await signed(keys, 'link a')
  expect(await signed(keys, 'link a')).toEqual([first, second])
  expect(await signed(keys.toReversed(), 'link a')).toEqual([second, first])
  const all = [first, second, ...(await signed(keys, 'link b')), ...(await signed(keys, 'vapid'))]
  expect(new Set(all).size).toBe(6)
})

test('what an old key sealed opens as long as that key is kept, and the new one seals', async () => {
  const [old, next] = [5, 6].map((byte) => Buffer.alloc(32, byte).toString('base64'))
  if (!old || !next) throw new Error('two keys')
  const sealed = await createSeal([old]).seal('secret')
  expect(await createSeal([next, old]).unseal(sealed)).toBe('secret')
  await expect(createSeal([next]).unseal(sealed)).rejects.toMatchObject({
    message: 'none of the configured keys opens a sealed value',
    // For the log: what the last key said.
    cause: expect.any(Error),
  })
  const resealed = await createSeal([next, old]).seal('secret')
  expect(await createSeal([next]).unseal(resealed)).toBe('secret')
  expect(() => createSeal([])).toThrow('at least one sealing key')
})
