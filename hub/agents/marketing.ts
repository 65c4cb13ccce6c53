import { z } from 'zod'
import type { Sql } from '../../shared/sql.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { addEvidence } from '../leads/leads.ts'
import type { Audience } from '../mail/drafts/audience.ts'
import { createDraft } from '../mail/drafts/drafts.ts'
import { parseContext } from '../projects/project-folder.ts'
import { type Agent, type AgentContext, COMMON, type Fact, MissionFailure } from './agent.ts'
import { design, type Letter, textOf } from './designer.ts'
import { type Cited, type Claim, judge } from './evidence/claims.ts'
import {
  type EvidenceRow,
  evidenceOf,
  givenText,
  type LeadRow,
  leadFact,
} from './evidence/given.ts'
import { chosenFor } from './recipients/chosen.ts'
import { newestLeads } from './recipients/newest.ts'
import { redesign } from './redesign.ts'
import { one } from './run/facts.ts'
import { stopText } from './stop.text.ts'

/** Leads who get a letter of their own; more get one campaign. */
const MAX_LEADS = 5
const MAX_EVIDENCE = 12

type Recipient = { audience: Audience; lead: LeadRow | null }

const WORDS = {
  summary: {
    en: '{n} drafts; {m} sentences without evidence',
    tr: '{n} taslak; kanıtsız cümle: {m}',
  },
  closing: { en: 'Kind regards', tr: 'Saygılarımla' },
  dear: { en: 'Hello {first_name}', tr: 'Merhaba {first_name}' },
} satisfies Record<string, Words>

/**
 * Drafts in which every statement cites evidence; a statement without evidence is marked and blocks
 * the approval.
 */
export const marketing: Agent = {
  name: 'marketing',
  role: {
    en: 'Mail drafts and campaigns from evidence',
    tr: 'Kanıta dayalı posta taslakları ve kampanyalar',
  },
  variables: COMMON,
  budget: { steps: 40, tokens: 60_000 },
  steps: async (context) => {
    if (context.mission.input.draft_id) return redesign(context, context.mission.input.draft_id)
    const recipients = await choose(context)
    context.expect(2 + recipients.length * 4)
    const own = await context.step('own facts', (sql) => ownFacts(context, sql))
    const leads = recipients.flatMap(({ lead }) => lead ?? [])
    const evidence = await evidenceOf(
      context,
      leads.map(({ id }) => id),
    )
    const drafts: string[] = []
    let unsupported = 0
    for (const [index, recipient] of recipients.entries()) {
      const number = String(index + 1)
      const { letter, claims } = await write(context, number, recipient, [
        ...evidence.filter(({ lead_id }) => lead_id === recipient.lead?.id),
        ...own,
      ])
      unsupported += claims.filter(({ evidence_ids }) => evidence_ids.length === 0).length
      const { template, slots } = await design(context, `design ${number}`, letter)
      drafts.push(
        await context.step(`draft ${number}`, async (sql) => {
          const id = await createDraft(sql, context.project, {
            audience: recipient.audience,
            template,
            language: context.language,
            subject: letter.subject,
            text: textOf(letter),
            slots,
            claims,
            agent: 'marketing',
            mission_id: context.mission.id,
          })
          await context.render(sql, { id })
          return id
        }),
      )
    }
    const summary = WORDS.summary[context.language]
      .replace('{n}', String(drafts.length))
      .replace('{m}', String(unsupported))
    return { summary, documents: [], drafts }
  },
}

/** The recipients: the given ones, those whom the task means, or else the newest leads. */
async function choose(context: AgentContext): Promise<Recipient[]> {
  const chosen = await chosenFor(context, 'recipient')
  if ('filter' in chosen) return [{ audience: { kind: 'list', filter: chosen.filter }, lead: null }]
  const { leads } = chosen
  if (leads.length > MAX_LEADS) {
    const filter = { lead_ids: leads.map(({ id }) => id) }
    return [{ audience: { kind: 'list', filter }, lead: null }]
  }
  if (leads.length > 0) return leads.map(toLead)
  const newest = await context.step('newest leads', (sql) => newestLeads(sql, context.project.id))
  if (newest.length === 0) {
    throw new MissionFailure(bilingual(stopText).nobody)
  }
  return newest.map(toLead)
}

const toLead = (lead: LeadRow): Recipient => ({
  audience: { kind: 'lead', lead_id: lead.id },
  lead,
})

/** What CONTEXT.md says about us becomes evidence of the project, so that a mail can cite it. */
async function ownFacts(context: AgentContext, sql: Sql): Promise<EvidenceRow[]> {
  const { description, value_proposition } = parseContext(context.brief)
  const facts = `${description}\n${value_proposition}`
    .split(/(?<=[.!?])\s+|\n+/)
    .map((text) => one(text.replace(/^[-*] /, ''), 400))
    .filter((text) => text.length > 10)
    .slice(0, 8)
  const rows: EvidenceRow[] = []
  for (const fact of facts) {
    const source = 'CONTEXT.md'
    const id = await addEvidence(sql, {
      project_id: context.project.id,
      lead_id: null,
      fact,
      source,
      mission_id: context.mission.id,
    })
    rows.push({ id, lead_id: null, fact, source })
  }
  return rows
}

async function write(
  context: AgentContext,
  number: string,
  { lead }: Recipient,
  evidence: EvidenceRow[],
): Promise<{ letter: Letter; claims: Claim[] }> {
  const cited = evidence.slice(0, MAX_EVIDENCE)
  const labels = cited.map((_, index) => `E${index + 1}`)
  const schema = z.object({
    subject: z.string().min(3).max(90),
    sentences: z
      .array(
        z.object({
          text: z.string().min(5).max(220),
          cites: z.array(z.enum(['none', ...labels])).max(2),
        }),
      )
      .min(2)
      .max(6),
  })
  type Written = z.infer<typeof schema>
  const facts: Fact[] = [
    ...(lead ? [leadFact(lead, [])] : []),
    {
      label: 'evidence',
      text: cited.map(({ fact }, index) => `E${index + 1}: ${one(fact)}`).join('\n') || 'none',
    },
    ...(await givenText(context)),
  ]
  const names = [lead?.company, lead?.name, context.project.name].flatMap((name) => name ?? [])
  const claimsOf = ({ subject, sentences }: Written): Claim[] => {
    const of = (cites: string[]): Cited[] =>
      cited.filter((_, index) => cites.includes(`E${index + 1}`))
    const judged = sentences.map(({ text, cites }) => judge(text, of(cites), names))
    // A subject has no room for a citation: any evidence will do, and only numbers are checked.
    const line = /\d/.test(subject) ? judge(subject, cited, names) : undefined
    return [line, ...judged].flatMap((claim) => claim ?? [])
  }
  const say = (task: string) => (lead ? `${task} The reader is the lead.` : task)
  const task =
    'Write the letter as single sentences. A sentence that states something about the reader or about us cites the evidence it rests on (E1, E2 …) and says no more than that. A question, a wish or an offer cites none. No greeting and no name at the end: those are added.'
  let written = await context.complete(`write ${number}`, { schema, facts, task: say(task) })
  let claims = claimsOf(written)
  const loose = claims.filter(({ evidence_ids }) => evidence_ids.length === 0)
  if (loose.length > 0) {
    const wrong = loose
      .map(({ sentence, reason }) => `"${one(sentence, 120)}" (${reason?.en})`)
      .join(' ')
    const again = await context.complete(`rewrite ${number}`, {
      schema,
      facts: [...facts, { label: 'sentences without support', text: wrong }],
      task: say(
        `${task} An earlier version had sentences without support: leave them out or say what the evidence says.`,
      ),
    })
    const better = claimsOf(again)
    if (better.filter(({ evidence_ids }) => evidence_ids.length === 0).length < loose.length) {
      written = again
      claims = better
    }
  }
  const first = lead?.name ? one(lead.name, 60).split(' ')[0] : undefined
  const dear = WORDS.dear[context.language]
  const greeting = lead ? dear.replace(' {first_name}', first ? ` ${first}` : '') : dear
  // Small models repeat themselves.
  const sentences = [...new Set(written.sentences.map(({ text }) => one(text, 220)))]
  return {
    letter: {
      subject: one(written.subject, 90),
      greeting,
      sentences,
      closing: WORDS.closing[context.language],
    },
    claims: claims.filter(
      (claim, at) => claims.findIndex(({ sentence }) => sentence === claim.sentence) === at,
    ),
  }
}
