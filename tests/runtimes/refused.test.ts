import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSeal } from '../../functions/seal.ts'
import { generateSecret } from '../../shared/signing.ts'
import { SPELLINGS } from '../support/attacks/spellings.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { receiver } from '../support/servers/receiver.ts'
import { createPerson, EDGES, type Edge, SEAL_KEY } from './edges.ts'

const STARTING_MS = 120_000
const AT_ONCE = 8
/** What is known without DNS; behind a name, workerd itself leaves for the public internet only. */
const URLS = SPELLINGS.filter(([, meaning]) => meaning !== 'resolves').map(([url]) => url)

const Problem = z.object({ errors: z.array(z.looseObject({ path: z.string() })) })
const Tested = z.object({
  delivery: z.object({ status: z.string(), last_error: z.string().nullable() }),
})

async function inBatches<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    await Promise.all(items.slice(from, from + AT_ONCE).map(work))
  }
}

describe.each(EDGES)('on %s no webhook goes to what is not public', (_, start) => {
  let database: TestDatabase
  let edge: Edge
  let person: { id: string; key: string }
  beforeAll(async () => {
    database = await createTestDatabase()
    person = await createPerson(database)
    edge = await start({
      database,
      budget_seconds: 10,
      variables: { ALLOW_PRIVATE_TARGETS: '' },
      onLine: () => undefined,
    })
  }, STARTING_MS)
  afterAll(async () => {
    await edge?.close()
    await database?.drop()
  })

  test(
    'when it is saved',
    async () => {
      await inBatches(URLS, async (target) => {
        const body = { kind: 'webhook', target }
        const answer = await edge.ask(person.key, 'POST', '/api/v1/channels', body)
        expect(answer.status, target).toBe(422)
        const { errors } = Problem.parse(await answer.json())
        expect(
          errors.map(({ path }) => path),
          target,
        ).toEqual(['target'])
      })
      expect(await database.query('select from watchpost.channels')).toEqual([])
    },
    STARTING_MS,
  )

  test(
    'when it is sent, though it was saved somehow',
    async () => {
      const { seal } = createSeal([SEAL_KEY])
      await inBatches(URLS, async (target) => {
        const [row] = await database.query<{ id: string }>(
          `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
          values ($1, 'webhook', $2, 'masked', $3) returning id`,
          [person.id, await seal(target), await seal(generateSecret())],
        )
        const answer = await edge.ask(person.key, 'POST', `/api/v1/channels/${row?.id}/test`)
        const text = await answer.text()
        expect(answer.status, `${target} ${text}`).toBe(200)
        expect(Tested.parse(JSON.parse(text)).delivery, target).toEqual({
          status: 'failed',
          last_error: 'The target is not a public address, so nothing was sent.',
        })
      })
    },
    STARTING_MS,
  )
})

const SCRIPT = fileURLToPath(new URL('./rebinding.ts', import.meta.url))
const DENO = fileURLToPath(new URL('../../node_modules/.bin/deno', import.meta.url))

test.each([
  ['Node', process.execPath, [SCRIPT]],
  ['Deno', DENO, ['run', '-A', '--node-modules-dir=manual', SCRIPT]],
])(
  'on %s a name is refused whose answer was public when it was saved and is private now',
  async (_, command, given) => {
    const inside = await receiver((response) => response.end('inside'))
    try {
      const { stdout } = await promisify(execFile)(command, [...given, String(inside.port)])
      expect(JSON.parse(stdout)).toEqual({
        saved: [],
        failures: ['refused', 'refused', 'refused'],
        asked: 3,
      })
      expect(inside.connections()).toBe(0)
    } finally {
      inside.close()
    }
  },
  STARTING_MS,
)
