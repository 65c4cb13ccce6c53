import { createSocket } from 'node:dgram'
import diagnostics from 'node:diagnostics_channel'
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
    await vi.waitFor(() => expect(server.received).toEqual(['{"APIKey":"k"}']), 20_000)
    server.send('one')
    server.send('two'.repeat(100))
    await vi.waitFor(() => expect(client.frames).toEqual(['one', 'two'.repeat(100)]), 20_000)
    client.stop()
    expect(await client.ended).toBe('ended')
    await vi.waitFor(() => expect(server.sockets).toEqual([]), 20_000)
  })

  test('gives a message that came in halves once, and none that was cut', async () => {
    const server = await serve()
    const client = open(server.url)
    await vi.waitFor(() => expect(server.sockets).toHaveLength(1), 20_000)
    const frame = textFrame('a message in halves')
    server.sockets[0]?.write(frame.subarray(0, 7))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(client.frames).toEqual([])
    server.sockets[0]?.write(Buffer.concat([frame.subarray(7), frame.subarray(0, 9)]))
    await vi.waitFor(() => expect(client.frames).toEqual(['a message in halves']), 20_000)
    server.sockets[0]?.destroy()
    expect(await client.ended).toMatch(/the connection broke|closed it with 1006/)
    expect(client.frames).toEqual(['a message in halves'])
  })

  test('that gets no frame but garbage is given up', async () => {
    const server = await serve()
    const client = open(server.url)
    await vi.waitFor(() => expect(server.sockets).toHaveLength(1), 20_000)
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
      await vi.waitFor(() => expect(server.received).toEqual(['hello']), 20_000)
      expect(client.onAlive).not.toHaveBeenCalled()
      vi.advanceTimersByTime(20_000)
      await vi.waitFor(() => expect(client.onAlive).toHaveBeenCalledOnce(), 20_000)
      client.stop()
      await client.ended
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('takes no pong of another connection for its own', async () => {
    const server = await serve()
    const client = open(server.url, 'hello')
    await vi.waitFor(() => expect(server.received).toEqual(['hello']), 20_000)
    const channel = diagnostics.channel('undici:websocket:pong')
    for (const pong of [{ websocket: {} }, { websocket: null }, {}, null, 'websocket']) {
      channel.publish(pong)
    }
    expect(client.onAlive).not.toHaveBeenCalled()
    expect(channel.hasSubscribers).toBe(true)
    client.stop()
    await client.ended
    expect(channel.hasSubscribers).toBe(false)
  })

  test('gives what is not sent as text as text too, and cuts what is longer than 1 MiB', async () => {
    const server = await serve()
    const client = open(server.url)
    await vi.waitFor(() => expect(server.sockets).toHaveLength(1), 20_000)
    const length = Buffer.alloc(8)
    const long = Buffer.alloc(1024 * 1024 + 1, 'x')
    length.writeBigUInt64BE(BigInt(long.length))
    const binary = Buffer.from('çay')
    server.sockets[0]?.write(Buffer.concat([Buffer.from([0x82, binary.length]), binary]))
    server.sockets[0]?.write(Buffer.concat([Buffer.from([0x81, 127]), length, long]))
    await vi.waitFor(() => expect(client.frames).toHaveLength(2), 20_000)
    expect(client.frames[0]).toBe('çay')
    expect(client.frames[1]?.length).toBe(1024 * 1024)
    expect(client.senders).toEqual(['', ''])
  })

  test.each([
    ['its code and its words', 'bye', 'the other side closed it with 1001 bye'],
    ['its code alone', '', 'the other side closed it with 1001'],
  ])('that the other side closes says so with %s', async (_, words, said) => {
    const server = await serve()
    const client = open(server.url)
    await vi.waitFor(() => expect(server.sockets).toHaveLength(1), 20_000)
    const payload = Buffer.concat([Buffer.from([0x03, 0xe9]), Buffer.from(words)])
    server.sockets[0]?.write(Buffer.concat([Buffer.from([0x88, payload.length]), payload]))
    expect(await client.ended).toBe(said)
  })

  test('says nothing where there is nothing to say', async () => {
    const server = await serve()
    const client = open(server.url)
    await vi.waitFor(() => expect(server.sockets).toHaveLength(1), 20_000)
    server.send('one')
    await vi.waitFor(() => expect(client.frames).toEqual(['one']), 20_000)
    expect(server.received).toEqual([])
  })
})

async function listen(
  host = '127.0.0.1',
): Promise<{ url: string; sockets: Socket[]; server: Server }> {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  // safe: it listens on TCP
  const { port } = server.address() as AddressInfo
  return { url: `tcp://${host.includes(':') ? `[${host}]` : host}:${port}`, sockets, server }
}

test.each(['ws', 'tcp'])('a connection by %s is given up after 15 seconds', async (protocol) => {
  const { url } = await listen()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const client = open(url.replace('tcp', protocol))
    vi.advanceTimersByTime(14_999)
    expect(vi.getTimerCount()).toBeGreaterThan(0)
    vi.advanceTimersByTime(1)
    expect(await client.ended).toBe('no connection within 15 s')
  } finally {
    vi.useRealTimers()
  }
})

test.each(['ws', 'tcp', 'udp'])('nothing is opened by %s once it was stopped', async (protocol) => {
  const opened: string[] = []
  const { url, server } = await listen()
  server.on('connection', () => opened.push('connection'))
  const signal = AbortSignal.abort()
  const connection = { name: 'test', url: url.replace('tcp', protocol) }
  await openConnection(connection, { signal, onFrame: () => undefined, onAlive: () => undefined })
  const later = open(url)
  await vi.waitFor(() => expect(opened).toEqual(['connection']), 20_000)
  later.stop()
  expect(await later.ended).toBe('ended')
})

test('an address of another kind is refused by the name of the connection', () => {
  expect(() => open('https://x.example')).toThrow('test must be a ws:, wss:, tcp: or udp: address')
})

describe('a TCP connection', () => {
  test('is there for as long as nobody stops it, and gives bytes as letters', async () => {
    const { url, sockets } = await listen()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const client = open(url)
      while (sockets.length === 0) await new Promise((resolve) => setImmediate(resolve))
      sockets[0]?.write(Buffer.from([0x61, 0xe9, 0xff, 0x0a, 0x0a, 0x62, 0x0a]))
      while (client.frames.length < 3) await new Promise((resolve) => setImmediate(resolve))
      expect(client.frames).toEqual(['a\u00e9\u00ff', '', 'b'])
      expect(client.senders).toEqual(['', '', ''])
      vi.advanceTimersByTime(60_000)
      sockets[0]?.write('c\n')
      while (client.frames.length < 4) await new Promise((resolve) => setImmediate(resolve))
      client.stop()
      expect(await client.ended).toBe('ended')
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
    await vi.waitFor(() => expect(sockets[0]?.readableEnded).toBe(true), 20_000)
  })

  test('that ends after its last line gives no empty one', async () => {
    const { url, sockets } = await listen('::1')
    const client = open(url)
    await vi.waitFor(() => expect(sockets).toHaveLength(1), 20_000)
    sockets[0]?.end('one\n')
    expect(await client.ended).toBe('ended')
    expect(client.frames).toEqual(['one'])
  })

  test('gives lines, however they are cut, and the last one without its end', async () => {
    const { url, sockets } = await listen()
    const client = open(url)
    await vi.waitFor(() => expect(sockets).toHaveLength(1), 20_000)
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
    await vi.waitFor(() => expect(sockets).toHaveLength(1), 20_000)
    sockets[0]?.write('x'.repeat(1_000_000))
    sockets[0]?.write('x\ngood\n')
    await vi.waitFor(() => expect(client.frames).toHaveLength(2), 20_000)
    expect(client.frames[0]?.length).toBeLessThanOrEqual(4_096)
    expect(client.frames[1]).toBe('good')
    sockets[0]?.end('y'.repeat(1_000_000))
    expect(await client.ended).toBe('ended')
    expect(client.frames[2]).toBe('y'.repeat(4_096))
  })

  test('gives a line of 4,096 letters whole, and of one more no more', async () => {
    const { url, sockets } = await listen()
    const client = open(url)
    await vi.waitFor(() => expect(sockets).toHaveLength(1), 20_000)
    sockets[0]?.end(`${'x'.repeat(4_096)}\n${'y'.repeat(4_097)}\n`)
    expect(await client.ended).toBe('ended')
    expect(client.frames).toEqual(['x'.repeat(4_096), 'y'.repeat(4_096)])
  })

  test('that is refused says so', async () => {
    const { url, server } = await listen()
    server.close()
    expect(await open(url).ended).toBe('refused the connection')
  })
})

async function freePort(): Promise<number> {
  const free = createSocket('udp4')
  await new Promise<void>((resolve) => free.bind(0, '127.0.0.1', resolve))
  const { port } = free.address()
  free.close()
  return port
}

test('datagrams are received at an address of IPv6 too, until they are not wanted', async () => {
  const port = await freePort()
  const client = open(`udp://[::1]:${port}`)
  const sender = createSocket('udp6')
  closers.push(() => sender.close())
  await vi.waitFor(() => {
    sender.send(Buffer.from([0x61, 0xe9]), port, '::1')
    expect(client.frames[0]).toBe('a\u00e9')
  }, 20_000)
  client.stop()
  expect(await client.ended).toBe('ended')
  const next = createSocket('udp6')
  closers.push(() => next.close())
  await new Promise<void>((resolve, reject) => {
    next.on('error', reject).bind(port, '::1', resolve)
  })
})

test('datagrams are received from several senders, each with its lines', async () => {
  const port = await freePort()
  const client = open(`udp://127.0.0.1:${port}`)
  const senders = [createSocket('udp4'), createSocket('udp4')]
  closers.push(() => senders.map((sender) => sender.close()))
  await vi.waitFor(() => {
    senders[0]?.send('one\r\ntwo', port, '127.0.0.1')
    expect(client.frames.slice(0, 2)).toEqual(['one', 'two'])
  }, 20_000)
  senders[1]?.send('three\n', port, '127.0.0.1')
  await vi.waitFor(() => expect(client.frames).toContain('three'), 20_000)
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
