import { globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../..')

/** What a page may say: whole sentences, and those with something filled in. */
export type Vocabulary = { sentences: Set<string>; patterns: RegExp[] }

/** readVocabulary collects the words of every *.text.ts of a product and of other files, in one language. */
export async function readVocabulary(
  language: 'en' | 'tr',
  product: 'hub' | 'web' = 'hub',
  others: string[] = [],
): Promise<Vocabulary> {
  // The dictionaries stand beside code that reads the browser's own language.
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('document', { documentElement: {} })
  const vocabulary: Vocabulary = { sentences: new Set(), patterns: [] }
  // The components of both say what stands in web/ui.
  const files = globSync([`${product}/**/*.text.ts`, 'web/ui/**/*.text.ts'], {
    cwd: ROOT,
    exclude: ['**/node_modules'],
  })
  for (const file of [...files, ...others]) {
    const module: Record<string, unknown> = await import(join(ROOT, file))
    for (const both of Object.values(module))
      collect(Reflect.get(Object(both), language), vocabulary)
  }
  vi.unstubAllGlobals()
  return vocabulary
}

function collect(words: unknown, into: Vocabulary): void {
  if (typeof words === 'string') into.sentences.add(words)
  else if (words instanceof Function) into.patterns.push(...patternsOf(words))
  else if (words && typeof words === 'object') {
    for (const value of Object.values(words)) collect(value, into)
  }
}

/** The sentences of a function, of one and of many, with anything in the place of what is filled in. */
function patternsOf(say: CallableFunction): RegExp[] {
  return FILLINGS.flatMap(({ value, filled }) => {
    const sentence = String(Reflect.apply(say, undefined, Array(5).fill(value)))
    // What has no word of its own would let everything pass.
    if (!/\p{L}{2}/u.test(sentence.replace(filled, ''))) return []
    const escaped = sentence.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return [new RegExp(`^${escaped.replace(filled, '.+')}$`, 's')]
  })
}

const FILLINGS = [
  // A number that is formatted, or a name that is looked up, comes to nothing of a `§`.
  { value: '§', filled: /§|NaN|undefined/g },
  { value: 1, filled: /\b1\b|undefined/g },
]

/** Everything a page says to eyes and screen readers, but for what says itself to be data. */
export function wordsOn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const said: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement?.closest('time, code, kbd, script, noscript, svg, th[scope=row]'))
        continue
      said.push(node.textContent ?? '')
    }
    for (const element of document.querySelectorAll('*')) {
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
        if (!element.closest('time, svg')) said.push(element.getAttribute(name) ?? '')
      }
    }
    return said.map((text) => text.trim()).filter((text) => /\p{L}{2}/u.test(text))
  })
}

/** What was said that is neither in the vocabulary nor data. */
export function strangers(
  said: string[],
  { sentences, patterns }: Vocabulary,
  data: RegExp,
): string[] {
  const isKnown = (text: string) =>
    data.test(text) || sentences.has(text) || patterns.some((pattern) => pattern.test(text))
  return [...new Set(said)].filter((text) => !isKnown(text))
}

/** expectSpoken asserts that a page says nothing but the vocabulary and what is plainly data. */
export async function expectSpoken(
  page: Page,
  vocabulary: Vocabulary,
  data: RegExp,
): Promise<void> {
  expect(strangers(await wordsOn(page), vocabulary, data), page.url()).toEqual([])
}
