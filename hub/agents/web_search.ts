import { z } from 'zod'
import { fold } from '../../shared/words/fold.ts'
import type { Words } from '../i18n/words.ts'
import { bilingual } from '../i18n/words.ts'
import { type FoundLead, storeFound } from '../leads/found-leads.ts'
import { domainOf, NewLead } from '../leads/lead.ts'
import { heading, list, plain, table } from '../projects/markdown.ts'
import type { SearchResult } from '../reader/search.ts'
import type { AgentContext, Result } from './agent.ts'
import { sentencesOf } from './evidence/sentences.ts'
import { leftOutText } from './left-out.text.ts'
import { mentions, one } from './run/facts.ts'
import { stopText } from './stop.text.ts'
import { saveDocument } from './writing.ts'

const say = bilingual(stopText)
const told = bilingual(leftOutText)

const MAX_QUERIES = 3
/** Results that the model is shown; each query gives up to ten. */
const MAX_SHOWN = 20
/** How many leads the result lists. */
const MAX_LISTED = 200

const WORDS = {
  title: { en: 'Web search', tr: 'Web araması' },
  summary: {
    en: '{r} search results: {n} new leads, {k} known already',
    tr: '{r} arama sonucu: {n} yeni aday, {k} zaten kayıtlı',
  },
  queries: { en: 'Searched for', tr: 'Aranan sözler' },
  results: { en: 'Results', tr: 'Sonuçlar' },
  result: { en: 'Result', tr: 'Sonuç' },
  lead: { en: 'Lead', tr: 'Aday' },
  address: { en: 'Address', tr: 'Adres' },
  failed: { en: 'Not searched', tr: 'Aranamayanlar' },
  nothing: {
    en: 'No result names a company that could be a lead. No lead was made up.',
    tr: 'Hiçbir sonuçta aday olabilecek bir firma adı geçmiyor. Aday uydurulmadı.',
  },
} satisfies Record<string, Words>

/**
 * searchedLeads asks the search endpoint of the settings. A lead is a company that a result names
 * in so many words; its evidence is what the result says of it, with the result's address.
 */
export async function searchedLeads(context: AgentContext, endpoint: string): Promise<Result> {
  context.expect(6)
  const { language } = context
  const { queries } = await context.complete('search plan', {
    schema: z.object({ queries: z.array(z.string().min(3).max(100)).min(1).max(MAX_QUERIES) }),
    task: 'Nobody has given a list. Write up to three search queries that find companies which fit the task and the ICP: kind of company and place, in the language of that place. No name of a person, nothing about us.',
  })
  const asked = [...new Set(queries.map((query) => one(query, 100)).filter(Boolean))]
  const { web } = await context.actions.allowed()
  const { host } = new URL(endpoint)
  if (web === 'ask') {
    await context.ask('searching the web', {
      kind: 'external',
      title: say.search(asked.join(', '), host),
      action: { do: 'search_web', urls: [endpoint], text: asked.join('\n') },
    })
  }
  const found: SearchResult[] = []
  const failed: string[] = []
  for (const [index, query] of asked.entries()) {
    const answer = await context.outside(`search ${index + 1}`, () =>
      context.actions.search({ endpoint, query, language, signal: context.signal }),
    )
    if ('refused' in answer) failed.push(`${query}: ${answer.refused[language]}`)
    else found.push(...answer.results)
  }
  const results = [...new Map(found.map((result) => [result.url, result])).values()]
  if (results.length > MAX_SHOWN) context.leaveOut(told.results(MAX_SHOWN, results.length))
  const leads = await leadsIn(context, results.slice(0, MAX_SHOWN))
  const stored = await context.step('store 1', (sql) =>
    storeFound(sql, { project_id: context.project.id, mission_id: context.mission.id }, leads),
  )
  const names = new Map(leads.map(({ lead, source }) => [source, lead.company ?? '']))
  const document = await context.outside('document', () =>
    saveDocument(context, {
      agent: 'research',
      title: `${WORDS.title[language]}: ${asked[0] ?? ''}`,
      blocks: [
        leads.length === 0 && plain(WORDS.nothing[language]),
        heading(2, WORDS.queries[language]),
        list(asked),
        failed.length > 0 && heading(2, WORDS.failed[language]),
        list(failed),
        results.length > 0 && heading(2, WORDS.results[language]),
        results.length > 0 &&
          table(
            [WORDS.result[language], WORDS.lead[language], WORDS.address[language]],
            results.map(({ url, title }) => [title || url, names.get(url) ?? '', url]),
          ),
      ],
    }),
  )
  const fresh = stored.filter(({ is_new }) => is_new).length
  const summary = WORDS.summary[language]
    .replace('{r}', String(results.length))
    .replace('{n}', String(fresh))
    .replace('{k}', String(stored.length - fresh))
  const because = failed.length > 0 ? `. ${failed.join(' ')}` : ''
  return {
    summary: summary + because,
    documents: [document],
    leads: [...new Set(stored.map(({ id }) => id))].slice(0, MAX_LISTED),
  }
}

/** The companies that the model sees in the results, each checked against the result by code. */
async function leadsIn(context: AgentContext, results: SearchResult[]): Promise<FoundLead[]> {
  if (results.length === 0) return []
  const labels = results.map((_, at) => `R${at + 1}`)
  const { companies } = await context.complete('companies', {
    schema: z.object({
      companies: z
        .array(
          z.object({
            result: z.enum(labels as [string, ...string[]]), // safe: there are results
            company: z.string().max(80),
          }),
        )
        .max(MAX_SHOWN),
    }),
    facts: [
      {
        label: 'search results',
        text: results
          .map(({ title, content }, at) => `R${at + 1}: ${one(title, 120)} — ${one(content, 160)}`)
          .join('\n'),
      },
    ],
    task: 'Which results are about one single company that fits the task? Name the result and the company as it is written there. Lists, articles, directories and job offers are none.',
  })
  return companies.flatMap(({ result, company }) => {
    const found = results[labels.indexOf(result)]
    return found ? leadOf(found, one(company, 80), context.language) : []
  })
}

/** A lead from a result that names its company; its website only where the domain is its name. */
function leadOf(
  { url, title, content }: SearchResult,
  company: string,
  language: 'en' | 'tr',
): FoundLead[] {
  if (!mentions(`${title} ${content}`, company)) return []
  const domain = domainOf({ website: url, email: null }) ?? ''
  const [first = ''] = fold(company).split(/[^a-z0-9]+/)
  const isOwn =
    first.length >= 3 &&
    fold(domain)
      .replace(/[^a-z0-9]/g, '')
      .includes(first)
  const parsed = NewLead.safeParse({
    company,
    source: one(url, 200),
    ...(isOwn ? { website: new URL(url).origin } : {}),
  })
  if (!parsed.success) return []
  // What was cut off may go on otherwise, and a sentence without the name may be about another.
  const said = sentencesOf(content, language).filter(
    (sentence) => mentions(sentence, company) && !/(?:…|\.{3})$/.test(sentence),
  )
  const facts = (said.length > 0 ? said : [title]).map((fact) => ({
    fact: one(fact, 1000),
    quote: one(fact, 2000),
  }))
  return [{ lead: parsed.data, facts, source: one(url, 500) }]
}
