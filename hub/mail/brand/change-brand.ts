import { ApiError, invalid, issuesOf } from '../../../shared/problem.ts'
import { inProject } from '../../db/db.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import type { Mailing } from '../drafts/approval.ts'
import { flowText } from '../drafts/flow.text.ts'
import { outdateDrafts } from '../drafts/state-outdated.ts'
import { ListmonkError, listmonk } from '../listmonk/listmonk.ts'
import { mapList, readLists } from '../listmonk/lists.ts'
import { refusal } from '../listmonk/push.ts'
import { readMail } from '../settings.ts'
import { brandText } from './brand.text.ts'
import { BRAND_FIELDS, Brand, writeBrand } from './brand.ts'
import { brandOf } from './brand-of.ts'

const say = bilingual(brandText)

/** Absent fields stay as they are; `list_id` null lets the hub create a list when it needs one. */
export type BrandChange = { [K in keyof Brand]?: Brand[K] | undefined } & {
  list_id?: number | null | undefined
}

/** merged returns the brand after a change; a 422 names the fields that do not fit together. */
export function merged(now: Brand, { list_id: _, ...change }: BrandChange): Brand {
  const given = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  )
  const read = Brand.safeParse({ ...now, ...given })
  if (!read.success) throw invalid(issuesOf(read.error))
  const { sender_name, sender_email } = read.data
  if ((sender_name === null) === (sender_email === null)) return read.data
  const path = sender_name === null ? 'sender_name' : 'sender_email'
  throw invalid([{ path, code: 'required', message: say.both }])
}

/**
 * changeBrand stores a brand. What was rendered or approved with another one returns to `rendered`:
 * it is rendered again, and a person must approve it again. Returns how many drafts that are.
 */
export async function changeBrand(
  mailing: Mailing,
  slug: string,
  change: BrandChange,
): Promise<number> {
  const { config, db } = mailing
  const license = await readLicense(config)
  await inProject(db, slug, (sql, project) => requireWritable(sql, project, license))
  const list = change.list_id ? await listFor(mailing, slug, change.list_id) : null
  const { count, isListChanged } = await inProject(db, slug, async (sql, project) => {
    await requireWritable(sql, project, license)
    const now = await brandOf(sql, config, project)
    const next = merged(now, change)
    const known = (await readLists(config.paths))[slug]?.list_id ?? null
    const isListChanged = change.list_id !== undefined && change.list_id !== known
    const isChanged = isListChanged || BRAND_FIELDS.some((field) => now[field] !== next[field])
    await writeBrand(sql, project.id, next)
    if (!isChanged) return { count: 0, isListChanged }
    const count = await outdateDrafts(sql, project.id, bilingual(flowText).brand_changed)
    return { count, isListChanged }
  })
  if (isListChanged) await mapList(config.paths, slug, list)
  return count
}

/** The list in listmonk; 422 if there is none with this number or another project has it. */
async function listFor({ config }: Mailing, slug: string, id: number) {
  const lists = await readLists(config.paths)
  const other = Object.entries(lists).find(([one, { list_id }]) => list_id === id && one !== slug)
  const fault = (message: ReturnType<typeof say.list_taken>) =>
    invalid([{ path: 'list_id', code: 'not_found', message }])
  if (other) throw fault(say.list_taken(other[0]))
  if (lists[slug]?.list_id === id) return lists[slug]
  const settings = (await readMail(config.paths)).listmonk
  if (!settings) throw new ApiError('conflict', bilingual(flowText).no_listmonk)
  try {
    const { name } = await listmonk(settings).getList(id)
    return { list_id: id, name }
  } catch (error) {
    if (!(error instanceof ListmonkError)) throw error
    if ([400, 404].includes(error.status ?? 0)) throw fault(say.no_list(id))
    throw refusal(error)
  }
}
