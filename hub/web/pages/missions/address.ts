import { useSearchParams } from 'wouter'
import { STATUSES } from './queries.ts'

type Params = 'status' | 'mission' | 'approval' | 'do'

/** The state of the page in its address: the filter, the open mission, the open dialog. */
export function useMissionAddress() {
  const [search, setSearch] = useSearchParams()
  const set = (change: Partial<Record<Params, string | null>>) =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before)
        for (const [name, value] of Object.entries(change)) {
          if (value) after.set(name, value)
          else after.delete(name)
        }
        return after
      },
      { replace: !('mission' in change) },
    )
  return {
    status: STATUSES.find((one) => one === search.get('status')),
    open: search.get('mission'),
    approval: search.get('approval'),
    isComposing: search.get('do') === 'compose',
    set,
  }
}
