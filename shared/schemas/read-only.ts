import { z } from 'zod'

const ReadOnly = z.unknown().optional().meta({
  readOnly: true,
  description: 'Set by the service. Ignored when it is sent back as it is; otherwise 422.',
})

/** The fields of a thing that only the service sets, for the body of a PATCH: any value may be sent and is compared. */
export function readOnly<const N extends string>(names: readonly N[]) {
  // safe: every name is a key
  return Object.fromEntries(names.map((name) => [name, ReadOnly])) as {
    [name in N]: typeof ReadOnly
  }
}
