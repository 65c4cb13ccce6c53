import type { ReactNode } from 'react'
import type { Language } from '../../../../shared/words/texts.ts'
import { cn } from '../../../../web/ui/class-names.ts'
import { bytes } from '../../../../web/ui/language.ts'

/** A section of the settings: its purpose, then its cards. */
export function Section({
  title,
  text,
  children,
}: {
  title: string
  text: string
  children: ReactNode
}) {
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-6 px-4 py-6 md:px-8 md:py-8">
      <header>
        <h2 className="text-xl">{title}</h2>
        <p className="mt-1 text-muted text-pretty">{text}</p>
      </header>
      {children}
    </div>
  )
}

/** A part of a section, in its own frame. */
export function Card({
  title,
  text,
  action,
  children,
  className,
}: {
  title?: string
  text?: ReactNode
  action?: ReactNode
  children?: ReactNode
  className?: string
}) {
  return (
    <section className={cn('rounded-panel border border-line bg-surface p-4 md:p-5', className)}>
      {title ? (
        <header className={cn('flex flex-wrap items-start gap-3', children ? 'mb-4' : undefined)}>
          <div className="min-w-40 flex-1">
            <h3 className="font-semibold">{title}</h3>
            {text ? <div className="mt-0.5 text-sm text-muted text-pretty">{text}</div> : null}
          </div>
          {action}
        </header>
      ) : null}
      {children}
    </section>
  )
}

/** Names and their values, one below the other. */
export function Facts({ rows }: { rows: [string, ReactNode][] }) {
  return (
    <dl className="flex flex-col">
      {rows.map(([name, value]) => (
        <div
          key={name}
          className="flex min-h-9 items-center gap-4 border-line not-last:border-b py-1.5"
        >
          <dt className="w-40 shrink-0 text-sm text-muted max-md:w-28">{name}</dt>
          <dd className="min-w-0 flex-1 break-words" data-numbers>
            {value}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Memory in binary units: a machine with 16 GB has 2^34 bytes. */
export function memory(language: Language, value: number): string {
  return bytes(language, (value / 2 ** 30) * 1e9)
}
