import { join } from 'node:path'
import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Paths } from '../config.ts'
import type { Actor } from '../db/actor.ts'
import { everywhere } from '../db/db.ts'
import type { Deps } from '../deps.ts'
import { readText, writeWhole } from '../files.ts'
import { bilingual } from '../i18n/words.ts'
import { projectsText } from './projects.text.ts'

// A file, so that selecting works with the read-only key too.
const file = (paths: Paths, actor: Actor | undefined) =>
  join(paths.data_dir, actor?.kind === 'member' ? `active-${actor.id}` : 'active')

/**
 * The slug of the active project: the one that a member selected, or the admin, or else the oldest; null
 * when there is none.
 */
export async function activeSlug(paths: Paths, sql: Sql, actor?: Actor): Promise<string | null> {
  const selected = (await readText(file(paths, actor)))?.trim() ?? ''
  const [row] = await sql<{ slug: string }>`
    select slug
    from hub.projects
    order by (slug = ${selected}) desc, created_at, id
    limit 1`
  return row?.slug ?? null
}

export async function select(paths: Paths, slug: string, actor?: Actor): Promise<void> {
  await writeWhole(file(paths, actor), `${slug}\n`)
}

/**
 * The project that a request is about: the one it names, or else the active one. Throws 404 if
 * there is none.
 */
export async function slugFor(
  { config, db, actor }: Deps,
  named: string | undefined,
): Promise<string> {
  const slug = named ?? (await everywhere(db, (sql) => activeSlug(config.paths, sql, actor)))
  if (slug) return slug
  throw new ApiError('not_found', bilingual(projectsText).none)
}
