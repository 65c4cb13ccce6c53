import pg from 'pg'
import { ApiError, invalid } from '../../shared/problem.ts'
import type { Config } from '../config.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { sqlState } from './db.ts'
import { keyFiles, roleOf, urlFor, writeKey } from './keys.ts'
import { serviceKeyText } from './service-key.text.ts'

const say = bilingual(serviceKeyText)

const WRONG_PASSWORD = ['28P01', '28000']
const CONNECT_MS = 5_000

/**
 * useKey tries a pasted database key by logging in with it, the service key in a transaction that
 * writes and is rolled back, and keeps it (0600). The process has to start anew to use it.
 */
export async function useKey(config: Config, pasted: string): Promise<void> {
  const key = pasted.trim()
  if (!roleOf(key)) {
    const { service } = keyFiles(config.paths)
    throw wrong('form', say.no_key(service))
  }
  await tryKey(config, key)
  await writeKey(config.paths, key)
}

async function tryKey(config: Config, key: string): Promise<void> {
  const client = new pg.Client({
    connectionString: urlFor(key, config.database),
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'watchpost-hub key',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('begin')
    await client.query("select set_config('hub.project', '*', true)")
    await client.query('select from hub.projects limit 1')
    if (roleOf(key) === 'hub_rw') {
      await client.query(
        `insert into hub.projects (slug, name)
         values ('key-' || left(gen_random_uuid()::text, 8), 'Tried and rolled back')`,
      )
    }
    await client.query('rollback')
  } catch (error) {
    const state = sqlState(error)
    if (state && WRONG_PASSWORD.includes(state)) {
      throw wrong('wrong', say.wrong)
    }
    if (state === '42501') throw wrong('rights', say.rights)
    throw new ApiError('unavailable', say.untried, { cause: error })
  } finally {
    await client.end().catch(() => {})
  }
}

function wrong(code: string, message: Words): ApiError {
  return invalid([{ path: 'key', code, message }])
}
