import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export type WebSocketServer = {
  url: string
  /** The open sockets, oldest first. */
  sockets: Duplex[]
  /** Every text that a client sent. */
  received: string[]
  /** Counts connections, also those that are over. */
  connections: number
  /** Whether it answers pings. */
  answers_pings: boolean
  send: (text: string) => void
  close: () => Promise<void>
}

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** A WebSocket server by hand, so that a test can send half a frame or stop answering. */
export async function startWebSocketServer(): Promise<WebSocketServer> {
  const http = createServer()
  const server: WebSocketServer = {
    url: '',
    sockets: [],
    received: [],
    connections: 0,
    answers_pings: true,
    send: (text) => server.sockets.forEach((socket) => void socket.write(textFrame(text))),
    close: async () => {
      for (const socket of server.sockets) socket.destroy()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  http.on('upgrade', ({ headers }, socket: Duplex) => {
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${MAGIC}`)
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept.digest('base64')}\r\n\r\n`,
    )
    server.connections += 1
    server.sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => server.sockets.splice(server.sockets.indexOf(socket), 1))
    socket.on('data', (bytes: Buffer) => {
      for (const { opcode, payload } of framesIn(bytes)) {
        if (opcode === 1) server.received.push(payload.toString())
        if (opcode === 8) socket.end()
        if (opcode === 9 && server.answers_pings) {
          socket.write(Buffer.concat([Buffer.from([0x8a, payload.length]), payload]))
        }
      }
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  // safe: it listens on TCP
  server.url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`
  return server
}

export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const header =
    payload.length < 126
      ? Buffer.from([0x81, payload.length])
      : Buffer.from([0x81, 126, payload.length >> 8, payload.length & 255])
  return Buffer.concat([header, payload])
}

/** The masked frames of a client; each is small and comes whole. */
function* framesIn(bytes: Buffer): Generator<{ opcode: number; payload: Buffer }> {
  for (let at = 0; at + 6 <= bytes.length; ) {
    const opcode = bytes.readUInt8(at) & 15
    const short = bytes.readUInt8(at + 1) & 127
    const length = short === 126 ? bytes.readUInt16BE(at + 2) : short
    const start = at + (short === 126 ? 4 : 2)
    const mask = bytes.subarray(start, start + 4)
    const masked = bytes.subarray(start + 4, start + 4 + length)
    const payload = Buffer.from(masked.map((byte, index) => byte ^ (mask[index % 4] ?? 0)))
    yield { opcode, payload }
    at = start + 4 + length
  }
}
