import { useSearchParams } from 'wouter'
import { STATES } from '../../../mail/drafts/flow.ts'

export const VIEWS = ['desktop', 'phone', 'text', 'changes'] as const
export type View = (typeof VIEWS)[number]

/** The state of the page in its address: the filter, the open draft, and its view. */
export function useDraftAddress() {
  const [search, setSearch] = useSearchParams()
  const set = (change: Partial<Record<'state' | 'draft' | 'view' | 'do', string | null>>) =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before)
        for (const [name, value] of Object.entries(change)) {
          if (value) after.set(name, value)
          else after.delete(name)
        }
        return after
      },
      { replace: !('draft' in change) },
    )
  return {
    state: STATES.find((one) => one === search.get('state')),
    open: search.get('draft'),
    view: VIEWS.find((one) => one === search.get('view')) ?? 'desktop',
    isEditing: search.get('do') === 'edit',
    set,
  }
}
