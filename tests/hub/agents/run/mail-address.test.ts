import { expect, test } from 'vitest'
import { tokensOf as namesOf } from '../../../../hub/agents/recipients/tokens.ts'
import { MAIL_ADDRESS } from '../../../../hub/agents/run/mail-address.ts'
import { tokensOf } from '../../../../hub/agents/run/tokens.ts'

test.each([
  ['write to Ali.Demir+x@mail.demir-lojistik.com.tr.', 'Ali.Demir+x@mail.demir-lojistik.com.tr'],
  ["ali@demir.example'a yaz", 'ali@demir.example'],
  ['<jörg@müller.example>, please', 'jörg@müller.example'],
  ['ali@firma.xn--p1ai', 'ali@firma.xn--p1ai'],
])('%s holds the address %s', (text, address) => {
  expect(text.match(new RegExp(MAIL_ADDRESS, 'u'))?.[0]).toBe(address)
  expect(tokensOf(text)).toContainEqual(
    expect.objectContaining({ word: '@mail', written: address }),
  )
  expect(namesOf(text).addresses).toEqual([address.toLowerCase()])
})

test.each(['ali@localhost', '@demir.example', 'ali@demir.1', 'a @ b.example'])(
  '%s holds none',
  (text) => {
    expect(text).not.toMatch(new RegExp(MAIL_ADDRESS, 'u'))
  },
)
