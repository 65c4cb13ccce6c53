import type pg from 'pg'
import { sqlOn } from '../../shared/sql.ts'
import { emailHash, emailHashes, type Salt, suppressHashes } from '../mail/suppression.ts'
import { erase } from './erase.ts'
import { filesIn, textOf } from './people-files.ts'
import { addressesIn, nameHashes, namesIn, type Person } from './redact.ts'
import { allTexts } from './rows.ts'

/**
 * recordErasure keeps that a person was erased, as salted hashes on the suppression list: nobody writes
 * to them again, and a restored backup can be cleaned of them.
 */
export async function recordErasure(
  client: pg.ClientBase,
  salt: Salt,
  given: { email: string; names: string[]; texts: boolean; by: string | null },
): Promise<void> {
  const { email, names, texts, by } = given
  const hash = emailHash(salt, email)
  await suppressHashes(sqlOn(client), { hashes: [hash], reason: 'erased' })
  const hashes = texts ? names.flatMap((name) => nameHashes(salt.current, name)) : []
  await client.query(
    `update hub.suppression set erased_at = now(), erased_by = $4, note = null,
       erased_texts = erased_texts or $2,
       erased_names = array(select distinct unnest(erased_names || $3::text[]))
     where email_hash = $1`,
    [hash, texts, hashes, by],
  )
}

/**
 * reapplyErasures erases again, from rows and folders that came from a backup or an archive, everybody
 * who was erased since. The people are found by their hashes: every address in every text is compared,
 * and every few words with the names. Returns how many were found.
 */
export async function reapplyErasures(
  client: pg.ClientBase,
  { salt, folders }: { salt: Salt; folders: string[] },
): Promise<number> {
  const { rows: ledger } = await client.query<{
    email_hash: string
    erased_texts: boolean
    erased_names: string[]
  }>(
    `select email_hash, erased_texts, erased_names from hub.suppression
     where erased_at is not null`,
  )
  if (ledger.length === 0) return 0
  const byHash = new Map(ledger.map((entry) => [entry.email_hash, entry]))
  const hashes = new Set(ledger.flatMap(({ erased_names }) => erased_names))
  const seen = new Set<string>()
  const people = new Map<string, boolean>()
  const names = new Set<string>()
  const read = (text: string) => {
    for (const email of addressesIn(text)) {
      if (seen.has(email)) continue
      seen.add(email)
      const entry = emailHashes(salt, email).flatMap((hash) => byHash.get(hash) ?? [])[0]
      if (entry) people.set(email, entry.erased_texts)
    }
    for (const name of namesIn(salt, hashes, text)) names.add(name)
  }
  for await (const text of allTexts(client)) read(text)
  for (const folder of folders) {
    for (const file of await filesIn(folder)) read(`${file}\n${(await textOf(file)) ?? ''}`)
  }
  for (const [email, texts] of people) {
    await erase(client, { email, names: [] }, { texts, folders })
  }
  const named: Person = { email: null, names: [...names] }
  if (names.size > 0) await erase(client, named, { texts: true, folders })
  return people.size
}
