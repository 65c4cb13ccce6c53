import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { createAdaptorServer } from '@hono/node-server'
import { ApiError, CODES, problemOf } from '../../shared/problem.ts'

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
  server.on('clientError', answerUnreadable)
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

/**
 * Says why a request cannot be read at all, and ends its connection. Node alone would answer without a
 * body, and 431 to an address that is too long, where our own refusals of a query are 400.
 */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  // A response that has begun cannot be followed by another one. safe: Node's own field
  const has_begun = (socket as { _httpMessage?: ServerResponse })._httpMessage?.headersSent
  if (has_begun || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  socket.end(refusalOf(error.code))
  // As after any response, whoever keeps the connection open does not keep it.
  setTimeout(() => socket.destroy(), MAX_REST_MS).unref()
}

function refusalOf(code: string | undefined): string {
  const head = (status: number) =>
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n`
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return `${head(408)}\r\n`
  const why =
    code === 'HPE_HEADER_OVERFLOW'
      ? `The address and the headers have more than ${MAX_HEADER_BYTES} bytes. Shorten them.`
      : 'This is not a valid HTTP/1.1 request.'
  const request_id = randomUUID()
  const body = JSON.stringify(problemOf(new ApiError('malformed', why), request_id))
  const headers = [
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${request_id}`,
  ]
  return `${head(CODES.malformed)}${headers.join('\r\n')}\r\n\r\n${body}`
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
