import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

type Received = { method: string; headers: IncomingMessage['headers']; body: string }
type Answer = { status: number; headers?: Record<string, string | string[]>; body?: string }

/** A receiver of webhooks: what it has received, and what it answers next; else 204. */
export async function startReceiver() {
  const receiver = {
    url: '',
    received: [] as Received[],
    answers: [] as Answer[],
    /** What happens elsewhere before it answers. */
    meanwhile: (): Promise<unknown> => Promise.resolve(),
    reset: () =>
      Object.assign(receiver, {
        received: [],
        answers: [],
        meanwhile: () => Promise.resolve(),
      }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', async () => {
      await receiver.meanwhile()
      const { method = '', headers: given } = request
      receiver.received.push({ method, headers: given, body: Buffer.concat(parts).toString() })
      const { status, headers, body = 'the answer' } = receiver.answers.shift() ?? { status: 204 }
      response.writeHead(status, headers).end(status === 204 ? '' : body)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()))
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  receiver.url = `http://127.0.0.1:${port}/hook`
  return receiver
}
