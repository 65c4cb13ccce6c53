/** Words as people type them in a hurry, folded, and as they are spelled. */
const SPELLED: Record<string, string> = {
  u: 'you',
  ur: 'your',
  pls: 'please',
  plz: 'please',
  ppl: 'people',
  thru: 'through',
  w: 'with',
  whats: 'what',
  bout: 'about',
  havent: 'haven',
  hasnt: 'hasn',
  hadnt: 'hadn',
  didnt: 'didn',
  dont: 'don',
  doesnt: 'doesn',
  bi: 'bir',
  bisey: 'sey',
  nerde: 'nerede',
}

/** spelledOut returns a folded word as it is spelled: “bi”, “yazıyo” and “pls” are no other words. */
export function spelledOut(word: string): string {
  if (Object.hasOwn(SPELLED, word)) return SPELLED[word] ?? word
  return /[^\W\d_]{2}[iu]yo$/.test(word) ? `${word}r` : word
}
