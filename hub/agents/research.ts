import { z } from 'zod'
import type { Words } from '../i18n/words.ts'
import { heading, list, numbered, plain, table } from '../projects/markdown.ts'
import { type Agent, type AgentContext, COMMON, type Result } from './agent.ts'
import { extractFrom, sumOf } from './evidence/extract.ts'
import {
  evidenceOf,
  givenTexts,
  type LeadRow,
  leadFact,
  nameOf,
  SOURCES,
} from './evidence/given.ts'
import { judgeOf } from './evidence/judge.ts'
import { chosenLeads } from './recipients/chosen.ts'
import { one } from './run/facts.ts'
import { MAIL_ADDRESS } from './run/mail-address.ts'
import { wordsOf } from './run/words.ts'
import { searchedLeads } from './web_search.ts'
import { saveDocument } from './writing.ts'

const MAX_DIVES = 3
/** How many leads the result lists; all of them are in the list of leads. */
const MAX_LISTED = 200

const WORDS = {
  summary: {
    en: '{n} new leads, {k} known already, {s} without name, company or valid address',
    tr: '{n} yeni aday, {k} zaten kayıtlı, {s} adsız, firmasız veya geçersiz adresli',
  },
  dive: { en: 'Deep dive: {x}', tr: 'Ayrıntılı inceleme: {x}' },
  known: { en: 'What the evidence says', tr: 'Kanıtların söylediği' },
  guess: { en: 'Assumptions, not to be quoted', tr: 'Varsayımlar, alıntılanmamalı' },
  questions: { en: 'Open questions', tr: 'Açık sorular' },
  evidence: { en: 'Evidence', tr: 'Kanıtlar' },
  source: { en: 'Source', tr: 'Kaynak' },
  fact: { en: 'Fact', tr: 'Bilgi' },
  plan: { en: 'Where to look', tr: 'Nerede aranmalı' },
  criteria: { en: 'Criteria', tr: 'Ölçütler' },
  query: { en: 'Search for', tr: 'Aranacak' },
  no_source: {
    en: 'No list, text or file was given, and no lead is made up. Here is where to look; paste what you find, or give web_research an address.',
    tr: 'Liste, metin veya dosya verilmedi; aday uydurulmaz. Nerede aranacağı aşağıda; bulduklarınızı yapıştırın ya da web_research’e bir adres verin.',
  },
} satisfies Record<string, Words>

/** Leads from tables, texts and files, each with evidence; deep dives. It never invents a lead. */
export const research: Agent = {
  name: 'research',
  role: {
    en: 'Finds leads in what it is given, and looks into them',
    tr: 'Verilenlerde müşteri adayı bulur ve inceler',
  },
  variables: COMMON,
  budget: { steps: 90, tokens: 80_000 },
  steps: async (context) => {
    const texts = [...(await givenTexts(context)), ...pastedInTask(context)]
    if (texts.length > 0) {
      const tallies = []
      for (const [index, text] of texts.entries()) {
        tallies.push(await extractFrom(context, text, String(index + 1)))
      }
      const { found, known, skipped, ids } = sumOf(tallies)
      const summary = WORDS.summary[context.language]
        .replace('{n}', String(found))
        .replace('{k}', String(known))
        .replace('{s}', String(skipped))
      return { summary, documents: [], leads: [...new Set(ids)].slice(0, MAX_LISTED) }
    }
    const leads = await chosenLeads(context, { as: 'subject', most: MAX_DIVES })
    if (leads.length > 0) return deepDives(context, leads)
    const { web, search } = await context.actions.allowed()
    return search && web !== 'deny' ? searchedLeads(context, search) : searchPlan(context)
  },
}

/** A task with several lines, or with addresses, contains its own material. */
function pastedInTask({ mission, language }: AgentContext) {
  const hasTable = mission.task.trim().split('\n').length >= 3
  const hasAddress = new RegExp(MAIL_ADDRESS, 'u').test(mission.task)
  return hasTable || hasAddress ? [{ label: SOURCES.task[language], text: mission.task }] : []
}

const line = z.string().min(3).max(200)

async function deepDives(context: AgentContext, leads: LeadRow[]): Promise<Result> {
  context.expect(2 + leads.length * 2)
  const { language } = context
  const evidence = await evidenceOf(
    context,
    leads.map(({ id }) => id),
  )
  const documents = []
  for (const [index, lead] of leads.entries()) {
    const own = evidence.filter(({ lead_id }) => lead_id === lead.id).slice(0, 15)
    const labels = own.map((_, at) => `E${at + 1}`)
    const dive = await context.complete(`dive ${index + 1}`, {
      schema: z.object({
        points: z
          .array(z.object({ text: line, cites: z.array(z.enum(['none', ...labels])).max(2) }))
          .min(1)
          .max(6),
        questions: z.array(line).max(4),
      }),
      facts: [
        leadFact(lead, []),
        {
          label: 'evidence',
          text: own.map(({ fact }, at) => `E${at + 1}: ${one(fact)}`).join('\n') || 'none',
        },
      ],
      task: 'Say what matters about this lead for our offer. Each point cites the evidence it rests on, or "none" when it is your assumption. Then the questions that are still open.',
    })
    const weighed = dive.points.map(({ text, cites }) => {
      const cited = own.filter((_, at) => cites.includes(`E${at + 1}`))
      const { verdict } = judgeOf({ language, reader: lead, us: context.project.name }, cited)(text)
      return { text, isKnown: verdict === 'supported' }
    })
    const known = weighed.filter(({ isKnown }) => isKnown).map(({ text }) => text)
    const guesses = weighed.filter(({ isKnown }) => !isKnown).map(({ text }) => text)
    documents.push(
      await context.outside(`document ${index + 1}`, () =>
        saveDocument(context, {
          agent: 'research',
          title: WORDS.dive[language].replace('{x}', nameOf(lead)),
          blocks: [
            known.length > 0 && heading(2, WORDS.known[language]),
            list(known),
            guesses.length > 0 && heading(2, WORDS.guess[language]),
            list(guesses),
            dive.questions.length > 0 && heading(2, WORDS.questions[language]),
            numbered(dive.questions),
            own.length > 0 && heading(2, WORDS.evidence[language]),
            own.length > 0 &&
              table(
                [WORDS.fact[language], WORDS.source[language]],
                own.map(({ fact, source }) => [fact, source]),
              ),
          ],
        }),
      ),
    )
  }
  const summary = documents.map(({ title }) => title).join(' · ')
  return { summary, documents, leads: leads.map(({ id }) => id) }
}

async function searchPlan(context: AgentContext): Promise<Result> {
  context.expect(3)
  const { language } = context
  const place = wordsOf(context.mission.task).slice(0, 6).join(' ')
  const plan = await context.complete('search plan', {
    schema: z.object({
      criteria: z.array(line).min(1).max(5),
      places: z
        .array(z.object({ where: line, query: z.string().max(120) }))
        .min(1)
        .max(6),
    }),
    task: 'Nobody has given a list. Name the criteria that a fitting lead meets, and public places where such leads are listed (chambers, fairs, associations, registers, maps), each with what to search for. Name no company and no person.',
  })
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'research',
      title: `${WORDS.plan[language]}: ${place}`,
      blocks: [
        plain(WORDS.no_source[language]),
        heading(2, WORDS.criteria[language]),
        list(plan.criteria),
        heading(2, WORDS.plan[language]),
        table(
          [WORDS.plan[language], WORDS.query[language]],
          plan.places.map(({ where, query }) => [where, query]),
        ),
      ],
    }),
  )
  return { summary: WORDS.no_source[language], documents: [document], leads: [] }
}
