import { z } from 'zod'
import { KeptWords } from '../i18n/kept-words.ts'

/** Who waits for the answer: first users, then missions, then everything else. */
export const PRIORITIES = { background: 0, mission: 1, user: 2 } as const
export type Priority = keyof typeof PRIORITIES
export const PRIORITY_HEADER = 'x-priority'

/**
 * The fields of OpenAI's chat completions that the model process understands; it ignores others.
 */
export const ChatRequest = z.object({
  messages: z
    .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .min(1),
  response_format: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('text') }),
      z.object({
        type: z.literal('json_schema'),
        json_schema: z.object({ schema: z.record(z.string(), z.unknown()) }),
      }),
    ])
    .optional(),
  max_tokens: z.int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  seed: z.int().optional(),
  stream: z.boolean().optional(),
})
export type ChatRequest = z.infer<typeof ChatRequest>
export type Message = ChatRequest['messages'][number]

export const MODEL_STATES = ['none', 'starting', 'ready', 'crashed', 'unreachable'] as const

/** The answer of the model process at `GET /health`. */
export const Health = z.object({
  state: z.enum(['none', 'starting', 'ready']),
  model: z.string().nullable(),
  detail: KeptWords.nullable(),
  memory_bytes: z.int(),
  context_size: z.int().nullable(),
  sequences: z.int().nullable(),
  threads: z.int().nullable(),
  busy: z.int(),
  waiting: z.int(),
})
export type Health = z.infer<typeof Health>

/**
 * An error in the form of OpenAI's API; the numbers say by how much a prompt exceeded the context.
 */
export const ProtocolError = z.object({
  error: z.object({
    message: z.string(),
    /** The message in both languages, from our own process. */
    words: KeptWords.optional().catch(undefined),
    type: z.string().nullish(),
    code: z.union([z.string(), z.number()]).nullish(),
    prompt_tokens: z.int().optional(),
    max_tokens: z.int().optional(),
    context_size: z.int().optional(),
    /** The same in the form of llama-server. */
    n_prompt_tokens: z.int().optional(),
    n_ctx: z.int().optional(),
  }),
})
export type ProtocolError = z.infer<typeof ProtocolError>['error']

export const Usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int() })
export type Usage = z.infer<typeof Usage>
