import type { Steps } from '../../../shared/geometry/steps.ts'
import { issuesOf } from '../../../shared/problem.ts'
import { ZoneCreate } from '../../../shared/schemas/zone.ts'
import { type ZoneBulkError, ZoneBulkRow } from '../../../shared/schemas/zone-bulk.ts'
import { checkShapeInSteps, type Issue, MAX_PAIRS } from '../../../shared/schemas/zone-shape.ts'

/** A row of a list that can be read: as a change of a zone, and as a new one or the issues that prevent it. */
export type GivenRow = {
  row: number
  patch: ZoneBulkRow
  created: { fields: ZoneCreate } | { issues: Issue[] }
  /** The issues of its polygon. */
  inShape: Issue[]
}
export type RejectedRow = { row: number; external_id: string | null; error: ZoneBulkError }

/** The work of a row, in the units of shared/geometry/steps.ts. */
const UNITS = { row: 1_000, character: 12 }
const ExternalIdOnly = ZoneBulkRow.pick({ external_id: true }).strip()

/** Reads the rows of a list by themselves, each judged for itself. */
export function* readRows(
  zones: readonly unknown[],
): Steps<{ given: GivenRow[]; rejected: RejectedRow[] }> {
  const given: GivenRow[] = []
  const rejected: RejectedRow[] = []
  const firstOf = new Map<string, number>()
  let pairs = 0
  for (const [index, zone] of zones.entries()) {
    const row = index + 1
    yield UNITS.row + UNITS.character * JSON.stringify(zone).length
    const external_id = ExternalIdOnly.safeParse(zone).data?.external_id ?? null
    const first = external_id === null ? undefined : firstOf.get(external_id)
    if (first !== undefined) {
      rejected.push({ row, external_id, error: duplicateOf(first) })
      continue
    }
    // A row that is refused keeps its name, so that a later one is not taken for it.
    if (external_id !== null) firstOf.set(external_id, row)
    const patch = ZoneBulkRow.safeParse(zone)
    if (!patch.success) {
      rejected.push({ row, external_id, error: invalidRow(issuesOf(patch.error)) })
      continue
    }
    if (patch.data.polygon && pairs > MAX_PAIRS) {
      rejected.push({ row, external_id, error: tooTangled })
      continue
    }
    const work = { pairs: 0 }
    const inShape = patch.data.polygon ? yield* checkShapeInSteps(patch.data.polygon, work) : []
    pairs += work.pairs
    const created = ZoneCreate.safeParse(zone)
    given.push({
      row,
      patch: patch.data,
      created: created.success ? { fields: created.data } : { issues: issuesOf(created.error) },
      inShape,
    })
  }
  return { given, rejected }
}

/** The mistakes of a row. */
export function invalidRow(issues: readonly Issue[]): ZoneBulkError {
  const [first] = issues
  const more = issues.length > 1 ? ` And ${issues.length - 1} more: see "fields".` : ''
  return {
    code: 'invalid',
    detail: `${first?.path ? `${first.path}: ` : ''}${first?.message ?? 'It cannot be read.'}${more}`,
    fields: issues
      .slice(0, MAX_ROW_ISSUES)
      .map(({ path, code, message }) => ({ path, code, message })),
  }
}

const MAX_ROW_ISSUES = 10

/** A row that is refused as a whole. */
export function refusedRow(code: Exclude<ZoneBulkError['code'], 'invalid'>, detail: string) {
  return { code, detail, fields: [] } satisfies ZoneBulkError
}

function duplicateOf(row: number): ZoneBulkError {
  return refusedRow('duplicate_row', `Row ${row} has the same external_id. Only that one counts.`)
}

const tooTangled = refusedRow(
  'too_much_work',
  'The polygons of earlier rows took all the work that one request may cost. Send this row in another request.',
)
