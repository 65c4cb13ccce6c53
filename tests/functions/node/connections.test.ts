import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openConnection } from '../../../functions/node/connections.ts'
import {
  startWebSocketServer,
  textFrame,
  type WebSocketServer,
} from '../../support/feeds/websocket-server.ts'

let closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers) await close()
  closers = []
})

/** Opens a connection; `frames` fills, and `ended` says how it ended. */
function open(url: string, hello?: string) {
  const stop = new AbortController()
  const frames: string[] = []
  const senders: string[] = []
  const onAlive = vi.fn()
  const connection = { name: 'test', url, ...(hello === undefined ? {} : { hello }) }
  const ended = openConnection(connection, {
    signal: stop.signal,
    onFrame: (frame, from) => {
      frames.push(frame)
      senders.push(from)
    },
    onAlive,
  }).then(
    () => 'ended',
    (error: Error) => error.message,
  )
  closers.push(() => stop.abort())
  return { frames, senders, onAlive, ended, stop: () => stop.abort() }
}

async function serve(): Promise<WebSocketServer> {
  const server = await startWebSocketServer()
  closers.push(server.close)
  return server
}

describe('a WebSocket', () => {
  test('says hello first, and gives each message', async () => {
    const server = await serve()
    const client = open(server.url, '{"APIKey":"k"}')
    await vi.waitFor(() => expect(server.received).toEqual(['{"APIKey":"k"}']))
    server.send('one')
    server.send('two'.repeat(100))
    await vi.waitFor(() => expect(client.frames).toEqual(['one', 'two'.repeat(100)]))
    client.stop()
    expect(await client.ended).toBe('ended')
    await vi.waitFor(() => expect(server.sockets).toEqual([]))
  })

  test('gives a message that came in halves once, and none that was cut', async () => {
    const server = await serve()
    const client = open(server.url)
    await vi.waitFor(() => expect(server.sockets).toHaveLength(1))
    const frame = textFrame('a message in halves')
    server.sockets[0]?.write(frame.subarray(0, 7))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(client.frames).toEqual([])
    server.sockets[0]?.write(Buffer.concat([frame.subarray(7), frame.subarray(0, 9)]))
    await vi.waitFor(() => expect(client.frames).toEqual(['a message in halves']))
    server.sockets[0]?.destroy()
    expect(await client.ended).toMatch(/the connection broke|closed it with 1006/)
    expect(client.frames).toEqual(['a message in halves'])
  })

  test('that gets no frame but garbage is given up', async () => {
    const server = await serve()
    const client = open(server.url)
    await vi.waitFor(() => expect(server.sockets).toHaveLength(1))
    server.sockets[0]?.write(Buffer.from([0xff, 0xff, 0, 1, 2, 3]))
    expect(await client.ended).toMatch(/the connection broke|closed it with/)
    expect(client.frames).toEqual([])
  })

  test('that cannot be reached says so, without its address', async () => {
    const server = await startWebSocketServer()
    await server.close()
    expect(await open(`${server.url}/?key=secret`).ended).toBe('cannot be reached')
  })

  test('is pinged, and tells of the pong', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const server = await serve()
      const client = open(server.url, 'hello')
      await vi.waitFor(() => expect(server.received).toEqual(['hello']))
      expect(client.onAlive).not.toHaveBeenCalled()
      vi.advanceTimersByTime(20_000)
      await vi.waitFor(() => expect(client.onAlive).toHaveBeenCalledOnce())
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a TCP connection', () => {
  async function listen(): Promise<{ url: string; sockets: Socket[]; server: Server }> {
    const sockets: Socket[] = []
    const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    // safe: it listens on TCP
    return { url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, server }
  }

  test('gives lines, however they are cut, and the last one without its end', async () => {
    const { url, sockets } = await listen()
    const client = open(url)
    await vi.waitFor(() => expect(sockets).toHaveLength(1))
    for (const piece of ['!AIVDM,1', ',1\r', '\nse\rc', 'ond\nthird']) {
      sockets[0]?.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(client.frames).toEqual(['!AIVDM,1,1', 'se\rcond'])
    sockets[0]?.end()
    expect(await client.ended).toBe('ended')
    expect(client.frames).toEqual(['!AIVDM,1,1', 'se\rcond', 'third'])
  })

  test('does not hold a line that never ends', async () => {
    const { url, sockets } = await listen()
    const client = open(url)
    await vi.waitFor(() => expect(sockets).toHaveLength(1))
    sockets[0]?.write('x'.repeat(1_000_000))
    sockets[0]?.write('x\ngood\n')
    await vi.waitFor(() => expect(client.frames).toHaveLength(2))
    expect(client.frames[0]?.length).toBeLessThanOrEqual(4_096)
    expect(client.frames[1]).toBe('good')
    sockets[0]?.end('y'.repeat(1_000_000))
    expect(await client.ended).toBe('ended')
    expect(client.frames[2]).toBe('y'.repeat(4_096))
  })

  test('that is refused says so', async () => {
    const { url, server } = await listen()
    server.close()
    expect(await open(url).ended).toBe('refused the connection')
  })
})

test('datagrams are received from several senders, each with its lines', async () => {
  const free = createSocket('udp4')
  await new Promise<void>((resolve) => free.bind(0, '127.0.0.1', resolve))
  const { port } = free.address()
  free.close()
  const client = open(`udp://127.0.0.1:${port}`)
  const senders = [createSocket('udp4'), createSocket('udp4')]
  closers.push(() => senders.map((sender) => sender.close()))
  await vi.waitFor(() => {
    senders[0]?.send('one\r\ntwo', port, '127.0.0.1')
    expect(client.frames.slice(0, 2)).toEqual(['one', 'two'])
  })
  senders[1]?.send('three\n', port, '127.0.0.1')
  await vi.waitFor(() => expect(client.frames).toContain('three'))
  expect(new Set(client.senders).size).toBe(2)
  client.stop()
  expect(await client.ended).toBe('ended')
})

test('an address that is in use says so', async () => {
  const other = createSocket('udp4')
  await new Promise<void>((resolve) => other.bind(0, '127.0.0.1', resolve))
  closers.push(() => other.close())
  expect(await open(`udp://127.0.0.1:${other.address().port}`).ended).toBe(
    'cannot be reached (EADDRINUSE)',
  )
})
