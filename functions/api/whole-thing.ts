/** What makes it safe to read a thing, change it and send the whole of it back. */
import { z } from 'zod'
import { ApiError, type Issue } from '../../shared/problem.ts'

export const IfMatchHeader = z.object({
  'if-match': z
    .string()
    .regex(/^(\*|(W\/)?"?\d{1,9}"?)$/, 'Must be the version of the thing, as in If-Match: 3.')
    .optional()
    .meta({
      description:
        'The `version` that the caller has read. When it has changed since, the answer is 412.',
      example: '3',
    }),
})

/** The version in If-Match; undefined where any will do. */
export function wantedVersion(headers: z.output<typeof IfMatchHeader>): number | undefined {
  const digits = headers['if-match']?.replace(/\D/g, '')
  return digits ? Number(digits) : undefined
}

/** Throws 412 unless the version is the one that is wanted. */
export function requireVersion(wanted: number | undefined, version: number): void {
  if (wanted === undefined || wanted === version) return
  throw new ApiError(
    'version_mismatch',
    `This is version ${version}, not ${wanted}: it was changed in the meantime. Read it again and repeat the change.`,
  )
}

/** Issues for the fields of a patch that a caller cannot set and that differ from what is stored. */
export function changedFixedFields<N extends string>(
  patch: { readonly [name in N]?: unknown },
  stored: { readonly [name in N]: unknown },
  names: readonly N[],
): Issue[] {
  const changed = names.filter(
    (name) => patch[name] !== undefined && !isSame(patch[name], stored[name]),
  )
  return changed.map((name) => ({
    path: name,
    code: 'read_only',
    message: `${name} is read-only, and it is not ${short(patch[name])}. Leave it out, or send it as you read it.`,
  }))
}

function isSame(a: unknown, b: unknown): boolean {
  const isTime = typeof a === 'string' && typeof b === 'string' && /^\d{4}-\d\d-\d\dT/.test(b)
  return isTime ? Date.parse(a) === Date.parse(b) : asText(a) === asText(b)
}

/** The same text for equal values, whatever the order of their fields. */
function asText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
