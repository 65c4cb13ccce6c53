import type { MapFilter } from '../../api/queries.ts'

type Shown = {
  /** Neither events nor clusters on the map, nor what moves. */
  isEmpty: boolean
  filter: MapFilter
  /** The map shows a part of the world's events: they are too many for one answer. */
  isPart: boolean
  window: 'day' | 'week'
  /** No source gives data, as a banner says. */
  isBlind: boolean
}

/** What helps a reader who sees no event; null where there are some, `nothing` where nothing helps. */
export function emptyHint({ isEmpty, filter, isPart, window, isBlind }: Shown) {
  if (!isEmpty) return null
  if (Object.keys(filter).length > 0) return 'filter'
  if (isPart) return 'zoom'
  if (isBlind) return 'blind'
  return window === 'day' ? 'window' : 'nothing'
}
