import { createRoute, jsonBody, jsonResponse, resource, respond } from '../../../shared/route.ts'
import {
  ZoneBulk,
  ZoneBulkAnswer,
  type ZoneBulkResult,
  ZoneBulkRow,
} from '../../../shared/schemas/zone-bulk.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { can } from '../../auth.ts'
import type { Env } from '../../context.ts'
import { problems } from '../../http.ts'
import { runInSlices } from '../../scheduling.ts'
import { read, write } from '../../transaction.ts'
import { type Plan, planRows, readSurroundings, refusalOf } from './bulk-plan.ts'
import { readRows, refusedRow } from './bulk-rows.ts'
import { settable, settableFrom, toRow } from './zone-rows.ts'

type Create = Extract<Plan, { status: 'created' }>
type Update = Extract<Plan, { status: 'updated' }>
type Made = { external_id: string; id: string | null; code: string | null; refusal: string }
type Changed = { id: string; version: number | null; refusal: string | null }

export const zonesBulk = resource<Env>()
// ZoneBulk names it by reference, because its rows are validated one by one. A copy, because a schema has the
// method for this only if it was made after the library was loaded.
zonesBulk.openAPIRegistry.register('ZoneBulkRow', ZoneBulkRow.meta(ZoneBulkRow.meta() ?? {}))

zonesBulk.openapi(
  createRoute({
    method: 'post',
    path: '/bulk',
    operationId: 'bulkZones',
    tags: ['Zones'],
    summary: 'Create and change many zones, found by their external_id',
    description:
      'Takes up to 1,000 rows, and a body of 2 MiB. Each row is answered for itself, in the order of the rows: a mistake ' +
      'in one does not stop the others. A row whose `external_id` no zone has creates one; otherwise only the fields that ' +
      'are given change, and without a change there is no new version. Zones that are not in the list stay as they are. ' +
      'The same request again changes nothing, so no Idempotency-Key is needed. When the plan has room for some of the ' +
      'new zones only, the first ones are made.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { body: jsonBody(ZoneBulk) },
    responses: {
      200: jsonResponse(ZoneBulkAnswer, 'What became of each row.'),
      ...problems(409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { zones, dry_run } = c.req.valid('json')
    const { given, rejected } = await runInSlices(readRows(zones))
    const around = await read(c, (sql) => readSurroundings(sql, given))
    const plans = await runInSlices(planRows(given, around))
    // Between the two transactions no connection waits for the rows to be checked.
    const done = dry_run ? plans.map(foretell) : await carryOut(plans, (work) => write(c, work))
    const results = [
      ...done,
      ...rejected.map((row) => ({ ...row, status: 'rejected' as const, id: null })),
    ].sort((a, b) => a.row - b.row)
    const count = (status: ZoneBulkResult['status']) =>
      results.filter((result) => result.status === status).length
    const counts = {
      created: count('created'),
      updated: count('updated'),
      unchanged: count('unchanged'),
      rejected: count('rejected'),
    }
    Object.assign(c.get('log'), { dry_run, ...counts })
    return respond(c, ZoneBulkAnswer, { dry_run, ...counts, results }, 200)
  },
)

function foretell(plan: Plan): ZoneBulkResult {
  const { row, external_id, status } = plan
  const id = 'id' in plan ? plan.id : null
  return { row, external_id, status, id, error: plan.status === 'rejected' ? plan.error : null }
}

type Last = <T>(issued: Promise<T>) => Promise<T>
type Write = <T>(work: (sql: Sql, last: Last) => Promise<T>) => Promise<T>

/** Creates and changes what is planned, in as many statements whatever the number of rows. */
async function carryOut(plans: readonly Plan[], write: Write): Promise<ZoneBulkResult[]> {
  const creates = plans.filter((plan) => plan.status === 'created')
  const updates = plans.filter((plan) => plan.status === 'updated')
  if (creates.length + updates.length === 0) return plans.map(foretell)
  const [made, changed] = await write((sql, last) =>
    last(
      Promise.all([
        creates.length > 0 ? createAll(sql, creates) : [],
        updates.length > 0 ? updateAll(sql, updates) : [],
      ]),
    ),
  )
  const madeOf = new Map(made.map((one) => [one.external_id, one]))
  const changedOf = new Map(changed.map((one) => [one.id, one]))
  return plans.map((plan) => {
    if (plan.status === 'created') return outcomeOfCreate(plan, madeOf.get(plan.external_id))
    if (plan.status === 'updated') return outcomeOfUpdate(plan, changedOf.get(plan.id))
    return foretell(plan)
  })
}

/** Zones that somebody else makes meanwhile, and those beyond the plan, are left out. */
async function createAll(sql: Sql, plans: readonly Create[]): Promise<Made[]> {
  const rows = `[${plans.map(({ fields }) => toRow(fields)).join(',')}]`
  const [, made] = await Promise.all([
    // In a statement of its own, so that the next one sees what was made before the lock was free.
    sql`select private.lock_zones(private.uid())`,
    sql<Made>`
      with given as materialized (
        select g.nr, n.*
        from jsonb_array_elements(${rows}::jsonb) with ordinality as g (fields, nr)
        cross join lateral jsonb_populate_record(null::watchpost.zones, g.fields) n
      ), quota as materialized (
        select * from private.room_for_zones()
      ), made as (
        insert into watchpost.zones (${raw(settable)})
        select ${raw(settable)}
        from given
        where nr <= (select room from quota)
        -- Always in the same order: two lists of an organisation cannot wait for each other.
        order by external_id
        on conflict (tenant_id, external_id) where external_id is not null and deleted_at is null do nothing
        returning id, external_id
      )
      select given.external_id, made.id, case when given.nr > quota.room then quota.code end as code, quota.refusal
      from given
      cross join quota
      left join made on made.external_id = given.external_id`,
  ])
  return made
}

/** Zones that somebody else changes meanwhile, and those with too long a history, are left out. */
function updateAll(sql: Sql, plans: readonly Update[]): Promise<Changed[]> {
  const rows = `[${plans.map(({ fields, id, version }) => toRow(fields, { id, version })).join(',')}]`
  return sql<Changed>`
    with given as materialized (
      select n.*
      from jsonb_array_elements(${rows}::jsonb) as g (fields)
      cross join lateral jsonb_populate_record(null::watchpost.zones, g.fields) n
    ), locked as materialized (
      select z.id, private.has_history_room(z.id, n.polygon) as has_room
      from given n
      join watchpost.zones z on z.id = n.id and z.version = n.version
      where z.deleted_at is null
      order by z.id
      for no key update of z
    ), changed as (
      update watchpost.zones z
      set ${raw(settableFrom)}
      from given n
      join locked l on l.id = n.id
      where z.id = n.id and z.version = n.version and z.deleted_at is null and l.has_room
      returning z.id, z.version
    )
    select n.id, changed.version, case when not l.has_room then private.no_history_room() end as refusal
    from given n
    left join locked l on l.id = n.id
    left join changed on changed.id = n.id`
}

function outcomeOfCreate({ row, external_id }: Create, made: Made | undefined): ZoneBulkResult {
  if (made?.id) return { row, external_id, status: 'created', id: made.id, error: null }
  const error = made?.code
    ? refusalOf({ code: made.code, refusal: made.refusal })
    : refusedRow(
        'conflict',
        'A zone with this external_id was made meanwhile. Send this row again.',
      )
  return { row, external_id, status: 'rejected', id: null, error }
}

function outcomeOfUpdate(
  { row, external_id, id, version }: Update,
  changed: Changed | undefined,
): ZoneBulkResult {
  if (changed?.version) {
    const status = changed.version === version ? 'unchanged' : 'updated'
    return { row, external_id, status, id, error: null }
  }
  const meanwhile = 'The zone was changed in the meantime. Send this row again.'
  const error = refusedRow('conflict', changed?.refusal ?? meanwhile)
  return { row, external_id, status: 'rejected', id, error }
}
