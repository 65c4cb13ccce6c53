import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type CountingProxy = {
  /** The address of a database through this proxy. */
  urlOf: (databaseUrl: string) => string
  /**
   * The round trips so far: how often the client sent something after it had received something.
   */
  trips: () => number
  close: () => Promise<void>
}

/** startProxy runs between a pool and Postgres and counts the round trips of all connections. */
export async function startProxy(databaseUrl: string): Promise<CountingProxy> {
  const upstream = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let trips = 0
  const server = createServer((client) => {
    const database = connect(Number(upstream.port), upstream.hostname)
    let isClientsTurn = true
    client.on('data', (bytes) => {
      if (isClientsTurn) trips += 1
      isClientsTurn = false
      database.write(bytes)
    })
    database.on('data', (bytes) => {
      isClientsTurn = true
      client.write(bytes)
    })
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    urlOf: (url) => {
      const proxied = new URL(url)
      proxied.host = `127.0.0.1:${address.port}`
      return proxied.href
    },
    trips: () => trips,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
