import {
  isAuthApiError,
  isAuthImplicitGrantRedirectError,
  isAuthRetryableFetchError,
} from '@supabase/auth-js'
import { OtherBrowser } from '../../api/session.ts'

/** A link without the part that signs in. */
export class IncompleteLink extends Error {}

/** Why nobody was signed in: what the page has words for, or a code and a sentence of the issuer's own. */
export type Refusal =
  | { why: 'incomplete' | 'unreachable' | 'other_browser' }
  | { code: string; message: string }

export function refusalOf(error: unknown): Refusal {
  if (error instanceof IncompleteLink) return { why: 'incomplete' }
  if (error instanceof OtherBrowser) return { why: 'other_browser' }
  if (isAuthImplicitGrantRedirectError(error)) {
    return { code: error.details?.code ?? '', message: error.message }
  }
  if (isAuthApiError(error)) return { code: error.code ?? '', message: error.message }
  // No answer, or that of a proxy in front of a service that is away.
  if (isAuthRetryableFetchError(error)) return { why: 'unreachable' }
  return { code: '', message: error instanceof Error ? error.message : String(error) }
}
