import { Compass } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { buttonClass } from '../../../web/ui/button.tsx'
import { cn } from '../../../web/ui/class-names.ts'
import { useText } from '../../../web/ui/language.ts'
import { Empty } from '../../../web/ui/states.tsx'
import { common } from '../common.text.ts'

/** A page: its title, its actions, and its content, which scrolls by itself. */
export function Page({
  title,
  detail,
  actions,
  bar,
  children,
  isWide = true,
  hasPanel = false,
}: {
  title: string
  detail?: ReactNode
  actions?: ReactNode
  /** A second row that stays visible: filters, tabs. */
  bar?: ReactNode
  children: ReactNode
  /** Tables and boards use the whole width, text does not. */
  isWide?: boolean
  /** Leaves room for the panel next to it. */
  hasPanel?: boolean
}) {
  return (
    <div
      className={cn(
        'flex min-h-0 flex-1 flex-col transition-[padding] duration-150',
        hasPanel && 'md:pr-[calc(min(30rem,44vw)+8px)]',
      )}
    >
      <header className="shrink-0 border-b border-line px-4 md:px-6">
        <div className="flex min-h-14 items-center gap-3">
          <h1 className="truncate text-lg">{title}</h1>
          {detail ? <span className="truncate text-muted max-md:hidden">{detail}</span> : null}
          <div className="ml-auto flex shrink-0 items-center gap-2">{actions}</div>
        </div>
        {bar}
      </header>
      {/* Focusable, so that the arrow keys scroll a page that has nothing to press. */}
      <section
        aria-label={title}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1, a scrollable region
        tabIndex={0}
        className="@container relative min-h-0 flex-1 overflow-auto -outline-offset-2"
      >
        {isWide ? children : <div className="w-full max-w-4xl px-4 py-6 md:px-6">{children}</div>}
      </section>
    </div>
  )
}

export function NotFound() {
  const text = useText(common).not_found
  return (
    <Empty
      picture={<Compass size={24} strokeWidth={1.5} aria-hidden />}
      title={text.title}
      text={text.text}
      action={
        <Link href="/" className={buttonClass()}>
          {text.action}
        </Link>
      }
    />
  )
}
