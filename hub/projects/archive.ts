import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { create } from 'tar'
import { raw, type Sql } from '../../shared/sql.ts'
import type { Paths } from '../config.ts'
import { moveWhole } from '../files.ts'
import { folderOf } from './project-folder.ts'

/** Every table whose rows belong to a project. */
export const TABLES = [
  'projects',
  'brands',
  'deal_settings',
  'lead_fields',
  'imports',
  'leads',
  'import_errors',
  'evidence',
  'merges',
  'notes',
  'tasks',
  'activities',
  'missions',
  'mission_steps',
  'mission_events',
  'result_versions',
  'approvals',
  'sequences',
  'sequence_recipients',
  'drafts',
  'opinions',
  'stands',
  'campaigns',
  'recipients',
  'inbox_mails',
  'answers',
]

/**
 * archiveProject writes a project into archive/<slug>-<time>.tar.gz: its folder, and its rows as
 * JSON lines in `.rows/<table>.jsonl`. The file appears whole or not at all, and is durable then, for it
 * is all that a deletion leaves. The transaction must be limited to this project.
 */
export async function archiveProject(paths: Paths, sql: Sql, slug: string): Promise<string> {
  const archives = join(paths.data_dir, 'archive')
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const file = join(archives, `${slug}-${stamp}.tar.gz`)
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`
  const rows = join(folderOf(paths, slug), '.rows')
  try {
    await mkdir(rows, { recursive: true })
    for (const table of TABLES) {
      const found = await sql<{ row: string }>`
        select to_jsonb(t)::text as row from hub.${raw(table)} as t`
      await writeFile(join(rows, `${table}.jsonl`), found.map(({ row }) => `${row}\n`).join(''))
    }
    await mkdir(archives, { recursive: true, mode: 0o700 })
    const cwd = join(paths.data_dir, 'projects')
    await create({ gzip: true, file: draft, cwd, mode: 0o600, strict: true }, [slug])
    await moveWhole(draft, file)
  } finally {
    await rm(rows, { recursive: true, force: true })
    await rm(draft, { force: true })
  }
  return file
}
