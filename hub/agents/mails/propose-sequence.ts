import { bilingual } from '../../i18n/words.ts'
import type { AudienceFilter } from '../../mail/drafts/audience.ts'
import { createSequence } from '../../mail/sequences/sequences.ts'
import { contextNote, keepOwnFacts } from '../../projects/own-facts.ts'
import type { AgentContext, Result } from '../agent.ts'
import { leftOutText } from '../left-out.text.ts'
import { languageFor, unwrittenWords } from '../recipients/spoken.ts'
import { byLanguage, chooseRecipients, type Recipient } from './choose.ts'
import { type Mail, textOf } from './designer.ts'
import { sequenceText } from './sequence.text.ts'
import type { Wanted } from './sequence-wanted.ts'
import { writeMail } from './write.ts'

/** Days before the second mail, and before each later one. */
const WAITS = [4, 7] as const

/**
 * proposeSequence writes the mails of a sequence and stores it in the state `draft`: nothing of it is
 * sent before a person has approved it with its recipients. The mails rest on evidence about the
 * project alone, since each of them goes to every recipient.
 */
export async function proposeSequence(context: AgentContext, wanted: Wanted): Promise<Result> {
  const { project, mission, language: asked } = context
  const recipients = await chooseRecipients(context)
  const filter = filterOf(recipients)
  context.expect(3 + wanted.mails * 2)
  const own = await context.step('own facts', (sql) =>
    keepOwnFacts(sql, project.id, context.brief, mission.id),
  )
  // Each mail goes to every recipient, so readers of two languages get that of the task.
  const readers = (await byLanguage(context, recipients)).flatMap((one) => one.readers)
  context.speak(languageFor(context, readers))
  const unwritten = unwrittenWords(context, readers)
  if (unwritten) context.leaveOut(unwritten)
  const language = context.language
  const reader: Recipient = {
    audience: { kind: 'list', filter },
    lead: null,
    readers: [],
  }
  const mails: Mail[] = []
  for (let number = 1; number <= wanted.mails; number += 1) {
    const { mail } = await writeMail(context, String(number), reader, {
      theirs: [],
      own,
      place: { before: mails, of: wanted.mails },
    })
    mails.push(mail)
  }
  context.speak(asked)
  if (wanted.asked) context.leaveOut(bilingual(leftOutText).mails(wanted.mails, wanted.asked))
  const { id, held } = await context.step('sequence', async (sql) => {
    const id = await createSequence(sql, project, {
      name: mails[0]?.subject ?? '',
      language,
      filter,
      steps: mails.map((mail, at) => ({
        wait_days: waitOf(at, wanted.every),
        subject: at === 0 ? mail.subject : null,
        text: textOf(mail),
      })),
      agent: 'marketing',
      mission_id: mission.id,
    })
    const steps = await sql<{ id: string }>`
      select id from hub.drafts where sequence_id = ${id} order by step`
    let held = 0
    for (const step of steps) held += await context.held(sql, step.id)
    return { id, held }
  })
  const say = sequenceText[asked]
  const missing = contextNote(context.brief)?.[asked]
  return {
    summary: [say.summary(mails.length, held), say.approve, missing].filter(Boolean).join(' '),
    documents: [],
    sequences: [id],
  }
}

const waitOf = (at: number, every: number | null) =>
  at === 0 ? 0 : (every ?? (at === 1 ? WAITS[0] : WAITS[1]))

/** The recipients as the filter of a list. */
function filterOf(recipients: Recipient[]): AudienceFilter {
  const lists = recipients.flatMap(({ audience }) =>
    audience.kind === 'list' ? [audience.filter] : [],
  )
  const ids = recipients.flatMap(({ lead }) => lead?.id ?? [])
  return lists[0] ?? { lead_ids: ids }
}
