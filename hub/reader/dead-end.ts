import { createServer } from 'node:net'

/** openDeadEnd starts a proxy that forwards nothing, and returns its URL. */
export async function openDeadEnd(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'))
  })
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const at = server.address()
  if (at === null || typeof at === 'string') throw new Error('The dead end has no port.')
  return `http://127.0.0.1:${at.port}`
}
