import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { readConfig } from './config.ts'
import { createLog } from './log.ts'
import { startService } from './service.ts'

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Node's entry: `node functions/node.ts` for the API and the jobs, `… jobs` for the jobs alone. */
async function main(): Promise<void> {
  const [verb, ...rest] = process.argv.slice(2)
  if (rest.length > 0 || (verb !== undefined && verb !== 'jobs')) {
    throw new Error('Usage: node functions/node.ts [jobs]')
  }
  const mode = verb ?? 'serve'
  if (mode === 'jobs') keepHeapSmall()
  if (existsSync('.env')) process.loadEnvFile()
  const config = readConfig(process.env, mode)
  const log = createLog(config.log)
  const service = await startService(config, log)
  for (const signal of STOP_SIGNALS) {
    process.once(signal, async () => {
      await service.stop()
      log({ msg: 'stopped', signal })
      process.exit(0)
    })
  }
  // Last: whoever reads this line may signal at once.
  log({
    msg: mode === 'serve' ? `listening on ${config.public_url}` : 'running the jobs',
    feeds: config.feeds.map(({ source }) => source),
  })
}

/**
 * V8 lets a heap grow to several times what is alive before it looks for garbage. In a burst the jobs make much of it and
 * keep little: looking sooner costs them nothing that can be measured, but an API a quarter of its time for long lists.
 * For the same reason `npm run jobs` limits the semi-spaces, which can only be done as Node starts.
 */
function keepHeapSmall() {
  setFlagsFromString('--heap-growing-percent=20')
}

main().catch((error) => {
  console.error(`Watchpost cannot start: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
})
