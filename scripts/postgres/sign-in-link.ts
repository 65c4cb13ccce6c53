import type pg from 'pg'
import { SIGN_IN_PATH } from '../../functions/sign-in/sign-in-page.ts'
import { UsageError } from '../start/arguments.ts'
import { type AccountSelector, createLink } from './accounts.ts'
import { isSupabase } from './migrate.ts'

/** createSignInLink creates a one-time link to the page on which a person signs in; throws where they sign in elsewhere. */
export async function createSignInLink(
  client: pg.Client,
  { public_url, ...who }: AccountSelector & { public_url: string },
): Promise<{ url: string; email: string; token_hash: string; expires_at: string }> {
  // What Supabase has is asked of its schemas, which the tables' owner may not read.
  await client.query('set local role none')
  if (await isSupabase(client)) {
    throw new UsageError(
      'People sign in with Supabase Auth here, which does not know such links. Send one from its dashboard.',
    )
  }
  const link = await createLink(client, who)
  return { url: `${public_url}${SIGN_IN_PATH}#${link.token_hash}`, ...link }
}
