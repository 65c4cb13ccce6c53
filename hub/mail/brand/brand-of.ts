import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import type { Project } from '../../db/db.ts'
import { type Brand, NO_BRAND } from './brand.ts'
import { firstBrand } from './first-brand.ts'

/** brandOf reads the brand of a project; before the upgrade to brands is done, what it will be. */
export async function brandOf(
  sql: Sql,
  config: Config,
  project: Pick<Project, 'id'>,
): Promise<Brand> {
  const [row] = await sql<Brand>`
    select name, logo, color, sender_name, sender_email, reply_to, signature, postal_address,
      reason_en, reason_tr, unsubscribe_en, unsubscribe_tr
    from hub.brands where project_id = ${project.id}`
  return row ?? { ...NO_BRAND, ...(await firstBrand(config)) }
}
