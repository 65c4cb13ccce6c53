/**
 * COPY_SETTINGS are for a transaction that copies whole tables as text: the text is the same on every
 * server, and no time limit ends the copy.
 */
export const COPY_SETTINGS = `
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local timezone = 'UTC';
  set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'postgres';
  set local extra_float_digits = 1;
  set local bytea_output = 'hex';
  set local client_encoding = 'UTF8'`

/** parentsFirst orders tables so that each comes after those that its rows refer to. */
export function parentsFirst<T extends { name: string; parents: string[] }>(tables: T[]): T[] {
  const ordered: T[] = []
  let left = tables
  while (left.length > 0) {
    const waits = (table: T) =>
      table.parents.some((parent) => left.some(({ name }) => name === parent))
    const ready = left.filter((table) => !waits(table))
    if (ready.length === 0) {
      throw new Error(`tables refer to each other in a circle: ${left.map(({ name }) => name)}`)
    }
    ordered.push(...ready)
    left = left.filter(waits)
  }
  return ordered
}
