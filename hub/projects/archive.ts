import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { create } from 'tar'
import { raw, type Sql } from '../../shared/sql.ts'
import type { Paths } from '../config.ts'
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
 * JSON lines in `.rows/<table>.jsonl`. The transaction must be limited to this project.
 */
export async function archiveProject(paths: Paths, sql: Sql, slug: string): Promise<string> {
  const folder = folderOf(paths, slug)
  const rows = join(folder, '.rows')
  await mkdir(rows, { recursive: true })
  for (const table of TABLES) {
    const found = await sql<{ row: string }>`
      select to_jsonb(t)::text as row from hub.${raw(table)} as t`
    await writeFile(join(rows, `${table}.jsonl`), found.map(({ row }) => `${row}\n`).join(''))
  }
  const archives = join(paths.data_dir, 'archive')
  await mkdir(archives, { recursive: true, mode: 0o700 })
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const file = join(archives, `${slug}-${stamp}.tar.gz`)
  await create({ gzip: true, file, cwd: join(paths.data_dir, 'projects'), mode: 0o600 }, [slug])
  await rm(rows, { recursive: true })
  return file
}
