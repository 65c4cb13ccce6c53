import pg from 'pg'
import { asOperator, becomeOwner } from './accounts.ts'
import { setLoginPasswords } from './migrate.ts'
import { type Secrets, writeNewSecrets } from './secrets.ts'

/** The URLs with which the two roles of the service log in. */
export type Logins = { api: string; jobs: string }

/**
 * createSecrets creates the first secrets, unless channels exist that were sealed with lost ones.
 */
export async function createSecrets(
  adminUrl: string,
  { data_dir, seal_keys }: { data_dir: string; seal_keys: string | undefined },
): Promise<Secrets> {
  const has_sealed = await asOperator(adminUrl, async (client) => {
    await becomeOwner(client)
    return (await client.query('select from watchpost.channels limit 1')).rowCount === 1
  })
  if (has_sealed && !seal_keys) {
    throw new Error(
      `The database holds channels that are sealed with a missing key: ${data_dir}/secrets.json does not exist. Restore that file, or set SEAL_KEYS to the keys it held.`,
    )
  }
  return writeNewSecrets(data_dir)
}

/** prepareLogins returns the two logins. It sets the passwords only if a login fails. */
export async function prepareLogins(adminUrl: string, secrets: Secrets): Promise<Logins> {
  const urls = {
    api: loginUrl(adminUrl, 'watchpost_api', secrets.api_password),
    jobs: loginUrl(adminUrl, 'watchpost_jobs', secrets.jobs_password),
  }
  const fits = await Promise.all([canLogIn(urls.api), canLogIn(urls.jobs)])
  if (!fits.every(Boolean)) {
    await setLoginPasswords(adminUrl, { api: secrets.api_password, jobs: secrets.jobs_password })
  }
  return urls
}

function loginUrl(adminUrl: string, role: string, password: string): string {
  const url = new URL(adminUrl)
  url.username = role
  url.password = password
  return url.href
}

async function canLogIn(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
