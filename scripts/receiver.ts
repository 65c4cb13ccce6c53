import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { parseSecret, verify } from '../shared/signing.ts'
import { readArguments, runMain, UsageError } from './start/arguments.ts'

const HELP = `npm run receiver -- --secret whsec_… [--port 8899]

Receives webhooks on this machine, checks their signatures, and prints what they say. The secret is
the channel's signing_secret. Watchpost must be allowed to send here: ALLOW_PRIVATE_TARGETS.`
const SEE_HELP = 'See npm run receiver -- --help'

/** The part of a message that is shown. */
const Message = z.object({
  type: z.string(),
  data: z.object({
    alert: z.object({ severity: z.number(), event: z.object({ title: z.string() }) }).nullish(),
    zone: z.object({ label: z.string() }).nullish(),
  }),
})

async function main(): Promise<void> {
  const { values } = readArguments(
    {
      options: {
        secret: { type: 'string' },
        port: { type: 'string', default: '8899' },
        help: { type: 'boolean', short: 'h' },
      },
    },
    SEE_HELP,
  )
  if (values.help) return console.log(HELP)
  const secret = readSecret(values.secret)
  const port = Number(values.port)
  if (!/^\d+$/.test(values.port) || port > 65_535)
    throw new UsageError(`--port must be a port between 0 and 65535. ${SEE_HELP}`)
  const server = await receive({ secret, port, print: say })
  console.log(`Receiving on http://127.0.0.1:${server.port}/`)
}

function readSecret(secret: string | undefined): string {
  if (!secret) throw new UsageError(`--secret is missing. ${SEE_HELP}`)
  try {
    parseSecret(secret)
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error} ${SEE_HELP}`)
  }
  return secret
}

/**
 * receive answers 204 if the signature is valid, otherwise 401. A message that arrives twice is
 * printed once.
 */
async function receive(options: {
  secret: string
  port: number
  print: (line: string) => void
}): Promise<{ port: number }> {
  const { secret, port, print } = options
  const seen = new Set<string>()
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const headers = new Headers()
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value))
    const verified = await verify({ headers, body, secret, now: new Date() })
    response.writeHead(verified.ok ? 204 : 401).end()
    if (!verified.ok) return print(`refused: the signature does not hold (${verified.reason})`)
    const id = headers.get('webhook-id') ?? ''
    if (!seen.has(id)) print(describe(body))
    seen.add(id)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      print(`not understood: ${error instanceof Error ? error.message : error}`)
      response.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  }).catch((error) => {
    throw error.code === 'EADDRINUSE'
      ? new Error(`Port ${port} is in use. Choose another: --port ${port + 1}`)
      : error
  })
  const address = server.address()
  return { port: typeof address === 'object' && address ? address.port : port }
}

function describe(body: string): string {
  const { type, data } = Message.parse(JSON.parse(body))
  const { alert, zone } = data
  if (!alert) return `${type}${zone ? ` in ${zone.label}` : ''}, signature valid`
  return `${type} in ${zone?.label}: ${alert.event.title} (severity ${alert.severity}), signature valid`
}

function say(line: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`)
}

await runMain(main)
