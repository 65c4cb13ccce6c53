import { type Database, inTransaction } from '../db.ts'

/** Throws when the API's login bypasses row-level security, which separates the accounts. */
export async function checkLogin(api: Database): Promise<void> {
  const [login] = await inTransaction(
    api,
    (sql) => sql<{ name: string; bypasses_rls: boolean }>`
      select rolname as name,
        rolsuper or rolbypassrls or pg_has_role('watchpost_owner', 'member') as bypasses_rls
      from pg_roles where rolname = current_user`,
  )
  if (login?.bypasses_rls) {
    throw new Error(
      `API_DATABASE_URL logs in as ${login.name}, which bypasses row-level security. Log in as watchpost_api.`,
    )
  }
}
