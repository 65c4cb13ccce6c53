import type { Sql } from '../../../shared/sql.ts'
import { mailBranding, mayBrand, readBranding } from '../../branding/branding.ts'
import type { Config } from '../../config.ts'
import { type Database, everywhere } from '../../db/db.ts'
import { readSetting, writeSetting } from '../../ops/settings.ts'
import { MAIL } from '../settings.ts'
import { senderKey } from '../today.ts'
import { type Brand, NO_BRAND, writeBrand } from './brand.ts'

// Releases before brands kept one sender and one footer for all projects in mail.json. They become
// the brand of each project, and leave that file.

/** firstBrand returns what every mail carried before projects had brands; {} once that is adopted. */
export async function firstBrand(config: Config): Promise<Partial<Brand>> {
  const { sender, footer } = await readSetting(config.paths, MAIL)
  if (!sender && !footer) return {}
  const signature = sender && [sender.name, sender.title, sender.phone].filter(Boolean).join('\n')
  const look = (await mayBrand(config)) ? mailBranding(await readBranding(config)) : {}
  return {
    ...look,
    sender_name: sender?.name ?? null,
    sender_email: sender?.email ?? null,
    reply_to: sender?.reply_to ?? null,
    signature: signature || null,
    postal_address: footer?.postal_address ?? null,
    reason_en: footer?.reason_en ?? null,
    reason_tr: footer?.reason_tr ?? null,
  }
}

/**
 * adoptFirstBrand gives every project without a brand what its mails carried before, then forgets
 * it, so that no later project gets another's address. Without a project it waits for the first.
 * Safe to run again; needs the service key.
 */
export async function adoptFirstBrand(config: Config, db: Database): Promise<void> {
  const brand = await firstBrand(config)
  if (Object.keys(brand).length === 0) return
  const projects = await everywhere(db, (sql) => adopt(sql, { ...NO_BRAND, ...brand }))
  if (projects === 0) return
  const { sender: _, footer: __, ...rest } = await readSetting(config.paths, MAIL)
  await writeSetting(config.paths, MAIL, rest)
}

async function adopt(sql: Sql, brand: Brand): Promise<number> {
  const projects = await sql<{ id: string; has_brand: boolean }>`
    select id, exists (select from hub.brands where project_id = projects.id) as has_brand
    from hub.projects`
  for (const { id, has_brand } of projects) {
    if (!has_brand) await writeBrand(sql, id, brand)
  }
  // What all projects sent before counts for the one sender they had.
  await sql`
    update hub.recipients set sender = ${brand.sender_email && senderKey(brand.sender_email)}
    where sender is null and claimed_at is not null`
  return projects.length
}
