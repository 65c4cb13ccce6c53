import { expect, test } from 'vitest'
import { csvOf } from '../../web/pages/reports/csv.ts'

test('a table quotes what would break it, and makes text of what a spreadsheet would run', () => {
  const rows = [
    { a: 'plain', b: null, c: { d: 'x, y' } },
    { a: '=1+1', b: 'say "no"', c: 'two\nlines' },
  ]
  expect(csvOf(rows)).toBe(
    'a,b,c\r\nplain,,"{""d"":""x, y""}"\r\n\'=1+1,"say ""no""","two\nlines"\r\n',
  )
  expect(csvOf([])).toBe('\r\n')
})
