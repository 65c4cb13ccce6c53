/** Letters that are no letter with a mark, as people type them who lack them. */
const PLAIN: Record<string, string> = {
  ı: 'i',
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
}
const LETTERS = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g')

/**
 * fold makes texts equal that differ in accents, case or Turkish letters alone: İzmir, Izmir and
 * ızmır are one.
 */
export function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(LETTERS, (letter) => PLAIN[letter] ?? letter)
}

/**
 * foldName folds a name as people type it: without apostrophes, and with a space for whatever else is
 * neither letter nor digit. `|` and line breaks stay, so that a whole list can be folded at once.
 */
export function foldName(text: string): string {
  return fold(text)
    .replace(/['’ʻʼ]/g, '')
    .replace(/[^\p{L}\p{N}|\n]+/gu, ' ')
    .trim()
}
