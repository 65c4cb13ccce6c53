import { useSearchParams } from 'wouter'
import type { LeadFilter } from './queries.ts'
import { STAGES } from './stage.tsx'

type Params = 'stage' | 'tag' | 'q' | 'field' | 'value' | 'lead' | 'do' | 'import'

/** The state of the page in its address: the filter, the open lead, the open dialog, the import. */
export function useLeadAddress() {
  const [search, setSearch] = useSearchParams()
  const stage = STAGES.find((one) => one === search.get('stage'))
  const tag = search.get('tag')
  const q = search.get('q')
  const field = search.get('field')
  const value = search.get('value')
  const filter: LeadFilter = {
    ...(stage ? { stage } : {}),
    ...(tag ? { tag } : {}),
    ...(q ? { q } : {}),
    ...(field ? { field } : {}),
    ...(field && value ? { value } : {}),
  }
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
      { replace: true },
    )
  return {
    filter,
    open: search.get('lead'),
    doing: search.get('do'),
    running: search.get('import'),
    set,
  }
}
