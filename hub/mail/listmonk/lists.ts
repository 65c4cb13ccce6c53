import { join } from 'node:path'
import { z } from 'zod'
import type { Paths } from '../../config.ts'
import { readJson, writeJson } from '../../files.ts'
import { type Listmonk, ListmonkError } from './listmonk.ts'

const Mapped = z.object({ list_id: z.int().positive(), name: z.string() })
const Mapping = z.record(z.string(), Mapped)
type Mapped = z.infer<typeof Mapped>

/** The lists in listmonk by project; people may also edit this file. */
const file = (paths: Paths) => join(paths.data_dir, 'projects', '_listmonk_lists.json')

export async function readLists(paths: Paths): Promise<z.infer<typeof Mapping>> {
  const read = Mapping.safeParse((await readJson(file(paths))) ?? {})
  if (read.success) return read.data
  throw new Error(`${file(paths)}: each slug maps to {"list_id": number, "name": text}.`)
}

/**
 * The project's list in listmonk, stored in the file. If there is none, or it was deleted there, it
 * is created: `is_new`.
 */
export async function ensureProjectList(
  paths: Paths,
  listmonk: Listmonk,
  project: { slug: string; name: string },
): Promise<Mapped & { is_new: boolean }> {
  const known = (await readLists(paths))[project.slug]
  if (known && (await isThere(listmonk, known.list_id))) return { ...known, is_new: false }
  const list = await listmonk.ensureList({
    name: project.name,
    tag: `watchpost-project-${project.slug}`,
    description: `Leads of ${project.name} who were sent mail`,
  })
  const mapped = { list_id: list.id, name: list.name }
  await writeJson(file(paths), { ...(await readLists(paths)), [project.slug]: mapped }, 0o640)
  return { ...mapped, is_new: true }
}

/** mapList maps a project to a list that is there in listmonk; null removes what was mapped. */
export async function mapList(paths: Paths, slug: string, list: Mapped | null): Promise<void> {
  const { [slug]: _, ...others } = await readLists(paths)
  await writeJson(file(paths), list ? { ...others, [slug]: list } : others, 0o640)
}

/** Whether a list is still in listmonk. */
export async function isThere(listmonk: Listmonk, id: number): Promise<boolean> {
  try {
    await listmonk.getList(id)
    return true
  } catch (error) {
    const isGone = error instanceof ListmonkError && [400, 404].includes(error.status ?? 0)
    if (!isGone) throw error
    return false
  }
}
