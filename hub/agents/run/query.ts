import type pg from 'pg'
import { sqlState } from '../../db/db.ts'
import { WordsError } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { answerText } from '../numbers/answer.text.ts'
import { COLUMNS, columnsIn } from '../numbers/tables.ts'
import { stopText } from '../stop.text.ts'

const say = bilingual(stopText)
const data = bilingual(answerText)
const MAX_ROWS = 200

/**
 * Runs one statement written by a model, with the rights of hub_data and without any write access.
 */
export async function queryAs(client: pg.PoolClient, statement: string, timeout_ms: number) {
  await client.query('set transaction read only')
  await client.query('set local role hub_data')
  await client.query("set local search_path = 'hub'")
  await client.query(`set local statement_timeout = ${timeout_ms}`)
  await client.query('set local lock_timeout = 1000')
  const text = statement.trim().replace(/;\s*$/, '')
  // As a subquery it can only be a select, and the extended protocol accepts only one statement.
  const query: pg.QueryArrayConfig & { queryMode: 'extended' } = {
    text: `select * from (\n${text}\n) as answer limit ${MAX_ROWS + 1}`,
    values: [],
    rowMode: 'array',
    queryMode: 'extended',
  }
  const answer = await client
    .query<unknown[]>(query)
    .catch((error: unknown) => explain(error, text))
  const { rows } = answer
  return {
    columns: answer.fields.map(({ name }) => name),
    rows: rows.slice(0, MAX_ROWS),
    is_cut: rows.length > MAX_ROWS,
  }
}

/**
 * A missing right of hub_data is not a problem of the hub's key, and no other key would help. A
 * table or column that is missing was made up, so it says which there are.
 */
function explain(error: unknown, statement: string): never {
  if (!(error instanceof Error)) throw error
  const name = /(?:column|relation) (\S+) does/.exec(error.message)?.[1]?.replaceAll('"', '') ?? ''
  switch (sqlState(error)) {
    case '42501':
    case '25006':
      throw new WordsError(say.query_forbidden(error.message))
    case '42P01':
      throw new WordsError(data.no_table(name, Object.keys(COLUMNS).join(', ')))
    case '42703':
      throw new WordsError(data.no_column(name, columnsIn(statement)))
    default:
      throw error
  }
}
