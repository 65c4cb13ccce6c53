import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { FailedQuery } from '../shared/errors.tsx'
import { SkeletonRows } from '../ui/states.tsx'

/** What a query found, or that it is looking, or why it failed. What was found stays while it is looked for again. */
export function Found<T>({
  query,
  children,
}: {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error) return <FailedQuery error={query.error} onRetry={() => void query.refetch()} />
  return <SkeletonRows />
}

/** Facts side by side, each under its name. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-4 md:grid-cols-4" data-numbers>
      {children}
    </dl>
  )
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-0.5">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  )
}

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-3 border-t border-line pt-4">
      <h2 className="text-lg">{title}</h2>
      {children}
    </section>
  )
}

/** A wide table scrolls by itself, also by the keyboard. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto">
      {children}
    </section>
  )
}
