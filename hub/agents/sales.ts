import { z } from 'zod'
import type { Words } from '../i18n/words.ts'
import { heading, list, numbered, plain, table } from '../projects/markdown.ts'
import { contextNote } from '../projects/own-facts.ts'
import { type Agent, type AgentContext, COMMON, type Fact } from './agent.ts'
import { evidenceOf, fittest, givenText, givenTexts, leadFact, nameOf } from './evidence/given.ts'
import { historyFact, historyOf } from './evidence/history.ts'
import { chosenLeads } from './recipients/chosen.ts'
import { languageFor, unwrittenWords } from './recipients/spoken.ts'
import { numbersIn } from './run/facts.ts'
import { wordsOf } from './run/words.ts'
import { saveDocument } from './writing.ts'

/** Pieces of evidence about the lead that the model is given. */
const MAX_EVIDENCE = 20

const line = z.string().max(200)

const Script = z.object({
  opening: z.string().max(300),
  questions: z.array(line).min(2).max(6),
  objections: z.array(z.object({ they_say: line, we_say: z.string().max(260) })).max(5),
  closing: z.string().max(260),
})

const Proposal = z.object({
  title: z.string().min(3).max(100),
  need: z.string().max(500),
  solution: z.string().max(500),
  scope: z.array(line).min(1).max(6),
  prices: z.array(z.object({ item: z.string().max(100), price: z.string().max(30) })).max(6),
  next_steps: z.array(line).min(1).max(4),
})

const WORDS = {
  opening: { en: 'Opening', tr: 'Açılış' },
  questions: { en: 'Questions', tr: 'Sorular' },
  objections: { en: 'Objections', tr: 'İtirazlar' },
  they: { en: 'They say', tr: 'Onlar' },
  we: { en: 'We say', tr: 'Biz' },
  closing: { en: 'Closing', tr: 'Kapanış' },
  script: { en: 'Call script', tr: 'Arama metni' },
  need: { en: 'What you need', tr: 'İhtiyacınız' },
  solution: { en: 'What we propose', tr: 'Önerimiz' },
  scope: { en: 'Scope', tr: 'Kapsam' },
  prices: { en: 'Prices', tr: 'Fiyatlar' },
  item: { en: 'Item', tr: 'Kalem' },
  price: { en: 'Price', tr: 'Fiyat' },
  open: { en: 'to be agreed', tr: 'belirlenecek' },
  next: { en: 'Next steps', tr: 'Sonraki adımlar' },
  known: { en: 'What is known', tr: 'Bilinenler' },
} satisfies Record<string, Words>

/** Call scripts and proposals from the facts about a lead. */
export const sales: Agent = {
  name: 'sales',
  role: { en: 'Call scripts and proposals', tr: 'Arama metinleri ve teklifler' },
  variables: COMMON,
  budget: { steps: 8, tokens: 16_000 },
  steps: async (context) => {
    context.expect(4)
    const leads = await chosenLeads(context, { as: 'recipient', most: 1 })
    const evidence = await evidenceOf(
      context,
      leads.map(({ id }) => id),
    )
    const [lead] = leads
    const who = lead ? nameOf(lead) : ''
    const asked = context.language
    if (lead) context.speak(languageFor(context, [lead]))
    const unwritten = unwrittenWords(context, leads)
    if (unwritten) context.leaveOut(unwritten)
    const fit = fittest(context, { rows: evidence, most: MAX_EVIDENCE, who })
    const history = await historyOf(
      context,
      leads.map(({ id }) => id),
    )
    const facts = [
      ...leads.map((lead) => leadFact(lead, fit)),
      ...leads.flatMap((lead) => historyFact(context, who, history.get(lead.id))),
      ...(await givenText(context)),
    ]
    const known = evidence.map(({ fact, source }) => `${fact} (${source})`)
    const isProposal = wordsOf(context.mission.task).some((word) =>
      /^(teklif|proposal|offer|quot)/.test(word),
    )
    const { title, document } = isProposal
      ? await proposal(context, facts, who)
      : await script(context, facts, who, known)
    context.speak(asked)
    return { summary: summaryOf(context, title), documents: [document] }
  },
}

type Written = { title: string; document: Awaited<ReturnType<typeof saveDocument>> }

async function script(
  context: AgentContext,
  facts: Fact[],
  who: string,
  known: string[],
): Promise<Written> {
  const say = (word: keyof typeof WORDS) => WORDS[word][context.language]
  const written = await context.complete('script', {
    schema: Script,
    facts,
    task: 'Write the call script: an opening of two sentences, open questions, likely objections with honest answers, and a closing that asks for one concrete next step.',
  })
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'sales',
      title: who ? `${say('script')}: ${who}` : say('script'),
      blocks: [
        known.length > 0 && heading(2, say('known')),
        list(known),
        heading(2, say('opening')),
        plain(written.opening),
        heading(2, say('questions')),
        numbered(written.questions),
        heading(2, say('objections')),
        table(
          [say('they'), say('we')],
          written.objections.map(({ they_say, we_say }) => [they_say, we_say]),
        ),
        heading(2, say('closing')),
        plain(written.closing),
      ],
    }),
  )
  return { title: document.title, document }
}

async function proposal(context: AgentContext, facts: Fact[], who: string): Promise<Written> {
  const say = (word: keyof typeof WORDS) => WORDS[word][context.language]
  const written = await context.complete('proposal', {
    schema: Proposal,
    facts,
    task: 'Write the proposal: need, solution, scope, prices and next steps. A price that nobody has given is an empty text.',
  })
  // A price counts by the text itself, never by a summary of it.
  const texts = [...facts, ...(await givenTexts(context))].map(({ text }) => text)
  const said = [context.mission.task, context.brief, ...texts].join('\n')
  const numbers = new Set(numbersIn(said))
  // A price that does not occur in the input is not offered.
  const priced = written.prices.map(({ item, price }) => {
    const found = numbersIn(price)
    const isGiven = found.length > 0 && found.every((number) => numbers.has(number))
    return [item, isGiven ? price : say('open')]
  })
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'sales',
      title: who && !written.title.includes(who) ? `${written.title}: ${who}` : written.title,
      blocks: [
        heading(2, say('need')),
        plain(written.need),
        heading(2, say('solution')),
        plain(written.solution),
        heading(2, say('scope')),
        list(written.scope),
        priced.length > 0 && heading(2, say('prices')),
        priced.length > 0 && table([say('item'), say('price')], priced, [1]),
        heading(2, say('next')),
        numbered(written.next_steps),
      ],
    }),
  )
  return { title: document.title, document }
}

function summaryOf(context: AgentContext, title: string): string {
  const missing = contextNote(context.brief)?.[context.language]
  return missing ? `${title}. ${missing}` : title
}
