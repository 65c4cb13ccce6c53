import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { WORKERS, type Worker, wrangler } from '../build/workers.ts'

/** Cloudflare's limit for a long time; today it is a second. */
const MAX_STARTUP_MS = 400

const Profile = z.object({
  nodes: z.array(z.object({ id: z.int(), callFrame: z.object({ functionName: z.string() }) })),
  samples: z.array(z.int()),
  timeDeltas: z.array(z.number()),
})

type Startup = { worker: Worker; startup_ms: number; max_ms: number }

/** measureStartup returns how long each Worker computes before it can answer its first request. */
export async function measureStartup(): Promise<Startup[]> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-startup-'))
  try {
    const measured: Startup[] = []
    for (const worker of WORKERS) {
      const file = join(folder, `${worker}.cpuprofile`)
      await wrangler('check', 'startup', '--env', worker, '--outfile', file)
      const profile = Profile.parse(JSON.parse(await readFile(file, 'utf8')))
      measured.push({ worker, startup_ms: activeMs(profile), max_ms: MAX_STARTUP_MS })
    }
    return measured
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Ignores samples in which nothing ran: another process had the processor then. */
function activeMs({ nodes, samples, timeDeltas }: z.infer<typeof Profile>): number {
  const idle = new Set(
    nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id),
  )
  const micros = samples.reduce(
    (sum, id, index) => sum + (idle.has(id) ? 0 : (timeDeltas[index] ?? 0)),
    0,
  )
  return Math.round(micros / 1000)
}

async function main(): Promise<void> {
  for (const { worker, startup_ms, max_ms } of await measureStartup()) {
    console.log(`Worker ${worker}: started in ${startup_ms} ms (limit ${max_ms} ms)`)
    if (startup_ms > max_ms) process.exitCode = 1
  }
}

if (import.meta.main) await main()
