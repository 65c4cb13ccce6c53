import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DownloadRequest } from '../../../hub/model/downloads.ts'
import { grammarSchema, jsonSchemaOf, outline } from '../../../hub/model/schema.ts'
import { endpointBase, ModelSettings, modelPath } from '../../../hub/model/settings.ts'

describe('the schema of an answer', () => {
  test.each([
    ['a string without a limit', z.object({ a: z.string() }), 'a: a string needs .max()'],
    ['a list without a limit', z.object({ a: z.array(z.int()) }), 'a: an array needs .max()'],
    [
      'a string in a list without a limit',
      z.object({ a: z.array(z.object({ b: z.string() })).max(2) }),
      'a[].b: a string needs .max()',
    ],
    ['an optional property', z.object({ a: z.int().optional() }), 'a: use .nullable()'],
    ['a property with a default', z.object({ a: z.int().default(1) }), 'a: use .nullable()'],
    ['a record', z.object({ a: z.record(z.string(), z.int()) }), 'a: an object needs named'],
    ['anything', z.object({ a: z.unknown() }), 'a: '],
    ['text alone', z.string().max(3), 'has to be an object'],
    ['more than a context holds', z.object({ a: z.string().max(40_000) }), 'smaller steps'],
  ])('is refused for %s', (_, schema: z.ZodType, words) => {
    expect(() => jsonSchemaOf(schema)).toThrow(words)
  })

  test('counts the longest answer, so that no shorter budget cuts one', () => {
    const type = z.object({ a: z.string().max(10), b: z.array(z.boolean()).max(3), c: z.null() })
    const { longest } = jsonSchemaOf(type)
    fc.assert(
      fc.property(
        fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'z') }),
        fc.array(fc.boolean(), { maxLength: 3 }),
        (a, b) => JSON.stringify({ a, b, c: null }).length <= longest,
      ),
    )
  })

  test('takes formats whose length is known without a limit', () => {
    const type = z.object({ on: z.iso.date(), mail: z.email().max(254), id: z.uuid().max(36) })
    expect(jsonSchemaOf(type).longest).toBeGreaterThan(300)
  })

  test('keeps for a grammar only what one can express', () => {
    const type = z.object({
      mail: z.email().max(5000),
      size: z.int().min(1).max(9),
      of: z.union([z.literal('a'), z.null()]),
      on: z.iso.date(),
    })
    expect(grammarSchema(jsonSchemaOf(type).schema)).toEqual({
      type: 'object',
      properties: {
        mail: { type: 'string', maxLength: 1999 },
        size: { type: 'integer' },
        of: { oneOf: [{ const: 'a' }, { type: 'null' }] },
        on: { type: 'string', format: 'date' },
      },
    })
  })

  test('is shown to the model with its limits and descriptions', () => {
    const type = z.object({
      subject: z.string().max(80).describe('no exclamation marks'),
      facts: z.array(z.object({ id: z.int() })).max(3),
      tone: z.enum(['warm', 'plain']).nullable(),
    })
    expect(outline(jsonSchemaOf(type).schema)).toBe(
      [
        '{',
        '  "subject": string of at most 80 characters // no exclamation marks',
        '  "facts": [at most 3 of: {',
        '    "id": integer',
        '  }]',
        '  "tone": "warm" | "plain" | null',
        '}',
      ].join('\n'),
    )
  })
})

describe('the settings', () => {
  test.each([
    ['http://localhost:11434', 'http://localhost:11434/v1/'],
    ['http://localhost:8080/v1', 'http://localhost:8080/v1/'],
    ['https://a.example/api/v1/', 'https://a.example/api/v1/'],
    ['https://a.example/v1/chat/completions?x=1#y', 'https://a.example/v1/'],
  ])('find the endpoint of %s', (given, base) => {
    expect(endpointBase(given).href).toBe(base)
  })

  test.each([
    [{ kind: 'local', file: 'model.bin' }],
    [{ kind: 'endpoint', url: 'ftp://a.example', model: 'x' }],
    [{ kind: 'endpoint', url: 'http://a.example' }],
    [{ kind: 'none', file: 'a.gguf' }],
  ])('refuse %j', (value) => {
    expect(ModelSettings.safeParse(value).success).toBe(false)
  })

  test('keep a bare name within the models folder', () => {
    expect(modelPath('/m', 'a.gguf')).toBe('/m/a.gguf')
    expect(modelPath('/m', '../etc/a.gguf')).toBe('/m/a.gguf')
    expect(modelPath('/m', '/srv/a.gguf')).toBe('/srv/a.gguf')
  })
})

describe('a download', () => {
  const url = 'https://models.example/a.gguf'
  const longest = url.padEnd(2000, 'x')
  const sha256 = 'aF0'.repeat(21).padEnd(64, '9')
  test.each<[object, taken: object | null]>([
    [{ preset: 'qwen3-4b' }, { preset: 'qwen3-4b', use: true }],
    [
      { preset: 'x'.repeat(60), use: false },
      { preset: 'x'.repeat(60), use: false },
    ],
    [{ preset: 'x'.repeat(61) }, null],
    [{ preset: 'qwen3-4b', sha256 }, null],
    [{ url }, { url, use: true }],
    [
      { url: 'http://127.0.0.1/a.gguf', sha256, use: false },
      { url: 'http://127.0.0.1/a.gguf', sha256, use: false },
    ],
    [{ url: longest }, { url: longest, use: true }],
    [{ url: `${longest}x` }, null],
    [{ url: 'ftp://models.example/a.gguf' }, null],
    [{ url: 'xhttps://models.example/a.gguf' }, null],
    [{ url: 'models.example/a.gguf' }, null],
    [{ url, sha256: sha256.slice(1) }, null],
    [{ url, sha256: `${sha256}a` }, null],
    [{ url, sha256: `g${sha256.slice(1)}` }, null],
    [{ url, preset: 'qwen3-4b' }, null],
    [{}, null],
  ])('is asked for as %j', (given, taken) => {
    const read = DownloadRequest.safeParse(given)
    expect(read.success ? read.data : null).toEqual(taken)
  })
})
