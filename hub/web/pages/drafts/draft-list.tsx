import { Link } from 'wouter'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Time } from '../../../../web/ui/time.tsx'
import { StateBadge, useAudience } from './draft-state.tsx'
import { draftsText } from './drafts.text.ts'
import type { Draft, DraftState } from './queries.ts'

/** The list of drafts, like an inbox. */
export function DraftList({
  drafts,
  open,
  state,
}: {
  drafts: Draft[]
  open: string | null
  state: DraftState | undefined
}) {
  const text = useText(draftsText)
  const audience = useAudience()
  const filter = state ? `state=${state}&` : ''
  return (
    <ul aria-label={text.list}>
      {drafts.map((draft) => {
        const isOpen = draft.id === open
        return (
          <li key={draft.id} className="border-b border-line">
            <Link
              href={`/p/${draft.project}/drafts?${filter}draft=${draft.id}`}
              data-draft={draft.id}
              aria-current={isOpen ? 'true' : undefined}
              className={cn(
                'flex flex-col gap-1 px-4 py-3 -outline-offset-2 md:px-5',
                isOpen ? 'bg-surface shadow-[inset_2px_0_0_var(--accent)]' : 'hover:bg-hover',
              )}
            >
              <span className="flex items-baseline gap-3">
                <span className="min-w-0 flex-1 truncate font-medium">{draft.subject}</span>
                <Time at={draft.updated_at} className="shrink-0 text-xs text-muted" />
              </span>
              <span className="truncate text-sm text-muted">{draft.text.slice(0, 160)}</span>
              <span className="mt-0.5 flex min-w-0 items-center gap-2 text-xs text-muted">
                <StateBadge state={draft.state} />
                <span className="truncate">{audience(draft.audience)}</span>
              </span>
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
