import type { Language } from '../shared/texts.ts'
import { ProblemError, Unreachable } from './api/client.ts'
import { common } from './common.text.ts'
import type { FormFailure } from './ui/form.tsx'
import { useLanguage } from './ui/language.ts'
import { Failed } from './ui/states.tsx'
import { toast } from './ui/toast.tsx'

/** The sentence that tells the reader about an error; that of the service is in English. */
export function errorMessage(error: unknown, language: Language): string {
  if (error instanceof ProblemError) return error.problem.detail
  if (error instanceof Unreachable || error instanceof TypeError) {
    return common[language].failed.unreachable
  }
  return common[language].failed.unknown
}

/** Assigns the messages of a refusal to the form's fields, or to the form as a whole. */
export function explain(error: unknown, names: string[], language: Language): FormFailure {
  const fields: Record<string, string> = {}
  const rest: string[] = []
  const issues = error instanceof ProblemError ? (error.problem.errors ?? []) : []
  for (const { path, message } of issues) {
    const name = names.find((name) => path === name || path.startsWith(`${name}.`))
    if (name) fields[name] ??= message
    else rest.push(path ? `${path}: ${message}` : message)
  }
  if (issues.length === 0) rest.push(errorMessage(error, language))
  return { fields, whole: rest.length > 0 ? rest.join(' ') : null }
}

/** Replaces content that failed to load. */
export function FailedQuery({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const language = useLanguage()
  return (
    <Failed
      title={common[language].failed.title}
      text={errorMessage(error, language)}
      request_id={error instanceof ProblemError ? error.problem.request_id : undefined}
      onRetry={onRetry}
    />
  )
}

/** The `onError` of a mutation without a form to show the error in. */
export function useToastError(): (error: unknown) => void {
  const language = useLanguage()
  return (error) => toast(errorMessage(error, language), { kind: 'failed' })
}
