import { bandOf } from '../../shared/decide/bands.ts'
import { eventWords } from '../../shared/words/event-words.ts'
import { cn } from '../ui/class-names.ts'
import { useText } from '../ui/language.ts'

const COLOURS = {
  minor: 'text-[var(--severity-minor)]',
  low: 'text-[var(--severity-low)]',
  moderate: 'text-[var(--severity-moderate)]',
  severe: 'text-[var(--severity-severe)]',
  extreme: 'text-[var(--severity-extreme)]',
} as const

/** The mark of a severity, in the shape and colour that the map has: never colour alone. */
export function SeverityMark({ severity, size = 16 }: { severity: number; size?: number }) {
  const band = bandOf(severity)
  const words = useText(eventWords)
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      role="img"
      aria-label={words.bands[band]}
      className={cn('shrink-0', COLOURS[band])}
    >
      {band === 'minor' ? <circle cx="8" cy="8" r="3" fill="currentColor" /> : null}
      {band === 'low' ? <circle cx="8" cy="8" r="4.5" fill="currentColor" /> : null}
      {band === 'moderate' ? (
        <circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" strokeWidth="2.5" />
      ) : null}
      {band === 'severe' ? <path d="M8 1.5 14.5 8 8 14.5 1.5 8Z" fill="currentColor" /> : null}
      {band === 'extreme' ? (
        <>
          <circle cx="8" cy="8" r="8" fill="currentColor" opacity="0.25" />
          <path d="M8 2.5 13.5 8 8 13.5 2.5 8Z" fill="currentColor" />
        </>
      ) : null}
    </svg>
  )
}

/** The mark with its number. */
export function Severity({ severity }: { severity: number }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap" data-numbers>
      <SeverityMark severity={severity} />
      {Math.round(severity)}
    </span>
  )
}
