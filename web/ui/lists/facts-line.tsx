import { Children, type ReactNode } from 'react'
import { cn } from '../class-names.ts'

/** Short facts on one line with dots between them; a line that wraps starts without a dot. */
export function FactsLine({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <div className={cn('overflow-hidden text-sm text-muted', className)}>
      <div className="-ml-4 flex flex-wrap items-center gap-y-1">
        {Children.toArray(children).map((fact, at) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: a fact has no identity
            key={at}
            className="relative min-w-0 pl-4 before:absolute before:left-1.5 before:content-['·'/'']"
          >
            {fact}
          </span>
        ))}
      </div>
    </div>
  )
}
