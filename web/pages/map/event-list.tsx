import type { MapEvent } from '../../api/queries.ts'
import { Severity } from '../../event/severity.tsx'
import { TypeIcon } from '../../event/type-icon.tsx'
import { Time } from '../../ui/time.tsx'

/** What the list says of an event. */
export type Listed = {
  id: string
  properties: Pick<MapEvent['properties'], 'type' | 'title' | 'severity' | 'ts'>
  /** A vessel or an aircraft: it is always new, and comes after what is news. */
  isMoving?: boolean
}

/** More are on the map; a list of thousands helps nobody. */
const MAX_LISTED = 200

/** The newest events, as a list for those who do not use the map. */
export function EventList({
  events,
  onEvent,
}: {
  events: Listed[]
  onEvent: (id: string) => void
}) {
  const newest = events
    .toSorted(
      (one, two) =>
        Number(one.isMoving ?? false) - Number(two.isMoving ?? false) ||
        Date.parse(two.properties.ts) - Date.parse(one.properties.ts),
    )
    .slice(0, MAX_LISTED)
  return (
    <ul className="min-h-0 flex-1 overflow-y-auto">
      {newest.map(({ id, properties }) => (
        <li key={id}>
          <button
            type="button"
            onClick={() => onEvent(id)}
            className="flex w-full items-center gap-3 border-b border-line px-4 py-2 text-left -outline-offset-2 hover:bg-hover"
          >
            <span className="text-muted">
              <TypeIcon type={properties.type} />
            </span>
            <span className="min-w-0 flex-1">
              <span className="line-clamp-2">{properties.title}</span>
              <Time at={properties.ts} className="text-sm text-muted" />
            </span>
            <Severity severity={properties.severity} />
          </button>
        </li>
      ))}
    </ul>
  )
}
