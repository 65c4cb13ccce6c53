import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

const TONES = {
  plain: 'border-line text-muted',
  good: 'border-good/40 text-good',
  warn: 'border-warn/40 text-warn',
  bad: 'border-bad/40 text-bad',
} as const

/** A small label. Its tone is never the only information. */
export function Badge({
  tone = 'plain',
  icon,
  children,
  className,
}: {
  tone?: keyof typeof TONES
  icon?: ReactNode
  children: ReactNode
  className?: string
}) {
  return (
    <span
      className={cn(
        'inline-flex h-5 max-w-full items-center gap-1 rounded-full border px-2 text-xs font-medium',
        TONES[tone],
        className,
      )}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  )
}

/** A key of the keyboard. */
export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded-[4px] border border-line bg-surface px-1 font-sans text-xs text-muted">
      {children}
    </kbd>
  )
}
