/** What makes it safe to read a thing, change it and send the whole of it back. */
import { z } from 'zod'
import { ApiError, type EnglishIssue, invalid } from '../../shared/problem.ts'
import { isSame } from '../../shared/same.ts'

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

/** Issues for the fields of a patch that only the service sets and that differ from what is stored. */
export function changedReadOnly<N extends string>(
  patch: { readonly [name in N]?: unknown },
  stored: { readonly [name in N]: unknown },
  names: readonly N[],
): EnglishIssue[] {
  const changed = names.filter(
    (name) => patch[name] !== undefined && !isSame(patch[name], stored[name]),
  )
  return changed.map((name) => ({
    path: name,
    code: 'read_only',
    message: `${name} is read-only: it is ${short(stored[name])}, not ${short(patch[name])}. Leave it out, or read it again.`,
  }))
}

/** Throws 422 when a patch changes what only the service sets. */
export function requireReadOnly<N extends string>(
  ...given: Parameters<typeof changedReadOnly<N>>
): void {
  const issues = changedReadOnly(...given)
  if (issues.length > 0) throw invalid(issues)
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
