/** How far the clock of the service is ahead of that of this computer, in milliseconds. */
let ahead_ms = 0
const listeners = new Set<() => void>()

/** What a request may take, and what an answer may have waited in a cache. */
const TOLERATED_MS = 90_000

/** The time now, by the clock of the service where that of this computer is wrong. */
export const timeNow = (): number => Date.now() + ahead_ms

/** Takes the time from the `Date` of an answer. */
export function setClock(date: string | null): void {
  const off = date === null ? Number.NaN : Date.parse(date) - Date.now()
  if (Number.isNaN(off)) return
  const next = Math.abs(off) > TOLERATED_MS ? off : 0
  // The header counts in seconds: not every answer is another time.
  if (Math.abs(next - ahead_ms) < 2_000) return
  ahead_ms = next
  for (const listener of listeners) listener()
}

/** Calls the listener when the clock has been set. */
export function onClock(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
