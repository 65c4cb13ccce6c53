import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { cn } from '../class-names.ts'
import { useWords } from '../words.tsx'

type PanesProps = {
  list: ReactNode
  /** Whether something is open beside the list; a phone shows only that. */
  isOpen: boolean
  isWide?: boolean
  children: ReactNode
}

/** A list, and beside it what is open of it. */
export function Panes({ list, isOpen, isWide = false, children }: PanesProps) {
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <section
        className={cn(
          'flex min-h-0 w-full flex-col border-line md:border-r',
          isWide ? 'md:w-[26rem]' : 'md:w-80',
          isOpen && 'max-md:hidden',
        )}
      >
        {list}
      </section>
      <section
        // What is hidden from eyes has a place of its own: it must scroll with the rest.
        className={cn(
          'relative min-h-0 min-w-0 flex-1 overflow-y-auto',
          !isOpen && 'max-md:hidden',
        )}
      >
        {children}
      </section>
    </div>
  )
}

/** The way back to the list on a phone. */
export function BackToList({ href, className }: { href: string; className?: string }) {
  const words = useWords()
  return (
    <Link href={href} aria-label={words.close} className={cn('md:hidden', className)}>
      <ArrowLeft size={16} aria-hidden />
    </Link>
  )
}
