import type { MapFilter } from '../../api/queries.ts'

type Shown = {
  /** Events and clusters on the map, and what moves. */
  count: number
  filter: MapFilter
  /** The map shows a part of the world's events: they are too many for one answer. */
  isPart: boolean
  window: 'day' | 'week'
}

/** What helps a reader who sees no event; null where there are some, `nothing` where nothing helps. */
export function emptyHint({ count, filter, isPart, window }: Shown) {
  if (count > 0) return null
  if (Object.keys(filter).length > 0) return 'filter'
  if (isPart) return 'zoom'
  return window === 'day' ? 'window' : 'nothing'
}
