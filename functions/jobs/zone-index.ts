import Flatbush from 'flatbush'
import { extentOfEvent } from '../../shared/geometry/geometry.ts'
import type { Geometry } from '../../shared/schemas/event.ts'

type Box = [west: number, south: number, east: number, north: number]

/** What narrows the search for a zone. Without boxes it is not looked for. */
export type Narrowing = {
  id: string
  version: number
  valid_from: string
  min_severity: number
  sources: string[] | null
  types: string[] | null
  boxes: Box[]
}

/** Which version of a zone is valid now, and since when. */
export type CurrentZone = Pick<Narrowing, 'id' | 'version' | 'valid_from'>

/** What the search needs to know of an event. */
export type Sought = {
  source: string
  type: string
  lat: number
  lon: number
  severity: number
  subject: string | null
  geometry: Geometry | null
}

/** Boxes that were packed into a tree, each with the slot of its zone. */
type Packed = { tree: Flatbush; boxes: Float32Array; slots: Uint32Array }

/** More boxes than this are packed; those before are looked through one by one. */
const MAX_LOOSE = 512
/** A tree is packed anew together with new boxes when it is not more than so many times as large. */
const GROWTH = 4
/** How far a box in single precision may be off, and how far Postgres lets boxes that touch be apart; in degrees. */
const MARGIN = 3e-5

/**
 * The boxes of zones in memory, to find those that an event may concern as the database would. About 230 bytes a zone. A
 * changed zone gets another slot; the boxes of its former one are skipped, until half of all are such.
 */
export class ZoneIndex {
  readonly #slotOf = new Map<string, number>()
  // By slot, each in an array of its own: a million objects would take several times as much.
  #ids: string[] = []
  #versions: number[] = []
  #validFrom: string[] = []
  #minSeverities: number[] = []
  #filters: (Filter | null)[] = []
  /** The search that found it last, because a zone with several boxes is found once. */
  #foundBy: number[] = []
  #packed: Packed[] = []
  #loose: Loose[] = []
  readonly #known = new Map<string, Filter>()
  #searches = 0

  get size(): number {
    return this.#slotOf.size
  }

  /** What it holds in memory, with what is left of former states. */
  get held(): { slots: number; boxes: number } {
    const boxes = this.#packed.reduce((sum, { slots }) => sum + slots.length, this.#loose.length)
    return { slots: this.#ids.length, boxes }
  }

  /** Adds a zone, or puts it in the place of its former state. */
  set({ id, version, valid_from, min_severity, sources, types, boxes }: Narrowing): void {
    this.#remove(id)
    if (boxes.length === 0) return
    const slot = this.#ids.length
    this.#slotOf.set(id, slot)
    this.#ids.push(id)
    this.#versions.push(version)
    this.#validFrom.push(valid_from)
    this.#minSeverities.push(min_severity)
    this.#filters.push(this.#filterOf(sources, types))
    this.#foundBy.push(0)
    for (const box of boxes) this.#loose.push({ box, slot })
  }

  /** Packs what was added, if that is worth it; `all`, at the end of a load. */
  pack({ all = false } = {}): void {
    if (this.#ids.length > 2 * this.#slotOf.size + MAX_LOOSE) this.#compact()
    if (this.#loose.length === 0 || (!all && this.#loose.length < MAX_LOOSE)) return
    const loose = this.#loose
    const merged: Packed[] = []
    let count = loose.length
    for (;;) {
      const last = this.#packed.at(-1)
      if (!last || last.slots.length > GROWTH * count) break
      count += last.slots.length
      merged.push(last)
      this.#packed.pop()
    }
    this.#packed.push(packed(merged, loose, (slot) => this.#isLive(slot)))
    this.#loose = []
  }

  /** The current version of a zone; undefined for one that has no boxes. */
  current(id: string): CurrentZone | undefined {
    const slot = this.#slotOf.get(id)
    if (slot === undefined) return undefined
    return { id, version: this.#versions[slot] ?? 0, valid_from: this.#validFrom[slot] ?? '' }
  }

  /** The zones that an event may concern, by box, least severity and filters. */
  near(event: Sought): string[] {
    this.#searches += 1
    const search = this.#searches
    const found: string[] = []
    const visit = (slot: number) => {
      if (this.#foundBy[slot] === search || !this.#mayConcern(slot, event)) return
      this.#foundBy[slot] = search
      found.push(this.#ids[slot] ?? '')
    }
    const [west, south, east, north] = extentOfEvent(event)
    const [w, s, e, n] = [west - MARGIN, south - MARGIN, east + MARGIN, north + MARGIN]
    for (const { tree, slots } of this.#packed) {
      tree.search(w, s, e, n, (nr) => {
        visit(slots[nr] ?? 0)
        return false
      })
    }
    for (const { box, slot } of this.#loose) {
      if (box[0] <= e && box[1] <= n && box[2] >= w && box[3] >= s) visit(slot)
    }
    return found
  }

  /** Of what moves every position counts, whatever its severity: stays begin and end with them. */
  #mayConcern(slot: number, { source, type, severity, subject }: Sought): boolean {
    if (!this.#isLive(slot)) return false
    if (subject === null && (this.#minSeverities[slot] ?? 0) > severity) return false
    const filter = this.#filters[slot]
    if (!filter) return true
    const { sources, types } = filter
    return (sources?.has(source) ?? true) && (types?.has(type) ?? true)
  }

  #isLive(slot: number): boolean {
    return this.#ids[slot] !== ''
  }

  #remove(id: string): void {
    const slot = this.#slotOf.get(id)
    if (slot === undefined) return
    this.#slotOf.delete(id)
    this.#ids[slot] = ''
    this.#filters[slot] = null
  }

  /** Zones mostly have the same few filters. */
  #filterOf(sources: string[] | null, types: string[] | null): Filter | null {
    if (!sources && !types) return null
    const key = JSON.stringify([sources, types])
    const known = this.#known.get(key)
    if (known) return known
    const filter = { sources: sources && new Set(sources), types: types && new Set(types) }
    this.#known.set(key, filter)
    return filter
  }

  /** Numbers the slots anew, without those of former states. */
  #compact(): void {
    const live = this.#ids.flatMap((id, slot) => (id === '' ? [] : [slot]))
    const moved = new Map(live.map((slot, nr) => [slot, nr]))
    const boxes: Loose[] = this.#loose
    for (const { boxes: packed, slots } of this.#packed) {
      slots.forEach((slot, nr) => {
        boxes.push({ box: boxAt(packed, nr), slot })
      })
    }
    this.#loose = boxes.flatMap(({ box, slot }) => {
      const nr = moved.get(slot)
      return nr === undefined ? [] : [{ box, slot: nr }]
    })
    this.#packed = []
    const kept = <T>(column: T[]) => column.filter((_, slot) => moved.has(slot))
    const [versions, validFrom] = [kept(this.#versions), kept(this.#validFrom)]
    const [minSeverities, filters] = [kept(this.#minSeverities), kept(this.#filters)]
    this.#ids = kept(this.#ids)
    this.#versions = versions
    this.#validFrom = validFrom
    this.#minSeverities = minSeverities
    this.#filters = filters
    this.#foundBy = this.#ids.map(() => 0)
    this.#slotOf.clear()
    for (const [slot, id] of this.#ids.entries()) this.#slotOf.set(id, slot)
  }
}

type Filter = { sources: Set<string> | null; types: Set<string> | null }
type Loose = { box: Box; slot: number }

function boxAt(boxes: Float32Array, nr: number): Box {
  const [west = 0, south = 0, east = 0, north = 0] = boxes.subarray(4 * nr, 4 * nr + 4)
  return [west, south, east, north]
}

/** One tree of several and of loose boxes, without those of former states. */
function packed(former: Packed[], loose: Loose[], isLive: (slot: number) => boolean): Packed {
  const all = former.reduce((sum, { slots }) => sum + slots.length, loose.length)
  const boxes = new Float32Array(4 * all)
  const slots = new Uint32Array(all)
  let count = 0
  const add = (box: ArrayLike<number>, slot: number) => {
    if (!isLive(slot)) return
    boxes.set(box, 4 * count)
    slots[count] = slot
    count += 1
  }
  for (const one of former) {
    one.slots.forEach((slot, nr) => {
      add(one.boxes.subarray(4 * nr, 4 * nr + 4), slot)
    })
  }
  for (const { box, slot } of loose) add(box, slot)
  // A tree has at least one box; that of a former state is skipped when it is found.
  const tree = new Flatbush(Math.max(1, count), 16, Float32Array)
  for (let nr = 0; nr < Math.max(1, count); nr += 1) tree.add(...boxAt(boxes, nr))
  tree.finish()
  return { tree, boxes: boxes.slice(0, 4 * count), slots: slots.slice(0, count) }
}
