import { useState } from 'react'
import type { Zone } from '../../api/queries.ts'
import { lastPlace } from '../../map/last-view.ts'
import { type Draft, draftOf } from './draft.ts'
import { changedFields, type DraftField, withFields } from './draft-merge.ts'

/** What another save of the zone changed while its form was open. */
export type Newer = {
  fields: DraftField[]
  /** Those of them that were changed in the form too. */
  both: DraftField[]
}

/** Whether a later version of a zone differs in something that stands in the form. */
export const hasNews = (read: Zone, latest: Zone): boolean =>
  changedFields(draftOf(read, lastPlace()), draftOf(latest, lastPlace())).length > 0

/**
 * The draft of a zone, which may be saved elsewhere meanwhile. A form in which nothing was changed follows; else
 * `newer` says what differs, until `takeTheirs` or `keepMine`: either keeps what only one side has changed.
 */
export function useDraft(zone: Zone | undefined) {
  const [{ draft, base }, set] = useState(() => ({
    draft: draftOf(zone, lastPlace()),
    /** What the draft was made from. */
    base: zone,
  }))
  const from = base ? draftOf(base, lastPlace()) : undefined
  const isLater = zone !== undefined && base !== undefined && zone.version > base.version
  const latest = isLater ? draftOf(zone, lastPlace()) : from
  const theirs = from && latest ? changedFields(from, latest) : []
  const mine = from ? changedFields(from, draft) : []
  // Also when they differ in nothing that stands in the form, as after a snooze.
  const follows = isLater && (theirs.length === 0 || mine.length === 0)
  if (follows && latest) set({ draft: mine.length === 0 ? latest : draft, base: zone })
  const both = theirs.filter((field) => mine.includes(field))
  const newer: Newer | undefined =
    theirs.length > 0 && !follows ? { fields: theirs, both } : undefined

  /** Takes their fields over, but for some. */
  const take = (kept: readonly DraftField[]) => {
    const fields = theirs.filter((field) => !kept.includes(field))
    if (latest) set({ draft: withFields(draft, latest, fields), base: zone })
  }
  return {
    draft,
    change: (part: Partial<Draft>) =>
      set((before) => ({ ...before, draft: { ...before.draft, ...part } })),
    /** The zone that a save replaces; undefined for a new one. */
    base,
    newer,
    takeTheirs: () => take([]),
    keepMine: () => take(both),
    /** The draft that was sent is stored; what was typed since stays. */
    saved: (stored: Zone, sent: Draft) =>
      set((before) => {
        const since = changedFields(sent, before.draft)
        return {
          draft: withFields(draftOf(stored, lastPlace()), before.draft, since),
          base: stored,
        }
      }),
  }
}
