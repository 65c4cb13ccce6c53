/** Requests about one's account, and what the database says of it. */
import { afterAll, beforeAll } from 'vitest'
import { createService, type Service, type Signed } from '../../../support/service.ts'

export const ACCOUNT = '/api/v1/account'
export let service: Service

/** Has the tests of this file run on a service of their own. */
export function useService(): void {
  beforeAll(async () => {
    service = await createService()
  })
  afterAll(() => service?.close())
}

export function ask(
  { token }: Signed,
  method: string,
  path: string,
  body?: unknown,
  once?: string,
) {
  const headers: Record<string, string> = once === undefined ? {} : { 'Idempotency-Key': once }
  return service.request(method, ACCOUNT + path, { key: token, body, headers })
}

export const count = async (statement: string, values: unknown[]) => {
  const [row] = await service.database.query<{ n: number }>(
    `select count(*)::int as n from ${statement}`,
    values,
  )
  return row?.n
}

export const actions = async ({ user_id }: Signed) =>
  (
    await service.database.query<{ action: string }>(
      'select action from watchpost.audit where account_id = $1 order by xid, seq',
      [user_id],
    )
  ).map(({ action }) => action)
