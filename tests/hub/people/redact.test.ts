import { describe, expect, test } from 'vitest'
import { addressesIn, matcherOf, nameHashes, namesIn } from '../../../hub/people/redact.ts'

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

const ayse = matcherOf({ email: 'ayse.isik@example.com', names: ['Ayşe Işık'] })

test.each([
  ['to AYSE.ISIK@Example.com.', 'to [erased].'],
  ['ayse.isik%40example.com, ayse.isik&#64;example.com', '[erased], [erased]'],
  ['ayse.isik&#x40;example.com!', '[erased]!'],
  ['<ayse.isik@example.com>;ayse.isik@example.com', '<[erased]>;[erased]'],
  ['AYŞE IŞIK, ayşe ışık and Ayşe İŞİK', '[erased], [erased] and [erased]'],
  ['Ayşe Işık'.normalize('NFD'), '[erased]'],
  // A capital İ in lower case has a dot of its own.
  ['AYŞE İŞİK'.toLowerCase(), '[erased]'],
  ['Ayşe \n\t Işık', '[erased]'],
  ['"Ayşe Işık"s', '"[erased]"s'],
  ['docs/ayse-isik-1.md', 'docs/erased-1.md'],
  ['https://x.example/AYSE-ISIK', 'https://x.example/erased'],
])('of a person, %j becomes %j', (text, without) => {
  expect(ayse.replace(text)).toBe(without)
})

test.each([
  'xayse.isik@example.com',
  'x.ayse.isik@example.com',
  'x_ayse.isik@example.com',
  'x+ayse.isik@example.com',
  'x-ayse.isik@example.com',
  'ayse.isik@example.com.tr',
  'ayse.isik@example.community',
  'ayse.isik@example.com-x.example',
  'ayse.isik@exampleXcom',
  'ayseXisik@example.com',
  'Ayşe Işıklar',
  'Nayşe Işık',
  'Ayşe Işık2',
  'Ayşe Işık@x.example',
  'AyşeIşık',
  'Ayşe',
  'docs/nayse-isik.md',
  'docs/ayse-isik2.md',
  'ayse-isik@x.example',
])('%j is somebody else', (text) => {
  expect(ayse.replace(text)).toBe(text)
  expect(ayse.excerpts(text)).toEqual([])
})

test.each([
  // What stands instead is never longer than what was there.
  ['Ali Cans', 'to Ali Cans', 'to [erased]'],
  ['Ali Can', 'to Ali Can', 'to ***'],
  ['  Ali Cans ', 'Ali Cans.', '[erased].'],
  ['   ', 'a   b', 'a   b'],
  // However many blanks were typed into the name.
  ['Ayşe  Işık', 'Ayşe Işık, Ayşe   Işık', '[erased], [erased]'],
  ['Ayşe  Işık', 'docs/ayse-isik.md', 'docs/erased.md'],
  [
    'Ali (CEO) [x] {y} a|b a/b c^d e$ f? g*h +1 \\',
    'Ali (CEO) [x] {y} a|b a/b c^d e$ f? g*h +1 \\',
    '[erased]',
  ],
  ['A.B. Can', 'AxBx Can', 'AxBx Can'],
  // One word is no name of a file: too many are called so.
  ['Ayşe', 'docs/ayse.md', 'docs/ayse.md'],
])('the name %j makes of %j %j', (name, text, without) => {
  expect(matcherOf({ email: null, names: [name] }).replace(text)).toBe(without)
})

test('only the address goes where names shall stay', () => {
  const text = 'Ayşe Işık <ayse.isik@example.com> ayse-isik'
  expect(ayse.replace(text, { keeps_names: true })).toBe('Ayşe Işık <[erased]> ayse-isik')
  expect(ayse.replace(text)).toBe('[erased] <[erased]> erased')
})

describe('in JSON', () => {
  test('a person goes from every text and key, and the rest is as it was', () => {
    const value = [{ 'Ayşe Işık': 1, b: [null, true, 2, 'of Ayşe Işık'] }, null]
    expect(ayse.json(value)).toEqual([{ '[erased]': 1, b: [null, true, 2, 'of [erased]'] }, null])
  })

  test('what stands beside their own address about them goes too', () => {
    const about = {
      to: ' AYSE.isik@example.com ',
      name: 'Ms A. Isik',
      title: 'Head of tea',
      phone: '+90',
      note: '',
      notes: ['Head of tea'],
      company: 'Demir',
    }
    expect(ayse.json(about)).toEqual({
      to: ' [erased] ',
      name: '[erased]',
      title: '[erased]',
      phone: '***',
      note: '',
      notes: ['Head of tea'],
      company: 'Demir',
    })
  })

  test('what stands beside another address stays', () => {
    const other = { email: 'can@example.com', name: 'Can Demir', title: 'Head of tea' }
    expect(ayse.json(other)).toEqual(other)
    expect(ayse.json({ text: 'of ayse.isik@example.com', title: 'Tea' })).toEqual({
      text: 'of [erased]',
      title: 'Tea',
    })
    // Of a person without an address nobody knows what is about them.
    expect(matcherOf({ email: null, names: ['Ayşe Işık'] }).json({ x: '', title: 'Tea' })).toEqual({
      x: '',
      title: 'Tea',
    })
  })
})

test('each place is shown with sixty letters around it', () => {
  const [before, after] = ['b'.repeat(70), 'a'.repeat(70)]
  expect(ayse.excerpts(`${before} Ayşe Işık ${after}`)).toEqual([
    `${before.slice(11)} Ayşe Işık ${after.slice(11)}`,
  ])
  expect(ayse.excerpts('ayse-isik, Ayşe Işık, ayse.isik@example.com, Ayşe Işık')).toHaveLength(4)
  expect(ayse.excerpts(`x Ayşe Işık ${after}`)).toEqual([`x Ayşe Işık ${after.slice(11)}`])
})

test('rows are searched by the words of the address and of each name', () => {
  expect(ayse.likes).toEqual([
    ['ayse', 'isik', 'example', 'com'],
    ['Ayşe', 'Işık'],
  ])
  expect(matcherOf({ email: null, names: [' Jean-Luc  O’Hara ', ' '] })).toMatchObject({
    likes: [['Jean', 'Luc', 'O', 'Hara']],
    names: ['Jean-Luc  O’Hara'],
    email: null,
  })
})

describe('names of which only a hash is kept', () => {
  const [current, former] = [Buffer.from('now'), Buffer.from('before')]
  const salt = { current, all: [current, former] }
  const hashed = (...names: string[]) => new Set(names.flatMap((name) => nameHashes(current, name)))

  test.each([
    ['Meet AYSE ISIK tomorrow, Ayşe Işık.', ['AYSE ISIK', 'Ayşe Işık']],
    ['Meet Ayşe', []],
    ['Işık Ayşe', []],
    ['Ayşe Işık', ['Ayşe Işık']],
    ['Ayşe-Işık', ['Ayşe-Işık']],
    ['ayşe.ışık@example.com', []],
    [`Ayşe${' '.repeat(192)}Işık`, [`Ayşe${' '.repeat(192)}Işık`]],
    [`Ayşe${' '.repeat(193)}Işık`, []],
    ['', []],
  ])('are found in %j as they are written: %j', (text, found) => {
    expect(namesIn(salt, hashed('Ayşe Işık'), text)).toEqual(found)
  })

  test('are found by an earlier secret too, and by no other', () => {
    expect(namesIn(salt, new Set(nameHashes(former, 'Ayşe Işık')), 'Ayşe Işık')).toEqual([
      'Ayşe Işık',
    ])
    const others = new Set(nameHashes(Buffer.from('x'), 'Ayşe Işık'))
    expect(namesIn(salt, others, 'Ayşe Işık')).toEqual([])
    expect(namesIn(salt, new Set(), 'Ayşe Işık')).toEqual([])
  })

  test('may have one word or several at once', () => {
    expect(namesIn(salt, hashed('Cher', 'Ali Can Demir'), 'Cher and Ali Can Demir').sort()).toEqual(
      ['Ali Can Demir', 'Cher'],
    )
  })

  test('have a hash each, the same however they are written, if of one to six words', () => {
    expect(nameHashes(current, ' ayse ISIK')).toEqual(nameHashes(current, 'Ayşe Işık'))
    expect(nameHashes(current, 'a b')[0]).toMatch(/^2:[0-9a-f]{64}$/)
    expect(nameHashes(current, 'a b c d e f')).toHaveLength(1)
    expect(nameHashes(current, 'a b c d e f g')).toEqual([])
    expect(nameHashes(current, ' . ')).toEqual([])
  })
})
