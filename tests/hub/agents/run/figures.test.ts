import { expect, test } from 'vitest'
import { decimal, mentions, numbersIn } from '../../../../hub/agents/run/facts.ts'

test.each([
  ['12', 12],
  ['1.250,50', 1250.5],
  ['1,250.50', 1250.5],
  ['1.250', 1250],
  ['1,250', 1250],
  ['1.25', 1.25],
  ['1,25', 1.25],
  ['1.2500', 1.25],
  ['0.250', 0.25],
  ['0,250', 0.25],
  ['1.250.000', 1_250_000],
  ['1,250,000', 1_250_000],
  ['12.34.56', 123_456],
  ['12.345,678', 12_345.678],
  ['1250.', 1250],
  ['1250,', 1250],
  ['₺1.250,50', 1250.5],
  ['1 250,5 TL', 1250.5],
  ['.5', 0.5],
])('“%s” is the number %d', (text, number) => {
  expect(decimal(text)).toBe(number)
})

test('the numbers of a text are the same however they are written', () => {
  expect(numbersIn('1.250,50 TL for 3 trucks; 40, 5.')).toEqual(['1250.5', '3', '40', '5'])
  expect(numbersIn('$1,250.50 12.5% 1.000.000')).toEqual(['1250.5', '12.5', '1000000'])
  expect(numbersIn('no figure')).toEqual([])
})

test.each([
  ['We wrote to Demir Lojistik.', 'DEMİR LOJİSTİK', true],
  ["Demir Lojistik'in kamyonları", 'Demir Lojistik', true],
  ['Çağrı called.', 'cagri', true],
  ['Demir and Lojistik', 'Demir Lojistik', false],
  ['Aldemir Lojistik', 'Demir Lojistik', false],
  ['Ada sells ships.', 'Ada', true],
  ['Al sells ships.', 'Al', false],
  ['A b c', 'a b', false],
  ['anything', '', false],
  ['anything', null, false],
  ['anything', undefined, false],
])('“%s” mentions %s: %s', (text, name, is) => {
  expect(mentions(text, name)).toBe(is)
})
