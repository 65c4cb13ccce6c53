import { foldName } from '../../shared/words/fold.ts'
import placesUrl from './places.txt?url'

export type Place = { name: string; country: string; lat: number; lon: number }
/** Finds the places whose name begins with what was typed, the largest first. */
export type Finder = (typed: string, limit: number) => Place[]

let finder: Promise<Finder> | undefined

/** The cities of the world with 15,000 inhabitants or more, which come with the console. */
export function loadPlaces(): Promise<Finder> {
  finder ??= fetch(placesUrl)
    .then((response) => {
      if (!response.ok) throw new Error(`places: ${response.status}`)
      return response.text()
    })
    .then(finderOf)
    .catch((error) => {
      // Whoever types again asks again.
      finder = undefined
      throw error
    })
  return finder
}

/** finderOf reads lines of country, lat, lon and names, the largest city first. */
export function finderOf(text: string): Finder {
  const lines = text.split('\n')
  // One text of all folded names, `|name|other name` a line: looking through it takes no time.
  const folded = foldName(
    lines.map((line) => `|${line.slice(line.lastIndexOf('\t') + 1)}`).join('\n'),
  )
  const starts = [0]
  for (let at = folded.indexOf('\n'); at >= 0; at = folded.indexOf('\n', at + 1))
    starts.push(at + 1)
  return (typed, limit) => {
    const wanted = foldName(typed).replaceAll('|', ' ').trim()
    if (wanted === '') return []
    const found = new Set<number>()
    // Names that begin so, then those with a later word that does.
    for (const before of ['|', ' ']) {
      const sought = before + wanted
      for (let at = folded.indexOf(sought); at >= 0 && found.size < limit; ) {
        const line = lineAt(starts, at)
        found.add(line)
        // Once a line.
        at = folded.indexOf(sought, starts[line + 1] ?? folded.length)
      }
    }
    return [...found].map((line) => placeOf(lines[line] ?? ''))
  }
}

/** Which line a place in the text is on. */
function lineAt(starts: number[], at: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return low
}

function placeOf(line: string): Place {
  const [country = '', lat = '', lon = '', names = ''] = line.split('\t')
  return { name: names.split('|')[0] ?? '', country, lat: Number(lat), lon: Number(lon) }
}
