import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Words } from '../i18n/words.ts'
import { heading, plain, quote, table } from '../projects/markdown.ts'
import { fillTemplate } from '../template.ts'
import { type Agent, type AgentContext, COMMON, type Fact, type Result } from './agent.ts'
import { givenText } from './evidence/given.ts'
import { type Check, GDPR, KVKK } from './legal-checklists.ts'
import { mentions, numbersIn } from './run/facts.ts'
import { wordsOf } from './run/words.ts'
import { saveDocument, sections } from './writing.ts'

const NO_LAWYER: Words = {
  en: 'This was put together by a program. It is no legal advice and no lawyer has seen it; have one read it before you sign or rely on it.',
  tr: 'Bu metin bir program tarafından hazırlanmıştır. Hukuki danışmanlık değildir ve bir avukat görmemiştir; imzalamadan veya dayanmadan önce bir avukata okutun.',
}

const KINDS = ['nda', 'kvkk', 'gdpr', 'other'] as const
type Kind = (typeof KINDS)[number]

/** Legal documents from templates and checklists; they state that it is not a lawyer. */
export const legal: Agent = {
  name: 'legal',
  role: {
    en: 'NDAs, KVKK and GDPR checklists, legal drafts (no lawyer)',
    tr: 'NDA, KVKK ve GDPR kontrol listeleri, hukuki taslaklar (avukat değildir)',
  },
  variables: COMMON,
  budget: { steps: 12, tokens: 50_000 },
  steps: async (context) => {
    const facts = await givenText(context)
    const kind = kindOf(context.mission.task)
    if (kind === 'nda') return nda(context, facts)
    if (kind === 'kvkk') return checklist(context, facts, 'KVKK', KVKK)
    if (kind === 'gdpr') return checklist(context, facts, 'GDPR', GDPR)
    return other(context, facts)
  },
}

/** By words alone: the choice of the template must not depend on a model. */
function kindOf(task: string): Kind {
  const words = wordsOf(task)
  const has = (...stems: string[]) =>
    words.some((word) => stems.some((stem) => word.startsWith(stem)))
  const isContract =
    has('nda', 'non') ||
    (has('gizlilik', 'confidentiality') && has('sozlesme', 'anlasma', 'agreement'))
  if (isContract && (has('nda', 'gizlilik', 'confidentiality') || has('disclosure'))) return 'nda'
  const wantsText = has('aydinlatma', 'politika', 'policy', 'notice', 'sozlesme', 'agreement')
  if (wantsText) return 'other'
  if (has('kvkk', 'verbis', 'iys')) return 'kvkk'
  if (has('gdpr')) return 'gdpr'
  return 'other'
}

const Nda = z.object({
  party_a: z.string().max(120).nullable(),
  party_b: z.string().max(120).nullable(),
  purpose: z.string().min(10).max(300),
  term: z.string().max(40).nullable(),
  survival: z.string().max(40).nullable(),
  governing_law: z.string().max(120).nullable(),
})

const BLANK: Record<keyof Omit<z.infer<typeof Nda>, 'purpose'>, Words> = {
  party_a: {
    en: '[full name and address of the first party]',
    tr: '[birinci tarafın unvanı ve adresi]',
  },
  party_b: {
    en: '[full name and address of the second party]',
    tr: '[ikinci tarafın unvanı ve adresi]',
  },
  term: { en: '[term, e.g. two years]', tr: '[süre, örneğin iki yıl]' },
  survival: { en: '[period]', tr: '[süre]' },
  governing_law: { en: '[governing law and courts]', tr: '[uygulanacak hukuk ve yetkili mahkeme]' },
}

async function nda(context: AgentContext, facts: Fact[]): Promise<Result> {
  context.expect(2)
  const { language } = context
  const slots = await context.complete('slots', {
    schema: Nda,
    facts,
    task:
      'Fill in the agreement from what the user wrote. A party, term or law that nobody has named is null. ' +
      'The purpose is one sentence.',
  })
  const said = [
    context.mission.task,
    context.brief,
    context.project.name,
    ...facts.map(({ text }) => text),
  ].join('\n')
  // A name or a term that does not occur in the input is not invented.
  const kept = (key: keyof typeof BLANK): string => {
    const value = slots[key]?.trim()
    const isTime = key === 'term' || key === 'survival'
    const isKnown = value && (isTime ? saysTime(said, value) : mentions(said, value))
    return isKnown ? plain(value) : plain(BLANK[key][language])
  }
  const template = await readFile(
    join(import.meta.dirname, 'templates', `nda.${language}.md`),
    'utf8',
  )
  const values: Record<string, string> = {
    party_a: kept('party_a'),
    party_b: kept('party_b'),
    purpose: plain(slots.purpose),
    term: kept('term'),
    survival: kept('survival'),
    governing_law: kept('governing_law'),
  }
  const text = fillTemplate(template, values, { encode: (value) => value })
  const [first = '', ...rest] = text.split('\n')
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'legal',
      title: `${first.replace(/^# /, '')}: ${slots.party_b ?? slots.party_a ?? context.project.name}`,
      blocks: [quote(NO_LAWYER[language]), rest.join('\n').trim()],
    }),
  )
  return { summary: NO_LAWYER[language], documents: [document] }
}

/** A duration counts as said if its number (as digits or as a word) occurs in the text. */
function saysTime(said: string, value: string): boolean {
  const known = new Set([...numbersIn(said), ...wordsOf(said)])
  const parts = [...numbersIn(value), ...wordsOf(value).filter((word) => !/^\d/.test(word))]
  return (
    parts.length > 0 &&
    parts.every((part) => known.has(part) || /^(yil|ay|gun|year|month|day)/.test(part)) &&
    parts.some((part) => known.has(part))
  )
}

const STATES = ['met', 'open', 'unknown'] as const
const STATE_WORDS: Record<(typeof STATES)[number], Words> = {
  met: { en: 'stated', tr: 'belirtilmiş' },
  open: { en: 'open', tr: 'açık' },
  unknown: { en: 'not known', tr: 'bilinmiyor' },
}
const COLUMNS: Record<'en' | 'tr', string[]> = {
  en: ['Rule', 'Question', 'State', 'What was said'],
  tr: ['Kural', 'Soru', 'Durum', 'Ne denildi'],
}

async function checklist(
  context: AgentContext,
  facts: Fact[],
  name: string,
  checks: Check[],
): Promise<Result> {
  context.expect(2)
  const { language } = context
  const answers = await context.complete('answers', {
    schema: z.object({
      answers: z
        .array(
          z.object({
            id: z.enum(checks.map(({ id }) => id) as [string, ...string[]]), // safe: never empty
            state: z.enum(STATES),
            quote: z.string().max(140),
          }),
        )
        .max(checks.length),
    }),
    facts,
    task:
      `Which of these ${name} questions are answered by the material, word for word?\n` +
      checks.map(({ id, ask }) => `${id}: ${ask[language]}`).join('\n') +
      '\nGive for each its state and the words that answer it as a quote. What the material does not answer is "unknown" with an empty quote.',
  })
  const said = [context.mission.task, context.brief, ...facts.map(({ text }) => text)].join('\n')
  const rows = checks.map(({ id, rule, ask }) => {
    const found = answers.answers.find((answer) => answer.id === id)
    // Only words that were really said can tick a box.
    const isQuoted = found !== undefined && mentions(said, found.quote)
    const state = isQuoted ? found.state : 'unknown'
    return [rule, ask[language], STATE_WORDS[state][language], isQuoted ? found.quote : '']
  })
  const columns = COLUMNS[language]
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'legal',
      title: `${name}: ${context.project.name}`,
      blocks: [quote(NO_LAWYER[language]), table(columns, rows)],
    }),
  )
  return { summary: NO_LAWYER[language], documents: [document], table: { columns, rows } }
}

const Outline = z.object({
  title: z.string().min(3).max(100),
  headings: z.array(z.string().min(2).max(80)).min(2).max(6),
})

async function other(context: AgentContext, facts: Fact[]): Promise<Result> {
  const { language } = context
  const outline = await context.complete('outline', {
    schema: Outline,
    facts,
    task: 'Plan the legal text or memo the user asked for: title and headings. Who has to fill something in gets it in square brackets.',
  })
  context.expect(2 + outline.headings.length)
  const blocks = await sections(context, {
    headings: outline.headings,
    about: outline.title,
    facts,
  })
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'legal',
      title: outline.title,
      blocks: [quote(NO_LAWYER[language]), heading(2, outline.title), ...blocks],
    }),
  )
  return { summary: NO_LAWYER[language], documents: [document] }
}
