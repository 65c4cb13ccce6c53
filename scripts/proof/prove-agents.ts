import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join, resolve } from 'node:path'
import { AGENT_NAMES, type AgentName } from '../../hub/agents/names.ts'
import type { ModelSettings } from '../../hub/model/settings.ts'
import { VERSION } from '../../shared/version.ts'
import { LANGUAGES, type Language } from '../../shared/words/texts.ts'
import { BOOK } from './agents/book/book.ts'
import { startBookHub } from './agents/hub.ts'
import { type Entry, judged, type Kept, runTask } from './agents/run-task.ts'
import { keepRun, runOf } from './agents/table.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SMOLLM = join(ROOT, '.data/models/SmolLM2-135M-Instruct.Q4_1.gguf')
const LIMIT_MS = Number(process.env.AGENTS_LIMIT ?? 120) * 1000
/** What is not begun by then is not run, and the table says so. */
const WHOLE_MS = Number(process.env.AGENTS_MINUTES ?? 600) * 60_000

type Figures = Record<string, unknown> & { what: string }
type Which = { agent?: string | undefined; language?: string | undefined }
type Candidate = { name: string; settings: ModelSettings }

/**
 * proveAgents gives every task of the mission book to its agent, with each model there is: none at
 * all, which shows what the code does by itself; SmolLM2 as the floor; and, with `AGENTS_ENDPOINT`,
 * an OpenAI-compatible one (`AGENTS_MODEL`, `AGENTS_KEY`). The results are in dist/agents/, and a
 * run that was cut off goes on there. Runs of the whole book are written to docs/hub/agents.md. `AGENTS_LIMIT`
 * is the time for one mission in seconds, `AGENTS_MINUTES` for all of one model, `AGENTS_ONLY` the name of the only model to take.
 */
export async function proveAgents({ agent, language }: Which): Promise<Figures[]> {
  const figures: Figures[] = []
  const nothing = await startNothing()
  try {
    for (const candidate of candidates(nothing.url)) {
      const only = process.env.AGENTS_ONLY
      if (only && only !== candidate.name) continue
      figures.push(await prove(candidate, entriesOf({ agent, language })))
    }
  } finally {
    nothing.stop()
  }
  return figures
}

function candidates(nothing: string): Candidate[] {
  const { AGENTS_ENDPOINT: url, AGENTS_MODEL: model = 'default', AGENTS_KEY: api_key } = process.env
  const file = process.env.AGENTS_FILE ?? SMOLLM
  const local = basename(file).replace(/\.gguf$/, '')
  return [
    { name: 'code alone', settings: { kind: 'endpoint', url: nothing, model: 'none' } },
    ...(existsSync(file)
      ? [{ name: local, settings: { kind: 'local' as const, file: resolve(file) } }]
      : []),
    ...(url
      ? [
          {
            name: model,
            settings: { kind: 'endpoint' as const, url, model, ...(api_key ? { api_key } : {}) },
          },
        ]
      : []),
  ]
}

/** The first task of every agent, then the second: a run without the time for all has some of each. */
function entriesOf({ agent, language }: Which): Entry[] {
  const agents = AGENT_NAMES.filter((one) => !agent || one === agent)
  const languages = LANGUAGES.filter((one) => !language || one === language)
  if (agents.length === 0 || languages.length === 0) {
    throw new Error(`There is no agent "${agent}" or no language "${language}".`)
  }
  return agents
    .flatMap((agent: AgentName) =>
      languages.flatMap((language: Language) =>
        BOOK[agent].map((task, at) => ({ agent, language, task, number: at + 1 })),
      ),
    )
    .sort((a, b) => a.number - b.number)
}

async function prove({ name, settings }: Candidate, entries: Entry[]): Promise<Figures> {
  const file = join(ROOT, 'dist/agents', `${name.replace(/[^\w.-]+/g, '-')}.jsonl`)
  mkdirSync(join(ROOT, 'dist/agents'), { recursive: true })
  const before = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  const old: Kept[] = before.map((line) => JSON.parse(line))
  const ours: Kept[] = []
  const open: Entry[] = []
  const again: Entry[] = []
  for (const entry of entries) {
    const { agent, language, task } = entry
    const found = old.findLast(
      (one) => one.agent === agent && one.language === language && one.name === task.name,
    )
    if (found && !isCutOff(found)) ours.push(await judged(entry, found))
    else if (found) again.push(entry)
    else open.push(entry)
  }
  open.push(...again)
  console.log(`\n${name}: ${entries.length} tasks, ${open.length} of them to run`)
  if (open.length > 0) {
    const until = performance.now() + WHOLE_MS
    const hub = await startBookHub(settings)
    try {
      for (const entry of open) {
        if (performance.now() > until) break
        const one = await runTask(hub, entry, LIMIT_MS)
        if (!isCutOff(one)) ours.push(one)
        writeFileSync(file, `${JSON.stringify(one)}\n`, { flag: 'a' })
        const mark = one.passed ? 'passed' : `failed  ${one.wrong.join('; ').slice(0, 160)}`
        console.log(`${one.agent} ${one.language} ${one.seconds} s  ${one.name}: ${mark}`)
      }
    } finally {
      await hub.stop()
    }
  }
  const seconds = ours.reduce((sum, one) => sum + one.seconds, 0)
  const at = new Date().toISOString()
  if (entries.length === entriesOf({}).length && ours.length > 0) {
    keepRun(runOf({ model: name, at, version: VERSION, seconds }, ours))
  }
  const passed = ours.filter((one) => one.passed).length
  return { what: name, passed, of: ours.length, seconds: Math.round(seconds) }
}

/** A mission that had no time to end says nothing of its model, only of the machine. */
const isCutOff = ({ outcome }: Kept) => outcome.status === 'cancelled'

/** A model server whose every answer is of no use. */
async function startNothing() {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    if (request.method === 'GET') return void response.end('{"data":[]}')
    const delta = { content: '{}' }
    response.setHeader('content-type', 'text/event-stream')
    const usage = { prompt_tokens: 1, completion_tokens: 1 }
    for (const line of [
      { choices: [{ delta }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }], usage },
    ]) {
      response.write(`data: ${JSON.stringify(line)}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  return {
    url: `http://127.0.0.1:${port}/v1`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
