import { access, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { type Config, readConfig } from '../config.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { log } from '../log.ts'
import { readSetting } from '../ops/settings.ts'
import { machineMemory, sizing } from './catalog.ts'
import { createChat, inWords, readJson, refuse, sendJson } from './chat.ts'
import type { Engine } from './engine.ts'
import { modelText } from './model.text.ts'
import { ChatRequest, type Health } from './protocol.ts'
import { MODELS, modelPath } from './settings.ts'
import { modelsFolder, socketPath } from './socket.ts'

/*
 * The model process: one GGUF, and OpenAI's chat completions on a Unix socket. On a developer's
 * machine it is a child of the hub and ends with it; installed, it is a systemd unit that reads
 * models.json itself. Without a model it keeps running and says so.
 */

/** EX_TEMPFAIL of sysexits.h: the unit's RestartForceExitStatus starts it again. */
const RESTART = 75

const say = bilingual(modelText)

const Count = z.coerce.number().int().positive().optional()
const { values } = parseArgs({
  options: {
    socket: { type: 'string' },
    file: { type: 'string' },
    'context-size': { type: 'string' },
    sequences: { type: 'string' },
    threads: { type: 'string' },
  },
})
const Tokens = z.object({ texts: z.array(z.string()).max(1000) })
const Prompt = z.object({ messages: ChatRequest.shape.messages })

let engine: Engine | undefined
let chat: ReturnType<typeof createChat> | undefined
let state: Health['state'] = 'starting'
let detail: Words | null = null

function health(): Health {
  return {
    state,
    detail,
    model: engine?.name ?? null,
    memory_bytes: process.memoryUsage.rss(),
    context_size: engine?.context_size ?? null,
    sequences: engine?.sequences ?? null,
    threads: engine?.threads() ?? null,
    busy: chat?.busy() ?? 0,
    waiting: chat?.waiting() ?? 0,
  }
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const route = `${request.method} ${request.url?.split('?')[0]}`
  if (route === 'GET /health') return sendJson(response, 200, health())
  if (route === 'GET /v1/models') {
    const data = engine ? [{ id: engine.name, object: 'model', owned_by: 'local' }] : []
    return sendJson(response, 200, { object: 'list', data })
  }
  // systemd starts the unit again, which then reads models.json.
  if (route === 'POST /reload') {
    sendJson(response, 202, {})
    return stop(RESTART)
  }
  if (!engine || !chat) {
    const code = state === 'none' ? 'no_model' : 'starting'
    response.setHeader('retry-after', '5')
    return refuse(response, 503, { ...inWords(detail ?? say.loading), code })
  }
  if (route === 'POST /v1/chat/completions') return chat.chat(request, response)
  if (route === 'POST /tokenize') {
    const body = await readJson(request)
    const texts = Tokens.safeParse(body)
    if (texts.success) return sendJson(response, 200, { counts: engine.count(texts.data.texts) })
    const prompt = Prompt.safeParse(body)
    if (!prompt.success) return refuse(response, 400, { message: 'Send texts or messages.' })
    return sendJson(response, 200, { counts: [engine.promptTokens(prompt.data.messages)] })
  }
  refuse(response, 404, { message: `There is no ${route}.` })
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    log({ msg: 'model request failed', error: String(error) })
    refuse(response, 500, { ...inWords(say.process_failed), code: 'internal' })
  })
})

function stop(code: number): void {
  server.close()
  server.closeAllConnections()
  // llama.cpp would first finish its current batch, for which nobody waits any more.
  setImmediate(() => process.exit(code))
}

/** The model to load, or a sentence why there is none. */
async function choose(config: Config): Promise<{ file: string } | { reason: Words }> {
  const settings = await readSetting(config.paths, MODELS)
  const given = values.file ?? (settings.kind === 'local' ? settings.file : undefined)
  if (given === undefined) return { reason: say.none_of_its_own }
  const file = modelPath(modelsFolder(config.paths), given)
  try {
    await access(file)
    return { file }
  } catch {
    return { reason: say.no_file(file) }
  }
}

/**
 * Removes a socket file that a killed process left; one that answers belongs to a running process.
 */
async function claim(socket: string): Promise<void> {
  const isAlive = await new Promise<boolean>((resolve) => {
    const probe = connect(socket)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })
  if (isAlive) throw new Error(`Another model process listens on ${socket}.`)
  await rm(socket, { force: true })
}

async function main(): Promise<void> {
  process.title = 'watchpost-model'
  process.umask(0o077)
  // The channel to the parent also closes when the parent is killed.
  if (process.connected) process.once('disconnect', () => stop(0))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(0))

  const config = await readConfig(process.env)
  const socket = values.socket ?? socketPath(config.paths, process.env)
  await claim(socket)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socket, resolve)
  })

  const chosen = await choose(config)
  if ('reason' in chosen) {
    state = 'none'
    detail = chosen.reason
    return
  }
  const { context_size, sequences, batch_size } = sizing(machineMemory())
  const started = performance.now()
  // Imported only now: llama.cpp uses memory even if no model is loaded.
  const { loadEngine } = await import('./engine.ts')
  engine = await loadEngine({
    file: chosen.file,
    contextSize: Count.parse(values['context-size']) ?? context_size,
    sequences: Count.parse(values.sequences) ?? sequences,
    batchSize: batch_size,
    threads: Count.parse(values.threads ?? process.env.HUB_MODEL_THREADS),
  })
  chat = createChat(engine, ({ error, ...line }) =>
    log({ msg: 'completion', ...line, ...(error === undefined ? {} : { error: String(error) }) }),
  )
  state = 'ready'
  process.send?.('ready')
  log({ msg: 'model ready', duration_ms: Math.round(performance.now() - started), ...health() })
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
