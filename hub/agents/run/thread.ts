import type { Language } from '../../i18n/words.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import type { Fact, Thread } from '../agent.ts'
import { leftOutText } from '../left-out.text.ts'
import type { AgentName } from '../names.ts'
import { clip, languageOfTask, namedLanguage } from './facts.ts'

const told = bilingual(leftOutText)

/** Characters of a task, with those of the missions before it, that every call of the model sees. */
export const MAX_TASK = 4000
const MAX_RESULT = 4000
const MAX_ROWS = 20

type Say = (what: Words) => void

/**
 * taskOf puts the words of a conversation together, the newest last. Where they are too many, the
 * newest and the first are kept: those say what to do now, and what it is all about.
 */
export function taskOf({ words, earlier }: Thread, leaveOut: Say): string {
  const [first, ...later] = earlier.map(({ task }) => task)
  let room = MAX_TASK - words.length
  const kept: string[] = []
  const take = (task: string) => {
    if (task.length + 1 > room) return false
    room -= task.length + 1
    return true
  }
  const beginning = first !== undefined && take(first) ? [first] : []
  for (const task of later.reverse()) {
    if (!take(task)) break
    kept.unshift(task)
  }
  const read = beginning.length + kept.length
  if (read < earlier.length) leaveOut(told.parts(told.earlier_task, read, earlier.length))
  return [...beginning, ...kept, words].join('\n')
}

/** namedIn: the language that somebody asked for last in the conversation. */
export function namedIn({ words, earlier }: Thread): Language | undefined {
  const tasks = [...earlier.map(({ task }) => task), words]
  return tasks.map(namedLanguage).findLast((one) => one !== undefined)
}

/** languageIn: the language last asked for, or else that of the conversation's beginning. */
export function languageIn(thread: Thread): Language {
  const [first] = thread.earlier
  return namedIn(thread) ?? languageOfTask(first?.task ?? thread.words, first?.input.language)
}

/**
 * resultFact returns the earlier result as material: its words, documents, query, table and, unless
 * the agent that wrote them looks at each, its mails.
 */
export async function resultFact(
  thread: Thread,
  given: {
    agent: AgentName
    read: (path: string) => Promise<string | undefined>
    leaveOut: Say
  },
): Promise<Fact[]> {
  const last = thread.earlier.at(-1)
  if (!last?.result) return []
  const { summary, documents = [], sql, table } = last.result
  const parts = [summary]
  for (const { path } of documents) {
    const text = await given.read(path)
    if (text !== undefined) parts.push(text)
  }
  if (sql) parts.push(sql)
  if (table) {
    const rows = table.rows.slice(0, MAX_ROWS)
    if (rows.length < table.rows.length) given.leaveOut(told.rows(told.earlier_result, MAX_ROWS))
    parts.push([table.columns, ...rows].map((row) => row.join(' | ')).join('\n'))
  }
  if (given.agent !== 'marketing') {
    parts.push(...last.drafts.map(({ subject, text }) => `${subject}\n\n${text}`))
  }
  const text = parts.join('\n\n')
  if (text.length > MAX_RESULT) {
    given.leaveOut(told.cut(told.earlier_result, MAX_RESULT, text.length))
  }
  return [{ label: 'your earlier result', text: clip(text, MAX_RESULT) }]
}
