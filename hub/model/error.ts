import { WordsError } from '../i18n/failure.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { modelText } from './model.text.ts'

const say = bilingual(modelText)

const MODEL_REASONS = [
  'no_model',
  'starting',
  'unreachable',
  'crashed',
  'invalid_output',
  'out_of_budget',
  'cancelled',
  'too_long',
] as const
export type ModelReason = (typeof MODEL_REASONS)[number]

/** Why a model gave no usable answer; `words` say what to do about it, `message` is in English. */
export class ModelError extends WordsError {
  readonly reason: ModelReason
  /** Whether the same call may succeed later without any change. */
  readonly is_retryable: boolean
  /** By how many tokens a prompt was too long, if that is known. */
  readonly excess_tokens: number | undefined
  /** The tokens that the failed attempts used. */
  tokens: { prompt: number; completion: number } = { prompt: 0, completion: 0 }

  constructor(
    reason: ModelReason,
    words: Words,
    options: {
      is_retryable?: boolean
      excess_tokens?: number | undefined
      cause?: unknown
    } = {},
  ) {
    super(words, { cause: options.cause })
    this.reason = reason
    this.is_retryable =
      options.is_retryable ?? ['starting', 'unreachable', 'crashed'].includes(reason)
    this.excess_tokens = options.excess_tokens
  }
}

export function noModel(detail: Words | null = null): ModelError {
  return new ModelError('no_model', detail ?? say.none)
}

export function cancelled(cause?: unknown): ModelError {
  return new ModelError('cancelled', say.cancelled, { cause })
}

/** The prompt and the answer together do not fit into the context. */
export class ContextLengthError extends WordsError {
  readonly prompt_tokens: number
  readonly max_tokens: number
  readonly context_size: number

  constructor(numbers: { prompt_tokens: number; max_tokens: number; context_size: number }) {
    const { prompt_tokens, max_tokens, context_size } = numbers
    super(say.too_long(prompt_tokens, max_tokens, context_size))
    this.prompt_tokens = prompt_tokens
    this.max_tokens = max_tokens
    this.context_size = context_size
  }
}

/** No grammar can be made of the schema. */
export class GrammarError extends Error {}
