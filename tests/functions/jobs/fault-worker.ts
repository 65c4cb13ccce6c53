/**
 * Runs the jobs of the fault run in a process of its own, which the run kills. Every request goes to the receivers of the
 * run on this machine, whichever service it is for.
 */
import { nodeSend } from '../../../functions/channels/transport/send-node.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { createPool } from '../../../functions/db.ts'
import { createRunner } from '../../../functions/jobs.ts'
import { createSeal } from '../../../functions/seal.ts'

export type Orders = { jobsUrl: string; port: number; seal_key: string }

/** How long a receiver may take here; with the usual 15 seconds the run would take hours. */
const TIMEOUT_MS = 500

if (import.meta.main) {
  const { jobsUrl, port, seal_key }: Orders = JSON.parse(process.argv[2] ?? '')
  const db = createPool({ url: jobsUrl, max: 12 })
  const allow = parseAllowList('127.0.0.1')
  const direct = nodeSend({ allow, timeout_ms: TIMEOUT_MS })
  const here = (url: string) => url.replace(/^https:\/\//, `http://127.0.0.1:${port}/`)
  for (;;) {
    // A new runner each turn: its first tick supervises, which is what ends lost leases.
    const runner = createRunner({
      db,
      seal: createSeal([seal_key]),
      send: (request) => direct({ ...request, url: here(request.url) }),
      allow,
      feeds: [],
      fetch,
      public_url: null,
      contact: undefined,
      log: () => undefined,
    })
    // The database may be away: that is what this is about.
    await runner.drain({ budget_ms: 2000 }).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
