import { z } from 'zod'

/** Who said how long a prompt and its answer may be together. */
export const CONTEXT_SOURCES = [
  'process',
  'llama.cpp',
  'ollama',
  'lm_studio',
  'models',
  'setting',
  'assumed',
] as const
export type ContextSource = (typeof CONTEXT_SOURCES)[number]
export type Context = { size: number; source: ContextSource }

/** The smallest context that an agent's step still fits into; less is a mistake of the server. */
const SMALLEST = 512
const Size = z.int().min(SMALLEST)

const Props = z.object({ default_generation_settings: z.object({ n_ctx: Size }) })
const Listed = z.object({
  data: z.array(
    z.looseObject({
      id: z.string(),
      max_model_len: Size.optional().catch(undefined),
      context_length: Size.optional().catch(undefined),
      context_window: Size.optional().catch(undefined),
    }),
  ),
})
const Loaded = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      model: z.string().optional(),
      context_length: Size.optional().catch(undefined),
    }),
  ),
})
const Shown = z.object({ parameters: z.string().optional().catch(undefined) })
const Studio = z.object({
  data: z.array(
    z.object({ id: z.string(), loaded_context_length: Size.optional().catch(undefined) }),
  ),
})

/** Reads JSON below the server's address, or below its OpenAI routes; undefined for any failure. */
export type Look = (path: string, body?: object) => Promise<unknown>

/**
 * readContext asks an OpenAI-compatible server for the context that it really has, not for the one
 * its model was trained with: llama-server by slot, Ollama and LM Studio as the model is loaded,
 * vLLM and hosted services by their list of models. Undefined where none of them says.
 */
export async function readContext(look: Look, model: string): Promise<Context | undefined> {
  const [props, listed, loaded, studio] = await Promise.all([
    look('props'),
    look('v1/models'),
    look('api/ps'),
    look('api/v0/models'),
  ])
  const slot = Props.safeParse(props)
  if (slot.success) {
    return { size: slot.data.default_generation_settings.n_ctx, source: 'llama.cpp' }
  }
  const running = Loaded.safeParse(loaded)
  if (running.success) {
    const size = await ofOllama(look, model, running.data.models)
    return size === undefined ? undefined : { size, source: 'ollama' }
  }
  const studios = Studio.safeParse(studio)
  const inStudio = studios.success ? studios.data.data.find(({ id }) => id === model) : undefined
  if (inStudio?.loaded_context_length) {
    return { size: inStudio.loaded_context_length, source: 'lm_studio' }
  }
  const models = Listed.safeParse(listed)
  const known = models.success ? models.data.data.find(({ id }) => id === model) : undefined
  const size = known?.max_model_len ?? known?.context_length ?? known?.context_window
  return size === undefined ? undefined : { size, source: 'models' }
}

/** The allocated context of a loaded model; of one that is not loaded, what its file asks for. */
async function ofOllama(
  look: Look,
  model: string,
  running: z.infer<typeof Loaded>['models'],
): Promise<number | undefined> {
  const names = [model, `${model}:latest`]
  const loaded = running.find(
    ({ name, model: id }) => names.includes(name) || names.includes(id ?? ''),
  )
  if (loaded) return loaded.context_length
  const shown = Shown.safeParse(await look('api/show', { model }))
  const asked = /^num_ctx\s+(\d+)\s*$/m.exec((shown.success && shown.data.parameters) || '')
  const size = Size.safeParse(Number(asked?.[1]))
  return size.success ? size.data : undefined
}
