import { z } from 'zod'
import { bilingual, type Words } from '../i18n/words.ts'
import type { Audience } from '../mail/drafts/audience.ts'
import { createDraft } from '../mail/drafts/drafts.ts'
import { keepOwnFacts, missingNote } from '../projects/own-facts.ts'
import { type Agent, type AgentContext, COMMON, type Fact, MissionFailure } from './agent.ts'
import {
  type EvidenceRow,
  evidenceOf,
  fittest,
  givenText,
  type LeadRow,
  leadFact,
  nameOf,
} from './evidence/given.ts'
import { historyFact, historyOf } from './evidence/history.ts'
import { type Judge, judgeOf, type Verdict } from './evidence/judge.ts'
import { objectionText } from './evidence/objection.text.ts'
import { fillIn } from './evidence/readers.ts'
import { sentencesOf } from './evidence/sentences.ts'
import { leftOutText } from './left-out.text.ts'
import { design, type Mail, textOf } from './mails/designer.ts'
import { earlierMail, replaceMail } from './mails/earlier-mail.ts'
import { redesign } from './mails/redesign.ts'
import { chosenFor } from './recipients/chosen.ts'
import { newestLeads } from './recipients/newest.ts'
import { languageFor } from './recipients/spoken.ts'
import { one } from './run/facts.ts'
import { stopText } from './stop.text.ts'

/** Leads who get a mail of their own; more get one campaign. */
export const MAX_LEADS = 5
/** Evidence about a reader and about us that the model is given; the judge reads all of it. */
const MAX_EVIDENCE = 12
const MAX_ABOUT_US = 8

/** A sentence that the gate would not let through. */
type Loose = { sentence: string; verdict: Exclude<Verdict, 'harmless' | 'supported'> }

type Recipient = { audience: Audience; lead: LeadRow | null; countries: (string | null)[] }

const WORDS = {
  summary: {
    en: '{n} drafts; {m} sentences without evidence',
    tr: '{n} taslak; kanıtsız cümle: {m}',
  },
  spoken: {
    en: 'In the language of the country: {x}',
    tr: 'Ülkenin dilinde: {x}',
  },
  spoken_to_all: {
    en: 'In the language of the recipients’ country',
    tr: 'Alıcıların ülkesinin dilinde',
  },
  closing: { en: 'Kind regards', tr: 'Saygılarımla' },
  dear: { en: 'Hello {first_name}', tr: 'Merhaba {first_name}' },
} satisfies Record<string, Words>

/**
 * Drafts whose sentences the judge of the evidence gate has read before: what lacks support is
 * written once more, and what still does blocks the approval.
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
    const own = await context.step('own facts', (sql) =>
      keepOwnFacts(sql, context.project.id, context.brief, context.mission.id),
    )
    const leads = recipients.flatMap(({ lead }) => lead ?? [])
    const ids = leads.map(({ id }) => id)
    const evidence = await evidenceOf(context, ids)
    const history = await historyOf(context, ids)
    const drafts: { id: string; held: number }[] = []
    const asked = context.language
    const other: string[] = []
    for (const [index, recipient] of recipients.entries()) {
      const number = String(index + 1)
      const language = languageFor({ ...context, language: asked }, recipient.countries)
      context.speak(language)
      if (language !== asked) other.push(recipient.lead ? nameOf(recipient.lead) : '')
      const { mail, judge } = await write(context, number, recipient, {
        theirs: evidence.filter(({ lead_id }) => lead_id === recipient.lead?.id),
        own,
        history: recipient.lead ? history.get(recipient.lead.id) : undefined,
      })
      const { template, slots } = await design(context, `design ${number}`, mail, {
        judge,
        audience: recipient.audience.kind,
      })
      drafts.push(
        await context.step(`draft ${number}`, async (sql) => {
          const id = await createDraft(sql, context.project, {
            audience: recipient.audience,
            template,
            language: context.language,
            subject: mail.subject,
            text: textOf(mail),
            slots,
            agent: 'marketing',
            mission_id: context.mission.id,
          })
          await context.render(sql, { id })
          await replaceMail(sql, context, recipient.audience)
          return { id, held: await context.held(sql, id) }
        }),
      )
    }
    context.speak(asked)
    const counts = WORDS.summary[asked]
      .replace('{n}', String(drafts.length))
      .replace('{m}', String(drafts.reduce((sum, { held }) => sum + held, 0)))
    const names = other.filter(Boolean).join(', ')
    const because =
      other.length > 0 && WORDS[names ? 'spoken' : 'spoken_to_all'][asked].replace('{x}', names)
    const missing = missingNote(context.brief)?.[asked]
    return {
      summary: [counts, because, missing].filter(Boolean).join('. '),
      documents: [],
      drafts: drafts.map(({ id }) => id),
    }
  },
}

/** The recipients: the given ones, those whom the task means, or else the newest leads. */
async function choose(context: AgentContext): Promise<Recipient[]> {
  const chosen = await chosenFor(context, 'recipient')
  if ('filter' in chosen) {
    const { filter } = chosen
    const countries = [filter.country ?? null]
    return [{ audience: { kind: 'list', filter }, lead: null, countries }]
  }
  const { leads } = chosen
  if (leads.length > MAX_LEADS) {
    const filter = { lead_ids: leads.map(({ id }) => id) }
    const countries = leads.map(({ country }) => country)
    return [{ audience: { kind: 'list', filter }, lead: null, countries }]
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
  countries: [lead.country],
})

async function write(
  context: AgentContext,
  number: string,
  { lead, audience }: Recipient,
  known: {
    theirs: EvidenceRow[]
    own: EvidenceRow[]
    history: Parameters<typeof historyFact>[2]
  },
): Promise<{ mail: Mail; judge: Judge }> {
  const { theirs, own, history } = known
  const evidence = [...theirs, ...own]
  const who = lead ? nameOf(lead) : ''
  const cited = [
    ...fittest(context, { rows: theirs, most: MAX_EVIDENCE, who }),
    ...fittest(context, { rows: own, most: MAX_ABOUT_US, who: bilingual(leftOutText).us }),
  ]
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
    ...earlierMail(context.thread, audience),
    ...(lead ? [leadFact(lead, [])] : []),
    {
      label: 'evidence',
      text: cited.map(({ fact }, index) => `E${index + 1}: ${one(fact)}`).join('\n') || 'none',
    },
    ...historyFact(context, who, history),
    ...(await givenText(context)),
  ]
  const judge = judgeOf(
    { language: context.language, reader: lead, us: context.project.name },
    evidence,
  )
  const looseOf = ({ subject, sentences }: Written): Loose[] =>
    [subject, ...sentences.map(({ text }) => text)]
      .flatMap((text) => sentencesOf(lead ? fillIn(text, lead) : text, context.language))
      .flatMap((sentence) => {
        const { verdict } = judge(sentence)
        return verdict === 'harmless' || verdict === 'supported' ? [] : [{ sentence, verdict }]
      })
  const say = (task: string) => (lead ? `${task} The reader is the lead.` : task)
  const task =
    'Write the letter as single sentences. A sentence that states something about the reader or about us cites the evidence it rests on (E1, E2 …) and says no more than that. A question, a wish or an offer cites none. No greeting and no name at the end: those are added.'
  let written = await context.complete(`write ${number}`, { schema, facts, task: say(task) })
  let loose = looseOf(written)
  if (loose.length > 0) {
    const wrong = loose
      .map(({ sentence, verdict }) => `"${one(sentence, 120)}" (${objectionText.en[verdict]})`)
      .join(' ')
    const again = await context.complete(`rewrite ${number}`, {
      schema,
      facts: [...facts, { label: 'sentences without support', text: wrong }],
      task: say(
        `${task} An earlier version had sentences without support: leave them out, or say what the evidence says in its own words.`,
      ),
    })
    const better = looseOf(again)
    // The second version knew what was wrong with the first.
    if (better.length <= loose.length) {
      written = again
      loose = better
    }
  }
  const first = lead?.name ? one(lead.name, 60).split(' ')[0] : undefined
  const dear = WORDS.dear[context.language]
  const greeting = lead ? dear.replace(' {first_name}', first ? ` ${first}` : '') : dear
  // Small models repeat themselves.
  const sentences = [...new Set(written.sentences.map(({ text }) => one(text, 220)))]
  return {
    mail: {
      subject: one(written.subject, 90),
      greeting,
      sentences,
      closing: WORDS.closing[context.language],
    },
    judge,
  }
}
