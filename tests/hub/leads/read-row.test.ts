import { describe, expect, test } from 'vitest'
import { factOf, IMPORT_FIELDS, quoteOf, readRow } from '../../../hub/leads/import-row.ts'

/** A row by the names of its fields; each column has the name of its field in capitals. */
function read(row: Record<string, string>, more: string[] = [], own = OWN) {
  const fields = Object.keys(row)
  const columns = fields.map((field) => field.toUpperCase())
  const mapping = Object.fromEntries(fields.map((field, at) => [field, columns[at]]))
  return readRow([...Object.values(row), ...more], { columns, mapping, own })
}
const OWN = [{ key: 'fleet', label: 'Fleet', kind: 'number' as const, choices: [] }]
const mistakesOf = (row: Record<string, string>, more?: string[]) =>
  read(row, more).mistakes.map(({ column, message }) => [column, message.en])

describe('a row of a list', () => {
  test('gives a lead all that it says, as the hub keeps it', () => {
    const id = crypto.randomUUID()
    const row = {
      id,
      name: ' Ada  Lovelace ',
      email: ' ada@x.example',
      company: 'Analytical',
      title: 'Head',
      phone: '+90 532',
      website: 'x.example',
      country: 'UK',
      language: 'English',
      stage: 'Kazanıldı',
      source: 'Fair',
      lawful_basis: 'Rıza',
      score: '7',
      tags: ' a; b ,c, ,',
      note: ' Called\0 ',
      amount: '1.250,50',
      currency: '€',
      close_on: '1.3.2026',
      next_step: 'Call',
      outcome_reason: 'Price',
      outcome_note: 'Cheap',
      basis_note: 'Form',
      basis_source: 'Site',
      basis_on: '01.02.2026',
      'custom.fleet': '1.500',
    }
    const { id: _, note: __, 'custom.fleet': ___, ...fields } = row
    expect(read(row)).toEqual({
      row: {
        id,
        notes: ['Called'],
        notices: [],
        lead: {
          ...fields,
          name: 'Ada Lovelace',
          email: 'ada@x.example',
          website: 'https://x.example',
          language: 'en',
          stage: 'won',
          lawful_basis: 'consent',
          score: 7,
          tags: ['a', 'b', 'c'],
          amount: 1250.5,
          currency: 'EUR',
          close_on: '2026-03-01',
          basis_on: '2026-02-01',
          custom: { fleet: 1500 },
        },
      },
      mistakes: [],
    })
  })

  test('gives nothing for empty cells, missing ones and fields without a column', () => {
    const empty = Object.fromEntries(IMPORT_FIELDS.map((field) => [field, ' ']))
    expect(read({ ...empty, name: 'Ada' })).toEqual({
      row: { lead: { name: 'Ada' }, notes: [], id: null, notices: [] },
      mistakes: [],
    })
    const columns = ['Name', 'Mail', 'Score']
    const mapping = { name: 'Name', email: 'Mail', score: 'Score', company: 'Gone' }
    expect(readRow(['Ada'], { columns, mapping })).toMatchObject({ mistakes: [] })
    expect(readRow(['Ada'], { columns, mapping }).row.lead).toEqual({ name: 'Ada' })
    expect(read({ company: 'Analytical' }).row.lead).toEqual({ company: 'Analytical' })
    expect(readRow(['Ada'], { columns: ['Name'], mapping: { name: 'Name' } }).row.id).toBeNull()
  })

  test.each([
    [{ first_name: 'Ada', last_name: 'Lovelace' }, 'Ada Lovelace'],
    [{ first_name: 'Ada', last_name: '' }, 'Ada'],
    [{ first_name: '', last_name: 'Lovelace' }, 'Lovelace'],
    [{ name: 'A. L.', first_name: 'Ada', last_name: 'Lovelace' }, 'A. L.'],
    [{ name: '', first_name: 'Ada', last_name: 'Lovelace' }, 'Ada Lovelace'],
  ])('has the name of %j', (row, name) => {
    expect(read(row).row.lead).toEqual({ name })
  })

  test.each<[Record<string, string>, string, RegExp]>([
    [{ email: 'nobody' }, 'EMAIL', /./],
    [{ website: 'ftp://x.example' }, 'WEBSITE', /./],
    [{ stage: 'wonderful' }, 'STAGE', /must be new, contacted/],
    [{ lawful_basis: 'why not' }, 'LAWFUL_BASIS', /must be consent, contract/],
    [{ score: '101' }, 'SCORE', /from 0 to 100/],
    [{ score: 'high' }, 'SCORE', /from 0 to 100/],
    [{ language: 'Klingon' }, 'LANGUAGE', /a name or a code/],
    [{ amount: 'much', currency: 'EUR' }, 'AMOUNT', /a number of zero or more/],
    [{ amount: '-1', currency: 'EUR' }, 'AMOUNT', /a number of zero or more/],
    [{ amount: '10' }, 'AMOUNT', /no currency/],
    [{ amount: '10', currency: '' }, 'AMOUNT', /no currency/],
    [{ currency: 'XXX' }, 'CURRENCY', /./],
    [{ close_on: 'soon' }, 'CLOSE_ON', /written as 2026-03-01/],
    [{ basis_on: 'long ago' }, 'BASIS_ON', /written as 2026-03-01/],
    [{ 'custom.fleet': 'many' }, 'CUSTOM.FLEET', /takes a number/],
    [{ tags: 'x'.repeat(61) }, 'TAGS', /./],
    [{ first_name: 'x'.repeat(201) }, 'FIRST_NAME', /./],
    [{ name: 'x'.repeat(201) }, 'NAME', /./],
    [{ note: 'x'.repeat(100_001) }, 'NOTE', /100001 characters, and a row can bring 100000/],
  ])('is refused for %j in the column %s', (row, column, said) => {
    const mistakes = mistakesOf({ company: 'A', ...row })
    expect(mistakes).toEqual([[column, expect.stringMatching(said)]])
  })

  test('is refused without a name, an address and a company, in the first column for them', () => {
    const unnamed = 'The row has no name, e-mail or company.'
    const rows: Record<string, string>[] = [
      { name: '', email: '', company: '', first_name: '' },
      { email: '', company: '', first_name: '' },
      { company: '', first_name: '' },
      { first_name: '' },
    ]
    for (const row of rows) {
      expect(mistakesOf(row)).toEqual([[Object.keys(row)[0]?.toUpperCase(), unnamed]])
    }
    expect(mistakesOf({ title: 'Head' })).toEqual([['', unnamed]])
    // What is wrong with the row says more.
    expect(mistakesOf({ email: 'nobody' })).toHaveLength(1)
  })

  test('is refused with more cells than columns, unless they are empty', () => {
    expect(mistakesOf({ name: 'A', title: 'B', phone: '1' }, ['', ''])).toEqual([])
    expect(mistakesOf({ name: 'A', title: 'B', phone: '1' }, ['', 'c'])).toEqual([
      ['PHONE', 'The row has 5 cells, but the header has 3. Look for a missing quotation mark.'],
    ])
  })

  test('has a note of any length up to a hundred thousand, in parts that are told', () => {
    const notices = (length: number) => read({ name: 'A', note: 'x'.repeat(length) }).row.notices
    expect(notices(10_000)).toEqual([])
    expect(mistakesOf({ name: 'A', note: 'x'.repeat(100_000) })).toEqual([])
    expect(notices(100_000)).toMatchObject([
      { column: 'NOTE', message: { en: expect.stringContaining('kept whole, as 10 notes') } },
    ])
  })

  test('has an id only where that is one of ours', () => {
    expect(read({ name: 'A', id: '17' }).row.id).toBeNull()
  })
})

test('the fact of a row names its columns, in the order of a card, up to a thousand letters', () => {
  const lead = { email: 'a@x.example', name: 'Ada', phone: '1', company: 'X', website: null }
  const columns = { email: 'Mail', company: 'Firma', phone: 'Tel', website: 'Web' }
  const rest = 'Firma: X; Mail: a@x.example; Tel: 1'
  expect(factOf(lead, { ...columns, name: 'Kişi' })).toBe(`Kişi: Ada; ${rest}`)
  expect(factOf(lead, { ...columns, first_name: 'Ad', last_name: 'Soyad' })).toBe(
    `Ad Soyad: Ada; ${rest}`,
  )
  expect(factOf(lead, { ...columns, last_name: 'Soyad' })).toBe(`Soyad: Ada; ${rest}`)
  expect(factOf({ name: 'x'.repeat(2000) }, { name: 'N' })).toHaveLength(1000)
})

test('the quotation of a row has its filled cells, and says in which it ends', () => {
  expect(quoteOf(['A', 'B', 'C', 'D'], ['1', '', '3\0'])).toEqual({
    quote: 'A: 1; C: 3',
    ends_in: null,
  })
  const long = (length: number) => quoteOf(['A', 'B'], ['x'.repeat(length - 3), ''])
  const ends = (length: number) => [long(length).quote.length, long(length).ends_in]
  expect([ends(20_000), ends(20_001)]).toEqual([
    [20_000, null],
    [20_000, 'A'],
  ])
  expect(quoteOf(['A', 'B', 'C'], ['1', 'x'.repeat(30_000), 'y'])).toMatchObject({ ends_in: 'B' })
})
