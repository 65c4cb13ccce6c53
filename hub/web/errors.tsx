import type { ReactNode } from 'react'
import type { Language } from '../../shared/texts.ts'
import type { FormFailure } from '../../web/ui/form.tsx'
import { Form } from '../../web/ui/form.tsx'
import { useLanguage } from '../../web/ui/language.ts'
import { Failed } from '../../web/ui/states.tsx'
import { toast } from '../../web/ui/toast.tsx'
import { ProblemError, Unreachable } from './api/client.ts'
import { common } from './common.text.ts'

/** The sentence that tells the admin about an error, in the language of the page. */
export function errorMessage(error: unknown, language: Language): string {
  if (error instanceof Unreachable) return common[language].failed.unreachable
  if (!(error instanceof ProblemError)) return common[language].failed.unknown
  return error.problem.detail
}

/** Assigns the messages of a refusal to the form's fields, or to the form as a whole. */
function explain(error: unknown, names: string[], language: Language): FormFailure {
  const fields: Record<string, string> = {}
  const rest: string[] = []
  const issues = error instanceof ProblemError ? (error.problem.errors ?? []) : []
  for (const { path, message } of issues) {
    const name = names.find((name) => path === name || path.endsWith(`.${name}`))
    if (name) fields[name] ??= message
    else rest.push(message)
  }
  if (issues.length === 0) rest.push(errorMessage(error, language))
  return { fields, whole: rest.length > 0 ? rest.join(' ') : null }
}

/** A form of the hub, whose errors are problem details. */
export function HubForm(props: {
  onSubmit: (values: Record<string, string>) => Promise<unknown>
  className?: string
  children: ReactNode
}) {
  const language = useLanguage()
  return <Form {...props} explain={(error, names) => explain(error, names, language)} />
}

/** Replaces content that failed to load. */
export function FailedQuery({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const language = useLanguage()
  const text = common[language].failed
  return (
    <Failed
      title={text.title}
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
