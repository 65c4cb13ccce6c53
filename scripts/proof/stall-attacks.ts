/** Requests with which somebody might try to delay all others. */
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { request } from 'undici'
import { generateKey } from '../../shared/key.ts'
import {
  coast,
  diagonals,
  EXPENSIVE_BODIES,
  pushes,
  star,
} from '../../tests/support/attacks/expensive.ts'

export type Target = { url: string; port: number; key: string }
export type Attack = { name: string; run: () => Promise<(number | string)[]> }

const MIB = 1024 * 1024
const PREVIEW = '/api/v1/zones/preview'
const draft = (polygon: object, more: object = {}) => ({
  label: 'A shape',
  lat: 10,
  lon: 29,
  polygon,
  ...more,
})

/** createAttacks prepares what the attacks need, and lists them. */
export async function createAttacks(target: Target): Promise<Attack[]> {
  const send = sender(target)
  const post = (path: string, body: string | Buffer | object, more: Sending = {}) =>
    send('POST', path, { body, ...more })
  const get = (path: string, more: Sending = {}) => send('GET', path, more)
  const mine = { key: target.key }
  const asTool = { ...mine, accept: 'application/json, text/event-stream' }
  const zone_id = await bigZones(target)
  const unknown = generateKey()
  const anyBody: Attack[] = Object.entries(EXPENSIVE_BODIES).flatMap(([what, body]) => [
    { name: `no key: ${what}`, run: () => times(5, () => post(PREVIEW, body)) },
    {
      name: `unknown key: ${what}`,
      run: () => times(5, () => post(PREVIEW, body, { key: unknown })),
    },
    { name: `known key: ${what}`, run: () => times(5, () => post(PREVIEW, body, mine)) },
    { name: `mcp: ${what}`, run: () => times(5, () => post('/api/v1/mcp', body, asTool)) },
  ])
  const shapes = {
    '10,000 vertices of a coast': coast(9999),
    'a star of 10,000': star(9998),
    '2,000 diagonals': diagonals(2000),
    'four rings of 1,000 diagonals': {
      type: 'Polygon',
      coordinates: Array.from({ length: 4 }, () => diagonals(1000).coordinates[0]),
    },
    '2,500 parts': {
      type: 'MultiPolygon',
      coordinates: Array.from({ length: 2500 }, () => [
        [
          [0, 0],
          [1, 0],
          [0, 1],
          [0, 0],
        ],
      ]),
    },
  }
  const shaped: Attack[] = Object.entries(shapes).flatMap(([what, polygon]) => [
    {
      name: `ten at once: preview of ${what}, 90 days`,
      run: () => times(10, () => post(`${PREVIEW}?days=90`, draft(polygon), mine)),
    },
  ])
  const call = (id: number, name: string, args: object) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  })
  return [
    ...anyBody,
    ...shaped,
    {
      name: 'preview of 90 days over 199,000 revisions',
      run: () => times(1, () => post(`${PREVIEW}?days=90`, circle, mine)),
    },
    {
      name: 'ten at once: preview of a saved zone, 90 days',
      run: () => times(10, () => get(`/api/v1/zones/${zone_id}/preview?days=90`, mine)),
    },
    {
      name: 'a batch of 20 previews over MCP',
      run: () =>
        times(1, () =>
          post(
            '/api/v1/mcp',
            Array.from({ length: 20 }, (_, id) => call(id, 'preview_draft', { zone: circle })),
            asTool,
          ),
        ),
    },
    {
      name: 'a batch of 10 tangled shapes over MCP',
      run: () =>
        times(1, () =>
          post(
            '/api/v1/mcp',
            Array.from({ length: 10 }, (_, id) =>
              call(id, 'preview_draft', { zone: draft(diagonals(1500)), days: 1 }),
            ),
            asTool,
          ),
        ),
    },
    {
      name: 'GET /events in 20 zones of 10,000 vertices',
      run: () => times(5, () => get('/api/v1/events?minutes=1440&limit=500', mine)),
    },
    ...Object.entries(pushes()).map(([what, body]) => ({
      name: `five at once: POST /events of ${what}`,
      run: () => times(5, () => post('/api/v1/events', { source: 'custom:stall', ...body }, mine)),
    })),
    {
      name: 'GET /zones, 20 of 10,000 vertices',
      run: () => times(3, () => get('/api/v1/zones?limit=500', mine)),
    },
    {
      name: 'ten maps of the whole earth, 90 days',
      run: () => {
        const from = new Date(Date.now() - 90 * 24 * 3600 * 1000).toISOString()
        return times(10, () => get(`/api/v1/events/map?zoom=0&from=${from}`, mine))
      },
    },
    {
      name: 'all changes of events from the start, and ten followers that wait',
      run: async () => [
        ...(await times(10, () => get('/api/v1/events/changes?limit=500', mine))),
        ...(await times(10, () => get('/api/v1/events/changes?after=now&wait=2', mine))),
        ...(await times(10, () => get('/api/v1/alerts/changes?wait=2', mine))),
      ],
    },
    {
      name: 'GET /zones, simplified',
      run: () => times(3, () => get('/api/v1/zones?limit=500&geometry=simplified', mine)),
    },
    {
      name: 'explain in a zone of 10,000 vertices',
      run: () => times(10, () => get(`/api/v1/zones/${zone_id}/explain?event_id=proof:1`, mine)),
    },
    {
      name: 'a change of a big zone, ten times, with its match_zone job',
      run: () =>
        times(10, (index) =>
          send('PATCH', `/api/v1/zones/${zone_id}`, { body: { label: `Big ${index}` }, ...mine }),
        ),
    },
    {
      name: 'a new big zone, five times, with its match',
      run: () => times(5, () => post('/api/v1/zones', draft(coast(9990)), mine)),
    },
    {
      name: 'a replay of a big zone by Idempotency-Key, ten times',
      run: () =>
        times(10, () => post('/api/v1/zones', draft(coast(9980)), { ...mine, once: 'stall' })),
    },
    {
      name: 'a query of 60,000 characters',
      run: () => times(20, () => get(`/api/v1/events?source=${'x'.repeat(60_000)}`, mine)),
    },
    {
      name: '3,000 query parameters',
      run: () =>
        times(20, () =>
          get(
            `/api/v1/events?${Array.from({ length: 3000 }, (_, i) => `q${i}=${i}`).join('&')}`,
            mine,
          ),
        ),
    },
    {
      name: 'cursors of 2,000 characters',
      run: () => times(50, () => get(`/api/v1/zones?cursor=${'W1tb'.repeat(500)}`, mine)),
    },
    {
      name: 'a gzip bomb',
      run: () =>
        times(5, () =>
          post(PREVIEW, gzipSync(Buffer.alloc(200 * MIB)), { ...mine, encoding: 'gzip' }),
        ),
    },
    {
      name: '2 MiB of invalid UTF-8',
      run: () => times(5, () => post(PREVIEW, Buffer.alloc(2 * MIB - 1, 0xff), mine)),
    },
    {
      name: '20 MiB without a length',
      run: () => times(3, () => raw(target, chunked(target.key, 20 * MIB, 64 * 1024))),
    },
    {
      name: '100,000 chunks of a byte',
      run: () => times(2, () => raw(target, chunked(target.key, 100_000, 1))),
    },
    {
      name: 'chunks of a byte without end, in a POST, to an unknown path and in a GET',
      run: async () => [
        ...(await times(1, () => crumbs(target, `POST ${PREVIEW}`))),
        ...(await times(1, () => crumbs(target, 'POST /api/v1/nothing'))),
        ...(await times(1, () => crumbs(target, 'GET /api/v1/me'))),
      ],
    },
    {
      name: 'two lengths, and a length beside chunks',
      run: async () => [
        ...(await times(1, () => raw(target, smuggled('Content-Length: 5\r\nContent-Length: 9')))),
        ...(await times(1, () =>
          raw(target, smuggled('Content-Length: 5\r\nTransfer-Encoding: chunked')),
        )),
      ],
    },
    { name: '500 slow bodies and 500 slow headers', run: () => slowly(target) },
    // As many connections as one client opens. Many more at once are a matter of capacity.
    {
      name: '100 anonymous requests at once',
      run: () => times(100, () => get('/api/v1/zones')),
    },
    {
      name: '100 tokens that are none',
      run: () => times(100, () => get('/api/v1/me', { key: `${'a'.repeat(500)}.b.c` })),
    },
    {
      name: '100 unknown keys at once',
      run: () => times(100, () => get('/api/v1/me', { key: generateKey() })),
    },
  ]
}

const circle = { label: 'All of it', lat: 15, lon: 34, radius_km: 1500, min_severity: 0 }

async function times(
  count: number,
  ask: (index: number) => Promise<number | string>,
): Promise<(number | string)[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => ask(index)))
}

type Sending = {
  key?: string
  body?: string | Buffer | object
  encoding?: string
  accept?: string
  once?: string
}

function sender({ url }: Target) {
  return async (
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    { key, body, encoding, accept, once }: Sending,
  ): Promise<number | string> => {
    const isText = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined
    try {
      const answer = await request(`${url}${path}`, {
        method,
        headers: {
          ...(key ? { authorization: `Bearer ${key}` } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(encoding ? { 'content-encoding': encoding } : {}),
          ...(accept ? { accept } : {}),
          ...(once ? { 'idempotency-key': once } : {}),
        },
        body: isText ? (body ?? null) : JSON.stringify(body),
      })
      await answer.body.dump({ limit: 512 * MIB })
      return answer.statusCode
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error)
    }
  }
}

/** Creates twenty zones with nearly the maximum of vertices; returns the id of one. */
async function bigZones({ url, key }: Target): Promise<string> {
  let id = ''
  for (let index = 0; index < 20; index++) {
    const answer = await request(`${url}/api/v1/zones`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(draft(coast(9999), { label: `Big ${index}`, min_severity: 100 })),
    })
    const { zone } = (await answer.body.json()) as { zone: { id: string } } // safe: or it throws
    id = zone.id
  }
  return id
}

/**
 * Opens a connection, writes the parts, reads until it is closed or 5 s are over, and returns the
 * status.
 */
function raw({ port }: Target, parts: Iterable<string>): Promise<number | string> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    let said = ''
    const end = (word?: string) => {
      socket.destroy()
      done(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? word ?? 'closed')
    }
    socket.setTimeout(5_000, () => end('silence'))
    socket.on('data', (data) => {
      said += data
      end()
    })
    socket.on('error', () => end())
    socket.on('close', () => end())
    socket.on('connect', async () => {
      for (const part of parts) {
        if (socket.destroyed) return
        if (!socket.write(part)) await new Promise((drained) => socket.once('drain', drained))
      }
    })
  })
}

function* chunked(key: string, bytes: number, size: number): Generator<string> {
  yield `POST ${PREVIEW} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const chunk = `${size.toString(16)}\r\n${'['.repeat(size)}\r\n`
  for (let sent = 0; sent < bytes; sent += size) yield chunk
  yield '0\r\n\r\n'
}

/** One connection that goes on sending chunks of a byte, whatever is answered; answers the status, and how many MiB it sent. */
function crumbs({ port, key }: Target, line: string): Promise<string> {
  const head = `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const many = '1\r\n[\r\n'.repeat(10_000)
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    let said = ''
    const late = setTimeout(() => socket.destroy(), 2_000)
    const write = () => {
      while (socket.writable && socket.write(many));
    }
    socket.on('connect', () => {
      socket.write(head)
      write()
    })
    socket.on('drain', write)
    socket.on('data', (data) => {
      said += data
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(late)
      const status = /^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 'closed'
      done(`${status} after ${Math.round((socket.bytesWritten / MIB) * 10) / 10} MiB`)
    })
  })
}

function* smuggled(lengths: string): Generator<string> {
  yield `POST ${PREVIEW} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${lengths}\r\n\r\n0\r\n\r\nGET /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n`
}

/** Opens connections that send a byte now and then; ends them after three seconds. */
async function slowly({ port, key }: Target): Promise<string[]> {
  const head = `POST ${PREVIEW} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`
  const sockets = Array.from({ length: 1000 }, (_, index) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.on('connect', () => socket.write(index % 2 === 0 ? head : 'POST / HTTP/1.1\r\nX: '))
    return socket
  })
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('[')
  }, 200)
  await new Promise((done) => setTimeout(done, 3_000))
  clearInterval(dripping)
  for (const socket of sockets) socket.destroy()
  return sockets.map(() => 'held')
}
