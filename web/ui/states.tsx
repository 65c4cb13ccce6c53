import { CloudOff, LoaderCircle, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { cn } from './class-names.ts'
import { useWords } from './words.tsx'

/** A grey bar in place of text that is loading. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden
      className={cn('block h-3 animate-pulse rounded-full bg-line', className ?? 'w-32')}
    />
  )
}

/** Rows in the shape of a list that is loading. */
export function SkeletonRows({ rows = 8 }: { rows?: number }) {
  const { loading } = useWords()
  return (
    <div role="status" aria-label={loading} className="late">
      {Array.from({ length: rows }, (_, row) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: rows without identity that never move
          key={row}
          className="flex h-11 items-center gap-6 border-b border-line px-4"
        >
          <Skeleton className={row % 3 === 0 ? 'w-40' : row % 3 === 1 ? 'w-28' : 'w-36'} />
          <Skeleton className="hidden w-24 md:block" />
          <Skeleton className="ml-auto w-16" />
        </div>
      ))}
    </div>
  )
}

export function Spinner({ label }: { label: string }) {
  return (
    <span role="status" aria-label={label} className="inline-flex text-muted">
      <LoaderCircle size={16} className="spinner" aria-hidden />
    </span>
  )
}

type EmptyProps = {
  picture: ReactNode
  title: string
  text: string
  action?: ReactNode
  className?: string
}

/** An empty state: one picture, one sentence, one action. */
export function Empty({ picture, title, text, action, className }: EmptyProps) {
  return (
    <div
      className={cn(
        'mx-auto flex max-w-sm flex-col items-center gap-2 px-6 py-16 text-center',
        className,
      )}
    >
      <div className="mb-3 flex size-14 items-center justify-center rounded-panel border border-line bg-surface text-muted">
        {picture}
      </div>
      <h2 className="text-lg">{title}</h2>
      <p className="text-muted text-pretty">{text}</p>
      {action ? <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div> : null}
    </div>
  )
}

type FailedProps = {
  title: string
  text: string
  request_id?: string | undefined
  onRetry?: (() => void) | undefined
}

/** What failed, what to do, and the request id that is also in the log. */
export function Failed({ title, text, request_id, onRetry }: FailedProps) {
  const words = useWords()
  return (
    <div
      role="alert"
      className="mx-auto flex max-w-sm flex-col items-center gap-2 px-6 py-16 text-center"
    >
      <div className="mb-3 flex size-14 items-center justify-center rounded-panel border border-line bg-surface text-bad">
        <CloudOff size={24} strokeWidth={1.5} aria-hidden />
      </div>
      <h2 className="text-lg">{title}</h2>
      <p className="text-muted text-pretty">{text}</p>
      {onRetry ? (
        <Button className="mt-4" onClick={onRetry} icon={<RotateCw size={14} aria-hidden />}>
          {words.retry}
        </Button>
      ) : null}
      {request_id ? (
        <p className="mt-3 select-all font-mono text-xs text-muted">
          {words.request_id} {request_id}
        </p>
      ) : null}
    </div>
  )
}
