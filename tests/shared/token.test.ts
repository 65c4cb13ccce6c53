import { expect, test } from 'vitest'
import { generateToken, tokenHash } from '../../shared/token.ts'

test('a token is 32 random bytes in the alphabet of URLs', () => {
  const tokens = Array.from({ length: 100 }, generateToken)
  for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/)
  expect(new Set(tokens).size).toBe(100)
})

test('what is stored of it is the SHA-256 of its text', async () => {
  const hex = Buffer.from(await tokenHash('abc')).toString('hex')
  expect(hex).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
