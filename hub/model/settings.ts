import { basename, isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { fieldText } from '../i18n/problem.text.ts'
import type { Setting } from '../ops/settings.ts'

/** Which model the hub uses: `models.json`. */
export const ModelSettings = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('local'),
    /**
     * An absolute path, or the name of a file in the models folder; for a split model its first
     * file.
     */
    file: z.string().min(1).max(4096).endsWith('.gguf', fieldText.en.no_gguf),
    preset: z.string().max(60).optional(),
  }),
  z.strictObject({
    kind: z.literal('endpoint'),
    url: z.url({ protocol: /^https?$/, error: fieldText.en.no_address }).max(2000),
    model: z.string().min(1).max(200),
    api_key: z.string().min(1).max(500).optional(),
    /** Tokens of a prompt and its answer together; what the server says counts if it is less. */
    context_size: z.int().min(1024).max(2_000_000).optional(),
  }),
])
export type ModelSettings = z.infer<typeof ModelSettings>

/** Where an endpoint's routes begin; the plain address of Ollama or llama-server works too. */
export function endpointBase(address: string): URL {
  const url = new URL(address)
  url.search = ''
  url.hash = ''
  const path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '')
  url.pathname = `${path === '' ? '/v1' : path}/`
  return url
}

/** The settings file; see hub/ops/settings.ts. */
export const MODELS = {
  file: 'models.json',
  schema: ModelSettings,
  fallback: { kind: 'none' },
} as const satisfies Setting<typeof ModelSettings>

/** The path of a local model; a bare name means a file in the models folder. */
export function modelPath(models_dir: string, file: string): string {
  return isAbsolute(file) ? file : join(models_dir, basename(file))
}
