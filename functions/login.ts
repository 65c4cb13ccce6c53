import { type Database, inTransaction } from './db.ts'

/** Row-level security is the wall between accounts: a login that walks through it may not serve. */
export async function checkLogin(api: Database): Promise<void> {
  const [login] = await inTransaction(
    api,
    (sql) => sql<{ name: string; is_mighty: boolean }>`
      select rolname as name,
        rolsuper or rolbypassrls or pg_has_role('watchpost_owner', 'member') as is_mighty
      from pg_roles where rolname = current_user`,
  )
  if (login?.is_mighty) {
    throw new Error(
      `API_DATABASE_URL logs in as ${login.name}, which row-level security does not hold back. Log in as watchpost_api.`,
    )
  }
}
