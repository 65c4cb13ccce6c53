import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'

const MAX_CLOSE_SECONDS = 5
/** As on the other platforms. Node's default of 16 KB would cut off a long URL before the app can refuse it. */
const MAX_HEADER_BYTES = 64 * 1024
/** Slower requests are cut off; until then they only occupy a connection. */
const MAX_HEADERS_SECONDS = 15
const MAX_REQUEST_SECONDS = 60
/** Further connections are refused at once instead of waiting. */
const MAX_CONNECTIONS = 5_000
/** How much of a body waits to be read; a byte of it may be a chunk, which costs much more than a byte. */
const BODY_BUFFER_BYTES = 16 * 1024
/** How long the rest of a body may take after the response. */
const MAX_REST_MS = 500

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch']

/** Listens on a port of Node, with limits on what one connection may cost. Throws the system's error, e.g. EADDRINUSE. */
export async function openServer(
  { host, port }: { host: string; port: number },
  fetch: Fetch,
): Promise<Server> {
  const serverOptions = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: MAX_HEADERS_SECONDS * 1000,
    requestTimeout: MAX_REQUEST_SECONDS * 1000,
    connectionsCheckingInterval: 5_000,
    highWaterMark: BODY_BUFFER_BYTES,
  }
  // safe: without TLS options this is a node:http server
  const server = createAdaptorServer({ fetch, serverOptions }) as Server
  server.maxConnections = MAX_CONNECTIONS
  server.on('request', endUnfinished)
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

/**
 * Ends a connection that is still sending its body some time after the response. Such a body is read and
 * thrown away, so that the client gets to the response; in chunks of a byte this takes a whole core.
 */
function endUnfinished(incoming: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.once('close', () => {
    if (incoming.complete) return
    const late = setTimeout(() => incoming.complete || incoming.socket.destroy(), MAX_REST_MS)
    late.unref()
  })
}

/** Closes a server, within about five seconds: requests in progress get this long to finish. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  // A keep-alive connection becomes idle only after its last response.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const late = setTimeout(() => server.closeAllConnections(), MAX_CLOSE_SECONDS * 1000)
  await closed
  clearTimeout(late)
  clearInterval(idle)
}
