/**
 * A receiver of webhooks on four ports, in a process of its own, that remembers what it was sent. On the first port it says
 * so: `GET /` its ports, `GET /received` the deliveries since the last `DELETE /received`; `PUT /after/200` has it answer
 * after 200 ms.
 */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Server, startServer } from './programs.ts'

/** Hosts have limits of their own; those of a service with one receiver are not what is measured. */
const PORTS = 4

/** A delivery: how often it came, the event that it is about, and when it came first (ms since 1970, with fractions). */
export type Received = { id: string; times: number; event_id: string; at: number }
export type Hooks = {
  pid: number
  ports: number[]
  received: () => Promise<Received[]>
  count: () => Promise<number>
  forget: () => Promise<void>
  /** Has it answer so late. */
  answerAfter: (ms: number) => Promise<void>
  stop: Server['stop']
}

/** Now, in the clock that processes of one machine share. */
export const sharedNow = () => performance.timeOrigin + performance.now()

/** Starts the receiver. */
export async function startHooks(): Promise<Hooks> {
  const { url, pid, stop } = await startServer(process.execPath, [import.meta.filename], {
    cwd: resolve(import.meta.dirname, '../..'),
  })
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`${url}${path}`, { method })
    // safe: it is the server below that answers
    return answer.json() as Promise<unknown>
  }
  return {
    pid,
    stop,
    ports: (await ask('/')) as number[], // safe: see ask
    received: async () => (await ask('/received')) as Received[], // safe: see ask
    count: async () => (await ask('/count')) as number, // safe: see ask
    forget: async () => void (await ask('/received', 'DELETE')),
    answerAfter: async (ms) => void (await ask(`/after/${ms}`, 'PUT')),
  }
}

async function main(): Promise<void> {
  const received = new Map<string, Received>()
  const ports: number[] = []
  const control: Record<string, () => unknown> = {
    'GET /': () => ports,
    'GET /count': () => received.size,
    'GET /received': () => [...received.values()],
    'DELETE /received': () => received.clear(),
  }
  let after_ms = 0
  const answer: RequestListener = async (request, response) => {
    const after = /^\/after\/(\d+)$/.exec(request.url ?? '')
    if (request.method === 'PUT' && after) {
      after_ms = Number(after[1])
      return void response.end('null')
    }
    const asked = control[`${request.method} ${request.url}`]
    if (asked) return void response.end(JSON.stringify(asked() ?? null))
    const body = (await buffer(request)).toString()
    if (after_ms > 0) setTimeout(() => response.end('ok'), after_ms)
    else response.end('ok')
    const id = String(request.headers['webhook-id'])
    const known = received.get(id)
    if (known) known.times += 1
    else {
      const event_id = /"event_id":"([^"]+)"/.exec(body)?.[1] ?? ''
      received.set(id, { id, times: 1, event_id, at: sharedNow() })
    }
  }
  for (let nr = 0; nr < PORTS; nr += 1) {
    const server = createServer({ keepAliveTimeout: 60_000 }, answer)
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    // safe: a server that listens on TCP has an address with a port
    ports.push((server.address() as AddressInfo).port)
  }
  console.log(`listening on http://127.0.0.1:${ports[0]}`)
}

if (import.meta.main) await main()
