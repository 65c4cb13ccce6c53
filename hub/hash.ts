import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/**
 * hashOf is what an approval is bound to: SHA-256 over the value as canonical JSON (RFC 8785), so
 * that the order of fields does not matter. Throws for a value that JSON cannot express, e.g. undefined.
 */
export function hashOf(value: unknown): string {
  const json = canonicalize(value)
  if (json === undefined) throw new Error(`a value of type ${typeof value} cannot be hashed`)
  return createHash('sha256').update(json).digest('hex')
}
