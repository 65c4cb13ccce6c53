import { LONGEST_DAYS, type MainshockState } from '../shared/decide/aftershock.ts'
import type { Sql } from '../shared/sql.ts'

/** What was known, and when, of the earthquakes that may have caused others between two times, which may be infinite. */
export function selectMainshocks(sql: Sql, from: string, to: string) {
  return sql<MainshockState>`
    select * from private.mainshocks_between(
      ${from}::timestamptz - make_interval(days => ${LONGEST_DAYS + 1}), ${to}::timestamptz)`
}
