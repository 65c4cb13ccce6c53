/** Sentences for people that explain a decision with its numbers. */

import type { Check } from '../decide/checks.ts'
import type { Language } from '../words/texts.ts'
import { english } from './english.ts'
import type { Clock, Sentences, StayEnd, Update } from './sentences.ts'
import { turkish } from './turkish.ts'

const SENTENCES: Record<Language, Sentences> = { en: english, tr: turkish }
const asIs: Clock = (instant) => instant

/** Why a decision was made: the check that failed, or why all checks passed. */
export function decisionReason(
  event: { title: string },
  checks: readonly Check[],
  failed: Check | null,
): string {
  return `${event.title}: ${failed ? english.whyNot(failed, asIs) : why(english, checks, asIs)}.`
}

/** What has changed about an existing alert, with the current numbers. */
export function updateReason(
  event: { title: string },
  checks: readonly Check[],
  update: Update,
  stayEnd: StayEnd | null = null,
): string {
  return `${event.title}: ${whatChanged(english, { checks, update, how: stayEnd }, asIs)}.`
}

/**
 * The sentence about an alert in a language, without the title of its event: what changed last, or why it was raised.
 * What was held back is told with the reason for which it was worth telling.
 */
export function tellReason(
  { checks, news }: { checks: readonly Check[]; news: News | null },
  { language, clock }: { language: Language; clock: Clock },
): string {
  const sentences = SENTENCES[language]
  const text = news ? whatChanged(sentences, news, clock) : why(sentences, checks, clock)
  return text === '' ? '' : `${text.charAt(0).toLocaleUpperCase(language)}${text.slice(1)}.`
}

/** The sentence about a decision in a language, without the title of its event: what failed, or why all checks passed. */
export function explainReason(
  checks: readonly Check[],
  { language, clock }: { language: Language; clock: Clock },
): string {
  const sentences = SENTENCES[language]
  const failed = checks.find(({ passed }) => !passed)
  const text = failed ? sentences.whyNot(failed, clock) : why(sentences, checks, clock)
  return text === '' ? '' : `${text.charAt(0).toLocaleUpperCase(language)}${text.slice(1)}.`
}

/** The last change of an alert: its kind, how a stay ended, and the checks with their numbers. */
export type News = { update: Update; how: StayEnd | null; checks: readonly Check[] }

function whatChanged(sentences: Sentences, { checks, update, how }: News, clock: Clock): string {
  if (how !== null) return sentences.over[how]
  if (update === 'ended' || update === 'retracted') return sentences.over[update]
  const parts = checks.filter(({ name }) => name === 'severity' || name === 'geometry')
  const numbers = parts.map((check) =>
    check.passed ? sentences.because(check, clock) : sentences.whyNot(check, clock),
  )
  return sentences.changed(update, numbers.reverse().join('; '))
}

/** The order of the checks in the sentence for an alert. */
const REASON_ORDER = [
  'severity',
  'geometry',
  'aftershock',
  'duplicate',
  'dwell',
  'quiet_hours',
  'burst',
] as const

function why({ because }: Sentences, checks: readonly Check[], clock: Clock): string {
  const parts = REASON_ORDER.map((name) => checks.find((check) => check.name === name))
  return parts.flatMap((check) => (check?.passed ? (because(check, clock) ?? []) : [])).join('; ')
}
