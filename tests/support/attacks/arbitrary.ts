/** Generates requests from a JSON Schema: valid ones, and valid ones with one fault. */
import fc from 'fast-check'
import type { Description, Schema } from '../openapi.ts'

type Hints = { readonly [property: string]: fc.Arbitrary<unknown> }

/**
 * arbitraryOf generates values that are valid against a schema; a hint replaces the property of its
 * name.
 */
export function arbitraryOf(
  schema: Schema,
  { resolve, hints = {} }: { resolve: Description['resolve']; hints?: Hints },
): fc.Arbitrary<unknown> {
  const options = { resolve, hints }
  const given = resolve(schema) as Known // safe: the keywords that the document uses
  const hint = hints[String(schema.$ref ?? '').replace(/.*\//, '')]
  if (hint) return hint
  if (given.enum) return fc.constantFrom(...given.enum)
  const alternatives = given.oneOf ?? given.anyOf
  if (alternatives) return fc.oneof(...alternatives.map((part) => arbitraryOf(part, options)))
  if (Array.isArray(given.type)) {
    return fc.oneof(...given.type.map((type) => arbitraryOf({ ...given, type }, options)))
  }
  switch (given.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: given.minimum ?? -1000, max: given.maximum ?? 1000 })
    case 'number':
      return number(given)
    case 'string':
      return text(given)
    case 'array':
      return fc.array(arbitraryOf(given.items ?? {}, options), {
        minLength: given.minItems ?? 0,
        maxLength: Math.min(given.maxItems ?? 4, 4),
      })
    case 'object':
      return record(given, options)
    default:
      return fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).map(withoutNul)
  }
}

type Known = {
  type?: string | string[]
  enum?: unknown[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  items?: Schema
  properties?: { [name: string]: Schema }
  required?: string[]
  additionalProperties?: Schema | boolean
  format?: string
  pattern?: string
  example?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

function number({ minimum: min = -1e6, maximum: max = 1e6 }: Known): fc.Arbitrary<number> {
  return fc.oneof(
    fc.constantFrom(min, max),
    fc.integer({ min: Math.ceil(min), max: Math.floor(max) }),
    fc.double({ min, max, noNaN: true }),
  )
}

function record(
  { properties = {}, required = [], additionalProperties }: Known,
  options: { resolve: Description['resolve']; hints: Hints },
): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const plain = arbitraryOf(schema, options)
      const hint = options.hints[name]
      return [name, hint ? fc.oneof({ weight: 4, arbitrary: hint }, plain) : plain]
    }),
  )
  // What only the service sets is nearly always refused, so most requests leave it out.
  const isReadOnly = (name: string) => properties[name]?.readOnly === true
  const settable = Object.fromEntries(Object.entries(fields).filter(([name]) => !isReadOnly(name)))
  const known = fc.oneof(
    { weight: 4, arbitrary: fc.record(settable, { requiredKeys: required }) },
    fc.record(fields, { requiredKeys: required }),
  )
  if (typeof additionalProperties !== 'object') return known
  const names = fc.stringMatching(/^[a-z]{1,8}$/)
  return fc.dictionary(names, arbitraryOf(additionalProperties, options), { maxKeys: 3 })
}

/** A pattern that nothing fits is a fault of the document; a filter would search for ever. */
const MAX_MISSES = 10_000

const LETTERS = fc.string({ unit: 'binary', minLength: 0, maxLength: 60 })

function text({
  format,
  pattern,
  example,
  minLength = 0,
  maxLength = pattern ? 10_000 : 60,
}: Known): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid({ version: [4, 7] })
  if (format === 'email') return fc.stringMatching(/^[a-z]{1,12}@[a-z]{1,9}\.example$/)
  if (format === 'date-time') {
    const [min, max] = [new Date('2000-01-01'), new Date('2100-01-01')]
    return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString())
  }
  if (format === 'uri') return fc.stringMatching(/^https:\/\/[a-z]{1,9}\.invalid\/[a-z]{0,20}$/)
  const fits = new RegExp(pattern ?? '', 'u')
  let misses = 0
  const isFine = (value: string) => {
    const is = value.length >= minLength && value.length <= maxLength && fits.test(value)
    misses = is ? 0 : misses + 1
    if (misses > MAX_MISSES)
      throw new Error(
        `found no text of ${minLength} to ${maxLength} characters that matches ${fits}`,
      )
    return is
  }
  // The generator knows neither classes of Unicode nor lookaheads.
  const looksAhead = /\(\?[=!]/.test(pattern ?? '')
  if (looksAhead && example !== undefined) return fc.constant(example)
  if (pattern && !looksAhead && !/\\p/i.test(pattern)) return fc.stringMatching(fits).filter(isFine)
  const long = fc.constant('é'.repeat(Math.min(maxLength, 5000)))
  return fc.oneof({ weight: 9, arbitrary: LETTERS.map(withoutNul) }, long).filter(isFine)
}

/**
 * Removes NUL and lone surrogates, which Postgres cannot store; mutations add them deliberately.
 */
function withoutNul<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replaceAll(/\\u0000|\\ud[89a-f]../g, '_'))
}

const JUNK: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  0.1 + 0.2,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202e\ufeff',
  "'; drop table zones; --",
  '../../../etc/passwd',
  '{{7*7}}',
  'x'.repeat(100_000),
  '9'.repeat(400),
  '2026-02-30T25:61:00Z',
  '0000-00-00T00:00:00Z',
  [],
  {},
  [[[[[[]]]]]],
  ['x', null],
  { $ref: '#' },
]

type Mutation = { at: number; how: 'replace' | 'remove' | 'add' | 'proto'; junk: unknown }

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(10_000),
  how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add', 'proto'),
  junk: fc.constantFrom(...JUNK),
})

/** mutate changes one place of a JSON value. */
export function mutate(value: unknown, { at, how, junk }: Mutation): unknown {
  const copy: { root: unknown } = { root: structuredClone(value) }
  const places: [holder: object, key: string][] = []
  const walk = (holder: object) => {
    for (const [key, inner] of Object.entries(holder)) {
      places.push([holder, key])
      if (typeof inner === 'object' && inner !== null) walk(inner)
    }
  }
  walk(copy)
  const [holder, key] = places[at % places.length] ?? [copy, 'root']
  const inner: unknown = Reflect.get(holder, key)
  const target = typeof inner === 'object' && inner !== null ? inner : holder
  if (how === 'replace') Reflect.set(holder, key, junk)
  if (how === 'remove' && holder !== copy) Reflect.deleteProperty(holder, key)
  if (how === 'add' && target !== copy) Reflect.set(target, 'min_serverity', junk)
  if (how === 'proto' && target !== copy) {
    // An own property of that name, as JSON.parse creates it; an assignment would set the
    // prototype.
    Object.defineProperty(target, '__proto__', { value: junk, enumerable: true })
  }
  return copy.root
}
