import { urlHost } from '../../functions/config.ts'
import { closeServer, openServer } from '../../functions/node/node-server.ts'
import { createOperatorApp, type OperatorApp } from './app.ts'

export type OperatorServer = { url: string; stop: () => Promise<void> }

/**
 * startOperator serves the operator page, on this machine only. A port that nobody asked for gives way to any free one;
 * one that was asked for and is taken is an error.
 */
export async function startOperator(
  { host, port, is_chosen }: { host: string; port: number; is_chosen: boolean },
  options: OperatorApp,
): Promise<OperatorServer> {
  const app = createOperatorApp(options)
  const open = (at: number) => openServer({ host, port: at }, app.fetch)
  const server = await open(port).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    if (!is_chosen) return open(0)
    throw new Error(
      `Port ${port} on ${host} is in use, so the operator page cannot be there. Choose another OPERATOR_PORT, or OPERATOR_PORT=off.`,
    )
  })
  const address = server.address()
  const listening = typeof address === 'object' && address ? address.port : port
  return {
    url: `http://${urlHost(host)}:${listening}`,
    stop: () => closeServer(server),
  }
}
