import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Delimiter,
  decode,
  detectDelimiter,
  detectEncoding,
  escapeFormula,
  readCsv,
  toCsv,
  unescapeFormula,
} from '../../../hub/leads/csv.ts'

async function rowsOf(text: string, delimiter: Delimiter = ','): Promise<string[][]> {
  const rows: string[][] = []
  for await (const row of readCsv(text, delimiter)) rows.push(row)
  return rows
}

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
