import { expect, test } from 'vitest'
import { numeralAt, spelledNumbers } from '../../../../hub/agents/numbers/spelled.ts'

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

test.each<[text: string, language: 'en' | 'tr', value: number, words: number]>([
  ['forty-five', 'en', 45, 1],
  ['twenty-one trucks', 'en', 21, 1],
  ['ninety-nine', 'en', 99, 1],
  ['nineteen-one', 'en', 0, 0],
  ['four-five', 'en', 0, 0],
  ['forty-ten', 'en', 0, 0],
  ['forty-x', 'en', 0, 0],
  ['x-five', 'en', 0, 0],
  ['forty-five-six', 'en', 0, 0],
  ['forty-five six', 'en', 45, 1],
  ['forty five six', 'en', 45, 2],
  ['ten two', 'en', 10, 1],
  ['twenty ten', 'en', 20, 1],
  ['two hundred', 'en', 200, 2],
  ['two hundred and fifty trucks', 'en', 250, 4],
  ['two hundred fifty', 'en', 250, 3],
  ['two hundred and trucks', 'en', 200, 2],
  ['two hundred and', 'en', 200, 2],
  ['five and two', 'en', 5, 1],
  ['two hundred or fifty', 'en', 200, 2],
  ['and fifty', 'en', 0, 0],
  ['ten hundred', 'en', 10, 1],
  ['nine hundred ninety-nine', 'en', 999, 3],
  ['two hundred hundred', 'en', 200, 2],
  ['hundred and fifty', 'en', 0, 0],
  ['thousand', 'en', 0, 0],
  ['a hundred', 'en', 100, 2],
  ['a thousand and one', 'en', 1001, 4],
  ['a truck', 'en', 0, 0],
  ['two hundred thousand', 'en', 200_000, 3],
  ['two thousand three hundred', 'en', 2300, 4],
  ['one thousand two thousand', 'en', 1002, 3],
  ['5 thousand', 'en', 5000, 2],
  ['550 thousand', 'en', 550_000, 2],
  ['5550 thousand', 'en', 0, 0],
  ['x5 thousand', 'en', 0, 0],
  ['5x thousand', 'en', 0, 0],
  ['5 hundred', 'en', 0, 0],
  ['two 5 thousand', 'en', 2, 1],
  ['on beş', 'tr', 15, 2],
  ['beş on', 'tr', 5, 1],
  ['yirmi on', 'tr', 20, 1],
  ['yüz elli', 'tr', 150, 2],
  ['bin', 'tr', 1000, 1],
  ['bin bin', 'tr', 1000, 1],
  ['iki bin üç yüz kırk beş', 'tr', 2345, 6],
  ['on yüz', 'tr', 10, 1],
  ['3 bin', 'tr', 3000, 2],
])('“%s”, in %s, begins with %i in %i words', (text, language, value, end) => {
  expect(numeralAt(text.split(' '), 0, language)).toEqual({ value, end })
})
