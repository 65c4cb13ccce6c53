import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { placesOf } from '../../scripts/build/places.ts'
import { finderOf } from '../../web/map/places.ts'

const file = join(import.meta.dirname, '../../web/map/places.txt')
const find = finderOf(readFileSync(file, 'utf8'))
const names = (typed: string, limit = 8) => find(typed, limit).map(({ name }) => name)

test.each([
  ['izmir', 'İzmir'],
  ['İZMİR', 'İzmir'],
  ['IZMIR', 'İzmir'],
  ['Ağrı', 'Ağrı'],
  ['agri', 'Ağrı'],
  ['AĞRI', 'Ağrı'],
  ['şırnak', 'Şırnak'],
  ['sirnak', 'Şırnak'],
  ['cologne', 'Köln'],
  ['koln', 'Köln'],
  ['sao paulo', 'São Paulo'],
  ['londra', 'London'],
  ['lodz', 'Łódź'],
  ['new york', 'New York City'],
])('%j finds %s', (typed, name) => {
  expect(names(typed)).toContain(name)
})

test('the largest come first, names that begin so before those with a later word that does', () => {
  expect(names('london', 2)).toEqual(['London', 'London'])
  expect(find('london', 2).map(({ country }) => country)).toEqual(['GB', 'CA'])
  const few = finderOf('AA\t0\t0\tNew York\nBB\t0\t0\tYork')
  expect(few('york', 2).map(({ country }) => country)).toEqual(['BB', 'AA'])
  expect(find('istanbul', 1)[0]).toEqual({
    name: 'Istanbul',
    country: 'TR',
    lat: 41.014,
    lon: 28.95,
  })
})

test.each(['', '  ', '|', '\n', 'qqqqq', 'TR\t41'])('%j finds nothing', (typed) => {
  expect(names(typed)).toEqual([])
})

test('no more are found than are wanted, and each once', () => {
  const found = find('a', 50)
  expect(found).toHaveLength(50)
  expect(new Set(found.map(({ name, lat, lon }) => `${name} ${lat} ${lon}`)).size).toBe(50)
  expect(find('istanbul', 8).filter(({ name }) => name === 'Istanbul')).toHaveLength(1)
})

test('a large city keeps what others call it, a small one its own name', () => {
  const city = { latitude: 1, longitude: 2, countrycode: 'DE' }
  const text = placesOf([
    { ...city, name: 'Klein', population: 20_000, alternatenames: ['Small'] },
    {
      ...city,
      name: 'Köln',
      population: 900_000,
      alternatenames: ['CGN', 'Koln', 'Cologne', 'kolon', 'Кёльн', 'Colog'],
    },
  ])
  expect(text).toBe('DE\t1.000\t2.000\tKöln|Cologne\nDE\t1.000\t2.000\tKlein')
})
