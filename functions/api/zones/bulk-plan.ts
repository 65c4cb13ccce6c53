import { z } from 'zod'
import type { Steps } from '../../../shared/geometry/steps.ts'
import { issuesOf } from '../../../shared/problem.ts'
import { isSame } from '../../../shared/same.ts'
import { ZONE_READ_ONLY, ZoneFields, zoneDefaults } from '../../../shared/schemas/zone.ts'
import type { ZoneBulkError } from '../../../shared/schemas/zone-bulk.ts'
import type { Issue } from '../../../shared/schemas/zone-shape.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { limitSentence } from '../../errors.ts'
import { changedReadOnly } from '../whole-thing.ts'
import { type GivenRow, invalidRow, refusedRow } from './bulk-rows.ts'
import { MAY_NOT_EDIT, zoneIssues } from './zone-check.ts'
import { type References, referenceIssues, stepChannels } from './zone-references.ts'
import { fittingColumns, mayEdit, merge, type UncoveredRow } from './zone-rows.ts'

/** What a row will do. */
export type Plan = { row: number; external_id: string } & (
  | { status: 'created'; fields: ZoneFields }
  | { status: 'updated'; id: string; version: number; fields: ZoneFields }
  | { status: 'unchanged'; id: string }
  | { status: 'rejected'; id: string | null; error: ZoneBulkError }
)

/** A zone of this external_id that the caller sees, as its row asks for it. */
type Found = Omit<UncoveredRow, 'external_id'> & {
  external_id: string
  /** It is of the organisation that the row names or, without one, private. Otherwise the caller owns it elsewhere. */
  is_here: boolean
  may_edit: boolean
  history_refusal: string | null
  is_polygon_left_out: boolean
}
type Room = { room: number; code: string; refusal: string }
export type Surroundings = {
  found: Map<string, Found[]>
  unusable: Map<string, string[]>
  my_orgs: string[]
  caller: string
  room: Room
}

/** The limit for the stored polygons that one request reads, compressed as they are stored. */
const MAX_STORED_BYTES = 4_000_000

/** SQL: the zone of a tenant and external_id. The limit has the index asked for each, however many there are. */
const zoneOf = raw(`
  select * from watchpost.zones
  where tenant_id = mine.tenant_id and external_id = given.external_id and deleted_at is null
  limit 1`)

/** Reads what the rows depend on: the zones that have their external_id, channels, organisations and quota. */
export async function readSurroundings(
  sql: Sql,
  given: readonly GivenRow[],
): Promise<Surroundings> {
  const patches = given.map(({ patch }) => patch)
  const ids = patches.map(({ external_id }) => external_id)
  const orgs = patches.map(({ org_id }) => org_id ?? null)
  const channels = [
    ...new Set(patches.flatMap((patch) => [...(patch.channel_ids ?? []), ...stepChannels(patch)])),
  ]
  const [found, unusable, [me], [room]] = await Promise.all([
    sql<Found>`
      select ${fittingColumns}, z.is_here, ${mayEdit} as may_edit,
        z.polygon is not null and not z.fits as is_polygon_left_out,
        case when not private.has_history_room(z.id, null) then private.no_history_room() end as history_refusal
      from (
        select z.*, z.tenant_id = coalesce(given.org_id, private.uid()) as is_here,
          sum(coalesce(pg_column_size(z.polygon), 0)) over (order by given.nr, z.id) <= ${MAX_STORED_BYTES} as fits
        from unnest(${ids}::text[], ${orgs}::uuid[]) with ordinality as given (external_id, org_id, nr)
        cross join unnest(private.my_tenants()) as mine (tenant_id)
        cross join lateral (${zoneOf}) z
        where z.tenant_id = coalesce(given.org_id, private.uid()) or z.owner_id = private.uid()
      ) z`,
    sql<{ owner_id: string; unusable: string[] }>`
      select o.id as owner_id, private.unusable_channels(${channels}::uuid[], o.id) as unusable
      from (
        select private.uid() as id
        union
        select z.owner_id
        from unnest(private.my_tenants()) as mine (tenant_id)
        cross join unnest(${channels.length > 0 ? ids : []}::text[]) as given (external_id)
        cross join lateral (${zoneOf}) z
      ) o`,
    sql<{ caller: string; my_orgs: string[] }>`
      select private.uid() as caller, private.my_orgs() as my_orgs`,
    sql<Room>`select * from private.room_for_zones()`,
  ])
  if (!me || !room) throw new Error('the database answered nothing about the caller')
  return {
    found: Map.groupBy(found, ({ external_id }) => external_id),
    unusable: new Map(unusable.map((one) => [one.owner_id, one.unusable])),
    ...me,
    room,
  }
}

/** Decides what becomes of each row, without changing anything. */
export function* planRows(given: readonly GivenRow[], around: Surroundings): Steps<Plan[]> {
  const plans: Plan[] = []
  let left = around.room.room
  for (const one of given) {
    yield costOf(one)
    const plan = planRow(one, around)
    if (plan.status === 'created' && left-- <= 0) {
      plans.push(rejection(one, refusalOf(around.room)))
    } else plans.push(plan)
  }
  return plans
}

/** About 0.1 ms a row, and more for a polygon that is compared and tested. */
function costOf({ patch }: GivenRow): number {
  return 2_000 + 20 * (patch.polygon?.coordinates.flat(2).length ?? 0)
}

function planRow(given: GivenRow, around: Surroundings): Plan {
  const { patch } = given
  const candidates = around.found.get(patch.external_id) ?? []
  const here = candidates.find(({ is_here }) => is_here)
  if (here) return planChange(given, here, around)
  // Made beside it, it would alert twice; changed in its stead, one list would reach into another.
  if (candidates.length > 0 && patch.org_id === undefined) return rejection(given, ambiguous)
  return planCreation(given, around)
}

function planCreation(given: GivenRow, around: Surroundings): Plan {
  const { created, patch, row } = given
  if ('issues' in created) return rejection(given, invalidRow(created.issues))
  const fields = zoneDefaults(created.fields)
  const issues = [
    ...zoneIssues(fields, given.inShape),
    ...referenceIssues(referencesOf(given, around, { owner_id: around.caller }), fields),
  ]
  if (issues.length > 0) return rejection(given, invalidRow(issues))
  return { row, external_id: patch.external_id, status: 'created', fields }
}

function planChange(given: GivenRow, zone: Found, around: Surroundings): Plan {
  const { patch, row } = given
  const { id, version } = zone
  if (zone.is_polygon_left_out) return rejection(given, tooLarge, id)
  const merged = mergeRow(zone, patch)
  if ('issues' in merged) return rejection(given, invalidRow(merged.issues), id)
  const { fields } = merged
  const issues = [
    ...changedReadOnly(patch, zone, ZONE_READ_ONLY),
    ...zoneIssues(fields, given.inShape),
    ...referenceIssues(referencesOf(given, around, zone), patch),
  ]
  if (issues.length > 0) return rejection(given, invalidRow(issues), id)
  if (!zone.may_edit) return rejection(given, refusedRow('forbidden', MAY_NOT_EDIT), id)
  const { external_id } = patch
  if (isSame(fields, ZoneFields.parse(zone))) return { row, external_id, status: 'unchanged', id }
  if (zone.history_refusal) {
    return rejection(given, refusedRow('conflict', zone.history_refusal), id)
  }
  return { row, external_id, status: 'updated', id, version, fields }
}

function mergeRow(
  zone: Found,
  patch: GivenRow['patch'],
): { fields: ZoneFields } | { issues: Issue[] } {
  try {
    return { fields: merge(zone, patch) }
  } catch (error) {
    if (error instanceof z.ZodError) return { issues: issuesOf(error) }
    throw error
  }
}

/** What the database said of everything that the rows name, for this one: what its zone names already may stay. */
function referencesOf(
  { patch }: GivenRow,
  { unusable, my_orgs }: Surroundings,
  zone: { owner_id: string } & Partial<Pick<Found, 'channel_ids' | 'escalation'>>,
): References {
  const unseen = unusable.get(zone.owner_id) ?? []
  const without = (kept: readonly string[]) => unseen.filter((id) => !kept.includes(id))
  return {
    unusable: without(zone.channel_ids ?? []),
    unusable_in_steps: without(stepChannels({ escalation: zone.escalation })),
    foreign_org: Boolean(patch.org_id) && !my_orgs.includes(patch.org_id ?? ''),
  }
}

/** What cannot be made when there is no room: the limit of the plan, or too many deleted zones. */
export function refusalOf({ code, refusal }: Pick<Room, 'code' | 'refusal'>): ZoneBulkError {
  if (code === 'WPLIM') return refusedRow('limit_reached', limitSentence(refusal))
  return refusedRow('conflict', refusal)
}

function rejection({ row, patch }: GivenRow, error: ZoneBulkError, id: string | null = null): Plan {
  return { row, external_id: patch.external_id, status: 'rejected', id, error }
}

const ambiguous = refusedRow(
  'ambiguous',
  'A zone of yours in an organisation has this external_id. Name that organisation with org_id, or send null for a private zone.',
)
const tooLarge = refusedRow(
  'too_much_work',
  'The stored polygons of earlier rows are as large as one request may read. Send this row in another request.',
)
