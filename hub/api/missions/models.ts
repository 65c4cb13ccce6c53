import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import type { Deps } from '../../deps.ts'
import { answer, type Env, problems } from '../../http/http.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { machineMemory, PRESETS, presetFor } from '../../model/catalog.ts'
import { CONTEXT_SOURCES } from '../../model/context.ts'
import { downloadText } from '../../model/download.text.ts'
import { Download, DownloadRequest } from '../../model/downloads.ts'
import { type Model, ModelError } from '../../model/model.ts'
import { MODEL_STATES } from '../../model/protocol.ts'
import { endpointBase, MODELS, ModelSettings, modelPath } from '../../model/settings.ts'
import { modelsFolder } from '../../model/socket.ts'
import { readSetting, writeSetting } from '../../ops/settings.ts'

const say = bilingual(downloadText)

const Settings = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({ kind: z.literal('local'), file: z.string(), preset: z.string().nullable() }),
  z.object({
    kind: z.literal('endpoint'),
    url: z.string(),
    model: z.string(),
    has_api_key: z.boolean(),
    context_size: z.int().nullable(),
  }),
])
const State = z.object({
  kind: z.enum(['none', 'local', 'endpoint']),
  name: z.string().nullable(),
  state: z.enum(MODEL_STATES),
  detail: z.string().nullable(),
  memory_bytes: z.int().nullable(),
  context_size: z.int(),
  context_source: z.enum(CONTEXT_SOURCES).meta({
    description:
      'Who said the size of the context: our own process, a server (llama.cpp, Ollama, LM Studio, or the list of models of vLLM and others), the setting, or nobody.',
  }),
})
const Models = z
  .object({
    settings: Settings,
    state: State,
    machine: z.object({
      memory_bytes: z.int(),
      recommended: z.string().nullable(),
      why: z.string(),
    }),
    presets: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        about: z.string(),
        license: z.string(),
        download_bytes: z.int(),
        memory_bytes: z.int(),
        fits: z.boolean().meta({ description: 'Whether this machine has enough memory for it.' }),
        is_recommended: z.boolean(),
        is_downloaded: z.boolean(),
      }),
    ),
    files: z
      .array(z.object({ name: z.string(), bytes: z.int() }))
      .meta({ description: 'The models on this machine.' }),
    download: Download.nullable(),
  })
  .meta({ id: 'Models' })
const OneDownload = z.object({ download: Download })
const MaybeDownload = z.object({ download: Download.nullable() })
const Change = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  ModelSettings.options[1],
  ModelSettings.options[2].extend({
    api_key: z.string().min(1).max(500).nullish().meta({
      description: 'Absent: unchanged if the address stays the same. `null`: no key.',
    }),
    context_size: ModelSettings.options[2].shape.context_size.meta({
      description:
        'Tokens of a prompt and its answer together. Absent: what the server says, else 4,096.',
    }),
  }),
])
const Tested = z.object({
  answer: z.string(),
  tokens: z.object({ prompt: z.int(), completion: z.int() }),
  tokens_per_second: z.number().nullable(),
  seconds: z.number(),
})

/** Settings > Models: the language model that the hub uses. */
export const modelSettings = resource<Env>()

modelSettings.openapi(
  createRoute({
    method: 'get',
    path: '/models',
    operationId: 'getModels',
    tags: ['Settings'],
    summary: 'The model in use, the presets that fit this machine, and the download',
    responses: { 200: jsonResponse(Models, 'The model settings, without keys.'), ...problems() },
  }),
  async (c) => answer(c, Models, await overview(c.get('deps')), 200),
)

modelSettings.openapi(
  createRoute({
    method: 'put',
    path: '/models',
    operationId: 'setModels',
    tags: ['Settings'],
    summary: 'Choose a model, an endpoint, or none',
    description: 'The model process restarts; a running mission waits for it.',
    request: { body: jsonBody(Change) },
    responses: {
      200: jsonResponse(Models, 'Changed; in use as soon as it is loaded.'),
      ...problems(422),
    },
  }),
  async (c) => {
    const deps = c.get('deps')
    const { paths } = deps.config
    const settings = completed(c.req.valid('json'), await readSetting(paths, MODELS))
    if (settings.kind === 'local') await requireModel(modelPath(modelsFolder(paths), settings.file))
    await deps.model.configure(await writeSetting(paths, MODELS, settings))
    return answer(c, Models, await overview(deps), 200)
  },
)

/** Downloading a model, and testing the current one. */
export const models = resource<Env>()

models.openapi(
  createRoute({
    method: 'get',
    path: '/download',
    operationId: 'getModelDownload',
    tags: ['Settings'],
    summary: 'The progress of the download, or the outcome of the last one',
    responses: { 200: jsonResponse(MaybeDownload, 'Poll it while `status` is `processing`.') },
  }),
  async (c) => {
    return answer(c, MaybeDownload, { download: await c.get('deps').downloads.read() }, 200)
  },
)

models.openapi(
  createRoute({
    method: 'post',
    path: '/download',
    operationId: 'downloadModel',
    tags: ['Settings'],
    summary: 'Download a model',
    description:
      'A preset, or any GGUF file. The latter needs its SHA-256 unless the server reports it, as Hugging Face does. The download continues after an interruption or a restart, and the model is used once it is complete unless `use` is false.',
    request: { body: jsonBody(DownloadRequest) },
    responses: {
      202: jsonResponse(OneDownload, 'The download runs; see GET model/download.'),
      ...problems(409, 422),
    },
  }),
  async (c) => {
    const asked = c.req.valid('json')
    if ('preset' in asked && !PRESETS.some(({ id }) => id === asked.preset)) {
      const message = say.presets(PRESETS.map(({ id }) => id).join(', '))
      throw invalid([{ path: 'preset', code: 'unknown', message }])
    }
    const download = await c.get('deps').downloads.start(asked)
    if (!download) {
      throw new ApiError('conflict', say.running)
    }
    return answer(c, OneDownload, { download }, 202)
  },
)

models.openapi(
  createRoute({
    method: 'post',
    path: '/download/cancel',
    operationId: 'cancelModelDownload',
    tags: ['Settings'],
    summary: 'Stop the running download',
    description: 'The part already downloaded is kept; the same download continues from there.',
    responses: { 200: jsonResponse(OneDownload, 'Stopped.'), ...problems(409) },
  }),
  async (c) => {
    const download = await c.get('deps').downloads.cancel()
    if (!download) throw new ApiError('conflict', say.none_running)
    return answer(c, OneDownload, { download }, 200)
  },
)

models.openapi(
  createRoute({
    method: 'post',
    path: '/test',
    operationId: 'testModel',
    tags: ['Settings'],
    summary: 'Ask the model a question',
    request: { body: jsonBody(z.strictObject({ prompt: z.string().trim().min(1).max(2000) })) },
    responses: { 200: jsonResponse(Tested, 'The answer and its speed.'), ...problems(422) },
  }),
  async (c) => {
    const { prompt } = c.req.valid('json')
    const tested = await test(c.get('deps').model, prompt, c.req.raw.signal)
    return answer(c, Tested, tested, 200)
  },
)

async function test(model: Model, task: string, signal: AbortSignal) {
  const asked = performance.now()
  let first: number | undefined
  try {
    const { value, tokens } = await model.complete({
      schema: z.object({ answer: z.string().max(600) }),
      name: 'test',
      system: 'You are a helpful assistant. Answer briefly, in the language of the question.',
      task,
      priority: 'user',
      signal,
      on_token: () => {
        first ??= performance.now()
      },
    })
    const ended = performance.now()
    const writing = first === undefined ? 0 : (ended - first) / 1000
    return {
      answer: value.answer,
      tokens,
      tokens_per_second: writing > 0 ? round(tokens.completion / writing) : null,
      seconds: round((ended - asked) / 1000),
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    if (error.reason !== 'too_long') throw new ApiError('unavailable', error.words)
    throw invalid([{ path: 'prompt', code: 'too_long', message: error.words }])
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

async function overview({ config: { paths }, model, downloads }: Deps) {
  const [settings, state, files, download] = await Promise.all([
    readSetting(paths, MODELS),
    model.state(),
    modelFiles(modelsFolder(paths)),
    downloads.read(),
  ])
  const memory_bytes = machineMemory()
  const { preset, why } = presetFor(memory_bytes)
  const sizes = new Map(files.map(({ name, bytes }) => [name, bytes]))
  return {
    settings: shown(settings),
    state,
    machine: { memory_bytes, recommended: preset?.id ?? null, why },
    presets: PRESETS.map(({ files: parts, machine_bytes, ...known }) => ({
      ...known,
      download_bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      fits: memory_bytes >= machine_bytes,
      is_recommended: known.id === preset?.id,
      is_downloaded: parts.every(({ name, bytes }) => sizes.get(name) === bytes),
    })),
    files,
    download,
  }
}

/** The settings without the key. */
function shown(settings: ModelSettings): z.input<typeof Settings> {
  if (settings.kind === 'none') return settings
  if (settings.kind === 'local') return { ...settings, preset: settings.preset ?? null }
  const { api_key, ...rest } = settings
  return { ...rest, has_api_key: api_key !== undefined, context_size: rest.context_size ?? null }
}

/** A key that is not sent again remains for its server, and is never sent to another one. */
function completed(change: z.output<typeof Change>, before: ModelSettings): ModelSettings {
  if (change.kind !== 'endpoint') return change
  const { api_key, ...rest } = change
  const isSame =
    before.kind === 'endpoint' &&
    endpointBase(before.url).origin === endpointBase(change.url).origin
  const key = api_key === undefined && isSame ? before.api_key : api_key
  return { ...rest, ...(key ? { api_key: key } : {}) }
}

async function requireModel(file: string): Promise<void> {
  const refuse = (message: Words) => invalid([{ path: 'file', code: 'model', message }])
  const handle = await open(file).catch(() => {
    throw refuse(say.file.unreadable(file))
  })
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0)
    if (bytesRead < 4 || buffer.toString('latin1') !== 'GGUF') {
      throw refuse(say.file.no_gguf(file))
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw refuse(say.file.no_file(file))
  } finally {
    await handle.close()
  }
}

async function modelFiles(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = await readdir(folder).catch(() => [])
  const models = names.filter((name) => name.endsWith('.gguf')).sort()
  return Promise.all(
    models.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })),
  )
}
