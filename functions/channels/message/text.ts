/** Text of strangers in messages: made harmless and cut to what a service takes, in its own units. */
import type { Style } from '../channel.ts'
import { WORDS } from './words.ts'

/** Says how large a text is to a service: it is always measured as it is sent, escaped. */
export type Size = (text: string) => number

export const bytes: Size = (text) => new TextEncoder().encode(text).length
export const characters: Size = (text) => [...text].length
/** UTF-16 code units, as JavaScript counts. */
export const units: Size = (text) => text.length

// Controls, and the marks that turn the direction of what follows: they could make a line look like another one.
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+/gu

/** A text of a source or user as one line. */
export function oneLine(text: string): string {
  return text.replace(UNSEEN, ' ').replace(/\s+/gu, ' ').trim().toWellFormed()
}

/** How a service has texts shortened: measured by `size`, with a mark in the language of the message where one was cut. */
export const shortenBy =
  (size: Size) =>
  (text: string, limit: number, { language }: Pick<Style, 'language'>): string =>
    cut(text, limit, { size, mark: WORDS[language].cut })

/** The text, or the longest start of it that leaves room for the mark at its end. Never cuts within a character. */
function cut(text: string, limit: number, { size, mark }: { size: Size; mark: string }): string {
  if (size(text) <= limit) return text
  const points = [...text]
  let good = 0
  let step = 1
  while (step * 2 <= points.length) step *= 2
  for (; step >= 1; step = Math.floor(step / 2)) {
    const next = good + step
    if (next <= points.length && size(points.slice(0, next).join('') + mark) <= limit) good = next
  }
  return points.slice(0, good).join('').trimEnd() + mark
}

/** A link that can stand in the markup of every service; null for what is no web address. */
export function webLink(url: string | null | undefined, longest = 1500): string | null {
  if (!url || url.length > longest || !URL.canParse(url)) return null
  const { protocol, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') return null
  return href.replace(
    /[|()'<>"\\^`{}[\]]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** The three characters that begin or end a tag or an entity. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
