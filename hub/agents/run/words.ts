import { fold } from '../../../shared/words/fold.ts'

/** wordsOf lists the folded words of a text, without case endings after an apostrophe. */
export function wordsOf(text: string): string[] {
  return split(fold(text))
}

/**
 * asWritten lists the same words as they are written in the text, so that people recognise them.
 */
export function asWritten(text: string): string[] {
  const words = wordsOf(text)
  const written = split(text.normalize('NFC'))
  return written.length === words.length ? written : words
}

function split(text: string): string[] {
  return text
    .replace(/(\p{L}|\p{N})['’ʼ`´](\p{L}+)/gu, '$1')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

// Endings of folded words, so `u` stands for u and ü, `i` for ı and i, `s` for ş, `g` for ğ.
const TURKISH = [
  'lar|ler|lari|leri|si|su|sini|sunu|sinin|sunun|lik|luk|li|lu|siz|suz|ci|cu|daki|deki|ki',
  'y?[iuae]|n?[iu]n|n[iua]|ne|[dt][ae]n?|y?l[ae]|m|n|[iu]?m[iu]z|[iu]?n[iu]z|[iu]m|s[iu]nda|s[iu]ne',
  'm[ae]k|m[ae]y[iae]|m[ae]s[iu]|m[ae]|[iu]yor|y?[ae]c[ae][kg]|[dt][iu]|m[iu]s|[iuae]?r|[iu]n|s[ae]n[ae]|s[iu]n',
  'y?[iu]p|y?[ae]l[iu]m|y?[ae]y[iu]m|y?[ae]b[iu]l|l[iu]m|d[iu]r|t[iu]r|[iu]l|[iu]lm[ae]|k|[iu]nc[ae]|y?[iu]ver|y?[ae]n|d[iu]k|t[iu]k',
].join('|')
const TURKISH_ENDINGS = new RegExp(`^(?:${TURKISH})+$`)
const ENGLISH_ENDINGS = /^(?:s|es|d|ed|ing|r|rs|er|ers|ment|ments|ly)$/

/** Consonants that Turkish softens before a vowel: taslak → taslağı, hesap → hesabı. */
const SOFTENED: Record<string, string> = { k: 'g', p: 'b', t: 'd' }

/**
 * inflects returns whether `word` is `stem` with an ending of the language. A stem that ends with
 * `*` accepts any ending; otherwise short stems ("bul") would match similar words ("bulut").
 */
export function inflects(word: string, stem: string, language: 'en' | 'tr'): boolean {
  if (stem.endsWith('*')) return word.startsWith(stem.slice(0, -1))
  if (word === stem) return true
  const endings = language === 'tr' ? TURKISH_ENDINGS : ENGLISH_ENDINGS
  if (word.startsWith(stem) && endings.test(word.slice(stem.length))) return true
  if (language === 'en') {
    const all_but_last = stem.slice(0, -1)
    if (stem.endsWith('y')) return word === `${all_but_last}ies` || word === `${all_but_last}ied`
    return stem.endsWith('e') && `${all_but_last}ing` === word
  }
  const last = stem.at(-1) ?? ''
  if (last === 'a' || last === 'e') {
    // The last vowel of a verb is narrowed before -yor: bekle → bekliyor, ara → arıyor.
    const narrowed = word.slice(stem.length - 1)
    return word.startsWith(stem.slice(0, -1)) && /^[iu]yor/.test(narrowed) && endings.test(narrowed)
  }
  const soft = SOFTENED[last]
  if (!soft || stem.length < 3) return false
  const softened = stem.slice(0, -1) + soft
  const ending = word.slice(softened.length)
  return word.startsWith(softened) && /^[aeiou]/.test(ending) && endings.test(ending)
}
