import { join } from 'node:path'
import { z } from 'zod'
import type { Paths } from '../../config.ts'
import { readJson, writeJson } from '../../files.ts'
import type { Listmonk } from './listmonk.ts'

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

/** The project's list in listmonk; if there is none, it is created and stored in the file. */
export async function ensureProjectList(
  paths: Paths,
  listmonk: Listmonk,
  project: { slug: string; name: string },
): Promise<Mapped> {
  const known = (await readLists(paths))[project.slug]
  if (known) return known
  const list = await listmonk.ensureList({
    name: project.name,
    tag: `watchpost-project-${project.slug}`,
    description: `Leads of ${project.name} who were sent mail`,
  })
  const mapped = { list_id: list.id, name: list.name }
  await writeJson(file(paths), { ...(await readLists(paths)), [project.slug]: mapped }, 0o640)
  return mapped
}
