import { AGENT_SETTINGS } from '../agents/settings.ts'
import type { Config, Paths } from '../config.ts'
import { type Database, everywhere } from '../db/db.ts'
import { LOCK_SPACE, LOCKS } from '../db/locks.ts'
import { bilingual, type Language } from '../i18n/words.ts'
import { readLicense } from '../license/license.ts'
import { readSetting } from '../ops/settings.ts'
import { activeSlug } from '../projects/active.ts'
import { missionText } from './mission.text.ts'
import { addMission } from './mission.ts'

const say = bilingual(missionText)

const DAYS = { daily: 1, weekly: 7 } as const

/**
 * improve gives the agent pm its regular mission, for each writable project in which something has
 * ended since the last one. Returns how many.
 */
export async function improve(db: Database, config: Config): Promise<number> {
  const { improve: how } = await readSetting(config.paths, AGENT_SETTINGS)
  if (how === 'never') return 0
  const { max_projects } = await readLicense(config)
  return everywhere(db, async (sql) => {
    await sql`select pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS.improve})`
    const due = await sql<{ id: string; language: Language | null }>`
      select project.id, (
          select asked.input ->> 'language' from hub.missions as asked
          where asked.project_id = project.id and asked.input ? 'language'
          order by asked.created_at desc limit 1
        ) as language
      from hub.projects as project
      where exists (
          select from hub.missions as ended
          where ended.project_id = project.id and ended.department <> 'pm'
            and ended.status in ('done', 'failed') and ended.finished_at > now() - interval '14 days'
            and not exists (
              select from hub.missions as last
              where last.project_id = project.id and last.department = 'pm'
                and last.routed_by = 'schedule' and last.created_at >= ended.finished_at))
        and not exists (
          select from hub.missions as earlier
          where earlier.project_id = project.id and earlier.department = 'pm'
            and earlier.routed_by = 'schedule'
            and earlier.created_at > now() - make_interval(days => ${DAYS[how]}))
        and project.created_at < now() - interval '1 day'
        and (${max_projects}::int is null or private.older_projects(project.id) < ${max_projects})`
    for (const { id, language } of due) {
      await addMission(sql, {
        project_id: id,
        department: 'pm',
        task: '/gelistir',
        ...(language ? { input: { language } } : {}),
        routed_by: 'schedule',
        routed_because: say.looked_at[how],
      })
    }
    return due.length
  })
}

/**
 * alert gives the agent system a health alert, in the active project; one of a kind at a time.
 * Returns the mission, or undefined if there is one already or no project.
 */
export async function alert(
  db: Database,
  paths: Paths,
  given: { kind: string; message: string },
): Promise<string | undefined> {
  return everywhere(db, async (sql) => {
    await sql`select pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS.improve})`
    const slug = await activeSlug(paths, sql)
    const [project] = await sql<{ id: string }>`select id from hub.projects where slug = ${slug}`
    if (!project) return undefined
    const [open] = await sql`
      select from hub.missions
      where department = 'system' and input -> 'alert' ->> 'kind' = ${given.kind}
        and (status in ('queued', 'processing') or created_at > now() - interval '6 hours')
      limit 1`
    if (open) return undefined
    return addMission(sql, {
      project_id: project.id,
      department: 'system',
      task: given.message,
      input: { alert: given },
      routed_by: 'alert',
      routed_because: say.alert(given.kind),
    })
  })
}
