/**
 * Lists of positions on the wire, looked at in one pass that ends at the first mistake: a polygon in which
 * every position is wrong would otherwise be a second of work and tens of thousands of complaints.
 */
import { z } from 'zod'

/** A (lon, lat) position; a third number is its height. */
const POSITION = { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 3 } as const

/** `Rings` are those of a polygon: lists of positions, at least one. */
export const Rings = z
  .unknown()
  .transform((value, context) => read<number[][][]>(value, 2, context))
  .meta({ ...listOf(listOf(POSITION)), minItems: 1 })

/** `Polygons` are those of a multipolygon: lists of rings, at least one. */
export const Polygons = z
  .unknown()
  .transform((value, context) => read<number[][][][]>(value, 3, context))
  .meta({ ...listOf({ ...listOf(listOf(POSITION)), minItems: 1 }), minItems: 1 })

function listOf<T extends object>(items: T) {
  return { type: 'array' as const, items }
}

type Context = z.core.$RefinementCtx
type Wrong = { path: number[]; code: 'invalid_type' | 'too_small' | 'too_big'; message: string }

function read<T>(value: unknown, depth: number, context: Context): T {
  const wrong = firstWrong(value, depth)
  if (!wrong) return value as T // safe: it was looked at down to its numbers
  const { path, code, message } = wrong
  const origin = 'array' as const
  if (code === 'invalid_type') context.addIssue({ code, expected: 'array', message, path })
  if (code === 'too_small') context.addIssue({ code, origin, minimum: 1, message, path })
  if (code === 'too_big') context.addIssue({ code, origin, maximum: 3, message, path })
  return z.NEVER
}

/** What is wrong first in lists of so many levels above a position; `depth` is at most 3. */
function firstWrong(value: unknown, depth: number): Wrong | undefined {
  if (!Array.isArray(value)) {
    const what = depth === 0 ? 'a position, [lon, lat]' : 'a list'
    return { path: [], code: 'invalid_type', message: `Must be ${what}.` }
  }
  if (depth === 0) return wrongPosition(value)
  // A ring may be empty here: what it has to enclose is tested when its numbers are known.
  if (value.length === 0 && depth > 1) {
    return { path: [], code: 'too_small', message: 'Must have at least one ring.' }
  }
  for (const [index, inner] of value.entries()) {
    const wrong = firstWrong(inner, depth - 1)
    if (wrong) return { ...wrong, path: [index, ...wrong.path] }
  }
  return undefined
}

function wrongPosition(position: unknown[]): Wrong | undefined {
  const message = 'Must be a position, [lon, lat], in degrees.'
  if (position.length < 2) return { path: [], code: 'too_small', message }
  if (position.length > 3) return { path: [], code: 'too_big', message }
  const index = position.findIndex((number) => !Number.isFinite(number))
  if (index < 0) return undefined
  return { path: [index], code: 'invalid_type', message }
}
