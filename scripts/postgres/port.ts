import { createServer } from 'node:net'

type Address = { host: string; port: number }

/** findPort returns the port if it is free (any free one for 0), or throws the reason. */
export async function findPort({ host, port }: Address): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(portProblem(error, { host, port })))
    server.listen(port, host, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })
}

/** portProblem explains why listening failed; other errors stay as they are. */
export function portProblem(error: unknown, { host, port }: Address): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return new Error(
        `Port ${port} on ${host} is in use. Choose another: --port ${port + 1}, or --port 0 for any free one.`,
      )
    case 'EACCES':
      return new Error(`Port ${port} is reserved for root. Choose a port above 1023: --port 8787`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(
        `${host} is not an address of this machine. Choose another: --host 127.0.0.1`,
      )
    default:
      return error
  }
}
