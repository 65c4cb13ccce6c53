/**
 * A transaction pooler as pgbouncer is before 1.21: a client has a connection of the server only while a
 * transaction runs, prepared statements stay on the server's connection, and notifications reach nobody.
 * tests/functions/postgres/pooler.test.ts holds the real pgbouncer to the same behaviour.
 */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import pg from 'pg'

const SSL_REQUEST = 80_877_103
const CANCEL_REQUEST = 80_877_102

export type StandInPooler = { urlOf: (databaseUrl: string) => string; stop: () => Promise<void> }

type Backend = { socket: Socket; end: () => void; onData: (chunk: Buffer) => void }

/**
 * startStandInPooler pools up to `size` connections for each of these logins. An idle connection is taken
 * `newest` first, as pgbouncer does it, or `oldest` first (its server_round_robin).
 */
export async function startStandInPooler(
  databaseUrls: string[],
  { size = 1, first = 'newest' }: { size?: number; first?: 'newest' | 'oldest' } = {},
): Promise<StandInPooler> {
  const pools = new Map(databaseUrls.map((url) => [loginOf(url), createBackends(url, size, first)]))
  const clients = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    client.on('error', () => undefined)
    serve(client, (login) => pools.get(login))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server has a port')
  return {
    urlOf: (url) => {
      const pooled = new URL(url)
      pooled.host = `127.0.0.1:${address.port}`
      return pooled.href
    },
    stop: async () => {
      server.close()
      for (const client of clients) client.destroy()
      for (const pool of pools.values()) pool.end()
      if (server.listening) await once(server, 'close')
    },
  }
}

function loginOf(url: string): string {
  const { username, pathname } = new URL(url)
  return `${username}${pathname}`
}

type Backends = ReturnType<typeof createBackends>

function createBackends(url: string, size: number, first: 'newest' | 'oldest') {
  const all = new Set<Backend>()
  const idle: Backend[] = []
  const waiting: PromiseWithResolvers<Backend>[] = []
  let opened = 0
  const drop = (backend: Backend) => {
    if (all.delete(backend)) opened -= 1
    const at = idle.indexOf(backend)
    if (at >= 0) idle.splice(at, 1)
    backend.end()
    refill()
  }
  /** Whoever waits gets a connection in the place of one that is gone. */
  const refill = () => {
    while (opened < size) {
      const next = waiting.shift()
      if (!next) return
      open().then(next.resolve, next.reject)
    }
  }
  const open = async (): Promise<Backend> => {
    opened += 1
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => drop(backend))
    try {
      await client.connect()
    } catch (error) {
      // Such as to a database that was dropped: the place is free again.
      opened -= 1
      refill()
      throw error
    }
    // safe: pg keeps its socket there; from here on only this pooler reads it
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    stream.removeAllListeners('data')
    const backend: Backend = {
      socket: stream,
      end: () => stream.destroy(),
      onData: () => undefined,
    }
    stream.on('data', (chunk: Buffer) => backend.onData(chunk))
    all.add(backend)
    return backend
  }
  return {
    take: async (): Promise<Backend> => {
      const backend = first === 'newest' ? idle.pop() : idle.shift()
      if (backend) return backend
      if (opened < size) return open()
      const turn = Promise.withResolvers<Backend>()
      waiting.push(turn)
      return turn.promise
    },
    give: (backend: Backend) => {
      // What comes now, such as a notification, is for nobody.
      backend.onData = () => undefined
      const next = waiting.shift()
      if (next) next.resolve(backend)
      else idle.push(backend)
    },
    drop,
    end: () => {
      for (const backend of all) backend.end()
    },
  }
}

function serve(client: Socket, findPool: (login: string) => Backends | undefined): void {
  let pool: Backends | undefined
  let backend: Backend | undefined
  let isTaking = false
  let unanswered = 0
  let isSynced = true
  let inbox: Buffer = Buffer.alloc(0)
  let outbox: Buffer = Buffer.alloc(0)

  const fromServer = (chunk: Buffer) => {
    client.write(chunk)
    outbox = Buffer.concat([outbox, chunk])
    let status = ''
    outbox = eachMessage(outbox, (type, body) => {
      if (type !== 'Z') return
      unanswered -= 1
      status = body.toString('latin1', 0, 1)
    })
    if (status !== 'I' || unanswered > 0 || !isSynced || !backend) return
    pool?.give(backend)
    backend = undefined
    forward()
  }
  const forward = () => {
    if (!pool || inbox.length === 0 || isTaking) return
    if (!backend) {
      isTaking = true
      pool.take().then(
        (taken) => {
          isTaking = false
          if (client.destroyed) return pool?.give(taken)
          backend = taken
          backend.onData = fromServer
          forward()
        },
        () => client.destroy(),
      )
      return
    }
    const { socket } = backend
    inbox = eachMessage(inbox, (type, _, message) => {
      if (type === 'X') return client.end()
      if (type === 'Q' || type === 'S') unanswered += 1
      isSynced = type === 'Q' || type === 'S'
      socket.write(message)
    })
  }
  client.on('data', (chunk) => {
    inbox = Buffer.concat([inbox, chunk])
    while (!pool && inbox.length >= 8 && inbox.length >= inbox.readInt32BE(0)) {
      const length = inbox.readInt32BE(0)
      const startup = inbox.subarray(0, length)
      inbox = inbox.subarray(length)
      const code = startup.readInt32BE(4)
      if (code === CANCEL_REQUEST) return client.end()
      if (code === SSL_REQUEST) {
        client.write('N')
        continue
      }
      const words = startup.toString('utf8', 8).split('\0')
      const value = (name: string) => words[words.indexOf(name) + 1] ?? ''
      pool = findPool(`${value('user')}/${value('database')}`)
      if (!pool) return client.destroy()
      client.write(greeting())
    }
    // A client that only says goodbye needs no connection for it.
    if (!backend && inbox.length === 5 && inbox.toString('latin1', 0, 1) === 'X')
      return client.end()
    forward()
  })
  client.on('close', () => {
    if (backend) pool?.drop(backend)
    backend = undefined
  })
}

/** Calls `handle` for each whole message and returns what is left. */
function eachMessage(
  bytes: Buffer,
  handle: (type: string, body: Buffer, message: Buffer) => unknown,
): Buffer {
  let rest = bytes
  while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
    const message = rest.subarray(0, 1 + rest.readInt32BE(1))
    rest = rest.subarray(message.length)
    handle(message.toString('latin1', 0, 1), message.subarray(5), message)
  }
  return rest
}

/** AuthenticationOk, ParameterStatus, BackendKeyData with a made-up process id, ReadyForQuery. */
function greeting(): Buffer {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.alloc(5)
    head.write(type, 0, 'latin1')
    head.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('S', Buffer.from('client_encoding\0UTF8\0')),
    message('S', Buffer.from('standard_conforming_strings\0on\0')),
    message('K', Buffer.alloc(8, 1)),
    message('Z', Buffer.from('I')),
  ])
}
