import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/**
 * hashOf is what an approval is bound to: SHA-256 over the value as canonical JSON (RFC 8785), so
 * that the order of fields does not matter.
 */
export function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex')
}
