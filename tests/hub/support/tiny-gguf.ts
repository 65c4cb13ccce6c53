import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * A language model of random weights in a quarter of a megabyte: one token a character. It
 * loads, reads prompts and obeys grammars as a real one does, and what it says is gibberish.
 *
 * A GGUF file is: the magic 'GGUF', a version, how many tensors and metadata entries it has, the
 * metadata (key, type, value), the tensors' descriptions (name, dimensions, type, offset), and
 * from the next multiple of 32 on their data, each again at a multiple of 32.
 */
export type TinyOptions = { seed?: number; context?: number; layers?: number }

const EMBEDDING = 32
const FEED_FORWARD = 64
// One: what attention costs grows with the heads, and most of a long prompt's time is attention.
const HEADS = 1
const ALIGNMENT = 32

/** GGUF's numbers for the types of metadata. */
const TYPE = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const
/** llama.cpp's numbers for the kinds of tokens. */
const KIND = { normal: 1, unknown: 2, control: 3, byte: 6 } as const
const TENSOR_F32 = 0

export async function writeTinyGguf(file: string, options: TinyOptions = {}): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, tinyGguf(options))
}

/** The bytes of the file; the same seed gives the same. */
export function tinyGguf({ seed = 42, context = 2048, layers = 2 }: TinyOptions = {}): Buffer {
  const tokens = vocabulary()
  const metadata = [
    text('general.architecture', 'llama'),
    text('general.name', 'tiny'),
    number('general.file_type', 0),
    number('llama.context_length', context),
    number('llama.embedding_length', EMBEDDING),
    number('llama.block_count', layers),
    number('llama.feed_forward_length', FEED_FORWARD),
    number('llama.attention.head_count', HEADS),
    number('llama.attention.head_count_kv', HEADS),
    entry('llama.attention.layer_norm_rms_epsilon', TYPE.f32, f32(1e-5)),
    number('llama.rope.dimension_count', EMBEDDING / HEADS),
    number('llama.vocab_size', tokens.length),
    text('tokenizer.ggml.model', 'llama'),
    array(
      'tokenizer.ggml.tokens',
      TYPE.string,
      tokens.map((token) => string(token.text)),
    ),
    // SentencePiece merges towards the higher score; a character's own token beats its bytes.
    array(
      'tokenizer.ggml.scores',
      TYPE.f32,
      tokens.map((_, id) => f32(-id)),
    ),
    array(
      'tokenizer.ggml.token_type',
      TYPE.i32,
      tokens.map((token) => u32(token.kind)),
    ),
    number('tokenizer.ggml.unknown_token_id', 0),
    number('tokenizer.ggml.bos_token_id', 1),
    number('tokenizer.ggml.eos_token_id', 2),
    entry('tokenizer.ggml.add_bos_token', TYPE.bool, Buffer.from([1])),
    text(
      'tokenizer.chat_template',
      "{% for m in messages %}{{ '<s>' + m['role'] + ': ' + m['content'] + '</s>' }}{% endfor %}{% if add_generation_prompt %}<s>assistant: {% endif %}",
    ),
  ]
  const tensors = weights(tokens, layers, seed)
  const described: Buffer[] = []
  const data: Buffer[] = []
  let offset = 0
  for (const { name, dimensions, values } of tensors) {
    const bytes = padded(Buffer.from(values.buffer))
    described.push(
      Buffer.concat([
        string(name),
        u32(dimensions.length),
        ...dimensions.map(u64),
        u32(TENSOR_F32),
        u64(offset),
      ]),
    )
    data.push(bytes)
    offset += bytes.length
  }
  const head = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(metadata.length)]
  return Buffer.concat([padded(Buffer.concat([...head, ...metadata, ...described])), ...data])
}

type Token = { text: string; kind: number; bias: number }

/**
 * Control tokens, all bytes, and the printable characters. The bias keeps what the model says
 * printable: bytes beyond ASCII could end in the middle of a character.
 */
function vocabulary(): Token[] {
  const control = ['<unk>', '<s>', '</s>'].map((text, id) => ({
    text,
    kind: id === 0 ? KIND.unknown : KIND.control,
    bias: -1,
  }))
  const bytes = Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    kind: KIND.byte,
    bias: -4,
  }))
  const characters = Array.from({ length: 95 }, (_, index) => ({
    text: index === 0 ? '\u2581' : String.fromCharCode(32 + index),
    kind: KIND.normal,
    bias: 1,
  }))
  return [...control, ...bytes, ...characters]
}

type Tensor = { name: string; dimensions: number[]; values: Float32Array<ArrayBuffer> }

function weights(tokens: Token[], layers: number, seed: number): Tensor[] {
  const random = randomNumbers(seed)
  const tensor = (name: string, dimensions: number[]): Tensor => {
    const values = new Float32Array(dimensions.reduce((product, size) => product * size, 1))
    return { name, dimensions, values: values.map(() => random() * 0.2) }
  }
  const ones = (name: string): Tensor => ({
    name,
    dimensions: [EMBEDDING],
    values: new Float32Array(EMBEDDING).fill(1),
  })
  const embedding = tensor('token_embd.weight', [EMBEDDING, tokens.length])
  const output = tensor('output.weight', [EMBEDDING, tokens.length])
  // llama's output has no bias. A first dimension that is large and the same for every token is
  // one: each row of the output then weighs it by its token's bias.
  for (const [id, { bias }] of tokens.entries()) {
    embedding.values[id * EMBEDDING] = 2
    output.values[id * EMBEDDING] = bias
  }
  const blocks = Array.from({ length: layers }, (_, layer) => [
    ones(`blk.${layer}.attn_norm.weight`),
    ...['q', 'k', 'v', 'output'].map((part) =>
      tensor(`blk.${layer}.attn_${part}.weight`, [EMBEDDING, EMBEDDING]),
    ),
    ones(`blk.${layer}.ffn_norm.weight`),
    tensor(`blk.${layer}.ffn_gate.weight`, [EMBEDDING, FEED_FORWARD]),
    tensor(`blk.${layer}.ffn_up.weight`, [EMBEDDING, FEED_FORWARD]),
    tensor(`blk.${layer}.ffn_down.weight`, [FEED_FORWARD, EMBEDDING]),
  ])
  return [embedding, ones('output_norm.weight'), output, ...blocks.flat()]
}

/** Numbers between -0.5 and 0.5 (a linear congruential generator). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 2 ** 32 - 0.5
  }
}

function entry(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([string(key), u32(type), value])
}

function text(key: string, value: string): Buffer {
  return entry(key, TYPE.string, string(value))
}

function number(key: string, value: number): Buffer {
  return entry(key, TYPE.u32, u32(value))
}

function array(key: string, type: number, items: Buffer[]): Buffer {
  return entry(key, TYPE.array, Buffer.concat([u32(type), u64(items.length), ...items]))
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([u64(bytes.length), bytes])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & (ALIGNMENT - 1))])
}
