/** Of the slots of a process, the share that requests to one host may take. */
const SHARE = 0.75
/** A place is waited for only at a host that gave one back so lately: whoever waits holds a slot. */
const SOON_MS = 50
/** And this long at most. */
const LONGEST_MS = 250

type Host = { under_way: number; left_at: number; waiting: (() => void)[] }
type Leave = () => void

/** Counts the requests under way to each host, so that a slow one never takes every slot of the process. */
export function createHostSlots() {
  const hosts = new Map<string, Host>()

  function take(name: string, slots: number): Leave | undefined {
    const host = hosts.get(name) ?? { under_way: 0, left_at: -SOON_MS, waiting: [] }
    // Rounded up, so that one host gets all of two or three slots.
    if (host.under_way >= Math.ceil(slots * SHARE)) return undefined
    host.under_way += 1
    hosts.set(name, host)
    return () => {
      host.under_way -= 1
      host.left_at = performance.now()
      host.waiting[0]?.()
      if (host.under_way === 0 && host.waiting.length === 0) hosts.delete(name)
    }
  }

  return {
    /** Takes a place at a host; undefined when it has none left and none soon. Call what it answers when the request is over. */
    async enter(name: string, slots: number): Promise<Leave | undefined> {
      const deadline = performance.now() + LONGEST_MS
      for (;;) {
        const leave = take(name, slots)
        const host = hosts.get(name)
        const now = performance.now()
        if (leave || !host || now >= deadline || now >= host.left_at + SOON_MS) return leave
        await new Promise<void>((resolve) => {
          const wake = () => {
            clearTimeout(timer)
            host.waiting = host.waiting.filter((one) => one !== wake)
            resolve()
          }
          const timer = setTimeout(wake, Math.min(deadline, host.left_at + SOON_MS) - now)
          host.waiting.push(wake)
        })
      }
    },
  }
}
