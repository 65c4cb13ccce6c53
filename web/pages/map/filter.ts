import { BANDS } from '../../../shared/decide/bands.ts'
import { eventWords } from '../../../shared/words/event-words.ts'
import type { MapFilter } from '../../api/queries.ts'

const BAND_WIDTH = 20
/** All types of events; not from shared/schemas/event.ts, which would bring all schemas with it. */
export const TYPES = Object.keys(eventWords.en.types) as (keyof typeof eventWords.en.types)[] // safe: its own keys

/** The filter that the address names; what it misspells asks for everything. */
export function filterIn(type: string | null, severity: string | null): MapFilter {
  const types = TYPES.find((each) => each === type)
  const band = BANDS.findIndex((each) => `${each}` === severity)
  return { ...(types ? { types } : {}), ...(band > 0 ? { min_severity: band * BAND_WIDTH } : {}) }
}
