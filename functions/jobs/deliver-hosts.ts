/** Of the slots of a process, the share that requests to one host may take. */
const SHARE = 0.75

/** Counts the requests under way to each host, so that a slow one never takes every slot of the process. */
export function createHostSlots() {
  const under_way = new Map<string, number>()
  return {
    /** Takes a place at a host; undefined when it has none left. Call what is returned when the request is over. */
    enter(host: string, slots: number): (() => void) | undefined {
      const count = under_way.get(host) ?? 0
      // Of two or three slots a share would leave too few.
      if (slots >= 4 && count >= Math.ceil(slots * SHARE)) return undefined
      under_way.set(host, count + 1)
      return () => {
        const left = (under_way.get(host) ?? 1) - 1
        if (left > 0) under_way.set(host, left)
        else under_way.delete(host)
      }
    },
  }
}
