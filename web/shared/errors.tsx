import { Component, type ComponentProps, type ReactNode } from 'react'
import { Form, type FormFailure } from '../ui/form.tsx'
import { Failed } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { useWords, type Words } from '../ui/words.tsx'
import { type ProblemDetails, ProblemError } from './problem.ts'
import { Unreachable } from './reach.ts'

/** The sentence that tells the reader about an error. */
export function errorMessage(error: unknown, { failed }: Pick<Words, 'failed'>): string {
  if (error instanceof ProblemError) return refusalDetail(error.problem, { failed })
  return error instanceof Unreachable ? failed.unreachable : failed.unknown
}

/** What a refusal says as a whole, in the language of the page. */
export function refusalDetail(
  problem: Pick<ProblemDetails, 'code' | 'detail'>,
  { failed }: Pick<Words, 'failed'>,
): string {
  return failed.refusal?.detail(problem) ?? problem.detail
}

/** What a refusal says of a field, in the language of the page. */
export const refusalMessage = (message: string, { failed }: Pick<Words, 'failed'>): string =>
  failed.refusal?.message(message) ?? message

/** Assigns the messages of a refusal to the form's fields, or to the form as a whole. */
export function explain(
  error: unknown,
  names: string[],
  words: Pick<Words, 'failed'>,
): FormFailure {
  const fields: Record<string, string> = {}
  const rest: string[] = []
  const { errors = [] }: Partial<ProblemDetails> =
    error instanceof ProblemError ? error.problem : {}
  for (const { path, message: said } of errors) {
    const message = refusalMessage(said, words)
    // The longest: of `escalation.0.channel_ids`, and not the other `channel_ids`.
    const [name] = names.filter((name) => isAt(path, name)).toSorted((a, b) => b.length - a.length)
    if (name) fields[name] ??= message
    else rest.push(path ? `${path}: ${message}` : message)
  }
  if (errors.length === 0) rest.push(errorMessage(error, words))
  return { fields, whole: rest.length > 0 ? rest.join(' ') : null }
}

/** Whether a path of the wire is that of a field or inside it: `name`, `lead.name`, `name.0`. */
const isAt = (path: string, name: string) => `.${path}.`.includes(`.${name}.`)

/** A form whose errors are problem details. */
export function ApiForm(props: Omit<ComponentProps<typeof Form>, 'explain'>) {
  const words = useWords()
  return <Form {...props} explain={(error, names) => explain(error, names, words)} />
}

/** Whether a query failed and has nothing to show; what it loaded before stays when a later load fails. */
export const hasFailed = <T extends { isLoadingError: boolean }>(
  query: T,
): query is Extract<T, { isLoadingError: true }> => query.isLoadingError

/** Replaces content that failed to load. */
export function FailedQuery({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const words = useWords()
  return (
    <Failed
      title={words.failed.title}
      text={errorMessage(error, words)}
      request_id={error instanceof ProblemError ? error.problem.request_id : undefined}
      onRetry={onRetry}
    />
  )
}

/** The `onError` of a mutation without a form to show the error in. */
export function useToastError(): (error: unknown) => void {
  const words = useWords()
  return (error) => toast(errorMessage(error, words), { kind: 'failed' })
}

/** Shows a sentence instead of a blank page when a page throws. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: undefined as unknown }
  static getDerivedStateFromError(error: unknown) {
    return { error }
  }
  override render() {
    if (this.state.error === undefined) return this.props.children
    return <FailedQuery error={this.state.error} onRetry={() => location.reload()} />
  }
}
