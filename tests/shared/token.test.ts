import { expect, test } from 'vitest'
import { deriveToken, generateToken, tokenHash, tokenKey } from '../../shared/token.ts'

test('a token is 32 random bytes in the alphabet of URLs', () => {
  const tokens = Array.from({ length: 100 }, generateToken)
  for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/)
  expect(new Set(tokens).size).toBe(100)
})

test('what is stored of it is the SHA-256 of its text', async () => {
  const hex = Buffer.from(await tokenHash('abc')).toString('hex')
  expect(hex).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('its successor is one for each key and each use of it', async () => {
  const key = await tokenKey('secret', 'links')
  const successor = await deriveToken(key, 'abc')
  expect(successor).toMatch(/^[\w-]{43}$/)
  expect(await deriveToken(await tokenKey('secret', 'links'), 'abc')).toBe(successor)
  const others = [
    await deriveToken(key, 'abd'),
    await deriveToken(await tokenKey('secret', 'sessions'), 'abc'),
    await deriveToken(await tokenKey('other', 'links'), 'abc'),
  ]
  expect(new Set([successor, ...others]).size).toBe(4)
})
