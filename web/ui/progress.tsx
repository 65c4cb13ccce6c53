import { cn } from './class-names.ts'

/** A progress bar; `value` is undefined while the progress is unknown. */
export function Progress({
  label,
  value,
  max = 1,
  className,
}: {
  label: string
  value: number | undefined
  max?: number
  className?: string
}) {
  const share = value === undefined || max <= 0 ? undefined : Math.min(1, value / max)
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share === undefined ? undefined : Math.round(share * 100)}
      className={cn('h-1.5 w-full overflow-hidden rounded-full bg-line', className)}
    >
      <div
        className={cn(
          'h-full rounded-full bg-fg transition-[width] duration-300',
          share === undefined && 'w-1/3 animate-pulse',
        )}
        style={share === undefined ? undefined : { width: `${share * 100}%` }}
      />
    </div>
  )
}
