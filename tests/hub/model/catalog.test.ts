import { describe, expect, test } from 'vitest'
import { PRESETS, presetById, presetFor, sizing } from '../../../hub/model/catalog.ts'

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
    [3.6, 3072, 1, 128],
    [4.9, 3072, 1, 128],
    [5, 4096, 1, 256],
    [6.9, 4096, 1, 256],
    [7, 8192, 2, 512],
    [14.9, 8192, 2, 512],
    [15, 8192, 3, 512],
  ])('of %d GB gets a context of %i tokens', (gib, context_size, sequences, batch_size) => {
    expect(sizing(gib * GIB, 8)).toEqual({ context_size, sequences, batch_size })
  })

  test('of one core runs one call at once', () => {
    expect(sizing(64 * GIB, 1).sequences).toBe(1)
  })

  test('that is too small is told what else it can do', () => {
    expect(presetFor(2 * GIB).why.en).toContain('endpoint')
    expect(presetFor(2 * GIB).why.tr).toContain('uç nokta')
  })

  test('is told which model it gets, and what the next one would need', () => {
    const [large, medium, small] = PRESETS.map(({ name }) => name)
    expect(presetFor(4 * GIB).why.en).toContain(`${small}`)
    expect(presetFor(4 * GIB).why.en).toContain(`${medium}`)
    expect(presetFor(4 * GIB).why.en).toContain(' 6 GB')
    expect(presetFor(6.5 * GIB).why.en).toContain(`${large}`)
    expect(presetFor(6.5 * GIB).why.en).toContain(' 7 GB')
    expect(presetFor(8 * GIB).why.en).toContain(`${large}`)
    expect(presetFor(8 * GIB).why.en).not.toContain(`${medium}`)
  })
})

describe('the presets', () => {
  test('are found by their ids', () => {
    for (const preset of PRESETS) expect(presetById(preset.id)).toBe(preset)
    expect(presetById('qwen')).toBeUndefined()
  })

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
