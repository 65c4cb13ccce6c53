import type { ReactNode } from 'react'
import { cn } from '../../../../web/ui/class-names.ts'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { numbersText } from './numbers.text.ts'

/** A chart with its title; a wide one takes the whole row. */
export function Card({
  title,
  total,
  isWide = false,
  children,
}: {
  title: string
  total?: number
  isWide?: boolean
  children: ReactNode
}) {
  const text = useText(numbersText)
  const language = useLanguage()
  return (
    <section
      className={cn(
        'min-w-0 rounded-panel border border-line bg-surface p-5',
        isWide && '@3xl:col-span-2',
      )}
    >
      <h2 className="mb-4 flex items-baseline gap-2">
        {title}
        {total === undefined ? null : (
          <span className="text-sm font-normal text-muted">
            {text.total(number(language, total))}
          </span>
        )}
      </h2>
      {children}
    </section>
  )
}
