import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config, Paths } from '../config.ts'
import { type Database, everywhere } from '../db/db.ts'
import { isMissing, readJson, writeJson } from '../files.ts'
import { recordOutcome } from './drafts/outcome.ts'
import { stopSequences } from './sequences/stop.ts'
import { type Refusals, readSalt, suppressHashes, tokenHash } from './suppression.ts'

/**
 * The opt-outs that are not on the suppression list yet: one file each, named by the address's
 * hash.
 */
const folderOf = (paths: Paths) => join(paths.data_dir, 'unsubscribed')
const NAME = /^([0-9a-f]{64})-([0-9a-f]{64})\.json$/
const Kept = z.object({ at: z.iso.datetime() })

/**
 * keepOptOut returns when the opt-out is durable, whatever the state of the database and its key.
 */
export async function keepOptOut(paths: Paths, hash: string, token: string): Promise<void> {
  await mkdir(folderOf(paths), { recursive: true, mode: 0o750 })
  const file = join(folderOf(paths), `${hash}-${tokenHash(token)}.json`)
  await writeJson(file, { at: new Date().toISOString() })
}

async function kept(paths: Paths): Promise<string[]> {
  const names = await readdir(folderOf(paths)).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return names.filter((name) => NAME.test(name))
}

/** The hashes of opt-outs that are not on the list yet. Throws if they cannot be read. */
async function keptOptOuts(paths: Paths): Promise<Set<string>> {
  return new Set((await kept(paths)).map((name) => name.slice(0, 64)))
}

/** What is needed to tell whether an address refuses mail. */
export async function readRefusals(paths: Paths): Promise<Refusals> {
  return { salt: await readSalt(paths), queued: await keptOptOuts(paths) }
}

/** applyOptOuts puts all of them on the list; applying one twice has no further effect. */
export async function applyOptOuts({
  config,
  db,
}: {
  config: Config
  db: Database
}): Promise<number> {
  const names = await kept(config.paths)
  for (const name of names) {
    const [, hash = '', token_hash = ''] = NAME.exec(name) ?? []
    const file = join(folderOf(config.paths), name)
    const read = Kept.safeParse(await readJson(file).catch(() => undefined))
    const at = read.success ? read.data.at : new Date().toISOString()
    await everywhere(db, async (sql) => {
      const [mail] = await sql<{
        draft_id: string
        project_id: string
        lead_id: string | null
        email: string
        subject: string
        is_new: boolean
      }>`
        update hub.recipients as r set unsubscribed_at = coalesce(r.unsubscribed_at, ${at})
        from hub.drafts as d
        where d.id = r.draft_id and r.token_hash = ${token_hash}
        returning r.draft_id, r.project_id, r.lead_id, r.email, d.subject,
          old.unsubscribed_at is null as is_new`
      const project_id = mail?.project_id ?? null
      await suppressHashes(sql, { hashes: [hash], reason: 'unsubscribed', project_id })
      if (mail) await stopSequences(sql, { project_id: null, email: mail.email }, 'opted_out')
      if (mail?.is_new) await recordOutcome(sql, mail, 'unsubscribed')
    })
    await rm(file, { force: true })
  }
  return names.length
}
