import { z } from 'zod'
import { type AccountSelector, PLANS, SCOPES } from '../postgres/accounts.ts'
import { environment } from './arguments.ts'

/** What the options of `npm run admin` may say. */

export const Email = z
  .email('must be an email address')
  .max(254, 'must be at most 254 characters')
  .transform((email) => email.toLowerCase())
export const PlanOption = z.enum(PLANS, { error: `must be one of ${PLANS.join(', ')}` })
export const Id = z.uuid('must be an id (a UUID)')
export const Name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(120, 'must be at most 120 characters')
export const Scopes = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((word) => word.trim()))])
  .pipe(z.array(z.enum(SCOPES, { error: `must be a list of ${SCOPES.join(', ')}` })))
export const Expires = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: 'must be an ISO 8601 time such as 2027-01-31T00:00:00Z',
  })
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() > Date.now(), 'must be in the future')

export const Reason = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')

export const MAX_REDRIVEN = 10_000
export const Limit = z.coerce
  .number({ error: `must be a whole number from 1 to ${MAX_REDRIVEN}` })
  .int(`must be a whole number from 1 to ${MAX_REDRIVEN}`)
  .min(1, `must be a whole number from 1 to ${MAX_REDRIVEN}`)
  .max(MAX_REDRIVEN, `must be a whole number from 1 to ${MAX_REDRIVEN}`)
  .default(MAX_REDRIVEN)

/** Where people reach the service: as the service reads it, or at its default address. */
export const PublicUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .default(() => environment().PUBLIC_URL ?? `http://127.0.0.1:${environment().PORT ?? 8787}`)
  .transform((url) => url.replace(/\/$/, ''))

/** Where the operator page is, as the start says it. */
export const OperatorUrl = z
  .url({ protocol: /^http$/, error: 'must be the http URL that npm start prints' })
  .transform((url) => url.replace(/\/$/, ''))

/** Where the operator page is by the environment, or by default. */
export function usualOperatorUrl(): string {
  const { OPERATOR_PORT: port, PORT = 8787 } = environment()
  return `http://127.0.0.1:${Number(port) || Number(PORT) + 1}`
}

/** An account, for options that name an owner. */
export const Owner = z.union(
  [Id.transform((user) => ({ user })), Email.transform((email) => ({ email }))],
  {
    error: (issue) =>
      issue.input === undefined ? 'is required' : 'must be an email address or an id',
  },
)

/** The options that name an account: exactly one of them. */
export const accountOptions = { email: Email.optional(), user: Id.optional() }
export function requireOneAccount(
  { email, user }: AccountSelector,
  context: z.RefinementCtx,
): void {
  if ((email === undefined) !== (user === undefined)) return
  const message = user ? 'and --user cannot be combined' : 'is required (or --user)'
  context.addIssue({ code: 'custom', path: ['email'], message })
}

/** The id of a key that signs evidence. */
export const KeyId = z
  .string()
  .min(1, 'must not be empty')
  .max(100, 'must be at most 100 characters')

export const Past = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: 'must be an ISO 8601 time such as 2027-01-31T00:00:00Z',
  })
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() <= Date.now(), 'must not be in the future')
