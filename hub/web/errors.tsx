import type { ReactNode } from 'react'
import type { FormFailure } from '../../web/ui/form.tsx'
import { Form } from '../../web/ui/form.tsx'
import { Failed } from '../../web/ui/states.tsx'
import { toast } from '../../web/ui/toast.tsx'
import { ProblemError, Unreachable } from './api/client.ts'
import { common } from './common.text.ts'
import { type Language, useLanguage } from './i18n.ts'

/** What to tell the admin of an error, in the language of the page. */
export function sayError(error: unknown, language: Language): string {
  if (error instanceof Unreachable) return common[language].failed.unreachable
  if (!(error instanceof ProblemError)) return common[language].failed.unknown
  return error.problem.detail
}

/** Sorts a refusal: what belongs to a field of the form, and what to none. */
export function explain(error: unknown, names: string[], language: Language): FormFailure {
  const fields: Record<string, string> = {}
  const rest: string[] = []
  const issues = error instanceof ProblemError ? (error.problem.errors ?? []) : []
  for (const { path, message } of issues) {
    const name = names.find((name) => path === name || path.endsWith(`.${name}`))
    if (name) fields[name] ??= message
    else rest.push(message)
  }
  if (issues.length === 0) rest.push(sayError(error, language))
  return { fields, whole: rest.length > 0 ? rest.join(' ') : null }
}

/** A form of the hub: its refusals are problem details. */
export function HubForm(props: {
  onSubmit: (values: Record<string, string>) => Promise<unknown>
  className?: string
  children: ReactNode
}) {
  const language = useLanguage()
  return <Form {...props} explain={(error, names) => explain(error, names, language)} />
}

/** What failed to load, in place of what it would have been. */
export function FailedQuery({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const language = useLanguage()
  const text = common[language].failed
  return (
    <Failed
      title={text.title}
      text={sayError(error, language)}
      request_id={error instanceof ProblemError ? error.problem.request_id : undefined}
      onRetry={onRetry}
    />
  )
}

/** The `onError` of a change that has no form to say it in. */
export function useToastError(): (error: unknown) => void {
  const language = useLanguage()
  return (error) => toast(sayError(error, language), { kind: 'failed' })
}
