/** Queues that give way take up so many jobs at most, and then none for so long. */
const FEW = 25
const PAUSE_MS = 250

/** Who goes first in this process: what is said to a few people may wait a little for what all others are to hear. */
export function createPrecedence() {
  let running = 0
  return {
    first: async <T>(work: () => Promise<T>): Promise<T> => {
      running += 1
      try {
        return await work()
      } finally {
        running -= 1
      }
    },
    /** How many of so many jobs are taken up now by a queue that gives way. */
    few: (jobs: number) => (running > 0 ? Math.min(jobs, FEW) : jobs),
    /** Before such a queue takes up the next. */
    pause: async () => {
      if (running > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    },
  }
}
