import type { Schemas } from '../../api/client.ts'

/** What sends something to other machines. */
const LEAVES: unknown[] = ['read_web', 'search_web']

/** isOnHub says whether an external action only does something on this hub, such as starting it again. */
export function isOnHub({ kind, action }: Pick<Schemas['Approval'], 'kind' | 'action'>): boolean {
  return kind === 'external' && !LEAVES.includes(action.do)
}
