import type { Words } from '../i18n/words.ts'
import { createDraft } from '../mail/drafts/drafts.ts'
import { contextNote, keepOwnFacts } from '../projects/own-facts.ts'
import { type Agent, COMMON } from './agent.ts'
import { evidenceOf, nameOf } from './evidence/given.ts'
import { historyOf } from './evidence/history.ts'
import { byLanguage, chooseRecipients } from './mails/choose.ts'
import { design, textOf } from './mails/designer.ts'
import { replaceMail } from './mails/earlier-mail.ts'
import { proposeSequence } from './mails/propose-sequence.ts'
import { redesign } from './mails/redesign.ts'
import { sequenceWanted } from './mails/sequence-wanted.ts'
import { writeMail } from './mails/write.ts'
import { languageFor, unwrittenWords } from './recipients/spoken.ts'

const WORDS = {
  summary: {
    en: 'Drafts: {n}; sentences without evidence: {m}',
    tr: '{n} taslak; kanıtsız cümle: {m}',
  },
  spoken: {
    en: 'In the language of the recipient: {x}',
    tr: 'Alıcının dilinde: {x}',
  },
  spoken_to_all: {
    en: 'In the language of the recipients',
    tr: 'Alıcıların dilinde',
  },
  parted: {
    en: 'One campaign for each language of the recipients',
    tr: 'Alıcıların her dili için bir kampanya',
  },
} satisfies Record<string, Words>

/**
 * Drafts whose sentences the judge of the evidence gate has read before: what lacks support is
 * written once more, and what still does blocks the approval.
 */
export const marketing: Agent = {
  name: 'marketing',
  role: {
    en: 'Mail drafts, sequences and campaigns from evidence',
    tr: 'Kanıta dayalı e-posta taslakları, diziler ve kampanyalar',
  },
  variables: COMMON,
  budget: { steps: 40, tokens: 60_000 },
  steps: async (context) => {
    if (context.mission.input.draft_id) return redesign(context, context.mission.input.draft_id)
    const wanted = sequenceWanted(context.mission.task, context.language)
    if (wanted) return proposeSequence(context, wanted)
    const recipients = await byLanguage(context, await chooseRecipients(context))
    context.expect(2 + recipients.length * 4)
    const unwritten = unwrittenWords(
      context,
      recipients.flatMap(({ readers }) => readers),
    )
    if (unwritten) context.leaveOut(unwritten)
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
      const language = languageFor({ ...context, language: asked }, recipient.readers)
      context.speak(language)
      if (language !== asked) other.push(recipient.lead ? nameOf(recipient.lead) : '')
      const { mail, judge } = await writeMail(context, number, recipient, {
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
    const isParted = recipients.length > 1 && leads.length === 0
    const because =
      (isParted && WORDS.parted[asked]) ||
      (other.length > 0 && WORDS[names ? 'spoken' : 'spoken_to_all'][asked].replace('{x}', names))
    const missing = contextNote(context.brief)?.[asked]
    return {
      summary: [counts, because, missing].filter(Boolean).join('. '),
      documents: [],
      drafts: drafts.map(({ id }) => id),
    }
  },
}
