import { fold } from '../../../../shared/words/fold.ts'

/** A key for a new field, from its name: letters without accents, digits and underscores; free of the taken ones. */
export function keyOf(label: string, taken: readonly string[]): string {
  const bare = fold(label)
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_+$/g, '')
    .slice(0, 36)
  const base = bare || 'field'
  for (let n = 1; ; n += 1) {
    const key = n === 1 ? base : `${base}_${n}`
    if (!taken.includes(key)) return key
  }
}
