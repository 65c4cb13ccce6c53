import { expect, test } from 'vitest'
import { type FIELD_KINDS, faultOf, valueOfCell } from '../../../hub/leads/own-fields.ts'

type Kind = (typeof FIELD_KINDS)[number]
const field = (kind: Kind) => ({ label: 'Fleet', kind, choices: ['Big', 'Işık'] })

test.each<[Kind, string | number | boolean]>([
  ['text', ''],
  ['text', 'x'.repeat(1000)],
  ['number', 0],
  ['number', -2.5],
  ['date', '2028-02-29'],
  ['choice', 'Big'],
  ['yes_no', false],
  ['yes_no', true],
])('a field of the kind %s takes %j', (kind, value) => {
  expect(faultOf(field(kind), value)).toBeUndefined()
})

test.each<[Kind, string | number | boolean, string]>([
  ['text', 'x'.repeat(1001), '“Fleet” takes a text of at most 1,000 characters.'],
  ['text', 1, '“Fleet” takes a text of at most 1,000 characters.'],
  ['number', '1', '“Fleet” takes a number.'],
  ['number', Number.POSITIVE_INFINITY, '“Fleet” takes a number.'],
  ['date', '2026-02-29', '“Fleet” takes a date such as 2026-03-01.'],
  ['date', 20260301, '“Fleet” takes a date such as 2026-03-01.'],
  ['choice', 'big', '“Fleet” takes one of: Big, Işık.'],
  ['choice', 1, '“Fleet” takes one of: Big, Işık.'],
  ['yes_no', 'true', '“Fleet” takes yes or no.'],
  ['yes_no', 0, '“Fleet” takes yes or no.'],
])('a field of the kind %s refuses %j: %s', (kind, value, said) => {
  expect(faultOf(field(kind), value)?.en).toBe(said)
})

test.each<[Kind, unknown, string]>([
  ['yes_no', true, 'Yes| y|TRUE|1|x|Evet|e|Var'],
  ['yes_no', false, 'No|n |False|0|HAYIR|h|yok'],
  ['choice', 'Işık', 'IŞIK|ışık| Işık |Işık'],
  ['choice', 'Big', 'big|BİG|Big'],
  ['number', 1234.5, '1.234,5|1,234.5| 1234.5'],
  ['date', '2026-03-01', '1.3.2026|2026-03-01|01/03/2026'],
  ['text', '1.3.2026', '1.3.2026'],
])('a cell for a field of the kind %s is %j: %s', (kind, value, cells) => {
  for (const cell of cells.split('|')) expect(valueOfCell(field(kind), cell), cell).toBe(value)
})

test.each<[Kind, string]>([
  ['yes_no', 'maybe'],
  ['choice', 'Small'],
  ['number', 'many'],
  ['date', 'soon'],
])('a cell for a field of the kind %s that does not fit is left as it is: %j', (kind, cell) => {
  expect(valueOfCell(field(kind), cell)).toBe(cell)
})
