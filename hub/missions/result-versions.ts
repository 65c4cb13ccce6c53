import { stat } from 'node:fs/promises'
import { z } from 'zod'
import { ApiError, invalid } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import { MAX_SUMMARY, type Result } from '../agents/agent.ts'
import type { Paths } from '../config.ts'
import { readText, writeWhole } from '../files.ts'
import { absent } from '../i18n/failure.ts'
import { bilingual } from '../i18n/words.ts'
import { resolveIn } from '../projects/documents.ts'
import { folderOf } from '../projects/project-folder.ts'
import { missionText } from './mission.text.ts'

const say = bilingual(missionText)

/** The part of a result that is not a document. */
export const SUMMARY = 'summary'
export const MAX_DOCUMENT = 200_000

export const ResultVersion = z
  .object({
    version: z.int(),
    text: z.string(),
    edited_by: z.enum(['agent', 'session', 'token', 'file']).meta({
      description:
        'The agent; a person signed in by `session` or with the `token` of scripts; `file`: the document was changed in its folder.',
    }),
    edited_at: z.string(),
  })
  .meta({ id: 'ResultVersion' })
export type ResultVersion = z.infer<typeof ResultVersion>

type Of = { id: string; part: string }
type Row = { project_id: string; slug: string; result: Result; finished_at: string }
type Place = { row: Row; file: string | undefined; current: string; changed_at: string }

/**
 * readVersions lists the versions of a part of a result, the agent's first and the current one
 * last. A document's file may have been changed by hand since the last one: that is a version too.
 */
export async function readVersions(sql: Sql, paths: Paths, of: Of): Promise<ResultVersion[]> {
  return versionsAt(sql, of, await find(sql, paths, of))
}

/**
 * editResult replaces the text of a part of a result, and keeps every version before. `version` is
 * the one that was edited: if it is no longer the current one, it throws 409.
 */
export async function editResult(
  sql: Sql,
  paths: Paths,
  given: Of & { version: number; text: string; by: 'session' | 'token' },
): Promise<ResultVersion[]> {
  const { id, part, version, text, by } = given
  const most = part === SUMMARY ? MAX_SUMMARY : MAX_DOCUMENT
  if (text.length > most) throw fault('text', say.too_long(most))
  await sql`select from hub.missions where id = ${id} for update`
  const place = await find(sql, paths, given)
  const known = await versionsAt(sql, given, place)
  if (known.at(-1)?.version !== version) throw new ApiError('conflict', say.edited_meanwhile)
  if (text === place.current) return known
  for (const one of known) await keep(sql, given, place.row.project_id, one)
  const next = { version: version + 1, text, edited_by: by, edited_at: new Date().toISOString() }
  await keep(sql, given, place.row.project_id, next)
  if (place.file === undefined) {
    await sql`
      update hub.missions set result = jsonb_set(result, '{summary}', to_jsonb(${text}::text))
      where id = ${id}`
  } else {
    await writeWhole(place.file, text, 0o640)
  }
  return [...known, next]
}

async function keep(sql: Sql, { id, part }: Of, project_id: string, one: ResultVersion) {
  await sql`
    insert into hub.result_versions (
      mission_id, part, version, project_id, text, edited_by, edited_at, actor)
    values (${id}, ${part}, ${one.version}, ${project_id}, ${one.text}, ${one.edited_by},
      ${one.edited_at},
      case when ${one.edited_by} in ('session', 'token') then private.current_actor() end)
    on conflict (mission_id, part, version) do nothing`
}

async function versionsAt(sql: Sql, { id, part }: Of, place: Place): Promise<ResultVersion[]> {
  const rows = await sql<ResultVersion>`
    select version, text, edited_by, edited_at from hub.result_versions
    where mission_id = ${id} and part = ${part} order by version`
  const last = rows.at(-1)
  const { current: text, changed_at, row } = place
  if (!last) return [{ version: 1, text, edited_by: 'agent', edited_at: row.finished_at }]
  if (last.text === text) return rows
  return [...rows, { version: last.version + 1, text, edited_by: 'file', edited_at: changed_at }]
}

async function find(sql: Sql, paths: Paths, { id, part }: Of): Promise<Place> {
  const [row] = await sql<Row>`
    select mission.project_id, project.slug, mission.result, mission.finished_at
    from hub.missions as mission join hub.projects as project on project.id = mission.project_id
    where mission.id = ${id} and mission.status = 'done' and mission.result is not null`
  if (!row) throw absent('result')
  if (part === SUMMARY) {
    const { summary } = row.result
    return { row, file: undefined, current: summary, changed_at: row.finished_at }
  }
  if (!(row.result.documents ?? []).some(({ path }) => path === part)) throw absent('result')
  // A patch or a table that somebody types in may no longer be one.
  if (!part.endsWith('.md')) throw fault('part', say.only_text)
  const file = await resolveIn(folderOf(paths, row.slug), part)
  const current = await readText(file)
  if (current === undefined) throw absent('result')
  return { row, file, current, changed_at: (await stat(file)).mtime.toISOString() }
}

const fault = (path: string, message: { en: string; tr: string }) =>
  invalid([{ path, code: 'invalid', message }])
