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

/**
 * fold makes names equal that differ in accents, case or Turkish letters alone: İzmir, Izmir and
 * ızmır are one. Whatever is neither letter nor digit becomes a space.
 */
export function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ıłøđðħßæœþ]/g, (letter) => PLAIN[letter] ?? letter)
    .replace(/['’ʻʼ]/g, '')
    .replace(/[^\p{L}\p{N}|\n]+/gu, ' ')
    .trim()
}
