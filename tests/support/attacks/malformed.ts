/** Generates bodies that no route accepts, from the schema of each. */
import fc from 'fast-check'
import type { Description, Operation } from '../openapi.ts'
import { arbitraryOf, mutate, mutation } from './arbitrary.ts'

export type Malformed = { body: string; headers: Record<string, string> }

const TYPES = fc.oneof(
  { weight: 8, arbitrary: fc.constant('application/json') },
  fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'application/json;;', ''),
)

/** Texts that are not JSON, or JSON of an extreme shape. */
const GARBAGE = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }).map((text) => JSON.stringify(text)),
  fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)),
  fc.nat({ max: 30_000 }).map((depth) => '['.repeat(depth + 1)),
  fc.nat({ max: 10_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.nat({ max: 30_000 }).map((count) => `[${'[1],'.repeat(count)}[1]]`),
  fc.nat({ max: 20_000 }).map((count) => `{${`"a":1,`.repeat(count)}"b":2}`),
  fc.nat({ max: 100_000 }).map((length) => `{"label":"${'x'.repeat(length)}`),
  fc.constantFrom('{', '"', 'null', 'true', '-', '1e999', '\ufeff{}', '{"a":1}x', '\u0000', '[,]'),
)

/**
 * malformedBodies generates bodies for a route: garbage, and documented ones with several faults.
 */
export function malformedBodies(
  operation: Operation,
  { resolve }: Description,
): fc.Arbitrary<Malformed> {
  const described = operation.body
    ? fc
        .tuple(
          arbitraryOf(operation.body.schema, { resolve }),
          fc.array(mutation, { minLength: 1, maxLength: 4 }),
        )
        .map(([value, mutations]) => JSON.stringify(mutations.reduce(mutate, value)) ?? 'undefined')
    : GARBAGE
  return fc.record({ body: fc.oneof(described, GARBAGE), type: TYPES }).map(
    ({ body, type }): Malformed => ({
      body,
      headers: type === '' ? {} : { 'Content-Type': type },
    }),
  )
}
