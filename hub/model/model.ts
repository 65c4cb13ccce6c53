import PQueue from 'p-queue'
import type { z } from 'zod'
import type { Paths } from '../config.ts'
import { bilingual, joined, type Words } from '../i18n/words.ts'
import type { Log } from '../log.ts'
import { type Context, type ContextSource, readContext } from './context.ts'
import { cancelled, ModelError, noModel } from './error.ts'
import { modelText } from './model.text.ts'
import { readAnswer, retryMessages, toMessages } from './prompt.ts'
import { type Message, PRIORITIES, type Priority } from './protocol.ts'
import { jsonSchemaOf } from './schema.ts'
import { endpointBase, type ModelSettings, modelPath } from './settings.ts'
import { modelsFolder, socketPath } from './socket.ts'
import { createSupervisor, type SupervisorOptions } from './supervise.ts'
import { createWire, type Wire } from './wire.ts'

export { ModelError, type ModelReason } from './error.ts'
export { MODELS, ModelSettings } from './settings.ts'

const say = bilingual(modelText)

/** Until the model has reported the size of its context, and for endpoints that do not report it. */
const ASSUMED: Context = { size: 4096, source: 'assumed' }
/** How long the answer of an endpoint counts: a model may be loaded anew with another context. */
const CONTEXT_MS = 60_000
const LOOK_MS = 2_000
/** How many calls are sent to an endpoint at once. */
const ENDPOINT_CALLS = 2
const HEALTH_MS = 3_000
const READY_POLL_MS = 100
/** A generous estimate of what a chat template adds between the parts. */
const MARGIN_TOKENS = 32

/** One call. What stays the same from call to call goes into `system`, the case into `task`. */
export type Call<S extends z.ZodType> = {
  /** Needs .max() on every string and array, and .nullable() instead of .optional(). */
  schema: S
  /** A short name of the step, for logs and endpoints. */
  name: string
  system: string
  task: string
  /**
   * The length of the answer; by default what the longest text of the schema needs, at most half
   * the context.
   */
  max_tokens?: number
  temperature?: number
  seed?: number
  priority?: Priority
  signal?: AbortSignal
  /** Called with each piece of the answer as it is written; a second attempt starts again. */
  on_token?: (text: string, attempt: number) => void
}

export type Completion<T> = {
  value: T
  tokens: { prompt: number; completion: number }
  attempts: number
}

export type ModelState = {
  kind: ModelSettings['kind']
  name: string | null
  state: 'none' | 'starting' | 'ready' | 'crashed' | 'unreachable'
  detail: Words | null
  memory_bytes: number | null
  context_size: number
  context_source: ContextSource
}

export type Model = ReturnType<typeof createModel>

export type ModelOptions = {
  settings: ModelSettings
  paths: Paths
  log: Log
  environment?: Record<string, string | undefined>
  /** How long an endpoint may send nothing. */
  timeout_ms?: number
} & Pick<SupervisorOptions, 'pause_ms' | 'args'>

/**
 * createModel is the hub's only way to a language model: its own process (started here, or a
 * systemd unit with HUB_MODEL_EXTERNAL=1) or an OpenAI-compatible endpoint. Calls wait in one
 * queue, those of a user first. An answer fits its schema, or the call fails with a ModelError.
 */
export function createModel(options: ModelOptions) {
  const { paths, log, environment = process.env, timeout_ms = 600_000 } = options
  const isExternal = environment.HUB_MODEL_EXTERNAL === '1'
  const socket = socketPath(paths, environment)
  const supervisor = createSupervisor({ ...options, socket })
  const queue = new PQueue({ concurrency: 1 })
  let settings: ModelSettings = { kind: 'none' }
  let wire: Wire | undefined
  let measured: Context = ASSUMED
  let isMeasured = false
  let asked_at = Number.NEGATIVE_INFINITY
  let isChosen = false

  async function use(next: ModelSettings): Promise<void> {
    isChosen = true
    await supervisor.stop()
    await wire?.close()
    wire = undefined
    settings = next
    measured = ASSUMED
    isMeasured = false
    asked_at = Number.NEGATIVE_INFINITY
    queue.concurrency = next.kind === 'endpoint' ? ENDPOINT_CALLS : 1
    if (next.kind === 'endpoint') {
      const url = endpointBase(next.url)
      wire = createWire({ ...next, url, api_key: next.api_key, timeout_ms })
    }
    if (next.kind === 'local') {
      wire = createWire({ kind: 'socket', path: socket })
      if (!isExternal) await supervisor.run(modelPath(modelsFolder(paths), next.file))
    }
  }

  /** Applies new settings. The model process restarts, so running calls fail as crashed. */
  async function configure(next: ModelSettings): Promise<void> {
    await use(next)
    if (!isExternal) return
    const unit = createWire({ kind: 'socket', path: socket })
    await unit.reload().catch(() => {})
    await unit.close()
  }

  /**
   * The context of an endpoint, by what its server says; a smaller one in the settings counts, and
   * one there counts too where the server says nothing.
   */
  async function measure(): Promise<void> {
    if (settings.kind !== 'endpoint' || !wire) return
    if (performance.now() - asked_at < CONTEXT_MS) return
    asked_at = performance.now()
    const { model, context_size: most } = settings
    const asking = wire
    const said = await readContext(
      (path, body) => asking.look(path, AbortSignal.timeout(LOOK_MS), body),
      model,
    )
    if (wire !== asking) return
    const set: Context | undefined = most ? { size: most, source: 'setting' } : undefined
    measured = set && !(said && said.size <= set.size) ? set : (said ?? ASSUMED)
    // A model that is not loaded yet says nothing; it is asked again with the next call.
    if (!said && !set) asked_at -= CONTEXT_MS / 2
  }

  async function state(): Promise<ModelState> {
    await measure()
    const base = {
      kind: settings.kind,
      memory_bytes: null,
      detail: null,
      context_size: measured.size,
      context_source: measured.source,
    }
    if (settings.kind === 'none' || !wire) return { ...base, name: null, state: 'none' }
    const name = settings.kind === 'endpoint' ? settings.model : settings.file
    try {
      const health = await wire.health(AbortSignal.timeout(HEALTH_MS))
      if (!health) return { ...base, name, state: 'ready' }
      measured = health.context_size ? { size: health.context_size, source: 'process' } : ASSUMED
      isMeasured = health.context_size !== null
      queue.concurrency = health.sequences ?? 1
      const { memory_bytes, detail, state } = health
      const { size: context_size, source: context_source } = measured
      const now = { state, detail, memory_bytes, context_size, context_source }
      return { ...base, name: health.model ?? name, ...now }
    } catch (error) {
      const supervised = supervisor.state()
      if (supervised.state === 'starting' || supervised.state === 'crashed') {
        return { ...base, name, ...supervised }
      }
      const detail = error instanceof ModelError ? error.words : null
      return { ...base, name, state: 'unreachable', detail }
    }
  }

  async function readSize(): Promise<void> {
    if (settings.kind === 'local' && !isMeasured) await state()
    await measure()
  }

  /** Waits until the model can be called. When the signal ends the wait, it throws the reason. */
  async function ready(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const now = await state()
      if (now.state === 'ready') return
      if (now.state === 'none') throw noModel(now.detail)
      if (signal?.aborted) throw notReady(now)
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS))
    }
  }

  async function complete<S extends z.ZodType>(call: Call<S>): Promise<Completion<z.output<S>>> {
    const { schema, longest } = jsonSchemaOf(call.schema)
    if (!wire) throw noModel()
    await readSize()
    const max_tokens =
      call.max_tokens ?? Math.min(longest, Math.floor((measured.size - MARGIN_TOKENS) / 2))
    const messages = toMessages(call.system, call.task, schema)
    const { signal, priority = 'mission' } = call
    try {
      return await queue.add(() => attempt(call, { messages, schema, max_tokens }), {
        priority: PRIORITIES[priority],
        ...(signal ? { signal } : {}),
      })
    } catch (error) {
      if (error instanceof ModelError) throw error
      if (signal?.aborted) throw cancelled(error)
      throw error
    }
  }

  /** Makes one attempt, and a second one that shows the model what was wrong with the first. */
  async function attempt<S extends z.ZodType>(
    call: Call<S>,
    prepared: { messages: Message[]; schema: Record<string, unknown>; max_tokens: number },
  ): Promise<Completion<z.output<S>>> {
    const tokens = { prompt: 0, completion: 0 }
    let { messages } = prepared
    let failure: ModelError | undefined
    for (const number of [1, 2]) {
      const answer = await ask(call, { ...prepared, messages }, number).catch((error: unknown) => {
        // The second prompt is longer than the first. If it is too long, the fault of the first
        // answer is the reason.
        const told = failure && isTooLong(error) ? failure : error
        if (told instanceof ModelError) told.tokens = tokens
        throw told
      })
      tokens.prompt += answer.usage.prompt_tokens
      tokens.completion += answer.usage.completion_tokens
      const read = await readAnswer(call.schema, answer)
      if (read.success) return { value: read.data, tokens, attempts: number }
      failure = read.failure
      messages = retryMessages(prepared.messages, answer.text, read.problem)
      log({ msg: 'model answer refused', name: call.name, attempt: number, reason: failure.reason })
    }
    // safe: the loop sets it before it ends
    const final = failure as ModelError
    final.tokens = tokens
    throw final
  }

  async function ask<S extends z.ZodType>(
    call: Call<S>,
    prepared: { messages: Message[]; schema: Record<string, unknown>; max_tokens: number },
    number: number,
  ) {
    if (!wire) throw noModel()
    const { name, temperature = 0.3, seed, priority = 'mission', signal, on_token } = call
    const answer = await wire
      .chat({
        ...prepared,
        name,
        temperature,
        seed,
        priority,
        signal,
        on_token: on_token && ((text) => on_token(text, number)),
      })
      .catch((error: unknown) => Promise.reject(explained(error)))
    return { ...answer, usage: answer.usage ?? estimatedUsage(prepared.messages, answer.text) }
  }

  /** If our own process is not available because it is starting, the error says so. */
  function explained(error: unknown): unknown {
    if (!(error instanceof ModelError) || settings.kind !== 'local' || isExternal) return error
    if (error.reason !== 'unreachable') return error
    const { state, detail } = supervisor.state()
    return notReady({ state: state === 'crashed' ? 'crashed' : 'starting', detail })
  }

  /** How many tokens each text has; for endpoints a cautious estimate. */
  async function count(texts: string[]): Promise<number[]> {
    if (!wire) throw noModel()
    if (settings.kind === 'endpoint') return texts.map(estimatedTokens)
    return wire.count({ texts }).catch((error: unknown) => Promise.reject(explained(error)))
  }

  /**
   * fit keeps the leading parts (evidence, most important first) for which a call has room. It cuts
   * the first part if that alone is too long.
   */
  async function fit<S extends z.ZodType>(
    call: Pick<Call<S>, 'schema' | 'system' | 'task' | 'max_tokens'>,
    parts: string[],
  ): Promise<{ parts: string[]; left_out: number }> {
    const { schema, longest } = jsonSchemaOf(call.schema)
    await readSize()
    const messages = toMessages(call.system, call.task, schema)
    const answer = call.max_tokens ?? Math.min(longest, Math.floor(measured.size / 2))
    const used = await promptTokens(messages)
    let room = measured.size - used - answer - MARGIN_TOKENS
    const counts = await count(parts)
    const fitting: string[] = []
    for (const [index, part] of parts.entries()) {
      const cost = (counts[index] ?? 0) + 2
      if (cost > room) {
        if (index === 0 && room > 0) fitting.push(part.slice(0, (part.length * room) / cost / 1.2))
        break
      }
      fitting.push(part)
      room -= cost
    }
    return { parts: fitting, left_out: parts.length - fitting.length }
  }

  async function promptTokens(messages: Message[]): Promise<number> {
    if (!wire) throw noModel()
    if (settings.kind === 'endpoint') return estimatedUsage(messages, '').prompt_tokens
    const [tokens = 0] = await wire.count({ messages })
    return tokens
  }

  async function close(): Promise<void> {
    await supervisor.stop()
    await wire?.close()
  }

  return {
    complete,
    count,
    fit,
    state,
    ready,
    configure,
    close,
    /** Starts what the settings require; not those it was made with if others were chosen meanwhile. */
    start: async () => {
      if (!isChosen) await use(options.settings)
    },
    /** The process id of the model process, if it is a child. */
    pid: supervisor.pid,
  }
}

function notReady({ state, detail }: Pick<ModelState, 'state' | 'detail'>): ModelError {
  if (state === 'starting') {
    return new ModelError('starting', say.loading)
  }
  if (state === 'crashed') {
    const why = detail ? [detail] : []
    return new ModelError('crashed', joined([say.ended, ...why, say.restarts]))
  }
  return new ModelError('unreachable', detail ?? say.unreachable)
}

function isTooLong(error: unknown): boolean {
  return error instanceof ModelError && error.reason === 'too_long'
}

/** A token has three bytes or more in the languages we know; Turkish has the fewest. */
function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3)
}

function estimatedUsage(messages: Message[], answer: string) {
  const prompt_tokens = messages.reduce((sum, { content }) => sum + estimatedTokens(content) + 8, 0)
  return { prompt_tokens, completion_tokens: estimatedTokens(answer) }
}
