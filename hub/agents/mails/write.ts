import { z } from 'zod'
import type { Words } from '../../i18n/words.ts'
import { bilingual } from '../../i18n/words.ts'
import type { AgentContext, Fact } from '../agent.ts'
import { type EvidenceRow, fittest, givenText, leadFact, nameOf } from '../evidence/given.ts'
import { historyFact } from '../evidence/history.ts'
import { type Judge, judgeOf, type Verdict } from '../evidence/judge.ts'
import { objectionText } from '../evidence/objection.text.ts'
import { fillIn } from '../evidence/readers.ts'
import { sentencesOf } from '../evidence/sentences.ts'
import { leftOutText } from '../left-out.text.ts'
import { one } from '../run/facts.ts'
import type { Recipient } from './choose.ts'
import { type Mail, textOf } from './designer.ts'
import { earlierMail } from './earlier-mail.ts'

/** Evidence about a reader and about us that the model is given; the judge reads all of it. */
const MAX_EVIDENCE = 12
const MAX_ABOUT_US = 8

const WORDS = {
  closing: { en: 'Kind regards', tr: 'Saygılarımla' },
  dear: { en: 'Hello {first_name}', tr: 'Merhaba {first_name}' },
} satisfies Record<string, Words>

/** A sentence that the gate would not let through. */
type Loose = { sentence: string; verdict: Exclude<Verdict, 'harmless' | 'supported'> }

/** Where in a sequence a mail stands: what its readers had before it, and how many there are. */
export type Place = { before: Mail[]; of: number }

const toFact = (mail: Mail, index: number): Fact => ({
  label: `mail ${index + 1} of this sequence`,
  text: textOf(mail),
})

function placeTask({ before, of }: Place): string {
  const number = before.length + 1
  const first = `This is mail ${number} of ${of} of a sequence.`
  if (number === 1) return first
  const last = number === of ? ' It is the last one: say so kindly, and press nobody.' : ''
  return `${first} It goes, as a reply below the first, only to readers who have not answered the mails before it. Do not repeat those mails: give one other reason to answer, and keep it shorter.${last}`
}

const TO_MANY =
  'Many readers get the same letter: say nothing of any one of them, and begin with what all of them have in common.'

/**
 * writeMail has the model write one mail, and once more what the judge of the evidence gate would not
 * let through.
 */
export async function writeMail(
  context: AgentContext,
  number: string,
  { lead, audience }: Recipient,
  known: {
    theirs: EvidenceRow[]
    own: EvidenceRow[]
    history?: Parameters<typeof historyFact>[2]
    place?: Place
  },
): Promise<{ mail: Mail; judge: Judge }> {
  const { theirs, own, history, place } = known
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
  const isReply = place !== undefined && place.before.length > 0
  type Written = z.infer<typeof schema>
  const facts: Fact[] = [
    ...(place ? place.before.map(toFact) : earlierMail(context.thread, audience)),
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
    [...(isReply ? [] : [subject]), ...sentences.map(({ text }) => text)]
      .flatMap((text) => sentencesOf(lead ? fillIn(text, lead) : text, context.language))
      .flatMap((sentence) => {
        const { verdict } = judge(sentence)
        return verdict === 'harmless' || verdict === 'supported' ? [] : [{ sentence, verdict }]
      })
  const say = (task: string) =>
    [task, lead ? 'The reader is the lead.' : TO_MANY, place && placeTask(place)]
      .filter(Boolean)
      .join(' ')
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
