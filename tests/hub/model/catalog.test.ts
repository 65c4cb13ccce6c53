import { describe, expect, test } from 'vitest'
import { PRESETS, presetFor, sizing } from '../../../hub/model/catalog.ts'

const GIB = 2 ** 30

describe('a machine', () => {
  test.each([
    [3.4, null, 1],
    [3.5, 'qwen3-1.7b', 1],
    [5.9, 'qwen3-1.7b', 1],
    [6, 'qwen3-4b', 1],
    [6.9, 'qwen3-4b', 1],
    [7, 'qwen2.5-7b', 2],
    [64, 'qwen2.5-7b', 3],
  ])('of %d GB gets %s and %i calls at once', (gib, id, sequences) => {
    const { preset, why } = presetFor(gib * GIB)
    expect(preset?.id ?? null).toBe(id)
    expect(why.en).toContain(`${gib.toFixed(1)} GB`)
    expect(why.tr).toContain(`${gib.toFixed(1).replace('.', ',')} GB`)
    expect(sizing(gib * GIB, 8).sequences).toBe(sequences)
  })

  test.each([
    [3.6, 3072],
    [6, 4096],
    [8, 8192],
  ])('of %d GB gets a context of %i tokens', (gib, context_size) => {
    expect(sizing(gib * GIB, 2).context_size).toBe(context_size)
  })

  test('of one core runs one call at once', () => {
    expect(sizing(64 * GIB, 1).sequences).toBe(1)
  })

  test('that is too small is told what else it can do', () => {
    expect(presetFor(2 * GIB).why.en).toContain('endpoint')
    expect(presetFor(2 * GIB).why.tr).toContain('uç nokta')
  })
})

describe('the presets', () => {
  test('fit the machines they are for, and can be downloaded and verified', () => {
    for (const { files, license, memory_bytes, machine_bytes } of PRESETS) {
      expect(license).toBe('Apache-2.0')
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      expect(bytes).toBeLessThan(memory_bytes)
      expect(memory_bytes).toBeLessThan(machine_bytes)
      for (const { url, name, sha256 } of files) {
        expect(sha256).toMatch(/^[0-9a-f]{64}$/)
        expect(url).toMatch(/^https:\/\/huggingface\.co\/Qwen\/[^/]+\/resolve\/[0-9a-f]{40}\//)
        expect(url.endsWith(`/${name}`)).toBe(true)
      }
    }
    expect(new Set(PRESETS.map(({ id }) => id)).size).toBe(PRESETS.length)
  })
})
