/** Consonants that Turkish softens before a vowel: Çelik → Çeliğe. */
const SOFT: Record<string, string> = { k: 'g', p: 'b', t: 'd' }
const AFTER_VOWEL =
  /^(?:y[ae]|n[ae]|n[iu]n|y[iu]|n[iu]|y?l[ae]|n?[dt][ae]n?|n?[dt][ae]ki\w*|yken|s)$/
const AFTER_CONSONANT = /^(?:[ae]|[iu]n|[iu]|l[ae]|[dt][ae]n?|[dt][ae]ki\w*|s)$/

/**
 * endingOf returns the case ending that a folded word has behind a name, where people leave out the
 * apostrophe: "a" of "aksoya" for Aksoy; empty where it has none. "lange" is not Lang: a Turkish
 * ending has the vowel of its word.
 */
export function endingOf(word: string, name: string): string {
  const last = name.at(-1) ?? ''
  const soft = SOFT[last] ? name.slice(0, -1) + SOFT[last] : undefined
  const stem = word.startsWith(name) ? name : soft && word.startsWith(soft) ? soft : undefined
  if (stem === undefined || word === name) return ''
  const ending = word.slice(stem.length)
  if (stem === soft && !/^[aeiou]/.test(ending)) return ''
  const form = /[aeiou]$/.test(stem) ? AFTER_VOWEL : AFTER_CONSONANT
  const [vowel] = /[aeiou](?=[^aeiou]*$)/.exec(stem) ?? []
  const isApart =
    (vowel === 'a' && /^\w?e|^.?[dlt]e/.test(ending)) ||
    (vowel === 'e' && /^\w?a|^.?[dlt]a/.test(ending))
  return form.test(ending) && !isApart ? ending : ''
}
