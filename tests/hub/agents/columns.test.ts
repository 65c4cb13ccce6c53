import { expect, test } from 'vitest'
import { isUsable, readSheet } from '../../../hub/agents/numbers/columns.ts'

test.each([
  ['email,phone\na@example.com,1', true],
  ['company,phone\nDemir,1', true],
  ['first_name,phone\nAyşe,1', true],
  ['phone,city\n1,Ankara', false],
])('%j: its rows can become leads: %s', async (text, usable) => {
  const sheet = await readSheet(text, 10)
  expect(sheet && isUsable(sheet.mapping)).toBe(usable)
})

test('a table has two columns and two lines, all of the same width', async () => {
  expect(await readSheet('email\na@example.com', 10)).toBeUndefined()
  expect(await readSheet('email,name', 10)).toBeUndefined()
  expect(await readSheet('Dear all,\nhello there, and, more\nbye', 10)).toBeUndefined()
  expect(await readSheet('email;name\na@example.com;A\nb@example.com;B', 10)).toMatchObject({
    columns: ['email', 'name'],
    rows: [
      ['a@example.com', 'A'],
      ['b@example.com', 'B'],
    ],
  })
})

test('rows past the most that are asked for are left out', async () => {
  const text = `email,name\n${'a@example.com,A\n'.repeat(9)}`
  // One more than asked for shows that there are more.
  expect((await readSheet(text, 3))?.rows).toHaveLength(3)
  expect((await readSheet(text, 100))?.rows).toHaveLength(9)
})

test('a text whose quotation mark never ends is no table', async () => {
  const rows = 'a@example.com,A\n'.repeat(30)
  expect(await readSheet(`email,name\n${rows}"b@example.com,B\n`, 100)).toBeUndefined()
})
