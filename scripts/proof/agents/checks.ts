import { spelledNumbers } from '../../../hub/agents/numbers/spelled.ts'
import { numbersIn } from '../../../hub/agents/run/facts.ts'
import { inflects, wordsOf } from '../../../hub/agents/run/words.ts'
import { LANGUAGES, type Language } from '../../../shared/words/texts.ts'
import { type Task, worldOf } from './task.ts'

/** What came of a mission, as far as the checks look at it. */
export type Outcome = {
  status: 'done' | 'failed' | 'cancelled' | 'queued' | 'processing'
  reason: string | null
  waits_for: string | null
  summary: string
  documents: { path: string; text: string }[]
  /** The recipient's address, or `list`. */
  drafts: { to: string; subject: string; text: string }[]
  table: { columns: string[]; rows: unknown[][] } | null
  has_chart: boolean
  today: string
}

export type About = {
  task: Task
  language: Language
  /** The agent's prompt, of which nothing belongs into a result. */
  prompt: string
}

/** Said in passing, these are no figures: "one of two", "the 3 steps". */
const PLAIN_NUMBERS = ['0', '1', '2', '3']
const PROMPT_RUN = 8
const MIN_PARAGRAPH = 8
const TIMES = 3

const STOP: Record<Language, Set<string>> = {
  en: new Set(
    'the a an and or of to for in on with is are be this that we our you your it by at from as will can have has not'.split(
      ' ',
    ),
  ),
  tr: new Set(
    've bir bu ile icin de da olan olarak gibi daha cok en biz siz bizim sizin ne mi var yok ama veya her kadar sonra gore'.split(
      ' ',
    ),
  ),
}
const PLACEHOLDER =
  /\{\{|\{(?!first_name\}|company\}|name\})[\p{L}_ ]+\}|\[(?:your |the )?(?:name|company|date|amount|price|insert|isim|ad[ıi]n[ıi]z|şirket|tarih)[^\]]*\](?!\()|lorem ipsum|\bxxx+\b|<(?:name|company)>/iu
const CONFESSION =
  /\bas an ai\b|\b(?:ai|large) language model\b|\bi (?:am|['’]m) an? (?:ai|assistant)\b|yapay zek[aâ] (?:modeli|asistan[ıi]|olarak)|(?:bir )?dil modeli olarak/iu

/** checkOutcome lists what is wrong with a result; nothing, if it is useful. */
export function checkOutcome(outcome: Outcome, about: About): string[] {
  const { task, language } = about
  const { wants } = task
  const { status = 'done' } = wants
  const text = textOf(outcome)
  const said = wordsOf(text)
  const wrong: string[] = []
  const fault = (isWrong: boolean, what: string) => {
    if (isWrong) wrong.push(what)
  }
  fault(!isIn(status, outcome), `${outcome.status} instead of ${status}: ${outcome.reason ?? ''}`)
  // What did not get so far has nothing to be looked at.
  if (wrong.length > 0) return wrong
  for (const group of wants.says ?? []) {
    fault(!group.some((one) => says(text, said, one)), `does not say ${group.join(' or ')}`)
  }
  for (const word of wants.never ?? []) fault(says(text, said, word), `says ${word}`)
  wrong.push(...shapeOf(outcome, task))
  if (status !== 'done') return wrong
  fault(text.trim() === '', 'is empty')
  // Of drafts the summary is a count, made by code.
  const written = outcome.drafts.length > 0 ? textOf({ ...outcome, summary: '' }) : text
  wrong.push(...strangers(task, said), ...inventions(written, about, outcome))
  for (const paragraph of paragraphsOf(withoutGiven(text, task))) {
    const shown = paragraph.slice(0, 60)
    fault(isForeign(paragraph, language), `is in another language: ${shown}`)
  }
  const hole = PLACEHOLDER.exec(text)?.[0]
  fault(hole !== undefined, `has a placeholder: ${hole}`)
  fault(CONFESSION.test(text), 'speaks of itself as a model')
  const shared = sharedRun(said, wordsOf(about.prompt))
  fault(shared !== undefined, `repeats its prompt: ${shared}`)
  const again = repeated(text)
  fault(again !== undefined, `says the same ${TIMES} times: ${again}`)
  return wrong
}

function isIn(status: NonNullable<Task['wants']['status']>, outcome: Outcome): boolean {
  if (status !== 'asks') return outcome.status === status
  return (
    outcome.status === 'failed' || (outcome.status === 'queued' && outcome.waits_for === 'approval')
  )
}

/** Everything a person would read of the result. */
function textOf({ status, reason, summary, documents, drafts, table }: Outcome): string {
  if (status !== 'done') return reason ?? ''
  return [
    summary,
    ...documents.map(({ text }) => text),
    ...drafts.flatMap(({ subject, text }) => [subject, text]),
    ...(table ? [table.columns, ...table.rows].map((row) => row.join(' | ')) : []),
  ].join('\n\n')
}

/** By words with their endings, and by the value of a number: 1.200 is 1200. */
function says(text: string, said: string[], wanted: string): boolean {
  if (/^\d+$/.test(wanted)) return numbersIn(text).includes(wanted)
  const words = wordsOf(wanted)
  return said.some((_, from) =>
    words.every((word, at) => {
      const here = said[from + at] ?? ''
      return LANGUAGES.some((language) => inflects(here, word, language))
    }),
  )
}

function shapeOf({ drafts, documents, table, has_chart }: Outcome, { wants }: Task): string[] {
  const wrong: string[] = []
  if (wants.drafts) {
    const [got, wanted] = [drafts.map(({ to }) => to), wants.drafts].map((all) => all.toSorted())
    if (String(got) !== String(wanted)) wrong.push(`has drafts for ${got}, not for ${wanted}`)
  }
  if (documents.length < (wants.documents ?? 0)) wrong.push('has no document')
  if (wants.table && (table?.rows.length ?? 0) === 0) wrong.push('has no table')
  if (wants.chart && !has_chart) wrong.push('has no chart')
  if (wants.patch && !documents.some(({ path, text }) => isPatch(path, text))) {
    wrong.push('has no patch')
  }
  return wrong
}

const isPatch = (path: string, text: string) => path.endsWith('.patch') && /^@@ /m.test(text)

/** The names of leads that the result is not about. */
function strangers(task: Task, said: string[]): string[] {
  const { about } = task.wants
  if (!about) return []
  return worldOf(task)
    .leads.filter(({ company }) => !about.includes(company))
    .flatMap(({ name, company }) => [name, company])
    .filter((one) => says('', said, one))
    .map((one) => `names ${one}, who has nothing to do with it`)
}

/** The numbers that were neither given nor follow from what was. */
function inventions(text: string, about: About, { today }: Outcome): string[] {
  const { task, language } = about
  const { numbers = [] } = task.wants
  if (numbers === 'free') return []
  const { context, leads, files } = worldOf(task)
  const read = [...(task.input?.files ?? [])].map((path) => files[path] ?? '')
  const given = [
    ...Object.values(context),
    ...leads.flatMap(({ facts = [] }) => facts),
    ...read,
    task.input?.text ?? '',
    task.task[language],
    today.replaceAll('-', ' '),
  ].join('\n')
  const known = new Set([
    ...PLAIN_NUMBERS,
    ...numbers.map(String),
    ...numbersIn(given),
    ...spelledNumbers(given, language),
  ])
  // Marks of lists and names of files are no statements, and our own lines have their dates.
  const bare = text
    .replace(/^\s*(?:\d+[.)]|#+ \d+[.)]?)\s/gm, '')
    .replace(/\d{4}-\d{2}-\d{2}/g, (date) => (date === today ? '' : date))
    .replace(/[\w.-]*[a-z][\w-]*\.(?:md|csv|patch|js|ts)\b|\b[A-Z]\d+\b/g, '')
  const strange = [...new Set(numbersIn(bare))].filter((number) => !known.has(number))
  return strange.length > 0 ? [`invents ${strange.join(', ')}`] : []
}

/** What was given may be quoted as it is, in whatever language. */
function withoutGiven(text: string, task: Task): string {
  const { leads, context } = worldOf(task)
  const given = [...leads.flatMap(({ facts = [] }) => facts), ...Object.values(context)]
  return given.reduce((rest, one) => rest.replaceAll(one, ''), text)
}

function paragraphsOf(text: string): string[] {
  return text
    .replace(/```[\s\S]*?```/g, '')
    .split(/\n{2,}/)
    .filter((one) => wordsOf(one).length >= MIN_PARAGRAPH && !/^(?:---|\+\+\+|@@|diff )/m.test(one))
}

function isForeign(text: string, language: Language): boolean {
  const words = wordsOf(text)
  const count = (of: Language) => words.filter((word) => STOP[of].has(word)).length
  const other = language === 'en' ? 'tr' : 'en'
  return count(other) > count(language) + 1
}

function sharedRun(said: string[], prompt: string[]): string | undefined {
  const runs = new Set(prompt.map((_, at) => prompt.slice(at, at + PROMPT_RUN).join(' ')))
  for (let at = 0; at + PROMPT_RUN <= said.length; at += 1) {
    const run = said.slice(at, at + PROMPT_RUN).join(' ')
    if (runs.has(run)) return run
  }
  return undefined
}

function repeated(text: string): string | undefined {
  const times = new Map<string, number>()
  for (const sentence of text.split(/(?<=[.!?])\s+|\n+/)) {
    const words = wordsOf(sentence)
    if (words.length < 5) continue
    const key = words.join(' ')
    const count = (times.get(key) ?? 0) + 1
    if (count >= TIMES) return sentence.slice(0, 60)
    times.set(key, count)
  }
  return undefined
}
