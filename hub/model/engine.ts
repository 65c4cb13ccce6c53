import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import {
  type ChatHistoryItem,
  getLlama,
  LlamaChat,
  type LlamaContextSequence,
  LlamaLogLevel,
  resolveChatWrapper,
} from 'node-llama-cpp'
import { ContextLengthError, GrammarError } from './error.ts'
import { historyOf } from './history.ts'
import { modelText } from './model.text.ts'
import type { Message } from './protocol.ts'
import { grammarSchema, type Schema } from './schema.ts'
import { watchCores } from './threads.ts'

/** The grammar of an answer ends with four line breaks; some models need one token for each. */
const GRAMMAR_END_TOKENS = 4

/**
 * llama.cpp's default was 500 times slower on two cores. Beyond eight threads, memory is the limit.
 */
const MAX_THREADS = 8

// node-llama-cpp's rules allow exponents of 16 digits, which JSON.parse turns into Infinity.
const INTEGER_RULE = /^integer-number-rule ::= .*$/m
const PLAIN_INTEGER = 'integer-number-rule ::= "-"? ("0" | [1-9] [0-9]{0,14})'
const FRACTION_RULE = /^fractional-number-rule ::= .*$/m
const PLAIN_FRACTION = 'fractional-number-rule ::= "-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,6})?'

type Generation = {
  messages: Message[]
  schema: Schema | undefined
  max_tokens: number | undefined
  temperature: number | undefined
  seed: number | undefined
  signal: AbortSignal
  onText: (text: string) => void
}

export type Generated = {
  text: string
  finish_reason: 'stop' | 'length'
  prompt_tokens: number
  /**
   * Prompt tokens that the sequence still held from an earlier call, and that therefore cost
   * nothing.
   */
  cached_tokens: number
  completion_tokens: number
}

type EngineOptions = {
  file: string
  contextSize: number
  sequences: number
  batchSize: number
  threads?: number | undefined
}

export type Engine = Awaited<ReturnType<typeof loadEngine>>

/**
 * loadEngine loads one GGUF into one context with several sequences. A caller may run as many
 * generations at once as there are sequences. Each uses the sequence that already holds most of its
 * prompt, so that a stable beginning (the project, the agent's prompt) is read only once.
 */
export async function loadEngine(options: EngineOptions) {
  const { file, contextSize, sequences, batchSize, threads } = options
  const maxThreads = Math.min(threads ?? availableParallelism(), MAX_THREADS)
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.error,
    maxThreads,
  })
  let freeThreads = maxThreads
  let isLoaded = false
  watchCores(maxThreads, (threads) => {
    freeThreads = threads
    if (isLoaded) llama.maxThreads = threads
  })
  const model = await llama.loadModel({ modelPath: file })
  const context = await model.createContext({
    contextSize: Math.min(contextSize, model.trainContextSize),
    sequences,
    batchSize,
    threads: maxThreads,
  })
  // Not earlier: a context can never use more threads than it was given when it was created.
  isLoaded = true
  llama.maxThreads = freeThreads
  // One wrapper for all calls: finding out which one a model needs takes seconds.
  const chatWrapper = resolveChatWrapper(model, {
    warningLogs: false,
    customWrapperSettings: { qwen: { thoughts: 'discourage' } },
  })
  const free: LlamaContextSequence[] = []
  for (let made = 0; made < sequences; made++) free.push(context.getSequence())
  const context_size = free[0]?.contextSize ?? context.contextSize

  function tokensOf(history: ChatHistoryItem[]) {
    const state = chatWrapper.generateContextState({ chatHistory: history })
    return state.contextText.tokenize(model.tokenizer)
  }

  async function grammarFor(schema: Schema) {
    try {
      // safe: grammarSchema returns the form that node-llama-cpp expects, which throws on any other
      const form = grammarSchema(schema) as Parameters<typeof llama.createGrammarForJsonSchema>[0]
      const { grammar, stopGenerationTriggers, trimWhitespaceSuffix } =
        await llama.createGrammarForJsonSchema(form)
      const text = grammar
        .replace(INTEGER_RULE, PLAIN_INTEGER)
        .replace(FRACTION_RULE, PLAIN_FRACTION)
      return await llama.createGrammar({
        grammar: text,
        stopGenerationTriggers,
        trimWhitespaceSuffix,
      })
    } catch (error) {
      throw new GrammarError(modelText.en.no_grammar, { cause: error })
    }
  }

  function takeSequence(prompt: ReturnType<typeof tokensOf>): LlamaContextSequence {
    const shared = free.map((sequence) => sequence.compareContextTokens(prompt).firstDifferentIndex)
    const [sequence] = free.splice(shared.indexOf(Math.max(...shared)), 1)
    if (!sequence) throw new Error(`All ${sequences} sequences are busy.`)
    return sequence
  }

  async function complete(generation: Generation): Promise<Generated> {
    const { messages, schema, temperature = 0.7, seed, signal, onText } = generation
    const history = historyOf(messages)
    const prompt = tokensOf(history)
    const prompt_tokens = prompt.length
    const room = Math.max(context_size - prompt_tokens, 1)
    const end = schema ? GRAMMAR_END_TOKENS : 0
    const max_tokens = generation.max_tokens === undefined ? room : generation.max_tokens + end
    if (prompt_tokens + max_tokens > context_size) {
      throw new ContextLengthError({ prompt_tokens, max_tokens, context_size })
    }
    const grammar = schema && (await grammarFor(schema))
    signal.throwIfAborted()

    const sequence = takeSequence(prompt)
    const cached_tokens = sequence.compareContextTokens(prompt).firstDifferentIndex
    const chat = new LlamaChat({ contextSequence: sequence, chatWrapper })
    const before = sequence.tokenMeter.getState()
    try {
      const { response, metadata } = await chat.generateResponse(history, {
        ...(grammar ? { grammar } : {}),
        // The penalty would punish the items of an array for having the same keys.
        repeatPenalty: schema ? false : { penalty: 1.1 },
        maxTokens: max_tokens,
        temperature,
        topK: 40,
        topP: 0.95,
        ...(seed === undefined ? {} : { seed }),
        signal,
        onTextChunk: onText,
      })
      return {
        text: response,
        finish_reason: metadata.stopReason === 'maxTokens' ? 'length' : 'stop',
        prompt_tokens,
        cached_tokens,
        completion_tokens: sequence.tokenMeter.diff(before).usedOutputTokens,
      }
    } catch (error) {
      // After a failed evaluation the state of the sequence is unknown; after an aborted one it is
      // intact.
      if (!signal.aborted) await sequence.clearHistory()
      throw error
    } finally {
      chat.dispose({ disposeSequence: false })
      free.push(sequence)
    }
  }

  return {
    name: basename(file, '.gguf'),
    context_size,
    sequences,
    threads: () => llama.maxThreads,
    complete,
    count: (texts: string[]) => texts.map((text) => model.tokenize(text).length),
    promptTokens: (messages: Message[]) => tokensOf(historyOf(messages)).length,
  }
}
