import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { AGENT_NAMES } from '../../hub/agents/names.ts'
import { BASE } from '../../hub/app.ts'
import { authFiles } from '../../hub/auth/auth.ts'
import { type Paths, pathsIn } from '../../hub/config.ts'
import { keyFiles, writeKey } from '../../hub/db/keys.ts'
import { sizing } from '../../hub/model/catalog.ts'
import { createModel } from '../../hub/model/model.ts'
import { jsonSchemaOf } from '../../hub/model/schema.ts'
import { prepare } from '../../hub/prepare.ts'
import { interleave, seconds } from './figure.ts'
import type { Ground } from './ground.ts'
import { startServer } from './programs.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const MISSIONS = Number(process.env.BENCH_MISSIONS ?? 26)
const ROOT = resolve(import.meta.dirname, '../..')
const MODEL = resolve(
  process.env.BENCH_MODEL ?? join(ROOT, '.data/models/SmolLM2-135M-Instruct.Q4_1.gguf'),
)
const SAMPLE_MS = 50
/** By then each sequence of the model has read a prompt. */
const MEMORY_MS = 15_000
const MIB = 1024 ** 2

/** A text so long that reading the prompt and loading the grammar hardly count. */
const Story = z.object({ text: z.string().min(300).max(400) })
const SYSTEM = 'You write for a small sales team.'
const TASK = 'Write a page about planning the routes of forty delivery vans.'

/** What the hub adds to the language model: to the time of an answer, to a mission, and to the memory. */
export async function benchHub(ground: Ground): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bench-hub-'))
  try {
    await benchTokens(ground, folder)
    await benchMissions(ground, folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The same prompt, grammar and length, by the hub's model process and by node-llama-cpp in this process. */
async function benchTokens({ say, figure, leaveOut }: Ground, folder: string): Promise<void> {
  const name = 'Tokens a second of an answer by the model process of the hub'
  if (!existsSync(MODEL)) {
    return leaveOut(name, 'there is no model: run sh scripts/smollm2.sh, or set BENCH_MODEL')
  }
  say(`Answering ${ROUNDS} times each …`)
  const paths = pathsIn(join(folder, 'model'))
  await mkdir(paths.data_dir)
  const hub = createModel({
    settings: { kind: 'local', file: MODEL },
    paths,
    log: () => {},
  })
  const library = await startLibrary()
  try {
    await hub.start()
    await hub.ready()
    let seed = 0
    const { ours, theirs } = await interleave(ROUNDS, {
      theirs: async () => {
        seed += 1
        return library.rate(seed)
      },
      ours: async () => {
        let tokens = 0
        const took = await seconds(async () => {
          const call = { name: 'bench', system: SYSTEM, task: TASK, schema: Story, seed }
          tokens = (await hub.complete(call)).tokens.completion
        })
        return tokens / took
      },
    })
    figure({
      name,
      value: ours,
      unit: 'tokens/s',
      against: `node-llama-cpp by itself, ${theirs.toFixed(1)}/s`,
      ratio: ours / theirs,
      goal: { at_least: 0.9 },
    })
  } finally {
    await hub.close()
    await library.close()
  }
}

/** node-llama-cpp with the settings of the hub, and nothing of the hub around it. */
async function startLibrary() {
  const { getLlama, LlamaChat, resolveChatWrapper } = await importLibrary()
  const { context_size, sequences, batch_size } = sizing(24 * 1024 ** 3)
  // As many threads as the hub takes: with llama.cpp's default two cores spend their time waiting for each other.
  const threads = availableParallelism()
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    progressLogs: false,
    maxThreads: threads,
  })
  const model = await llama.loadModel({ modelPath: MODEL })
  const context = await model.createContext({
    contextSize: Math.min(context_size, model.trainContextSize),
    sequences,
    batchSize: batch_size,
    threads,
  })
  const sequence = context.getSequence()
  const chatWrapper = resolveChatWrapper(model)
  // safe: the schema of Story is one that node-llama-cpp takes; it throws on any other
  const schema = jsonSchemaOf(Story).schema as Parameters<
    typeof llama.createGrammarForJsonSchema
  >[0]
  const grammar = await llama.createGrammarForJsonSchema(schema)
  return {
    rate: async (seed: number) => {
      const chat = new LlamaChat({ contextSequence: sequence, chatWrapper })
      const before = sequence.tokenMeter.getState()
      const took = await seconds(() =>
        chat.generateResponse(
          [
            { type: 'system', text: SYSTEM },
            { type: 'user', text: TASK },
            { type: 'model', response: [] },
          ],
          { grammar, repeatPenalty: false, temperature: 0.7, topK: 40, topP: 0.95, seed },
        ),
      )
      chat.dispose({ disposeSequence: false })
      return sequence.tokenMeter.diff(before).usedOutputTokens / took
    },
    close: () => llama.dispose(),
  }
}

/** It is a package of the hub, not of the whole repository. */
async function importLibrary(): Promise<
  typeof import('../../hub/node_modules/node-llama-cpp/dist/index.js')
> {
  return import(createRequire(join(ROOT, 'hub/package.json')).resolve('node-llama-cpp'))
}

/** With a model that answers at once, all that is left is the hub. */
async function benchMissions(ground: Ground, folder: string): Promise<void> {
  const { say, figure } = ground
  const endpoint = await startEndpoint()
  const hub = await startHub(ground, folder)
  try {
    await hub.call('PUT', 'settings/models', { kind: 'endpoint', url: endpoint.url, model: 'none' })
    await hub.call('POST', 'projects/create', { name: 'Bench', slug: 'bench' })
    await hub.missions(1)
    say(`${MISSIONS} missions of four answers each …`)
    const asked = endpoint.asked()
    const took = await seconds(() => hub.missions(MISSIONS))
    const answers = (endpoint.asked() - asked) / MISSIONS
    figure({
      name: 'Missions a minute with a model that answers at once',
      value: (MISSIONS / took) * 60,
      unit: '/min',
      against: 'one a second',
      ratio: MISSIONS / took,
      goal: { at_least: 1 },
      note: `${answers.toFixed(1)} answers a mission`,
    })
    if (!existsSync(MODEL)) return
    await copyFile(MODEL, join(hub.paths.data_dir, 'models/bench.gguf'))
    await hub.call('PUT', 'settings/models', { kind: 'local', file: 'bench.gguf' })
    const one = await hub.peakOf(1)
    const all = await hub.peakOf(AGENT_NAMES.length)
    figure({
      name: `Memory of the hub and its model with ${AGENT_NAMES.length} missions at once`,
      value: all / MIB,
      unit: 'MiB',
      against: `with one, ${Math.round(one / MIB)} MiB`,
      ratio: all / one,
      goal: { at_most: 1.25 },
    })
  } finally {
    await hub.stop()
    await endpoint.stop()
  }
}

/** An OpenAI-compatible server that answers at once, always with the same document. */
async function startEndpoint() {
  let asked = 0
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    if (text === '') return void response.end('{"data":[]}')
    asked += 1
    const { name } = JSON.parse(text).response_format.json_schema
    const answer =
      name === 'outline'
        ? { title: 'Returns', headings: ['Before', 'On the day', 'After'] }
        : { paragraphs: ['Put it into its box.'], points: ['Close the box'] }
    const delta = { content: JSON.stringify(answer) }
    const usage = { prompt_tokens: 100, completion_tokens: 20 }
    response.setHeader('content-type', 'text/event-stream')
    for (const line of [
      { choices: [{ delta }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }], usage },
    ]) {
      response.write(`data: ${JSON.stringify(line)}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked: () => asked,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** The hub as a process of its own, on the server of the bench, with its service key in place. */
async function startHub({ adminUrl }: Ground, folder: string) {
  const paths = pathsIn(join(folder, 'hub'))
  const { hostname, port } = new URL(adminUrl)
  await prepare(adminUrl, paths, { host: hostname, port: Number(port), name: 'hub' })
  await writeKey(paths, (await readFile(keyFiles(paths).service, 'utf8')).trim())
  const token = (await readFile(authFiles(paths).token, 'utf8')).trim()
  const server = await startServer(process.execPath, [join(ROOT, 'hub/main.ts')], {
    cwd: ROOT,
    env: environmentOf(paths),
    ready: /"listening","port":(\d+)/,
  })

  async function call(method: string, path: string, body?: unknown) {
    const answer = await fetch(`http://127.0.0.1:${server.url}${BASE}/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }

  async function compose(count: number): Promise<string[]> {
    const task = { department: 'docs', task: 'Write a guide to returns', project: 'bench' }
    const made = await Promise.all(
      Array.from({ length: count }, () => call('POST', 'mission/compose', task)),
    )
    return made.map(({ mission }) => mission.id)
  }

  /** Gives that many missions at once and waits until each has ended. */
  async function missions(count: number): Promise<void> {
    // Each mission has events until it ends.
    for (const id of await compose(count)) await (await eventsOf(id)).text()
  }

  const eventsOf = (id: string) =>
    fetch(`http://127.0.0.1:${server.url}${BASE}/missions/${id}/events`, {
      headers: { authorization: `Bearer ${token}` },
    })

  /** The most memory of the hub's processes in the first seconds of so many missions, in bytes. */
  async function peakOf(count: number): Promise<number> {
    const made = await compose(count)
    let peak = 0
    for (let waited = 0; waited < MEMORY_MS; waited += SAMPLE_MS) {
      await setTimeout(SAMPLE_MS)
      peak = Math.max(peak, memoryOf(server.pid))
    }
    for (const id of made) await call('POST', 'mission/cancel', { id })
    return peak
  }

  return { paths, call, missions, peakOf, stop: server.stop }
}

const environmentOf = (paths: Paths) => ({
  HUB_CONFIG_DIR: paths.config_dir,
  HUB_DATA_DIR: paths.data_dir,
  HUB_PROMPTS_DIR: paths.prompts_dir,
  HUB_PORT: '0',
})

/** The resident memory of a process with all its children, in bytes; what they share counts once a process. */
function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
    )
    const own = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024
    return own + children.reduce((sum, child) => sum + memoryOf(Number(child)), 0)
  } catch {
    // It has ended meanwhile.
    return 0
  }
}
