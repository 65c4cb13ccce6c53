import { serve } from '@hono/node-server'
import { readConfig } from './config.ts'
import { createHub } from './hub.ts'
import { log } from './log.ts'

/**
 * sysexits.h EX_TEMPFAIL: "start me again", to systemd (RestartForceExitStatus) and to `npm run
 * hub`.
 */
const RESTART = 75
const CLOSING_MS = 10_000

async function main(): Promise<void> {
  const config = await readConfig(process.env)
  // The response that causes the restart is sent before the process ends.
  const restart = () => void setTimeout(() => stop(RESTART), 200)
  const hub = await createHub(config, { log, restart })
  const server = serve({ fetch: hub.app.fetch, hostname: '127.0.0.1', port: config.port }, (at) =>
    log({ msg: 'listening', port: at.port, key_role: hub.deps.key_role }),
  )
  server.on('error', (error) => {
    log({ msg: 'cannot listen', error: error.message })
    process.exit(1)
  })
  let isStopping = false
  async function stop(code: number): Promise<void> {
    if (isStopping) return
    isStopping = true
    setTimeout(() => process.exit(code), CLOSING_MS).unref()
    const closed = new Promise((resolve) => server.close(resolve))
    if ('closeAllConnections' in server) server.closeAllConnections()
    await closed
    await hub.close()
    process.exit(code)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(0))
  await hub.start()
}

main().catch((error) => {
  log({
    msg: 'the hub did not start',
    error: error instanceof Error ? error.message : String(error),
  })
  process.exit(1)
})
