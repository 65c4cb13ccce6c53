import { expect, test } from 'vitest'
import { spelledNumbers } from '../../../../hub/agents/numbers/spelled.ts'

test.each([
  ['on iki saat danışmanlık', ['12']],
  ['On saat ve iki gün', ['10', '2']],
  ['twelve hours, twenty-one days and a setup', ['12', '21', '1']],
  ['doksan dokuz, kırk, ÜÇ', ['99', '40', '3']],
  ['thirty four then fifty', ['34', '50']],
  ['yirmi on iki', ['20', '12']],
  ['seventeen one', ['17', '1']],
  ['bir düzine', ['1', '12']],
  ['kırkbir işi ve onun ikisi', []],
  ['two hundred and fifty, three thousand, a hundred', ['250', '3000', '100']],
  ['iki yüz elli, 3 bin, bin beş yüz', ['250', '3000', '1500']],
  ['ten two, yüz yüze, bin', ['10', '2']],
  ['twenty a day', ['20', '1']],
  ['', []],
])('%s spells %j', (text, numbers) => {
  expect(spelledNumbers(text, 'tr')).toEqual(numbers)
})

test.each([
  ['an invoice for work on site, on Monday', ['1']],
  ['on saat danışmanlık', []],
  ['on iki saat danışmanlık', ['12']],
])('in English “on” is no number: %s', (text, numbers) => {
  expect(spelledNumbers(text, 'en')).toEqual(numbers)
})
