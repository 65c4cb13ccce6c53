import { z } from 'zod'
import { bilingual, perLanguage, verbatim, type Words } from '../i18n/words.ts'
import { ModelError } from './error.ts'
import { modelText } from './model.text.ts'
import type { Message } from './protocol.ts'
import { outline, type Schema } from './schema.ts'

const say = bilingual(modelText)

/** How much of a refused answer the second prompt shows. */
const SHOWN_CHARACTERS = 2000

/** The prompt, with the stable part first, so that the model does not have to read it again. */
export function toMessages(system: string, task: string, schema: Schema): Message[] {
  const form = `Answer with one JSON object and nothing else, in this form:\n${outline(schema)}`
  return [
    { role: 'system', content: system },
    { role: 'user', content: `${task}\n\n${form}` },
  ]
}

/** The prompt of the second attempt: the first one, its answer, and what was wrong with it. */
export function retryMessages(messages: Message[], answer: string, problem: string): Message[] {
  return [
    ...messages,
    { role: 'assistant', content: answer.slice(0, SHOWN_CHARACTERS) || '(nothing)' },
    {
      role: 'user',
      content: `That answer cannot be used:\n${problem}\nAnswer again: the whole JSON object, corrected, and nothing else.`,
    },
  ]
}

type Read<T> = { success: true; data: T } | { success: false; problem: string; failure: ModelError }

/**
 * readAnswer checks an answer against its schema. If it does not fit, it returns a sentence for the
 * model that says why.
 */
export async function readAnswer<S extends z.ZodType>(
  schema: S,
  { text, is_cut }: { text: string; is_cut: boolean },
): Promise<Read<z.output<S>>> {
  const json = parse(text)
  if (json === undefined) {
    if (!is_cut) return invalid(say.no_json)
    const failure = new ModelError('out_of_budget', say.out_of_budget)
    return { success: false, problem: 'It was too long and broke off. Be much shorter.', failure }
  }
  const parsed = await schema.safeParseAsync(tidied(json))
  if (parsed.success) return { success: true, data: parsed.data }
  return invalid(verbatim(z.prettifyError(parsed.error).slice(0, SHOWN_CHARACTERS)))
}

function invalid(problem: Words): Read<never> {
  const words = perLanguage((language) =>
    modelText[language].invalid_output(problem[language].replaceAll(/\s+/g, ' ')),
  )
  const failure = new ModelError('invalid_output', words)
  return { success: false, problem: problem.en, failure }
}

/** Endpoints without grammars wrap the object in thoughts, prose or a code fence. */
function parse(text: string): unknown {
  const answer = text.replace(/<think>[\s\S]*?<\/think>/, '')
  const from = answer.indexOf('{')
  const to = answer.lastIndexOf('}')
  if (from === -1 || to < from) return undefined
  try {
    return JSON.parse(answer.slice(from, to + 1))
  } catch {
    return undefined
  }
}

/** tidied returns a value whose texts PostgreSQL can store: without NUL and lone surrogates. */
export function tidied(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed()
  if (Array.isArray(value)) return value.map(tidied)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, tidied(inner)]))
}
