import { expect, test } from 'vitest'
import { readConfig } from '../../functions/config.ts'
import { VARIABLES } from '../../functions/environment.ts'
import { FEED_SETTINGS } from '../../functions/feeds/feeds.ts'

const KEY = Buffer.alloc(32, 1).toString('base64')
const LEAST = {
  API_DATABASE_URL: 'postgres://watchpost_api:a@localhost/postgres',
  JOBS_DATABASE_URL: 'postgres://watchpost_jobs:b@localhost/postgres',
  SEAL_KEYS: KEY,
}

/** What people write into a variable, right and wrong, and at its edges. */
const WRITTEN = [
  ...['x', '-1', '0', '1', '1.5', '65535', '65536', '1e3', '99999999', 'on', 'off', 'true'],
  ...['postgres://a:b@localhost/c', 'postgresql://a@[::1]:5433/c', 'mysql://a:b@localhost/c'],
  ...['http://a.example', 'https://a.example/b?c', 'https://a.example/b/', 'ftp://a.example'],
  ...[
    'https://u:p@a.example',
    'a.example',
    '*',
    '10.0.0.0/8',
    '10.0.0.0/33',
    '10.0.0.1',
    '::1/128',
  ],
  ...['10.0.0.0/8,fd00::/8', '10.0.0.0/8, x', 'a@b.example', 'Watchpost <a@b.example>', 'a@b'],
  ...['smtp://a.example', 'smtps://u:p@a.example:465', 'resend:key', 'log', KEY, `${KEY},${KEY}`],
  ...[Buffer.alloc(31, 1).toString('base64'), 'usgs', 'usgs,emsc', 'usgs,atlantis', 'none'],
  ...['json', 'text', 'internal', 'external', 'direct', 'Mozilla/5.0', 'a\nb', 'ğ', 'a'.repeat(40)],
]

/** What becomes of a value of a variable: taken, or the refusal, which never repeats the value. */
function become(name: string, value: string): string {
  try {
    readConfig({ ...LEAST, [name]: value }, 'serve')
    return 'taken'
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (value.length > 12) expect(text).not.toContain(value)
    return text
  }
}

test('every variable takes and refuses what was agreed, and no refusal repeats the value', async () => {
  const lines = VARIABLES.filter((name) => !Object.hasOwn(FEED_SETTINGS, name)).map((name) => {
    const groups = [...Map.groupBy(WRITTEN, (value) => become(name, value))].map(
      ([what, values]) =>
        `  ${what}\n    ${values.map((value) => JSON.stringify(value)).join(' ')}\n`,
    )
    return `${name}\n${groups.join('')}`
  })
  await expect(lines.join('')).toMatchFileSnapshot('golden/config.txt')
})
