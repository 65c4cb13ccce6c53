/** What a person or key may do, from most to least. */
export const ROLES = ['admin', 'seller', 'reader'] as const
export type Role = (typeof ROLES)[number]

/**
 * Who acts. `admin` is the single admin, who signs in with the password alone; `member` somebody who was
 * invited; `api` a script with a key, without an id if with the token of this machine; `agent` an agent at
 * work. The hub itself acts without one.
 */
export type Actor = {
  kind: 'admin' | 'member' | 'api' | 'agent'
  id: string | null
  /** The name at that time; null for the single admin and the token. */
  name: string | null
  role: Role
}

export const ADMIN_ACTOR: Actor = { kind: 'admin', id: null, name: null, role: 'admin' }
export const TOKEN_ACTOR: Actor = { kind: 'api', id: null, name: null, role: 'admin' }

/** Whether one role includes another. */
export function includes(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}
