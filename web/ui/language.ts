import { useSyncExternalStore } from 'react'
import type { Both, Language, Texts, Translation } from '../../shared/words/texts.ts'

export const LANGUAGE_NAMES = { en: 'English', tr: 'Türkçe' } as const satisfies Record<
  Language,
  string
>

/** Picks the form of a number, `#` being the number: `plural('en', 2, { one: '# lead', other: '# leads' })`. */
export function plural(
  language: Language,
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string {
  const form = forms[new Intl.PluralRules(language).select(count)] ?? forms.other
  return form.replace('#', number(language, count))
}

/**
 * The regional form of a language that the browser prefers: 21 November rather than November 21.
 */
export function localeOf(language: Language): string {
  const own = globalThis.navigator?.languages ?? []
  return own.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? language
}

export function number(language: Language, value: number, options?: Intl.NumberFormatOptions) {
  return new Intl.NumberFormat(localeOf(language), options).format(value)
}

/** 1.4 GB, in the given language. */
export function bytes(language: Language, value: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
  const at = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
  return number(language, value / 1000 ** at, {
    style: 'unit',
    unit: units[at] ?? 'byte',
    unitDisplay: at === 0 ? 'long' : 'short',
    maximumFractionDigits: at < 3 ? 0 : 1,
  })
}

const DURATIONS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** 3.5 hours, in the given language and the largest unit that fits. */
export function duration(language: Language, seconds: number): string {
  const [unit, size] = DURATIONS.find(([, size]) => seconds >= size) ?? (['second', 1] as const)
  const maximumFractionDigits = seconds / size < 10 && unit !== 'second' ? 1 : 0
  return number(language, seconds / size, {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits,
  })
}

const KEY = 'watchpost.language'
const listeners = new Set<() => void>()
let current: Language = first()

/** The reader's own choice, else the browser's language if it is one of ours. */
function first(): Language {
  const kept = localStorage.getItem(KEY)
  if (kept === 'en' || kept === 'tr') return kept
  return navigator.language.toLowerCase().startsWith('tr') ? 'tr' : 'en'
}

export function setLanguage(language: Language): void {
  localStorage.setItem(KEY, language)
  current = language
  document.documentElement.lang = language
  for (const listener of listeners) listener()
}
document.documentElement.lang = current

/** The current language, for code outside of components. */
export function getLanguage(): Language {
  return current
}

/**
 * onLanguage calls the listener whenever the language changes; returns a function that stops it.
 */
export function onLanguage(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useLanguage(): Language {
  return useSyncExternalStore(onLanguage, getLanguage)
}

/** The texts of a page in the current language. */
export function useText<T extends Texts>(both: Both<T>): Translation<T> {
  return useLanguage() === 'tr' ? both.tr : (both.en as unknown as Translation<T>) // safe: the English texts have the form of a translation of themselves
}
