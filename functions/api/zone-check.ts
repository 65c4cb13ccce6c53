import type { ZonePolygon } from '../../shared/geometry/polygon.ts'
import { TooMuchWork } from '../../shared/geometry/work.ts'
import { ApiError, invalid } from '../../shared/problem.ts'
import {
  checkFields,
  checkShapeInSteps,
  checkSwapped,
  type Issue,
  type ZoneFields,
} from '../../shared/zone.ts'
import { authenticate } from '../auth.ts'
import type { Ctx } from '../context.ts'
import { inTurns } from '../turns.ts'

/** shapeIssues is what is wrong with a polygon itself, found without keeping others waiting. */
export async function shapeIssues(polygon: ZonePolygon | null | undefined): Promise<Issue[]> {
  return polygon ? inTurns(checkShapeInSteps(polygon)) : []
}

/** zoneIssues is all that is wrong with a zone whose polygon was looked at already. */
export function zoneIssues(fields: ZoneFields, inShape: Issue[]): Issue[] {
  const isSwapped = fields.polygon && inShape.length === 0
  return [
    ...checkFields(fields),
    ...inShape,
    ...(isSwapped && fields.polygon ? checkSwapped(fields.polygon, fields) : []),
  ]
}

/** requireZone is 422 for a zone that cannot be, to a caller who is known. */
export async function requireZone(c: Ctx, fields: ZoneFields): Promise<void> {
  const issues = zoneIssues(fields, await shapeIssues(fields.polygon))
  if (issues.length === 0) return
  await authenticate(c)
  throw invalid(issues)
}

/** tooMuch is 422 with the way out for what would cost too much; anything else is thrown as it is. */
export function tooMuch(error: unknown, wayOut: string): ApiError {
  if (error instanceof TooMuchWork) return new ApiError('too_much_work', wayOut)
  throw error
}
