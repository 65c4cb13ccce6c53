import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Words } from '../i18n/words.ts'
import { heading, plain, quote, table } from '../projects/markdown.ts'
import { fillTemplate } from '../template.ts'
import { type Agent, type AgentContext, COMMON, type Fact, type Result } from './agent.ts'
import { givenText } from './evidence/given.ts'
import { type Check, GDPR, KVKK } from './law/checklists.ts'
import { NO_LAWYER, type Passage, papersOf, ranked } from './law/papers.ts'
import { STEMS } from './law/stems.ts'
import { mentions, numbersIn } from './run/facts.ts'
import { wordsOf } from './run/words.ts'
import { saveDocument, sections } from './writing.ts'

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
  budget: { steps: 16, tokens: 50_000 },
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
    parts.every((part) => known.has(part) || /^(yil|ay|gun|year|month|day)/.test(part)) &&
    parts.some((part) => known.has(part))
  )
}

const STATES = ['met', 'open', 'unknown'] as const
type State = (typeof STATES)[number]
const STATE_WORDS: Record<State, Words> = {
  met: { en: 'stated', tr: 'belirtilmiş' },
  open: { en: 'open', tr: 'açık' },
  unknown: { en: 'not known', tr: 'bilinmiyor' },
}
const COLUMNS: Record<'en' | 'tr', string[]> = {
  en: ['Rule', 'Question', 'State', 'What was said', 'Where'],
  tr: ['Kural', 'Soru', 'Durum', 'Ne denildi', 'Nerede'],
}
const WORDS = {
  task: { en: 'the task', tr: 'görev metni' },
  leads: { en: 'the list of leads', tr: 'aday listesi' },
  without: {
    en: '{n} of {all} leads have no {x}',
    tr: '{all} adaydan {n} tanesinde {x} yok',
  },
  source: { en: 'source', tr: 'kaynak' },
  basis: { en: 'lawful basis', tr: 'hukuki dayanak' },
  found: {
    en: '{n} of {all} questions are answered by what the project has written.',
    tr: '{all} sorudan {n} tanesi projenin yazdıklarıyla yanıtlanıyor.',
  },
} satisfies Record<string, Words>

/** How many questions one call of the model gets, with the passages that may answer them. */
const AT_ONCE = 4
const PASSAGES_EACH = 2

type Found = { state: State; quote: string; where: string }

async function checklist(
  context: AgentContext,
  facts: Fact[],
  name: string,
  checks: Check[],
): Promise<Result> {
  const calls = Math.ceil(checks.length / AT_ONCE)
  context.expect(3 + calls)
  const { language } = context
  const papers = await papersOf(context)
  const counted = await countedIn(context)
  const said: Passage[] = [
    { where: WORDS.task[language], text: context.mission.task },
    { where: 'CONTEXT.md', text: context.brief },
    ...facts.map(({ label, text }) => ({ where: label, text })),
  ]
  const rows: string[][] = []
  let stated = 0
  for (let call = 0; call < calls; call += 1) {
    const part = checks.slice(call * AT_ONCE, (call + 1) * AT_ONCE)
    const answers = await askPart(context, String(call + 1), { name, part, facts, papers })
    for (const { id, rule, ask } of part) {
      const found =
        counted[id] ?? foundIn({ said, papers, answer: answers[id], stems: STEMS[id] ?? [] })
      if (found.state !== 'unknown') stated += 1
      const state = STATE_WORDS[found.state][language]
      rows.push([rule, ask[language], state, found.quote, found.where])
    }
  }
  const columns = COLUMNS[language]
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'legal',
      title: `${name}: ${context.project.name}`,
      blocks: [quote(NO_LAWYER[language]), table(columns, rows)],
    }),
  )
  const count = WORDS.found[language]
    .replace('{n}', String(stated))
    .replace('{all}', String(checks.length))
  return {
    summary: `${count} ${NO_LAWYER[language]}`,
    documents: [document],
    table: { columns, rows },
  }
}

type Answers = Record<string, { state: State; quote: string }>

async function askPart(
  context: AgentContext,
  number: string,
  given: { name: string; part: Check[]; facts: Fact[]; papers: Passage[] },
): Promise<Answers> {
  const { name, part, facts, papers } = given
  const passages = new Set(
    part.flatMap(({ id }) => ranked(papers, STEMS[id] ?? []).slice(0, PASSAGES_EACH)),
  )
  const { answers } = await context.complete(`answers ${number}`, {
    schema: z.object({
      answers: z
        .array(
          z.object({
            id: z.enum(part.map(({ id }) => id) as [string, ...string[]]), // safe: never empty
            state: z.enum(STATES),
            quote: z.string().max(140),
          }),
        )
        .max(part.length),
    }),
    facts: [...facts, ...[...passages].map(({ where, text }) => ({ label: where, text }))],
    task:
      `Which of these ${name} questions are answered by the material, word for word?\n` +
      part.map(({ id, ask }) => `${id}: ${ask[context.language]}`).join('\n') +
      '\nGive for each its state and the words that answer it as a quote: "met" if they say that it is so, "open" if they say that it is not. What the material does not answer is "unknown" with an empty quote.',
  })
  return Object.fromEntries(answers.map(({ id, ...answer }) => [id, answer]))
}

/**
 * Only words that were really said can tick a box, and the box says where. What a paper says by the
 * way, without a word of the question's subject, ticks none.
 */
function foundIn(given: {
  said: Passage[]
  papers: Passage[]
  answer: Answers[string] | undefined
  stems: readonly string[]
}): Found {
  const { said, papers, answer, stems } = given
  const source = answer && [...said, ...papers].find(({ text }) => mentions(text, answer.quote))
  const isMeant = (passage: Passage) =>
    said.includes(passage) || ranked([{ ...passage, text: answer?.quote ?? '' }], stems).length > 0
  if (!answer || !source || answer.state === 'unknown' || !isMeant(source)) {
    return { state: 'unknown', quote: '', where: '' }
  }
  return { ...answer, where: source.where }
}

/** What the hub can count itself needs nobody's words. */
async function countedIn(context: AgentContext): Promise<Record<string, Found>> {
  const { language } = context
  const [counts] = await context.step(
    'counted',
    (sql) => sql<{ leads: number; source: number; basis: number }>`
      select count(*)::int as leads,
        (count(*) filter (where source is null))::int as source,
        (count(*) filter (where lawful_basis is null))::int as basis
      from hub.leads`,
  )
  if (!counts || counts.leads === 0) return {}
  const found = (what: 'source' | 'basis'): Found => ({
    state: counts[what] === 0 ? 'met' : 'open',
    quote: WORDS.without[language]
      .replace('{n}', String(counts[what]))
      .replace('{all}', String(counts.leads))
      .replace('{x}', WORDS[what][language]),
    where: WORDS.leads[language],
  })
  return {
    source: found('source'),
    // A basis for each lead is not yet a basis for each purpose that was written down.
    ...(counts.basis > 0 ? { basis: found('basis') } : {}),
  }
}

const Outline = z.object({
  title: z.string().min(3).max(100),
  headings: z.array(z.string().min(2).max(80)).min(2).max(6),
})

/** Passages of the project's own papers that a text is written with. */
const MAX_PASSAGES = 6

async function other(context: AgentContext, given: Fact[]): Promise<Result> {
  const { language, mission } = context
  const words = wordsOf(mission.task).filter((word) => word.length > 4)
  const stems = words.map((word) => word.slice(0, 6))
  const papers = ranked(await papersOf(context), stems).slice(0, MAX_PASSAGES)
  const facts = [...given, ...papers.map(({ where, text }) => ({ label: where, text }))]
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
