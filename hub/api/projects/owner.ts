import type { ApiError } from '../../../shared/problem.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { everywhere, type Project } from '../../db/db.ts'
import type { Ctx } from '../../http/http.ts'
import { absent } from '../../i18n/failure.ts'
import { readLicense, requireWritable } from '../../license/license.ts'

const THINGS = {
  leads: 'lead',
  notes: 'note',
  tasks: 'task',
  inbox_mails: 'mail',
  merges: 'merge',
} as const
type Thing = { table: keyof typeof THINGS; id: string; missing?: () => ApiError }

/** The project that a thing belongs to; throws 404 if it does not exist, as `missing` says it. */
export async function ownerOf(sql: Sql, { table, id, missing }: Thing): Promise<Project> {
  const [project] = await sql<Project>`
    select project.id, project.slug, project.name, project.website, project.industry, project.icp,
      project.created_at
    from hub.${raw(table)} as thing
    join hub.projects as project on project.id = thing.project_id
    where thing.id = ${id}`
  if (!project) throw missing?.() ?? absent(THINGS[table])
  return project
}

/** Runs one transaction that sees that project, which must be writable. */
export async function withOwner<T>(
  c: Ctx,
  thing: Thing,
  work: (sql: Sql, project: Project) => Promise<T>,
): Promise<T> {
  const { db, config } = c.get('deps')
  const license = await readLicense(config)
  return everywhere(db, async (sql) => {
    const project = await ownerOf(sql, thing)
    await sql`select set_config('hub.project', ${project.id}, true)`
    await requireWritable(sql, project, license)
    return work(sql, project)
  })
}
