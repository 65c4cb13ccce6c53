import { createSocket } from 'node:dgram'
import diagnostics from 'node:diagnostics_channel'
import { connect } from 'node:net'
import { ping, WebSocket } from 'undici'
import type { Open } from '../feeds/stream.ts'

const CONNECT_MS = 15_000
const PING_MS = 20_000
const MAX_FRAME = 1024 * 1024
/** Longer lines are cut: no reader takes them, and it says so. */
const MAX_LINE = 4_096

/** Opens WebSockets, TCP connections and UDP sockets on Node. */
export const openConnection: Open = (connection, hooks) => {
  switch (new URL(connection.url).protocol) {
    case 'ws:':
    case 'wss:':
      return openWebSocket(connection, hooks)
    case 'tcp:':
      return openTcp(connection, hooks)
    case 'udp:':
      return openUdp(connection, hooks)
    default:
      throw new Error(`${connection.name} must be a ws:, wss:, tcp: or udp: address`)
  }
}

/** How a WebSocket was ended, or why it could not be opened; without its address, which may contain a key. */
const openWebSocket: Open = async ({ url, hello }, { signal, onFrame, onAlive }) => {
  if (signal.aborted) return
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  let is_open = false
  const timer = setTimeout(
    () => reject(new Error(`no connection within ${CONNECT_MS / 1000} s`)),
    CONNECT_MS,
  )
  let pinger: NodeJS.Timeout | undefined
  const onPong = (message: unknown) => {
    if (isOf(message, socket)) onAlive()
  }
  diagnostics.subscribe('undici:websocket:pong', onPong)
  socket.addEventListener('open', () => {
    is_open = true
    clearTimeout(timer)
    if (hello !== undefined) socket.send(hello)
    pinger = setInterval(() => ping(socket), PING_MS)
  })
  socket.addEventListener('message', ({ data }) => {
    const text = typeof data === 'string' ? data : new TextDecoder().decode(data)
    onFrame(text.length > MAX_FRAME ? text.slice(0, MAX_FRAME) : text, '')
  })
  socket.addEventListener('error', () =>
    reject(new Error(is_open ? 'the connection broke' : 'cannot be reached')),
  )
  socket.addEventListener('close', ({ code, reason }) =>
    reject(new Error(`the other side closed it with ${code} ${reason}`.trim())),
  )
  signal.addEventListener('abort', () => resolve(), { once: true })
  try {
    await ended
  } finally {
    clearTimeout(timer)
    clearInterval(pinger)
    diagnostics.unsubscribe('undici:websocket:pong', onPong)
    socket.close()
  }
}

function isOf(message: unknown, socket: WebSocket): boolean {
  return typeof message === 'object' && message !== null && 'websocket' in message
    ? message.websocket === socket
    : false
}

const openTcp: Open = async ({ url }, { signal, onFrame }) => {
  if (signal.aborted) return
  const { hostname, port } = new URL(url)
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host: bareHost(hostname), port: Number(port) })
  const timer = setTimeout(
    () => reject(new Error(`no connection within ${CONNECT_MS / 1000} s`)),
    CONNECT_MS,
  )
  const lines = createLines((line) => onFrame(line, ''))
  socket.setKeepAlive(true, 30_000)
  socket.setEncoding('latin1')
  socket.on('connect', () => clearTimeout(timer))
  socket.on('data', (chunk) => lines.add(String(chunk)))
  socket.on('end', () => lines.end())
  socket.on('error', (error) => reject(new Error(codeOf(error))))
  socket.on('close', resolve)
  signal.addEventListener('abort', () => resolve(), { once: true })
  try {
    await ended
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

/** Receives datagrams at an address of this machine, from whoever sends there. */
const openUdp: Open = async ({ url }, { signal, onFrame }) => {
  if (signal.aborted) return
  const { hostname, port } = new URL(url)
  const host = bareHost(hostname)
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  socket.on('message', (datagram, { address, port }) => {
    const lines = createLines((line) => onFrame(line, `${address} ${port}`))
    lines.add(datagram.toString('latin1'))
    lines.end()
  })
  socket.on('error', (error) => reject(new Error(codeOf(error))))
  signal.addEventListener('abort', () => resolve(), { once: true })
  try {
    socket.bind(Number(port), host)
    await ended
  } finally {
    socket.close()
  }
}

/** Splits text that comes in pieces into lines. The rest of a line that is too long is skipped. */
function createLines(onLine: (line: string) => void) {
  let open = ''
  return {
    add: (chunk: string) => {
      const parts = (open + chunk).split('\n')
      open = (parts.pop() ?? '').slice(0, MAX_LINE)
      for (const part of parts) onLine(part.slice(0, MAX_LINE).replace(/\r$/, ''))
    },
    end: () => {
      if (open !== '') onLine(open)
      open = ''
    },
  }
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function codeOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : error.message
  return code === 'ECONNREFUSED' ? 'refused the connection' : `cannot be reached (${code})`
}
