import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { buttonClass, IconButton } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { queueText } from './queue.text.ts'

/** The head of what waits: its title, a line about it, on a phone the way back, and the page where it is at home. */
export function ItemHead({
  title,
  detail,
  onBack,
  open,
}: {
  title: ReactNode
  detail?: ReactNode
  onBack: () => void
  open?: { href: string; label: string }
}) {
  const text = useText(queueText)
  return (
    <header className="flex items-start gap-2">
      <IconButton label={text.back} className="-ml-2 md:hidden" onClick={onBack}>
        <ArrowLeft size={16} aria-hidden />
      </IconButton>
      <div className="min-w-0 flex-1">
        {title}
        {detail ? <p className="text-sm text-muted break-words">{detail}</p> : null}
      </div>
      {open ? (
        <Link href={open.href} className={buttonClass({ size: 'sm', variant: 'ghost' })}>
          {open.label}
        </Link>
      ) : null}
    </header>
  )
}
