import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { checkBody, MAX_BODY_BYTES, readBody } from '../../../functions/body.ts'
import type { Env } from '../../../functions/context.ts'
import { closeServer, openServer } from '../../../functions/node/node-server.ts'
import { CODES, toApiError } from '../../../shared/problem.ts'

const head = (line: string) =>
  `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
const CRUMBS = '1\r\n[\r\n'.repeat(10_000)

let server: Server
/** The chunks that the server took from its connections. */
let taken = 0
beforeAll(async () => {
  const app = new Hono<Env>()
  app.use(checkBody)
  app.get('/', (c) => c.text('read'))
  app.post('/', async (c) => {
    await readBody(c)
    return c.text('read')
  })
  app.get(
    '/endless',
    () => new Response(new ReadableStream({ start: (to) => to.enqueue(Buffer.from('a')) })),
  )
  app.onError((error, c) => {
    const { code, message } = toApiError(error)
    return c.text(message, CODES[code])
  })
  server = await openServer({ host: '127.0.0.1', port: 0 }, app.fetch)
  server.prependListener('request', (incoming) => {
    const push = incoming.push.bind(incoming)
    incoming.push = (chunk: unknown) => {
      if (!incoming.destroyed) taken += 1
      return push(chunk)
    }
  })
})
afterAll(() => closeServer(server))
beforeEach(() => {
  taken = 0
})

/** Sends the parts, whatever is answered, until the server closes the connection; then answers what it said. */
function send(parts: Iterable<string>): Promise<string> {
  // safe: it listens on a port
  const { port } = server.address() as AddressInfo
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let said = ''
    socket.on('data', (data) => {
      said += data
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(said))
    socket.on('connect', async () => {
      for (const part of parts) {
        if (socket.destroyed) return
        if (!socket.write(part)) {
          await new Promise((done) => socket.once('drain', done).once('close', done))
        }
      }
    })
  })
}

function* withoutEnd(line: string): Generator<string> {
  yield head(line)
  for (;;) yield CRUMBS
}

describe('a body in chunks of a byte, without end', () => {
  test('is no longer taken after some thousand of them', async () => {
    const said = await send(withoutEnd('POST /'))
    expect(said).toMatch(/^HTTP\/1\.1 400/)
    expect(said).toContain('too many small chunks')
    // What the limit allows, what waits in the two buffers of 16 KiB, and the rest of the last packet.
    expect(taken).toBeLessThan(5_000 + 2 * 16 * 1024 + 15_000)
  })

  test.each([
    ['to an unknown path', 'POST /nothing', 404],
    ['in a GET', 'GET /', 200],
  ])('%s ends the connection soon after the response', async (_, line, status) => {
    expect(await send(withoutEnd(line))).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`))
  })
})

test('a client that sends too large a body in one go reads why it is refused', async () => {
  const chunk = `10000\r\n${'['.repeat(64 * 1024)}\r\n`
  const count = (4 * MAX_BODY_BYTES) / (64 * 1024)
  const parts = [head('POST /'), ...Array.from({ length: count }, () => chunk)]
  expect(await send(parts)).toMatch(/^HTTP\/1\.1 413/)
})

test('a body in a few chunks is read, and the connection stays open', async () => {
  const body = '2\r\n{}\r\n1\r\n \r\n0\r\n\r\n'
  const last = head('POST /').replace('Host: x', 'Host: x\r\nConnection: close')
  const said = await send([head('POST /'), body, last, body])
  expect(said.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
})

test.each([
  [
    'an address that is too long',
    `GET /?after=${'x'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    /65536 bytes/,
  ],
  [
    'headers that are too long',
    `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(70_000)}\r\n\r\n`,
    /65536 bytes/,
  ],
  ['what is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', /not a valid HTTP/],
])('%s is refused with the reason, as JSON', async (_, request, why) => {
  const said = await send([request])
  expect(said).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  const [headers = '', body = ''] = said.split('\r\n\r\n')
  expect(headers).toContain('Content-Type: application/problem+json')
  const problem = JSON.parse(body)
  expect(problem).toMatchObject({ code: 'malformed', status: 400 })
  expect(problem.detail).toMatch(why)
  expect(headers).toContain(`X-Request-Id: ${problem.request_id}`)
})

test('an answer that has begun is not followed by a refusal', async () => {
  // safe: it listens on a port
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  let said = ''
  socket.on('data', (data) => {
    if (said === '') socket.write('no HTTP\r\n\r\n')
    said += data
  })
  socket.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'close')
  expect(said).toMatch(/^HTTP\/1\.1 200/)
  expect(said).not.toContain('400')
})

test('whoever is refused and does not hang up is cut off', async () => {
  // safe: it listens on a port
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined).resume()
  socket.write('no HTTP\r\n\r\n')
  await once(socket, 'end')
  const open = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 5_000 })
  socket.destroy()
})

describe('a client that cannot be understood', () => {
  const answerTo = (code: string | undefined, end = false) => {
    const [sent, socket] = [[] as string[], new PassThrough()]
    socket.on('data', (data) => sent.push(String(data)))
    if (end) socket.end()
    server.emit('clientError', Object.assign(new Error('a fault'), { code }), socket)
    return { socket, said: sent }
  }

  test('and is too slow is told so', async () => {
    const { said, socket } = answerTo('ERR_HTTP_REQUEST_TIMEOUT')
    await once(socket, 'end')
    expect(said.join('')).toBe('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
  })

  test.each([
    ['has hung up', 'ECONNRESET', false],
    ['takes no answer', 'HPE_INVALID_METHOD', true],
  ])('and %s is told nothing', (_, code, end) => {
    const { said, socket } = answerTo(code, end)
    expect([said, socket.destroyed]).toEqual([[], true])
  })
})

test('slow requests are cut off, and connections beyond so many refused', () => {
  const { headersTimeout, requestTimeout, maxConnections } = server
  expect({ headersTimeout, requestTimeout, maxConnections }).toEqual({
    ...{ headersTimeout: 15_000, requestTimeout: 60_000, maxConnections: 5_000 },
  })
})

test('a server that closes gives a request five seconds, and no more', async () => {
  let asked = false
  const slow = await openServer({ host: '127.0.0.1', port: 0 }, () => {
    asked = true
    return new Promise<Response>(() => undefined)
  })
  // safe: it listens on a port
  const { port } = slow.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  let isCut = false
  socket.on('close', () => {
    isCut = true
  })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await vi.waitFor(() => expect(asked).toBe(true), 20_000)
  const turns = async (ready: () => boolean, most: number) => {
    for (let turn = 0; turn < most && !ready(); turn += 1) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  try {
    const closed = closeServer(slow)
    vi.advanceTimersByTime(4_999)
    await turns(() => isCut, 100)
    expect(isCut).toBe(false)
    vi.advanceTimersByTime(1)
    await closed
    await turns(() => isCut, 100_000)
    expect(isCut).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('a server that closes does not wait for a connection that asks nothing', async () => {
  const idle = await openServer({ host: '127.0.0.1', port: 0 }, () => new Response('read'))
  // safe: it listens on a port
  const { port } = idle.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  await closeServer(idle)
  expect(idle.listening).toBe(false)
})
