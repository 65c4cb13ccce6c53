import pg from 'pg'
import { z } from 'zod'
import { sqlOn } from '../../shared/sql.ts'
import { isTimeZone } from '../../shared/time.ts'
import { bilingual } from '../i18n/words.ts'
import { AudienceFilter } from '../mail/drafts/audience.ts'
import { outcomeText } from '../mail/drafts/outcome.text.ts'
import { doubtRestored, unrenderRestored } from '../mail/drafts/state.ts'
import { doubtSteps } from '../mail/drafts/step-state.ts'
import { doubtSequences } from '../mail/sequences/state.ts'
import { SendWindow } from '../mail/sequences/window.ts'
import { FOR_MISSIONS } from '../missions/approval-actions.ts'
import { backupText } from './backup.text.ts'
import { BackupError } from './manifest.ts'
import type { Origin } from './signing.ts'

const say = bilingual(backupText)

/**
 * withdrawApprovals makes sure that nothing of a restored state happens automatically, in the
 * restore's transaction: approved actions wait for approval again, approvals of mail are void, and
 * mail that was being sent is unclear, because it may have been sent since the backup. If this
 * machine did not sign the archive, rendered mail, campaigns and steps of open missions do not count
 * as done either.
 */
export async function withdrawApprovals(client: pg.ClientBase, origin: Origin): Promise<void> {
  await client.query(
    `update hub.approvals set status = 'waiting', decided_at = null
     where status = 'approved' and (
       action ->> 'do' <> all($1::text[]) or exists (
         select from hub.missions as mission
         where mission.id = mission_id and mission.status in ('queued', 'processing')
       )
     )`,
    [FOR_MISSIONS],
  )
  const sql = sqlOn(client)
  await doubtRestored(sql, bilingual(outcomeText).restored)
  await doubtSteps(sql)
  await doubtSequences(sql)
  if (origin.kind === 'here') return
  await unrenderRestored(sql)
  // Their numbers belong to campaigns in another listmonk.
  await client.query("delete from hub.campaigns where state in ('made', 'void')")
  await client.query("update hub.campaigns set state = 'finished' where state = 'started'")
  await client.query(
    `delete from hub.mission_steps where exists (
       select from hub.missions as mission
       where mission.id = mission_id and mission.status in ('queued', 'processing')
     )`,
  )
}

const Some = z.record(z.string(), z.unknown())
const Audience = z.union([
  z.looseObject({ kind: z.literal('lead'), lead_id: z.uuid() }),
  z.looseObject({ kind: z.literal('list'), filter: Some }),
])
/** The JSON columns, with the minimum that the code relies on without checking. */
const VALUES: { table: string; column: string; schema: z.ZodType }[] = [
  { table: 'leads', column: 'tags', schema: z.array(z.string()) },
  {
    table: 'sequence_recipients',
    column: 'time_zones',
    schema: z.array(z.string().refine(isTimeZone)).min(1),
  },
  {
    table: 'drafts',
    column: 'audience',
    schema: Audience,
  },
  { table: 'drafts', column: 'slots', schema: Some },
  { table: 'sequences', column: 'filter', schema: AudienceFilter },
  { table: 'sequences', column: 'send_window', schema: SendWindow },
  { table: 'sequences', column: 'approved', schema: Some },
  {
    table: 'drafts',
    column: 'campaign',
    schema: z.looseObject({ subject: z.string(), html: z.string(), text: z.string() }),
  },
  { table: 'drafts', column: 'approved', schema: Some },
  { table: 'missions', column: 'input', schema: Some },
  { table: 'missions', column: 'result', schema: Some },
  { table: 'mission_events', column: 'data', schema: Some },
  { table: 'approvals', column: 'action', schema: z.looseObject({ do: z.string() }) },
  { table: 'activities', column: 'details', schema: Some },
  { table: 'imports', column: 'options', schema: Some },
  { table: 'import_errors', column: 'mistakes', schema: z.array(Some) },
]
const AT_ONCE = 500

/** checkValues refuses values that PostgreSQL accepts and the code cannot read. */
export async function checkValues(client: pg.ClientBase): Promise<void> {
  for (const { table, column, schema } of VALUES) {
    await client.query(
      `declare restored_values no scroll cursor for
       select ${column} as value from hub.${table} where ${column} is not null`,
    )
    for (;;) {
      const { rows } = await client.query<{ value: unknown }>(
        `fetch ${AT_ONCE} from restored_values`,
      )
      if (!rows.every(({ value }) => schema.safeParse(value).success)) {
        throw new BackupError(say.unusable_value(`${table}.${column}`))
      }
      if (rows.length < AT_ONCE) break
    }
    await client.query('close restored_values')
  }
  await checkTimes(client)
}

/** PostgreSQL allows infinite times, and years that JavaScript cannot write. */
async function checkTimes(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(`
    select table_name as table, column_name as column
    from information_schema.columns
    where table_schema = 'hub' and data_type in ('timestamp with time zone', 'date')`)
  for (const { table, column } of rows) {
    const name = pg.escapeIdentifier(column)
    const { rowCount } = await client.query(
      `select from hub.${pg.escapeIdentifier(table)}
       where ${name} < '0001-01-01' or ${name} >= '10000-01-01' limit 1`,
    )
    if (rowCount) throw new BackupError(say.unusable_value(`${table}.${column}`))
  }
}
