import { expect, test } from 'vitest'
import { addressesIn } from '../../../hub/people/redact.ts'

test.each([
  ['Write to Ayse@Demir.example!', ['ayse@demir.example']],
  ['<a@b.example>;"c@d.example", (e@f.example) [g@h.example] {i@j.example}', 'abcdefghij'],
  ['mailto:a@b.example?subject=1&to=c@d.example.', 'abcd'],
  ['/find?email=a%40b.example&more c&#64;d.example e&#x40;f.example', 'abcdef'],
  ['{"email":"a@b.example"}\nc@d.example', 'abcd'],
  ['ÖZ@Ç.example', ['öz@xn--7ca.example']],
  ['of a list: a@b.example@c.example', ['a@b.example', 'b.example@c.example']],
  ['a@b, @c.example, d@, e @f.example, g@h..example', []],
  [`${'x'.repeat(65)}@b.example`, []],
])('the addresses in %j', (text, found) => {
  const pairs = typeof found === 'string' ? (found.match(/../g) ?? []) : []
  const expected = typeof found === 'string' ? pairs.map(([l, d]) => `${l}@${d}.example`) : found
  expect(addressesIn(text)).toEqual(expected)
})

test.each(['x', '@', 'x@', '%40', '\u0007'])(
  'a file that is one word of %j is read in time that grows with its length',
  (piece) => {
    const began = performance.now()
    expect(addressesIn(`a@b.example ${piece.repeat(200_000)} c@d.example`)).toEqual([
      'a@b.example',
      'c@d.example',
    ])
    // Were each letter the beginning of a search for an @, it would take hours.
    expect(performance.now() - began).toBeLessThan(20_000)
  },
)
