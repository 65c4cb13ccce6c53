import type { Issue } from '../../shared/problem.ts'
import { fieldText, problemText } from './problem.text.ts'
import { bilingual, type Words } from './words.ts'

const fields = bilingual(fieldText)
const { kinds } = bilingual(problemText)

/** What a schema has against a value, in both languages: its own sentence, or what its code means. */
export function issueWords({ code, message }: Pick<Issue, 'code' | 'message'>): Words {
  const named = Object.values(fields).find(({ en }) => en === message)
  return named ?? Reflect.get(kinds, code) ?? kinds.other
}
