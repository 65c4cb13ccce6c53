import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { extract } from 'tar'
import { ApiError } from '../../shared/problem.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { readTables } from '../backup/tables.ts'
import type { Paths } from '../config.ts'
import { isMissing } from '../files.ts'
import { bilingual, stored } from '../i18n/words.ts'
import { importsText } from '../leads/imports.text.ts'
import { doubtRestored, unrenderRestored } from '../mail/drafts/state.ts'
import { readSalt } from '../mail/suppression.ts'
import { reapplyErasures } from '../people/ledger.ts'
import { TABLES } from './archive.ts'
import { ARCHIVE, folderOf } from './project-folder.ts'
import { projectsText } from './projects.text.ts'

const { archive: say } = bilingual(projectsText)

export type Archive = { archive: string; slug: string; archived_at: string; bytes: number }

/** listArchives lists the archives of deleted projects, newest first. */
export async function listArchives(paths: Paths): Promise<Archive[]> {
  const folder = join(paths.data_dir, 'archive')
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const found = await Promise.all(
    names.map(async (archive): Promise<Archive[]> => {
      const [, slug, stamp = ''] = ARCHIVE.exec(archive) ?? []
      if (!slug) return []
      const [, date, time] = /^(\d{8})(\d{6})$/.exec(stamp) ?? []
      const archived_at = `${date?.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time?.replace(/(..)(..)(..)/, '$1:$2:$3')}.000Z`
      const { size } = await stat(join(folder, archive))
      return [{ archive, slug, archived_at, bytes: size }]
    }),
  )
  return found.flat().sort((a, b) => (a.archived_at < b.archived_at ? 1 : -1))
}

/** The file of an archive; throws 404 for a name that is none. */
export async function archiveFile(paths: Paths, archive: string): Promise<string> {
  const known = (await listArchives(paths)).some((one) => one.archive === archive)
  if (!known) throw new ApiError('not_found', say.none)
  return join(paths.data_dir, 'archive', archive)
}

/**
 * restoreArchive brings a deleted project back, in the caller's transaction over all projects: its rows
 * and its folder, without whom was erased since. Nothing of it is sent by itself: approvals are void. The
 * archive stays.
 *
 * @throws ApiError `conflict` when a project has the short name again; `invalid` for a damaged archive.
 */
export async function restoreArchive(
  client: pg.ClientBase,
  sql: Sql,
  paths: Paths,
  archive: string,
): Promise<string> {
  const file = await archiveFile(paths, archive)
  const slug = ARCHIVE.exec(archive)?.[1] ?? ''
  const [taken] = await sql`select from hub.projects where slug = ${slug}`
  if (taken) throw new ApiError('conflict', say.taken(slug))
  const stage = join(paths.data_dir, 'archive', `.restore-${randomUUID()}`)
  await mkdir(stage, { mode: 0o700 })
  try {
    await unpack(file, stage, slug)
    const folder = join(stage, slug)
    const id = await insertRows(client, sql, join(folder, '.rows'), slug)
    await sql`select set_config('hub.project', ${id}, true)`
    await endImports(sql)
    await doubtRestored(sql, say.restored)
    await unrenderRestored(sql)
    await rm(join(folder, '.rows'), { recursive: true })
    await reapplyErasures(client, { salt: await readSalt(paths), folders: [folder] })
    // What a failed deletion may have left there is older than the archive.
    await rm(folderOf(paths, slug), { recursive: true, force: true })
    await rename(folder, folderOf(paths, slug))
    return slug
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

/** An archive of an earlier release may have imports that had not ended; their files are not in it. */
async function endImports(sql: Sql): Promise<void> {
  await sql`
    update hub.imports
    set status = 'failed', reason = ${stored(bilingual(importsText).stopped.gone)}, finished_at = now()
    where status in ('queued', 'processing')`
}

/** Only files and folders of the project itself: no links, nothing outside. */
async function unpack(file: string, stage: string, slug: string): Promise<void> {
  try {
    await extract({
      file,
      cwd: stage,
      strict: true,
      filter: (path, entry) =>
        (path === slug || path.startsWith(`${slug}/`)) &&
        'type' in entry &&
        (entry.type === 'File' || entry.type === 'Directory'),
    })
  } catch (cause) {
    throw new ApiError('conflict', say.damaged, { cause })
  }
}

async function insertRows(
  client: pg.ClientBase,
  sql: Sql,
  folder: string,
  slug: string,
): Promise<string> {
  const tables = (await readTables(client)).filter(({ name }) => TABLES.includes(name))
  let id: string | undefined
  for (const { name, columns } of tables) {
    const text = await readFile(join(folder, `${name}.jsonl`), 'utf8').catch((error: unknown) => {
      // An archive of an earlier release has fewer tables.
      if (isMissing(error)) return ''
      throw error
    })
    const rows = text.split('\n').filter(Boolean)
    if (rows.length === 0) continue
    const first: unknown = parsed(rows[0] ?? '')
    if (typeof first !== 'object' || first === null) throw new ApiError('conflict', say.damaged)
    if (name === 'projects') {
      const { id: project } = first as { id?: unknown } // safe: an object
      if (typeof project !== 'string' || Reflect.get(first, 'slug') !== slug || rows.length !== 1) {
        throw new ApiError('conflict', say.damaged)
      }
      id = project
      await sql`select set_config('hub.project', ${project}, true)`
    }
    if (!id) throw new ApiError('conflict', say.damaged)
    const known = columns.filter((column) => column in first)
    const list = raw(known.map((column) => `"${column}"`).join(', '))
    await sql`
      insert into hub.${raw(`"${name}"`)} (${list})
      select ${list} from jsonb_populate_recordset(
        null::hub.${raw(`"${name}"`)}, ${`[${rows.join(',')}]`}::jsonb)`
  }
  if (!id) throw new ApiError('conflict', say.damaged)
  return id
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new ApiError('conflict', say.damaged, { cause })
  }
}
