import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tinyGguf } from './tiny-gguf.ts'

/** startOrigin serves a tiny model under every address, whole or from a byte on. */
export async function startOrigin() {
  const gguf = tinyGguf()
  let holds = false
  const server = createServer((request, response) => {
    response.setHeader('etag', '"1"')
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    if (from > 0) {
      response.setHeader('content-range', `bytes ${from}-${gguf.length - 1}/${gguf.length}`)
      response.statusCode = 206
    }
    response.setHeader('content-length', gguf.length - from)
    if (request.method === 'HEAD') return response.end()
    if (!holds) return response.end(gguf.subarray(from))
    response.write(gguf.subarray(from, from + 50_000))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  // safe: it listens on a port
  const { port } = server.address() as AddressInfo
  return {
    gguf,
    sha256: createHash('sha256').update(gguf).digest('hex'),
    url: `http://127.0.0.1:${port}/tiny.gguf`,
    /** From now on it sends only a beginning, and then nothing. */
    hold: (isHeld: boolean) => {
      holds = isHeld
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
