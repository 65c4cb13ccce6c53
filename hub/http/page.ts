import { z } from 'zod'
import { LAST_UUID } from '../../shared/page.ts'
import { raw } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'

/** Where a list, newest first, goes on: the time and id of its last row. */
export const Position = z.tuple([Instant, z.guid()])

/** Before the first row of such a list. */
export const NEWEST: z.infer<typeof Position> = ['9999-12-31T00:00:00Z', LAST_UUID]

/** A time column of ours with its microseconds, which a JavaScript date would lose. */
export const positionOf = (column: string) =>
  raw(`to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)
