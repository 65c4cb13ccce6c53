import { z } from 'zod'
import { KeptWords } from '../i18n/kept-words.ts'

/** Who waits for the answer: what a user looks at goes before missions, those before the rest. */
export const PRIORITIES = { background: 0, mission: 1, user: 2 } as const
export type Priority = keyof typeof PRIORITIES
export const PRIORITY_HEADER = 'x-priority'

/** What of OpenAI's chat completions the model process understands; other fields are ignored. */
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

/** What the model process says about itself at `GET /health`. */
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

/** An error as OpenAI's API words it; the numbers say how far a prompt went beyond the context. */
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
    /** The same in llama-server's words. */
    n_prompt_tokens: z.int().optional(),
    n_ctx: z.int().optional(),
  }),
})
export type ProtocolError = z.infer<typeof ProtocolError>['error']

export const Usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int() })
export type Usage = z.infer<typeof Usage>
