import type { ZonePolygon } from '../../../shared/geometry/polygon.ts'
import { TooMuchWork } from '../../../shared/geometry/steps.ts'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { checkFields, type ZoneFields } from '../../../shared/schemas/zone.ts'
import {
  checkShapeInSteps,
  checkSwappedCoordinates,
  type Issue,
} from '../../../shared/schemas/zone-shape.ts'
import { authenticate } from '../../auth.ts'
import type { Ctx } from '../../context.ts'
import { runInSlices } from '../../scheduling.ts'

/** The issues of a polygon by itself, computed in slices so that other requests can run. */
export async function shapeIssues(polygon: ZonePolygon | null | undefined): Promise<Issue[]> {
  return polygon ? runInSlices(checkShapeInSteps(polygon)) : []
}

/** All issues of a zone, given those of its polygon. */
export function zoneIssues(fields: ZoneFields, inShape: Issue[]): Issue[] {
  const isSwapped = fields.polygon && inShape.length === 0
  return [
    ...checkFields(fields),
    ...inShape,
    ...(isSwapped && fields.polygon ? checkSwappedCoordinates(fields.polygon, fields) : []),
  ]
}

/** Throws 422 for an invalid zone, after the caller has been identified. */
export async function requireZone(c: Ctx, fields: ZoneFields): Promise<void> {
  const issues = zoneIssues(fields, await shapeIssues(fields.polygon))
  if (issues.length === 0) return
  await authenticate(c)
  throw invalid(issues)
}

/** What is said to whoever sees a zone and may not change it. */
export const MAY_NOT_EDIT =
  'Only the owner of the zone or an admin of its organisation may do this.'

/** 403 with this. */
export function forbidden(): ApiError {
  return new ApiError('forbidden', MAY_NOT_EDIT)
}

/** A 422 with this advice for TooMuchWork; rethrows any other error. */
export function tooMuchWork(error: unknown, wayOut: string): ApiError {
  if (error instanceof TooMuchWork) return new ApiError('too_much_work', wayOut)
  throw error
}
