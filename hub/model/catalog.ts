import { availableParallelism, totalmem } from 'node:os'
import { bilingual, type Words } from '../i18n/words.ts'
import { catalogText } from './catalog.text.ts'

const say = bilingual(catalogText)

const GIB = 2 ** 30

type ModelFile = { name: string; url: string; bytes: number; sha256: string }

export type Preset = {
  id: string
  name: string
  /** What the model is for, and what it costs. */
  about: Words
  license: 'Apache-2.0'
  /** The first is the one to load; llama.cpp finds the other parts of a split model next to it. */
  files: ModelFile[]
  /** The memory the model uses while it works, including its context. */
  memory_bytes: number
  /** The smallest machine on which it leaves enough memory for the hub and its database. */
  machine_bytes: number
}

function huggingFace(repository: string, revision: string, name: string) {
  return { name, url: `https://huggingface.co/${repository}/resolve/${revision}/${name}` }
}

/**
 * The models the hub offers, largest first; files, sizes and digests are those of the makers'
 * releases.
 */
export const PRESETS: Preset[] = [
  {
    id: 'qwen2.5-7b',
    name: 'Qwen2.5 7B Instruct (Q4_K_M)',
    about: say.about.large,
    license: 'Apache-2.0',
    files: [
      {
        ...huggingFace(
          'Qwen/Qwen2.5-7B-Instruct-GGUF',
          'bb5d59e06d9551d752d08b292a50eb208b07ab1f',
          'qwen2.5-7b-instruct-q4_k_m-00001-of-00002.gguf',
        ),
        bytes: 3_993_201_344,
        sha256: 'dfce12e3862a5283ccfb88221b48480e58745165de856439950d0f22590580db',
      },
      {
        ...huggingFace(
          'Qwen/Qwen2.5-7B-Instruct-GGUF',
          'bb5d59e06d9551d752d08b292a50eb208b07ab1f',
          'qwen2.5-7b-instruct-q4_k_m-00002-of-00002.gguf',
        ),
        bytes: 689_872_288,
        sha256: '539cf93f78e887edea1c04e2d7d8cdaca9d01dae9c9025bcb8accbe29df3d72a',
      },
    ],
    memory_bytes: 6_000_000_000,
    machine_bytes: 7 * GIB,
  },
  {
    id: 'qwen3-4b',
    name: 'Qwen3 4B (Q4_K_M)',
    about: say.about.medium,
    license: 'Apache-2.0',
    files: [
      {
        ...huggingFace(
          'Qwen/Qwen3-4B-GGUF',
          'bc640142c66e1fdd12af0bd68f40445458f3869b',
          'Qwen3-4B-Q4_K_M.gguf',
        ),
        bytes: 2_497_280_256,
        sha256: '7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5',
      },
    ],
    memory_bytes: 3_500_000_000,
    machine_bytes: 6 * GIB,
  },
  {
    id: 'qwen3-1.7b',
    name: 'Qwen3 1.7B (Q8_0)',
    about: say.about.small,
    license: 'Apache-2.0',
    files: [
      {
        ...huggingFace(
          'Qwen/Qwen3-1.7B-GGUF',
          '90862c4b9d2787eaed51d12237eafdfe7c5f6077',
          'Qwen3-1.7B-Q8_0.gguf',
        ),
        bytes: 1_834_426_016,
        sha256: '061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a',
      },
    ],
    memory_bytes: 2_500_000_000,
    machine_bytes: 3.5 * GIB,
  },
]

export function presetById(id: string): Preset | undefined {
  return PRESETS.find((preset) => preset.id === id)
}

export type Choice = { preset: Preset | null; why: Words }

/**
 * presetFor chooses the largest preset that a machine with this much memory can run together with
 * the hub.
 */
export function presetFor(memory_bytes: number): Choice {
  const preset = PRESETS.find(({ machine_bytes }) => memory_bytes >= machine_bytes) ?? null
  return { preset, why: why(memory_bytes / GIB, preset) }
}

function why(gib: number, preset: Preset | null): Words {
  if (!preset) return say.none(gib)
  const larger = PRESETS[PRESETS.indexOf(preset) - 1]
  if (!larger) return say.enough(gib, preset.name)
  return say.fits(gib, preset.name, larger.name, larger.machine_bytes / GIB)
}

/**
 * The memory this process may use: that of the machine, or the limit of its control group if that
 * is lower.
 */
export function machineMemory(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem()
}

/** How large the context is, and how many calls run at once, on a machine. */
export function sizing(memory_bytes: number, cores = availableParallelism()) {
  // There the unit has about 2.3 GB: the weights of Qwen3 1.7B take 1.83, each 1,024 tokens of
  // context 0.12, and a batch of 512 tokens 0.31 for its vocabulary of 152,000.
  if (memory_bytes < 5 * GIB) return { context_size: 3072, sequences: 1, batch_size: 128 }
  if (memory_bytes < 7 * GIB) return { context_size: 4096, sequences: 1, batch_size: 256 }
  // Each sequence has its own context; more sequences than cores would only use memory.
  const sequences = Math.max(1, Math.min(memory_bytes < 15 * GIB ? 2 : 3, cores))
  return { context_size: 8192, sequences, batch_size: 512 }
}
