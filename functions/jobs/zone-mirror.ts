import type { Sql } from '../../shared/sql.ts'
import { type Database, inTransaction } from '../db.ts'
import { nextSlice } from '../scheduling.ts'
import { type Narrowing, ZoneIndex } from './zone-index.ts'

/** How many zones are read in one go: as many are at once there, more are read beside the matching. */
const PAGE = 5000
/** The index takes about 230 MB for so many. */
const MAX_ZONES = 1_000_000
/** The log of changes reaches back twice as far. */
const MAX_SILENCE_MS = 12 * 60 * 60_000

/** In the log: all zones were removed at once. */
const ALL = '00000000-0000-0000-0000-000000000000'

/**
 * The boxes of all zones in the memory of a process that lives long. The database is the truth: whoever asks here gets
 * the zones at least as they are in a snapshot of the transaction that asks.
 */
export type ZoneMirror = {
  /**
   * Catches up with what the transaction sees. Undefined until all zones were read, and where there are too many: then the
   * database has to be asked.
   */
  follow: (sql: Sql) => Promise<ZoneIndex | undefined>
}

type Since = { snapshot: string; at: string }
type Told = Since & { zones: Narrowing[] }
type State = {
  index: ZoneIndex
  /** Up to where the index is told of changes; null before anything was read. */
  since: Since | null
  is_whole: boolean
  is_loading: boolean
  /** When reading began, in the time of `performance.now`. */
  began: number
}

export function createZoneMirror(
  db: Database,
  { page = PAGE, max_zones = MAX_ZONES, log = (_line: Record<string, unknown>) => {} } = {},
): ZoneMirror {
  let state = empty()

  /** Reads the zones after one; returns the last of them, or null if there are no others. */
  async function readPage(sql: Sql, index: ZoneIndex, after: string | null) {
    const [row] = await sql<{ zones: Narrowing[] }>`
      select private.zones_after(${after}::uuid, ${page}) as zones`
    const zones = row?.zones ?? []
    for (const zone of zones) index.set(zone)
    index.pack()
    return zones.length < page ? null : (zones.at(-1)?.id ?? null)
  }

  function complete(loaded: State): void {
    loaded.is_whole = true
    log({
      msg: 'zones in memory',
      zones: loaded.index.size,
      duration_ms: Math.round(performance.now() - loaded.began),
    })
  }

  async function readOthers(loaded: State, first: string): Promise<void> {
    let after: string | null = first
    while (after !== null && loaded.index.size <= max_zones) {
      const last: string = after
      after = await inTransaction(db, (sql) => readPage(sql, loaded.index, last))
      await nextSlice()
    }
    if (after !== null) {
      loaded.index = new ZoneIndex()
      log({ msg: 'zones not in memory', reason: `There are more than ${max_zones}.` })
      return
    }
    loaded.index.pack({ all: true })
    complete(loaded)
  }

  /** What changes while the pages are read is told afterwards, because the snapshot is from before them. */
  async function load(sql: Sql): Promise<void> {
    const loaded = state
    loaded.is_loading = true
    loaded.began = performance.now()
    try {
      const told = await changesSince(sql, null)
      loaded.since = { snapshot: told.snapshot, at: told.at }
      const last = await readPage(sql, loaded.index, null)
      if (last === null) {
        loaded.is_loading = false
        complete(loaded)
        return
      }
      // In a transaction of its own, for which nobody waits.
      readOthers(loaded, last).catch((error) => {
        state = empty()
        log({ msg: 'zones', error: error instanceof Error ? error.message : String(error) })
      })
    } catch (error) {
      state = empty()
      throw error
    }
  }

  return {
    follow: async (sql) => {
      if (!state.is_whole && !state.is_loading) await load(sql)
      const followed = state
      const { since } = followed
      if (!followed.is_whole || !since) return undefined
      const told = await changesSince(sql, since.snapshot)
      // Another job of this process has begun anew.
      if (state !== followed) return undefined
      if (isLost(since, told) || told.zones.some(({ id }) => id === ALL)) {
        state = empty()
        return undefined
      }
      if (followed.since && isOlder(told.snapshot, followed.since.snapshot)) return followed.index
      for (const zone of told.zones) followed.index.set(zone)
      followed.index.pack()
      followed.since = { snapshot: told.snapshot, at: told.at }
      return followed.index
    },
  }
}

const empty = (): State => ({
  index: new ZoneIndex(),
  since: null,
  is_whole: false,
  is_loading: false,
  began: 0,
})

async function changesSince(sql: Sql, snapshot: string | null): Promise<Told> {
  const [told] = await sql<Told>`
    select snapshot::text, at, zones
    from private.zones_since(coalesce(${snapshot}::pg_snapshot, pg_current_snapshot()))`
  if (!told) throw new Error('zones_since answers one row')
  return told
}

/** The log may no longer reach back, or another server took the place of the one that was asked before. */
const isLost = (since: Since, now: Since) =>
  Date.parse(now.at) - Date.parse(since.at) > MAX_SILENCE_MS ||
  BigInt(xmaxOf(now.snapshot)) < BigInt(xmaxOf(since.snapshot))

/** Snapshots of one server follow one another: a later one sees all that an earlier one saw. */
function isOlder(one: string, other: string): boolean {
  const [a, b] = [BigInt(xmaxOf(one)), BigInt(xmaxOf(other))]
  return a < b || (a === b && runningIn(one) > runningIn(other))
}

/** As Postgres writes them: `xmin:xmax:` and the transactions in between that still run. */
const xmaxOf = (snapshot: string) => snapshot.split(':')[1] ?? '0'
const runningIn = (snapshot: string) =>
  snapshot.split(':')[2]?.split(',').filter(Boolean).length ?? 0
