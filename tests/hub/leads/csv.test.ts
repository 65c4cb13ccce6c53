import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CsvError,
  type Delimiter,
  decode,
  detectDelimiter,
  detectEncoding,
  escapeFormula,
  firstRows,
  readCsv,
  toCsv,
  unescapeFormula,
} from '../../../hub/leads/csv.ts'

async function rowsOf(text: string, delimiter: Delimiter = ','): Promise<string[][]> {
  const rows: string[][] = []
  for await (const row of readCsv(text, delimiter)) rows.push(row)
  return rows
}

test('lines end in any way, also in several ways in one file', async () => {
  expect(await rowsOf('a,b\r\n1,2\n3,4\r5,6')).toEqual([
    ['a', 'b'],
    ['1', '2'],
    ['3', '4'],
    ['5', '6'],
  ])
})

describe('CSV', () => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
    fc.constantFrom(
      '=1+1',
      "'=1",
      "''@x",
      '\t=2',
      '+90 532',
      '-',
      '@a',
      '"',
      '\r\n',
      ' a ',
      'ş',
      "'",
    ),
    fc
      .tuple(fc.constantFrom('=', '+', '-', '@', "'", '\t', '\r', '\n', '＝'), fc.string())
      .map((p) => p.join('')),
  )

  test('reads back as it was written, whatever stands in it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
        async (rows) => {
          const text = decode(new TextEncoder().encode(toCsv(rows)), 'utf-8')
          expect(await rowsOf(text)).toEqual(
            rows.map((row) => row.map((one) => one.toWellFormed())),
          )
        },
      ),
      { numRuns: 300 },
    )
  })

  test('has no cell that a spreadsheet runs', () => {
    fc.assert(
      fc.property(cell, (text) => {
        expect(escapeFormula(text)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
        expect(unescapeFormula(escapeFormula(text))).toBe(text)
      }),
    )
  })

  test.each(["O'-Neil", "a'=b", "'a=", "''", 'a=1', ''])('%j is no formula, and stays', (text) => {
    expect([escapeFormula(text), unescapeFormula(text)]).toEqual([text, text])
  })

  test.each([
    ['name,email\nŞen,a@x.example', 'utf-8', ','],
    ['\uFEFFname;email\nŞen;a@x.example', 'utf-8', ';'],
    ['sep=;\r\nname;email\r\n"Şen; A.S.";a@x.example', 'utf-8', ';'],
    ['name\temail\nŞen, A.S.\ta@x.example', 'utf-8', '\t'],
    ['"a,b",c;d,e\n"1;2",3,4', 'utf-8', ','],
  ])('%j is told to be %s with %j', (text, encoding, delimiter) => {
    const bytes = new TextEncoder().encode(text)
    expect(detectEncoding(bytes)).toBe(encoding)
    expect(detectDelimiter(decode(bytes, 'utf-8'))).toBe(delimiter)
  })

  test('the code pages of Windows and UTF-16 are told apart', () => {
    const turkish = Uint8Array.from([0xde, 0x65, 0x6e, 0x20, 0xdd, 0xfe]) // Şen İş
    expect(detectEncoding(turkish)).toBe('windows-1254')
    expect(decode(turkish, 'windows-1254')).toBe('Şen İş')
    const french = Uint8Array.from([0x63, 0x61, 0x66, 0xe9]) // café
    expect(detectEncoding(french)).toBe('windows-1252')
    expect(decode(french, 'windows-1252')).toBe('café')
    const wide = Uint8Array.from([0xff, 0xfe, 0x5e, 0x01])
    expect(decode(wide, detectEncoding(wide))).toBe('Ş')
  })
})

describe('the encoding of a file', () => {
  test('is UTF-8 also where a letter of it is broken, as long as most are not', () => {
    const file = (...broken: number[]) =>
      Uint8Array.from([...new TextEncoder().encode('İpek,Ğ\nŞ,ş\n'), ...broken])
    expect(detectEncoding(file(0xff))).toBe('utf-8')
    expect(decode(file(0xc5), 'utf-8')).toBe('İpek,Ğ\nŞ,ş\n\uFFFD')
    expect(detectEncoding(file(0xff, 0xff, 0xff))).toBe('utf-8')
    expect(detectEncoding(file(0xff, 0xff, 0xff, 0xff))).toBe('windows-1252')
  })

  const letter = (byte: number) => new TextDecoder('windows-1254').decode(Uint8Array.of(byte))

  test.each([
    ['utf-8', [0xef, 0xbb, 0xbf, 0xde]],
    ['windows-1252', [0xef, 0xbb, 0x41]],
    ['windows-1252', [0xef, 0x41, 0xbf]],
    ['windows-1252', [0x41, 0xbb, 0xbf]],
    ['utf-16le', [0xff, 0xfe]],
    ['windows-1252', [0xff, 0x41]],
    ['windows-1254', [0x41, 0xfe]],
    ['utf-16be', [0xfe, 0xff]],
    ['windows-1254', [0xfe, 0x41]],
    ['windows-1252', [0x41, 0xff]],
    ['utf-8', [0x41]],
    ['utf-8', []],
  ])('is %s by the bytes %j', (encoding, bytes) => {
    expect(detectEncoding(Uint8Array.from(bytes))).toBe(encoding)
  })

  test('is Turkish by any letter that only Turkish has', () => {
    const turkish = [0xd0, 0xdd, 0xde, 0xf0, 0xfd, 0xfe]
    expect(turkish.map(letter).join('')).toBe('ĞİŞğış')
    for (const byte of turkish) expect(detectEncoding(Uint8Array.of(byte))).toBe('windows-1254')
    expect(detectEncoding(Uint8Array.of(0xd6, 0xfc, 0xe7))).toBe('windows-1252')
  })
})

test.each([
  ['\uFEFFa\0b', 'ab'],
  ['sep=;\na', 'a'],
  ['SEP=,\r\na', 'a'],
  ['a\nsep=;\nb', 'a\nsep=;\nb'],
  ['sep=;;\na', 'sep=;;\na'],
])('the text of %j is %j', (given, text) => {
  expect(decode(new TextEncoder().encode(given), 'utf-8')).toBe(text)
})

test('a text in UTF-16 is read whichever byte comes first', () => {
  expect(decode(Uint8Array.from([0xfe, 0xff, 0x01, 0x5e]), 'utf-16be')).toBe('Ş')
  expect(decode(Uint8Array.from([0xff, 0xfe, 0x5e, 0x01]), 'utf-16le')).toBe('Ş')
})

test.each([
  ['', ','],
  ['one column\nonly', ','],
  ['a|b\n1|2', '|'],
  // As many columns by both: the one that lists have most often.
  ['a,b;c\n1,2;3', ','],
  // Fewer columns, but in every row.
  ['a;b,c\n1;2\n3;4', ';'],
  // More columns in half of the rows.
  ['a;b,c,d,e\n1;2', ','],
])('%j is divided by "%s"', (text, delimiter) => {
  expect(detectDelimiter(text)).toBe(delimiter)
})

describe('a file as people have it', () => {
  test.each<[string, string, string[][]]>([
    ['has rows of any length', 'a;b\n1\n1;2;3', [['a', 'b'], ['1'], ['1', '2', '3']]],
    ['has quotation marks inside a cell', 'a"b;c', [['a"b', 'c']]],
    [
      'ends its rows in the way of Windows',
      'a;b\r\n1;2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'ends them in that of old Macs',
      'a;b\r1;2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
  ])('%s', async (_, text, rows) => {
    expect(await rowsOf(text, ';')).toEqual(rows)
    expect(firstRows(text, ';', 9)).toEqual(rows)
  })

  test('shows its first rows, without one that is not complete', () => {
    expect(firstRows("a,b\n'=1,2\n3,4", ',', 2)).toEqual([
      ['a', 'b'],
      ['=1', '2'],
    ])
    expect(firstRows('a,b\n1,"2', ',', 9)).toEqual([['a', 'b']])
  })

  test('is refused where a quotation mark is not closed, and says by which line', async () => {
    const refused = await rowsOf('a,b\n1,"2\n3,4\n').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(CsvError)
    expect(refused).toMatchObject({ unclosed_at: 3, message: expect.stringContaining('Quote') })
  })

  test('is refused where a row is longer than a million characters', async () => {
    const row = (length: number) => `${'x'.repeat(length)}\n`
    expect(await rowsOf(row(1_000_000))).toHaveLength(1)
    const refused = await rowsOf(row(1_000_002)).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(CsvError)
    expect(refused).toMatchObject({ unclosed_at: undefined })
  })
})

test('a table is written with quoted texts, bare numbers and nothing for what is missing', () => {
  expect(
    toCsv([
      ['a "b"', '-1', -1, null],
      ['', 'c', 2.5, 0],
    ]),
  ).toBe(`"a ""b""","'-1",-1,\r\n"","c",2.5,0\r\n`)
})
