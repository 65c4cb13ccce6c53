import { FOR_MISSIONS } from '../../../missions/approval-actions.ts'
import type { Schemas } from '../../api/client.ts'

/** isOnHub says whether an external action only does something on this hub, such as starting it again. */
export function isOnHub({ kind, action }: Pick<Schemas['Approval'], 'kind' | 'action'>): boolean {
  return kind === 'external' && !FOR_MISSIONS.includes(String(action.do))
}
