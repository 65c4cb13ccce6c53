import { z } from 'zod'
import { SLOTS, TEMPLATE_PURPOSE, type TemplateName } from '../../mail/render/slots.ts'
import type { AgentContext } from '../agent.ts'
import type { Judge } from '../evidence/judge.ts'
import { squashed } from '../evidence/sentences.ts'
import { clip, one } from '../run/facts.ts'
import type { StepName } from '../step-names.ts'

/** The content of a mail before it has a form. Its sentences stay the same in every form. */
export type Mail = {
  subject: string
  greeting: string
  sentences: string[]
  closing: string
}

/** The templates of a campaign; a mail to one person is never one of these. */
const FORMS = ['newsletter', 'offer'] as const satisfies TemplateName[]
type Form = (typeof FORMS)[number] | 'letter' | 'follow_up'

type Given = {
  judge: Judge
  /** One person gets a plain personal mail, a list a newsletter or an offer. */
  audience: 'lead' | 'list'
  /** The template of a draft that gets another form. */
  now?: TemplateName
}

/**
 * design chooses a template and the place of each sentence. For a campaign the model chooses, and
 * writes no sentences except the two lines above the mail, and never HTML.
 */
export async function design(
  context: AgentContext,
  name: StepName,
  mail: Mail,
  { judge, audience, now }: Given,
): Promise<{ template: Form; slots: Record<string, unknown> }> {
  const website = context.project.website
  const question = mail.sentences.findLast((text) => text.trim().endsWith('?'))
  if (audience === 'lead') return personal(mail, question, now)
  const forms = FORMS.filter((form) => form !== 'offer' || website)
  const labels = mail.sentences.map((_, index) => `S${index + 1}`)
  const chosen = await context.complete(name, {
    schema: z.object({
      template: z.enum(forms as ['newsletter', ...typeof forms]), // safe: it is always among them
      preheader: z.string().min(3).max(100),
      headline: z.string().min(3).max(90),
      highlight: z.array(z.enum(labels as [string, ...string[]])).max(3), // safe: a mail has sentences
    }),
    facts: [
      { label: 'subject', text: mail.subject },
      {
        label: 'letter',
        text: mail.sentences.map((text, index) => `S${index + 1}: ${one(text)}`).join('\n'),
      },
    ],
    task:
      `Choose the form of this mail to a list: ${forms.map((form) => `${form} (${TEMPLATE_PURPOSE[form].en})`).join(', ')}. ` +
      'The preheader is the line an inbox shows after the subject, the headline stands above the letter: both say only what the letter says. Highlight up to three of its sentences.',
  })
  const said = new Set([mail.subject, ...mail.sentences].map((text) => squashed(text)))
  // A line above the mail that says more than the mail gives way to its subject.
  const honest = (text: string) => {
    const isSafe = ['harmless', 'supported'].includes(judge(text).verdict)
    return isSafe || said.has(squashed(text)) ? one(text, 140) : mail.subject
  }
  const slots = fillForm(chosen.template, {
    mail,
    website,
    question,
    language: context.language,
    preheader: honest(chosen.preheader),
    headline: honest(chosen.headline),
    points: mail.sentences.filter((_, index) => chosen.highlight.includes(`S${index + 1}`)),
  })
  const isSound = SLOTS[chosen.template].safeParse(slots).success
  if (isSound) return { template: chosen.template, slots }
  return { template: 'letter', slots: plainMail(mail, mail.subject) }
}

/**
 * A mail to one person looks as if that person's name had been typed: a plain text, or the
 * short reminder where one gets another form and asks something.
 */
function personal(mail: Mail, question: string | undefined, now: TemplateName | undefined) {
  const template = now === 'letter' && question ? ('follow_up' as const) : ('letter' as const)
  const [first = mail.subject] = mail.sentences
  const slots = fillForm(template, {
    mail,
    website: null,
    question,
    language: 'en',
    preheader: first,
    headline: mail.subject,
    points: [],
  })
  if (SLOTS[template].safeParse(slots).success) return { template, slots }
  return { template: 'letter' as const, slots: plainMail(mail, mail.subject) }
}

/** plainMail is the form that fits every mail. */
function plainMail(mail: Mail, preheader: string): Record<string, unknown> {
  return {
    subject: mail.subject,
    // Half a sentence may say what the whole one does not.
    preheader: preheader.length <= 140 ? one(preheader) : mail.subject,
    greeting: mail.greeting,
    paragraphs: paragraphs(mail.sentences, 6),
    closing: mail.closing,
  }
}

type Filling = {
  mail: Mail
  website: string | null
  question: string | undefined
  language: 'en' | 'tr'
  preheader: string
  headline: string
  points: string[]
}

function fillForm(form: Form, given: Filling): Record<string, unknown> {
  const { mail, website, question, language, preheader, headline, points } = given
  const base = plainMail(mail, preheader)
  const button = { label: language === 'tr' ? 'Siteyi açın' : 'Open the website', url: website }
  switch (form) {
    case 'letter':
      return base
    case 'follow_up': {
      const rest = mail.sentences.filter((text) => text !== question)
      return { ...base, paragraphs: paragraphs(rest, 3), question }
    }
    case 'offer': {
      const rest = mail.sentences.filter((text) => !points.includes(text))
      const offer = { title: headline, points: points.map((text) => clip(text, 200)) }
      return {
        ...base,
        paragraphs: paragraphs(rest.length > 0 ? rest : mail.sentences, 4),
        offer,
        button,
      }
    }
    case 'newsletter': {
      const [intro = '', ...rest] = mail.sentences
      return {
        subject: mail.subject,
        preheader: base.preheader,
        title: headline,
        intro,
        sections: [
          { heading: mail.subject, paragraphs: paragraphs(rest.length > 0 ? rest : [intro], 3) },
        ],
        ...(website ? { button } : {}),
      }
    }
  }
}

/** Distributes sentences over at most `most` paragraphs, two or more each. */
function paragraphs(sentences: string[], most: number): string[] {
  const size = Math.max(2, Math.ceil(sentences.length / most))
  const found: string[] = []
  for (let at = 0; at < sentences.length; at += size) {
    found.push(sentences.slice(at, at + size).join(' '))
  }
  return found
}

/** textOf is the mail as plain text, which a draft shows before it is rendered. */
export function textOf(mail: Mail): string {
  return [`${mail.greeting},`, ...paragraphs(mail.sentences, 6), `${mail.closing},`].join('\n\n')
}
