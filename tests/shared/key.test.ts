import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { generateKey, isKey, keyHash, keyPrefix } from '../../shared/key.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const numberOf = (text: string) =>
  [...text].reduce((value, digit) => value * 62n + BigInt(DIGITS.indexOf(digit)), 0n)

test('a key is a prefix, 256 random bits and their checksum', () => {
  const keys = Array.from({ length: 50 }, generateKey)
  expect(new Set(keys).size).toBe(50)
  for (const key of keys) {
    expect(key).toMatch(/^wp_live_[0-9A-Za-z]{49}$/)
    expect(numberOf(key.slice(-6))).toBe(BigInt(crc32(key.slice(0, -6))))
    expect(isKey(key)).toBe(true)
    expect(keyPrefix(key)).toBe(key.slice(0, 12))
  }
})

test.each([
  ['zeros', 0, 0n],
  ['ones', 255, 2n ** 256n - 1n],
])('all bits count: %s', (_, byte, value) => {
  const random = vi.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => {
    if (bytes instanceof Uint8Array) bytes.fill(byte)
    return bytes
  })
  try {
    expect(numberOf(generateKey().slice(8, -6))).toBe(value)
  } finally {
    random.mockRestore()
  }
})

test('what was mistyped is no key', () => {
  const key = generateKey()
  const changed = key.slice(0, 20) + (key[20] === 'x' ? 'y' : 'x') + key.slice(21)
  for (const text of ['', changed, key.slice(0, -1), `${key}0`, `0${key}`, ` ${key}`, `${key}\n`])
    expect(isKey(text), text).toBe(false)
  expect(isKey(key.replace('wp_live_', 'wp_test_'))).toBe(false)
})

test('what is stored of a key is its SHA-256', async () => {
  expect(Buffer.from(await keyHash('wp_live_x'))).toEqual(
    createHash('sha256').update('wp_live_x').digest(),
  )
})
