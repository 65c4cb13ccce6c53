import { useQuery } from '@tanstack/react-query'
import { accountQuery } from './queries.ts'

type Owned = { owner_id: string; org_id: string | null }

/** Whether the caller may change a zone or channel: its owner, and who runs its organisation. */
export function useMayEdit(): (thing: Owned) => boolean {
  const account = useQuery(accountQuery).data?.account
  return ({ owner_id, org_id }) =>
    owner_id === account?.user_id ||
    (account?.orgs.some(({ id, role }) => id === org_id && role !== 'member') ?? false)
}
