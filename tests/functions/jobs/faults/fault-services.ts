/** Receivers of every kind of channel on this machine, which fail as the channel's target says. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Aedes, type AuthenticateError } from 'aedes'
import { SMTPServer } from 'smtp-server'
import { CHANNEL_KINDS } from '../../../../functions/channels/kinds.ts'
import { parseAllowList } from '../../../../functions/channels/transport/target.ts'
import { type Received, receiver } from '../../../support/servers/receiver.ts'

/** How receivers behave: those that fail do so at the first attempt of every third message, and `down` at every one. */
export const BEHAVIOURS = ['steady', 'flaky', 'busy', 'hangs', 'resets', 'down'] as const
export type Behaviour = (typeof BEHAVIOURS)[number]

export type Ports = { http: number; smtp: number; mqtt: number }

/** The word in the target of a channel by which its requests are known. */
export const wordOf = (behaviour: Behaviour, nr: number) => `${behaviour}q${nr}q`
const WORD = new RegExp(`(${BEHAVIOURS.join('|')})q\\d+q`)

type Service = {
  target: (word: string, ports: Ports) => string
  config?: Record<string, unknown>
  ok?: string
}

const P256_POINT =
  'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'

/** What somebody would enter for a channel of each kind, and what its service answers when all is well. */
export const SERVICES: Record<string, Service> = {
  webhook: { target: (word) => `https://${word}.example.com/in` },
  slack: {
    target: (word) =>
      `https://hooks.slack.com/services/T0000AAAA/B0000BBBB/${word.padEnd(24, 'x')}`,
    ok: 'ok',
  },
  discord: {
    target: (word) => `https://discord.com/api/webhooks/148000000000000000/${word.padEnd(68, 'x')}`,
    ok: '{"id":"1234567890"}',
  },
  telegram: {
    target: (word) => `@${word}`,
    config: { bot_token: `123456789:${'s3cr3t_'.repeat(5)}` },
    ok: '{"ok":true,"result":{"message_id":7,"chat":{"id":-100}}}',
  },
  email: { target: (word) => `${word}@example.com` },
  pagerduty: {
    target: (word) => word.padEnd(32, 'x'),
    ok: '{"status":"success","dedup_key":"key"}',
  },
  ntfy: { target: (word) => `https://ntfy.sh/${word}`, ok: '{"id":"a1b2c3"}' },
  teams: {
    target: (word) =>
      `https://default0123456789.ab.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/${word}/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=abcdefghijklmnop-ABCDEFGHIJKLMNOP_0123456789`,
  },
  pushover: {
    target: (word) => word.padEnd(30, 'x'),
    config: { app_token: 'azGDORePK8gMaC0QOYAMyEEuzJnyUi' },
    ok: '{"status":1,"request":"5042853c"}',
  },
  mqtt: { target: (word, { mqtt }) => `mqtt://127.0.0.1:${mqtt}/${word}` },
  webpush: {
    target: (word) => `https://updates.push.services.mozilla.com/wpush/v2/${word}`,
    config: { p256dh: P256_POINT, auth: Buffer.alloc(16, 1).toString('base64url') },
  },
}
export const KINDS = [...CHANNEL_KINDS.keys()].filter((kind) => kind in SERVICES)
export const HERE = parseAllowList('127.0.0.1')

/** A message that a receiver has taken: by its channel, and by what its receiver knows it by. */
type Taken = { word: string; key: string; id: string | null }

/** Starts one server for everything that is sent by HTTP, a mail server and a broker. */
export async function startServices() {
  let requests = 0
  const seen = new Map<string, Set<string>>()
  const taken: Taken[] = []

  /** What a receiver does with a message that says how it behaves. */
  function judge(word: string, key: string, id: string | null = null): Behaviour {
    requests += 1
    const keys = seen.get(word) ?? new Set()
    seen.set(word, keys)
    const isTurn = !keys.has(key) && keys.size % 3 === 0
    keys.add(key)
    const behaviour = BEHAVIOURS.find((one) => word.startsWith(one)) ?? 'steady'
    const does = behaviour === 'down' || isTurn ? behaviour : 'steady'
    if (does === 'steady') taken.push({ word, key, id })
    return does
  }

  const hooks = await receiver((response, request) => answer(response, request, judge))
  const mail = await startMail(judge)
  const broker = await startBroker(judge)
  return {
    ports: { http: hooks.port, smtp: mail.port, mqtt: broker.port } satisfies Ports,
    requests: () => requests,
    taken,
    close: async () => {
      hooks.close()
      await mail.close()
      await broker.close()
    },
  }
}

type Judge = (word: string, key: string, id?: string | null) => Behaviour

function answer(response: ServerResponse, request: Received, judge: Judge): void {
  const { path, headers, body } = request
  const word = WORD.exec(`${path} ${body}`)?.[0] ?? ''
  const id = headers['webhook-id']
  // A notification for a browser is encrypted anew at each attempt.
  const key = typeof id === 'string' ? id : String(headers.topic ?? body)
  switch (judge(word, key, typeof id === 'string' ? id : null)) {
    case 'steady': {
      const kind = KINDS.find((kind) => path.startsWith(placeOf(kind)))
      const status = kind === 'pagerduty' ? 202 : kind === 'webpush' ? 201 : 200
      response.writeHead(status).end(SERVICES[kind ?? 'webhook']?.ok ?? 'thanks')
      return
    }
    case 'busy':
      response.writeHead(429, { 'retry-after': '2' })
      response.end('{"ok":false,"error_code":429,"retry_after":2,"parameters":{"retry_after":2}}')
      return
    case 'resets':
      response.destroy()
      return
    case 'hangs':
      return
    default:
      response.writeHead(503).end()
  }
}

const HOSTS: Record<string, string> = {
  telegram: 'api.telegram.org',
  pagerduty: 'events.pagerduty.com',
  pushover: 'api.pushover.net',
}

/** How the paths begin of what goes to a kind with a host of its own. */
function placeOf(kind: string): string {
  if (kind === 'webhook' || kind === 'email' || kind === 'mqtt') return '/never'
  const ports = { http: 0, smtp: 0, mqtt: 0 }
  return `/${HOSTS[kind] ?? new URL(SERVICES[kind]?.target('x', ports) ?? '').host}/`
}

async function startMail(judge: Judge) {
  const sockets = new Map<number | undefined, Socket>()
  const smtp = new SMTPServer({
    authOptional: true,
    logger: false,
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, callback) {
      let text = ''
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
      })
      stream.on('end', () => {
        const word = session.envelope.rcptTo[0]?.address.split('@')[0] ?? ''
        const id = /^message-id: <([^@>]+)/im.exec(text)?.[1] ?? ''
        const refuse = (responseCode: number) =>
          callback(Object.assign(new Error('not now'), { responseCode }))
        switch (judge(word, id, id)) {
          case 'steady':
            return callback()
          case 'hangs':
            return
          case 'resets':
            return void sockets.get(session.remotePort)?.destroy()
          case 'busy':
            return refuse(421)
          default:
            return refuse(451)
        }
      })
    },
  })
  smtp.on('error', () => undefined)
  smtp.server.on('connection', (socket: Socket) => {
    const { remotePort } = socket
    sockets.set(remotePort, socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(remotePort))
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  return {
    port: (smtp.server.address() as AddressInfo).port, // safe: it listens on TCP
    close: async () => {
      for (const socket of sockets.values()) socket.destroy()
      await new Promise<void>((resolve) => smtp.close(resolve))
    },
  }
}

async function startBroker(judge: Judge) {
  const sockets = new Set<Socket>()
  const broker = await Aedes.createBroker()
  broker.authenticate = (_, username, __, done) => {
    // A broker that is down says so before it hears of a message.
    if (!username?.startsWith('down')) return done(null, true)
    judge(username, 'connection')
    done(Object.assign(new Error('refused'), { returnCode: 3 }) as AuthenticateError, null)
  }
  broker.authorizePublish = (client, { topic, payload }, done) => {
    const { id } = JSON.parse(payload.toString())
    const does = judge(topic, id, id)
    if (does === 'steady') return done(null)
    if (does === 'hangs') return
    if (does === 'resets') return client?.close()
    done(new Error('not now'))
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    broker.handle(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port, // safe: it listens on TCP
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await new Promise<void>((resolve) => broker.close(resolve))
    },
  }
}
