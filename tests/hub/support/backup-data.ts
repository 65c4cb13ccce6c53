import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { emailHash, readSalt } from '../../../hub/mail/suppression.ts'
import type { TestHub } from './hub.ts'

/** Two projects with rows that are hard to write down, in every table that the hub fills. */
export async function fillHub(hub: TestHub): Promise<void> {
  const { query, paths } = hub
  const salt = await readSalt(paths)
  const [first] = await query<{ id: string }>(
    `insert into hub.projects (slug, name, icp)
     values ('demir', 'Demir', E'two\\nlines\\tand \\\\N'), ('other', 'Other', null)
     returning id`,
  )
  const [lead] = await query<{ id: string }>(
    `insert into hub.leads (project_id, name, email, tags, score, created_at)
     values ($1, 'Ayşe "Işık"', 'ayse@example.com', '{a,"b,c","null"}', 7, '2026-01-01 00:00:00.123456+03'),
       ($1, null, 'second@example.com', '{}', null, now())
     returning id`,
    [first?.id],
  )
  const [mission] = await query<{ id: string }>(
    `insert into hub.missions (project_id, department, task, result)
     values ($1, 'sales', 'Call them', '{"summary": "é\\u0001 ok", "n": 1.10}')
     returning id`,
    [first?.id],
  )
  await query(
    `insert into hub.mission_steps (mission_id, project_id, position, name, output)
     values ($1, $2, 1, 'read', '[]'), ($1, $2, 10, 'write', null), ($1, $2, 2, 'think', '{}')`,
    [mission?.id, first?.id],
  )
  await query(
    `insert into hub.missions (project_id, department, task, retry_of) values ($2, 'sales', 'Again', $1)`,
    [mission?.id, first?.id],
  )
  await query(
    `insert into hub.missions (project_id, department, task, continues, thread)
     values ($2, 'sales', 'Shorter', $1, $1)`,
    [mission?.id, first?.id],
  )
  await query(
    `insert into hub.result_versions (mission_id, project_id, part, version, text, edited_by)
     values ($1, $2, 'summary', 1, E'é\\u0001\\n\\\\.', 'agent'), ($1, $2, 'summary', 2, 'ok', 'session')`,
    [mission?.id, first?.id],
  )
  await query(
    `insert into hub.evidence (project_id, lead_id, fact, source, mission_id)
     values ($1, $2, 'Has 40 trucks', 'https://example.com', $3)`,
    [first?.id, lead?.id, mission?.id],
  )
  await query('insert into hub.notes (project_id, lead_id, text) values ($1, $2, $3)', [
    first?.id,
    lead?.id,
    'x'.repeat(9000),
  ])
  const [draft] = await query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, subject)
     values ($1, jsonb_build_object('kind', 'lead', 'lead_id', $2::uuid), 'Hello')
     returning id`,
    [first?.id, lead?.id],
  )
  await query(
    `insert into hub.recipients (draft_id, project_id, lead_id, email)
     values ($1, $2, $3, 'İ@example.com'), ($1, $2, $3, 'a@example.com')`,
    [draft?.id, first?.id, lead?.id],
  )
  await query(
    "insert into hub.suppression (email_hash, reason, project_id) values ($1, 'unsubscribed', $2)",
    [emailHash(salt, 'never@example.com'), first?.id],
  )
  const folder = join(paths.data_dir, 'projects/demir')
  await mkdir(join(folder, 'docs/deep/empty'), { recursive: true })
  await writeFile(join(folder, 'CONTEXT.md'), '# Demir\n')
  await writeFile(join(folder, 'docs/Teklif (ışık) 100%.md'), 'ğ\0\r\n', { mode: 0o640 })
  await writeFile(join(folder, 'docs/deep/large.bin'), Buffer.alloc(300_000, 7))
  await writeFile(join(paths.prompts_dir, 'sales.md'), 'Sell {{product}}')
  await writeFile(join(paths.prompts_dir, 'docs.md'), 'Write')
}

/** Everything a restore has to bring back: a sum of each table's COPY output, and the folders. */
export async function exportOf(hub: TestHub) {
  const names = await hub.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'hub' order by 1",
  )
  const tables: Record<string, { rows: number; sum: string }> = {}
  for (const { name } of names) {
    const rows = await hub.query<{ row: string }>(
      `select to_jsonb(t)::text as row from hub.${name} as t order by to_jsonb(t)::text collate "C"`,
    )
    const sum = createHash('sha256').update(rows.map(({ row }) => row).join('\n'))
    tables[name] = { rows: rows.length, sum: sum.digest('hex') }
  }
  return {
    tables,
    folders: {
      ...(await treeOf(join(hub.paths.data_dir, 'projects'))),
      ...(await treeOf(hub.paths.prompts_dir)),
    },
  }
}

async function treeOf(folder: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const content = entry.isFile() ? await readFile(path) : 'a folder'
    const mode = entry.isFile() ? (await stat(path)).mode.toString(8) : ''
    tree[path] = `${mode} ${createHash('sha256').update(content).digest('hex')}`
  }
  return tree
}
