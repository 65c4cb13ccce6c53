import type { EventType } from '../../shared/schemas/event.ts'

/** Of a source, which other one sees the same events, so that without it a zone is not blind. */
type StandIn = {
  source: string
  by: string
  /** The types of `source` that `by` sees, under whatever type. */
  types: readonly EventType[]
  /** `by` lists none that is weaker, by the severity of the event. */
  from_severity: number
}

/**
 * Only sources that see the same events and rate them alike. What is not here leaves a zone blind: a wrong line
 * would hide that.
 */
const STAND_INS: readonly StandIn[] = [
  // Both list the world's earthquakes from magnitude 4.5 on, and rate them by magnitude.
  { source: 'usgs', by: 'emsc', types: ['earthquake', 'volcano', 'other'], from_severity: 51 },
  { source: 'emsc', by: 'usgs', types: ['earthquake', 'other'], from_severity: 51 },
  // GDACS takes over the advisories of the NHC from tropical storms on, and rates them at least as high.
  { source: 'nhc', by: 'gdacs', types: ['storm'], from_severity: 50 },
]

/** The lines about a source, as they are stored with it. */
export function standInsOf(source: string): Omit<StandIn, 'source'>[] {
  return STAND_INS.filter((line) => line.source === source).map(({ source: _, ...line }) => line)
}
