import type { z } from 'zod'
import type { Account } from '../../../shared/schemas/account.ts'
import type { Sql } from '../../../shared/sql.ts'
import type { Ctx } from '../../context.ts'
import { listOrgs } from './account-orgs.ts'

type Facts = Pick<z.infer<typeof Account>, 'created_at' | 'limits' | 'counts' | 'orgs'>

/** Reads the account's limits, counts and organisations; all statements are sent at once. */
export async function readAccount(sql: Sql): Promise<Facts> {
  const [[row], orgs] = await Promise.all([
    sql<Omit<Facts, 'orgs'>>`
      select a.created_at,
        jsonb_build_object(
          'zones', case a.plan when 'free' then 0 else private.plan_limit(a.plan, 'zones') end,
          'channels', case a.plan when 'free' then 0 else private.plan_limit(a.plan, 'channels') end,
          'members', private.plan_limit(a.plan, 'members'),
          'keys', private.plan_limit(a.plan, 'keys'),
          'organisations', private.plan_limit(a.plan, 'organisations')) as limits,
        jsonb_build_object(
          'zones', (select count(*) from watchpost.zones where owner_id = a.user_id and deleted_at is null),
          'channels', (select count(*) from watchpost.channels where owner_id = a.user_id and deleted_at is null),
          'keys', (select count(*) from watchpost.api_keys where user_id = a.user_id and revoked_at is null
            and (expires_at is null or expires_at > now())),
          'organisations', (select count(*) from watchpost.members where user_id = a.user_id and role = 'owner')
        ) as counts
      from watchpost.accounts a
      where a.user_id = private.uid()`,
    listOrgs(sql),
  ])
  if (!row) throw new Error('the caller has no account')
  return { ...row, orgs }
}

/** The account in the form of the API. */
export function accountOf(c: Ctx, facts: Facts): z.infer<typeof Account> {
  const caller = c.get('caller')
  if (!caller) throw new Error('read() admits a caller or throws')
  const { user_id, email, plan, rate_limit } = caller
  const limits = { ...facts.limits, requests_per_minute: rate_limit.limit }
  return { user_id, email, plan, ...facts, limits }
}
