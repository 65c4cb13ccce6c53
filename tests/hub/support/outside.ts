import { createSocket } from 'node:dgram'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import type { Limits } from '../../../hub/reader/limits.ts'
import { openReader, type ReaderOptions } from '../../../hub/reader/web-reader.ts'
import { isPublicAddress } from '../../../shared/addresses.ts'

const PUBLIC_ADDRESS = '93.184.215.14'

export type Site = (request: IncomingMessage, response: ServerResponse) => void
/** A page, or a whole site of its own; a site without `/robots.txt` answers 404 there. */
type Sites = Record<string, Record<string, string | Site>>

/**
 * An internet on this machine: sites by name, and beside it an inside, on which nothing may ever
 * call. The rules of the reader are those of production; only where a judged address is found differs.
 */
export async function startOutside() {
  const sites: Sites = {}
  const answers: Record<string, (string[] | (() => string[])) | undefined> = {}
  const asked: string[] = []
  const dialled: string[] = []
  const looked_up: string[] = []

  const outside = createServer((request, response) => {
    const host = request.headers.host ?? ''
    asked.push(`${request.method} ${host}${request.url}`)
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    const page = sites[host]?.[pathname]
    if (page === undefined) return void response.writeHead(404).end()
    if (typeof page === 'function') return page(request, response)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(page)
  })
  const inside: string[] = []
  const canary = () =>
    createTcpServer((socket) => {
      socket.on('error', () => {})
      inside.push('connection')
      socket.once('data', (data) => {
        inside.push(data.toString('latin1').split('\r\n')[0] ?? '')
        socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nsecret')
      })
    })
  const port = await listen(outside, '127.0.0.1')
  const four = canary()
  const inner_port = await listen(four, '127.0.0.1')
  const six = canary()
  await listen(six, '::1', inner_port)
  const udp = createSocket('udp4', () => inside.push('datagram'))
  await new Promise<void>((resolve) => udp.bind(inner_port, '127.0.0.1', resolve))

  const options = {
    program: join(import.meta.dirname, 'reader-as-root.ts'),
    pause_ms: 0,
    resolve: async (host) => {
      looked_up.push(host)
      const answer = answers[host] ?? [PUBLIC_ADDRESS]
      return typeof answer === 'function' ? answer() : answer
    },
    reach: (address) => {
      dialled.push(address)
      return { address: '127.0.0.1', port: isPublicAddress(address) ? port : inner_port }
    },
  } satisfies ReaderOptions

  return {
    sites,
    /** What DNS says of names; all others lie outside. */
    answers,
    /** Requests that sites got, as `GET host/path`. */
    asked,
    dialled,
    looked_up,
    /** What arrived inside: nothing, if all is well. */
    inside,
    inner_port,
    options,
    reader: (limits: Partial<Limits> = {}) => openReader({ ...options, limits }),
    close: () => {
      for (const server of [outside, four, six]) server.close()
      outside.closeAllConnections()
      udp.close()
    },
  }
}
export type Outside = Awaited<ReturnType<typeof startOutside>>

async function listen(server: Server, host: string, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  return (server.address() as AddressInfo).port // safe: it listens on TCP
}
