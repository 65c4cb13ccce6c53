import { z } from 'zod'
import { LAST_UUID } from '../../shared/schemas/page.ts'
import { raw } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'

/** The cursor of a list, newest first: the time and id of the last row. */
export const Position = z.tuple([Instant, z.guid()])

/** The cursor of the first page. */
export const NEWEST: z.infer<typeof Position> = ['9999-12-31T00:00:00Z', LAST_UUID]

/** Selects a timestamp with its microseconds, which a JavaScript Date would lose. */
export const positionOf = (column: string) =>
  raw(`to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)
