import { z } from 'zod'
import type { Sql } from '../../shared/sql.ts'
import { fold } from '../../shared/words/fold.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { domainOf } from '../leads/lead.ts'
import { addEvidence } from '../leads/leads.ts'
import { heading, plain, table } from '../projects/markdown.ts'
import type { Page } from '../reader/web-reader.ts'
import { type Agent, type AgentContext, COMMON, MissionFailure } from './agent.ts'
import { type LeadRow, nameOf } from './evidence/given.ts'
import { stands } from './evidence/quote.ts'
import { leftOutText } from './left-out.text.ts'
import { chosenLeads } from './recipients/chosen.ts'
import { clip, one } from './run/facts.ts'
import { stopText } from './stop.text.ts'
import { saveDocument } from './writing.ts'

const say = bilingual(stopText)
const told = bilingual(leftOutText)

const MAX_SITES = 3
const PAGES_A_SITE = 4
const MAX_PAGE = 5000

const Found = z.object({
  facts: z
    .array(z.object({ fact: z.string().min(3).max(200), quote: z.string().min(8).max(220) }))
    .max(6),
})

const WORDS = {
  title: { en: 'Profile: {x}', tr: 'Profil: {x}' },
  fact: { en: 'Fact', tr: 'Bilgi' },
  quote: { en: 'As it stands there', tr: 'Sayfadaki hâli' },
  source: { en: 'Page', tr: 'Sayfa' },
  pages: { en: 'Pages', tr: 'Sayfalar' },
  nothing: {
    en: 'Nothing was found that could be quoted.',
    tr: 'Alıntılanabilecek bir şey bulunamadı.',
  },
  unbound: {
    en: '{x}: no lead has this domain, so nothing from it was kept as evidence.',
    tr: '{x}: bu alan adı hiçbir adayın değil; bu sayfadan kanıt saklanmadı.',
  },
  summary: { en: 'Facts found: {n}; pages read: {p}', tr: '{p} sayfadan {n} bilgi' },
} satisfies Record<string, Words>

type Site = { url: string; lead: LeadRow | null; name: string }
type Kept = { fact: string; quote: string; source: string }

/** Profiles from pages read in a browser; what cannot be quoted from a page is left out. */
export const web_research: Agent = {
  name: 'web_research',
  role: {
    en: 'Reads websites in a browser and keeps quotable facts',
    tr: 'Web sitelerini tarayıcıda okur, alıntılanabilir bilgileri saklar',
  },
  variables: COMMON,
  budget: { steps: 60, tokens: 60_000 },
  steps: async (context) => {
    const sites = sitesOf(context, await chosenLeads(context, { as: 'subject', most: MAX_SITES }))
    if (sites.length === 0) {
      throw new MissionFailure(say.no_website)
    }
    const { web } = await context.actions.allowed()
    if (web === 'deny') {
      throw new MissionFailure(say.web_off)
    }
    const hasBrowser = await context.outside('browser', () => context.reader.isThere())
    if (!hasBrowser) context.leaveOut(told.no_browser)
    if (web === 'ask') {
      await context.ask('reading the web', {
        kind: 'external',
        title: say.read(sites.map(({ url }) => new URL(url).hostname).join(', ')),
        action: { do: 'read_web', urls: sites.map(({ url }) => url) },
      })
    }
    context.expect(sites.length * PAGES_A_SITE * 2 + 3)
    const { language } = context
    const documents = []
    const about: string[] = sites.flatMap(({ lead }) => lead?.id ?? [])
    let count = 0
    let pages = 0
    for (const [index, site] of sites.entries()) {
      const profile = await profileOf(context, site, String(index + 1))
      count += profile.kept.length
      pages += profile.pages.length
      about.push(...profile.about)
      documents.push(
        await context.outside(`document ${index + 1}`, () =>
          saveDocument(context, {
            agent: 'web_research',
            title: WORDS.title[language].replace('{x}', site.name),
            blocks: [
              profile.kept.length > 0
                ? table(
                    [WORDS.fact[language], WORDS.quote[language], WORDS.source[language]],
                    profile.kept.map(({ fact, quote, source }) => [fact, quote, source]),
                  )
                : plain(WORDS.nothing[language]),
              heading(2, WORDS.pages[language]),
              ...profile.pages.map(plain),
            ],
          }),
        ),
      )
    }
    const summary = WORDS.summary[language].replace('{n}', `${count}`).replace('{p}', `${pages}`)
    return { summary, documents, leads: [...new Set(about)] }
  },
}

/** The website of a lead, or that of its own e-mail domain. */
function siteOf(lead: LeadRow): string[] {
  if (lead.website) return [lead.website]
  const domain = domainOf({ email: lead.email, website: null })
  return domain ? [`https://${domain}`] : []
}

/** The addresses in the input, the task, and the chosen leads. */
function sitesOf(context: AgentContext, leads: LeadRow[]): Site[] {
  const { task, input } = context.mission
  const written = task.match(/(?:https?:\/\/|www\.)[^\s,;()<>"']+/gi) ?? []
  const sites: Site[] = leads.flatMap((lead) =>
    siteOf(lead).map((url) => ({ url, lead, name: nameOf(lead) })),
  )
  for (const text of [...(input.urls ?? []), ...written]) {
    const url = /^https?:/i.test(text) ? text : `https://${text}`
    const clean = url.replace(/[.!?]+$/, '')
    if (!URL.canParse(clean)) continue
    const { hostname } = new URL(clean)
    if (sites.some((site) => URL.canParse(site.url) && new URL(site.url).hostname === hostname))
      continue
    sites.push({ url: clean, lead: null, name: hostname.replace(/^www\./, '') })
  }
  const readable = sites.filter(({ url }) => URL.canParse(url))
  if (readable.length > MAX_SITES) context.leaveOut(told.sites(MAX_SITES, readable.length))
  return readable.slice(0, MAX_SITES)
}

async function profileOf(
  context: AgentContext,
  site: Site,
  number: string,
): Promise<{ kept: Kept[]; pages: string[]; about: string[] }> {
  const kept: Kept[] = []
  const about = new Set<string>()
  const pages: string[] = []
  const queue = [site.url]
  for (let turn = 1; turn <= PAGES_A_SITE; turn++) {
    const url = queue.shift()
    if (url === undefined) break
    const name = `${number}.${turn}`
    const reading = await context.outside(`read ${name}`, () =>
      context.reader.read(url, context.signal),
    )
    if ('refused' in reading) {
      pages.push(`${url}: ${reading.refused[context.language]}`)
      continue
    }
    const { page } = reading
    pages.push(`${page.url}: ${page.title}`)
    if (turn === 1) queue.push(...worthReading(page))
    if (page.text.length < 40) continue
    const { facts } = await context.complete(`facts ${name}`, {
      schema: Found,
      facts: [{ label: page.url, text: clip(page.text, MAX_PAGE) }],
      task: 'Note facts about this company that help a seller: what it does, for whom, how large, where, who runs it. Each with the words of the page it rests on, copied letter by letter.',
    })
    const sound = facts.filter(({ quote }) => stands(page.text, quote))
    const bound = await context.step(`evidence ${name}`, async (sql) => {
      const lead_ids = await leadsOf(sql, context.project.id, page.url, site.lead)
      for (const lead_id of lead_ids) {
        for (const { fact, quote } of sound) {
          await addEvidence(sql, {
            project_id: context.project.id,
            lead_id,
            fact: one(fact, 1000),
            quote: one(quote, 2000),
            source: clip(page.url, 500),
            mission_id: context.mission.id,
          })
        }
      }
      return lead_ids
    })
    for (const id of bound) about.add(id)
    if (bound.length === 0) pages.push(WORDS.unbound[context.language].replace('{x}', page.url))
    kept.push(...sound.map(({ fact, quote }) => ({ fact, quote, source: page.url })))
  }
  return { kept, pages, about: [...about] }
}

/** The most leads of one company that get a fact of its website. */
const MAX_BOUND = 10

/**
 * The leads that a page is about: those with its domain, subdomains included. A page of nobody's
 * domain is evidence about nobody; without a lead it would count as a fact about ourselves.
 */
async function leadsOf(
  sql: Sql,
  project_id: string,
  url: string,
  lead: LeadRow | null,
): Promise<string[]> {
  const domain = domainOf({ website: url, email: null })
  if (!domain) return []
  if (lead) {
    const own = [
      domainOf({ website: lead.website, email: null }),
      domainOf({ website: null, email: lead.email }),
    ]
    return own.includes(domain) ? [lead.id] : []
  }
  const rows = await sql<{ id: string }>`
    select id from hub.leads
    where project_id = ${project_id} and domain = ${domain}
    order by created_at, id limit ${MAX_BOUND}`
  return rows.map(({ id }) => id)
}

/** Words of an address or a link, folded. */
const WORTH =
  /about|hakk|kurumsal|contact|iletisim|company|team|ekip|service|hizmet|product|urun|reference|referans/

/** An address in its own letters: "/iletişim" is linked as "/ileti%C5%9Fim". */
function decoded(url: string): string {
  try {
    return decodeURI(url)
  } catch {
    return url
  }
}

/** Links on the same site that probably describe the company. */
function worthReading({ url, links }: Page): string[] {
  const { hostname } = new URL(url)
  const same = links.filter(
    (link) =>
      URL.canParse(link.url) &&
      new URL(link.url).hostname === hostname &&
      WORTH.test(fold(`${decoded(link.url)} ${link.text}`)),
  )
  const clean = same.map((link) => link.url.replace(/#.*$/, '')).filter((link) => link !== url)
  return [...new Set(clean)].slice(0, PAGES_A_SITE - 1)
}
