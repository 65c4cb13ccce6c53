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
    ['a tuple', z.object({ a: z.tuple([z.int()]) }), 'a: an array needs one kind of items'],
    ['nothing', z.object({}), /^the answer: an object needs named properties$/],
    ['more than a context holds', z.object({ a: z.string().max(31_990) }), 'answer of 32001'],
  ])('is refused for %s', (_, schema: z.ZodType, words: string | RegExp) => {
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

  test.each([
    [z.enum(['a', 'bbbb']), 6],
    [z.literal('abc'), 5],
    [z.union([z.boolean(), z.string().max(9), z.null()]), 11],
    [z.array(z.string().max(4)).max(3), 26],
    [z.number(), 20],
    [z.int(), 20],
    [z.iso.date(), 32],
    [z.iso.datetime(), 32],
    [z.object({ bb: z.null() }), 15],
    [z.string().max(31_989), 31_991],
  ])('has room for the longest text of a field, case %#', (type: z.ZodType, length) => {
    expect(jsonSchemaOf(z.object({ a: type })).longest).toBe(length + 9)
    expect(jsonSchemaOf(z.object({ a: type })).schema.additionalProperties).toBe(false)
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
      tone: z.enum(['warm', 'plain']),
      all: z.array(z.string().min(2).max(3)).min(1).max(2000),
    })
    expect(grammarSchema(jsonSchemaOf(type).schema)).toEqual({
      type: 'object',
      properties: {
        mail: { type: 'string', maxLength: 1999 },
        size: { type: 'integer' },
        of: { oneOf: [{ const: 'a' }, { type: 'null' }] },
        on: { type: 'string', format: 'date' },
        tone: { enum: ['warm', 'plain'] },
        all: {
          type: 'array',
          items: { type: 'string', minLength: 2, maxLength: 3 },
          minItems: 1,
          maxItems: 1999,
        },
      },
    })
    for (const format of ['date', 'time', 'date-time']) {
      expect(grammarSchema({ type: 'string', format, maxLength: 9 })).toEqual({
        type: 'string',
        format,
      })
    }
    expect(grammarSchema({ type: 'array', minItems: 3000, maxItems: 4000 })).toEqual({
      type: 'array',
      minItems: 1999,
      maxItems: 1999,
    })
    expect(grammarSchema({ type: 'array' })).toStrictEqual({ type: 'array' })
    expect(grammarSchema({ type: 'string' })).toStrictEqual({ type: 'string' })
  })

  test('is shown to the model with its limits and descriptions', () => {
    const type = z.object({
      subject: z.string().max(80).describe('no exclamation marks'),
      facts: z.array(z.object({ id: z.int() })).max(3),
      tone: z.enum(['warm', 'plain']).nullable(),
      on: z.iso.date().describe('a working day'),
      kind: z.literal('note').describe('always'),
    })
    expect(outline(jsonSchemaOf(type).schema)).toBe(
      [
        '{',
        '  "subject": string of at most 80 characters // no exclamation marks',
        '  "facts": [at most 3 of: {',
        '    "id": integer',
        '  }]',
        '  "tone": "warm" | "plain" | null',
        '  "on": date // a working day',
        '  "kind": "note" // always',
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
