import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { usgs } from '../functions/feeds/usgs.ts'
import { registerFeeds } from '../functions/jobs/ingest.ts'
import { createDeliveryService, type DeliveryService } from './support/delivery-service.ts'
import { scenesOf } from './support/doc-scenes.ts'
import { type Block, blocksOf, PAGES, ROOT } from './support/pages.ts'
import { createIssuingApp, type IssuingApp } from './support/servers/issuing-app.ts'
import type { Person } from './support/service.ts'
import { differences, type Meanings } from './support/shown.ts'

// What the pages show is what the service answers: their commands are run in order, and what stands below each is compared.

/** The pages of the other product, whose API the tests of the hub hold. */
const OF_THE_HUB = PAGES.filter((page) => page.startsWith('docs/hub'))
const OURS = PAGES.filter((page) => !OF_THE_HUB.includes(page))
const BLOCKS = OURS.flatMap(blocksOf)
const nameOf = ({ page, line }: Block) => `${page}:${line}`

/** The marks of the blocks that are run here; the rest of a mark is its argument. */
const RUN_HERE = ['request', 'answer', 'body', 'message', 'headers', 'client']
/** The other marks, and who runs them. */
const RUN_ELSEWHERE: Record<string, string> = {
  'sh demo': 'docs-demo.test.ts runs them against npm run demo',
  'js test=receive': 'docs.test.ts verifies signatures with them',
  'nginx test=site': 'docs.test.ts has nginx check it',
}
/** The languages of blocks without a mark, and why they are not run. */
const NOT_RUN: Record<string, string> = {
  mermaid: 'a picture',
  text: 'the output of a command, or a list of files',
  sql: 'for the SQL editor of a platform; needs its account',
  toml: 'a part of a configuration file',
  ts: 'an example of our own code',
  js: 'for a browser',
  caddy: 'the configuration of a program that is not installed here',
  sh: 'a command for an operator, on their own machine; no request to the API',
}

test('every block of every page is run, or it is said why not', () => {
  const astray = BLOCKS.filter((block) => {
    const { language, mark, code } = block
    if (isRunHere(block)) return false
    if (`${language} ${mark}` in RUN_ELSEWHERE) return false
    return mark !== '' || !(language in NOT_RUN) || /\bcurl\b/.test(code)
  })
  expect(astray.map(nameOf)).toEqual([])
  const used = new Set(
    BLOCKS.map(({ language, mark }) => (mark ? `${language} ${mark}` : language)),
  )
  const said = [...Object.keys(RUN_ELSEWHERE), ...Object.keys(NOT_RUN)]
  expect(said.filter((name) => !used.has(name))).toEqual([])
})

let at: DeliveryService
let app: IssuingApp
let server: ReturnType<typeof serve>
let url: string
const PUBLIC_URL = 'https://watchpost.example.com'
beforeAll(async () => {
  at = await createDeliveryService()
  app = await createIssuingApp(at.service, {
    limits: { pro: 600, enterprise: 6000, address: 100_000 },
    public_url: PUBLIC_URL,
    send: async (request) => {
      at.service.receiver.requests.push(request)
      return at.service.receiver.answer(request)
    },
  })
  url = await new Promise<string>((done) => {
    server = serve(
      { fetch: (request) => app.fetch(request), port: 0, hostname: '127.0.0.1' },
      ({ port }) => done(`http://127.0.0.1:${port}`),
    )
  })
  await at.query('delete from watchpost.sources')
  await registerFeeds(at.jobs.db, [usgs])
  await at.query(
    `update watchpost.sources set last_success_at = now(), next_poll_at = now() + interval '1 year'`,
  )
})
afterAll(async () => {
  server?.close()
  await app?.close()
  await at?.close()
})

/** Where the channel of channels.md sends to. */
const TARGET = 'https://example.com/hooks/watchpost'
const SCENES = scenesOf(() => at)

test('every page with a request has a scene', () => {
  const pages = BLOCKS.filter(isRunHere).map(({ page }) => page)
  expect([...new Set(pages)].sort()).toEqual(Object.keys(SCENES).sort())
})

test('every request shows its answer', () => {
  const alone = BLOCKS.filter(
    ({ mark, page }, n) =>
      mark === 'request' && (BLOCKS[n + 1]?.mark !== 'answer' || BLOCKS[n + 1]?.page !== page),
  )
  expect(alone.map(nameOf)).toEqual([])
})

describe.each(Object.entries(SCENES))('%s', (page, { email, prepare, before = [] }) => {
  let person: Person
  const env: Record<string, string> = {}
  const meanings: Meanings = new Map()
  const waiting = [...before]
  let answered: unknown

  beforeAll(async () => {
    person = await at.service.person(email === undefined ? {} : { email })
    // What happened on the page before is not known here.
    for (const table of ['events', 'event_revisions', 'batches'])
      await at.query(`delete from watchpost.${table}`)
    await at.query(`delete from watchpost.sources where source <> 'usgs'`)
    at.service.receiver.requests.length = 0
    const given = await prepare(person)
    Object.assign(env, { URL: url, KEY: person.key }, given)
  })

  const blocks = blocksOf(page).filter(isRunHere)
  test.each(blocks.map((block) => [nameOf(block), block] as const))('%s', async (_, block) => {
    for (const scene of waiting.filter(([pattern]) => pattern.test(block.code))) {
      waiting.splice(waiting.indexOf(scene), 1)
      await scene[1](env)
    }
    const [mark, argument] = split(block.mark)
    if (mark === 'request') answered = await runCommand(block.code)
    if (mark === 'body') await sendBody(argument, block.code)
    if (mark === 'client') await runClient(block.code)
    if (mark === 'headers') await compareHeaders(block.code)
    if (mark === 'message') compare(block.code, messageOf(JSON.parse(block.code).type))
    if (mark === 'answer') {
      if (argument !== '') answered = (await ask(argument)).body
      compare(block.code, answered)
    }
  })

  function compare(code: string, actual: unknown) {
    expect(differences(JSON.parse(code), actual, meanings)).toEqual([])
  }

  /** Runs a command as a shell does, with the values that the page has told of by then. */
  async function runCommand(code: string): Promise<unknown> {
    const script = code
      .replaceAll(/<(\w+)>/g, (_, name) => String(findField(answered, name)))
      .replaceAll('"token_hash": "…"', `"token_hash": "${env.HASH}"`)
      .replaceAll(/\bcurl /g, 'curl -sS ')
    const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], {
      env: { ...process.env, ...env },
    })
    const answer = JSON.parse(stdout)
    remember(answer)
    return answer
  }

  /** Later commands name these. */
  function remember(answer: unknown) {
    const known = z
      .object({
        zone: z.object({ id: z.string() }).optional(),
        channel: z.object({ id: z.string() }).optional(),
        access_token: z.string().optional(),
      })
      .safeParse(answer)
    if (!known.success) return
    const { zone, channel, access_token } = known.data
    if (zone) env.ZONE = zone.id
    if (channel) env.CHANNEL = channel.id
    if (access_token) env.TOKEN = access_token
  }

  /** Asks what a mark says, as in `GET /zones/$ZONE`. */
  async function ask(argument: string, body?: object) {
    const filled = argument.replaceAll(/\$(\w+)/g, (_, name) => env[name] ?? '')
    const [method = '', path = ''] = filled.split(' ')
    return at.service.request(method, `/api/v1${path}`, { key: person.key, body })
  }

  async function sendBody(argument: string, code: string): Promise<void> {
    const body = JSON.parse(code)
    const answer = await ask(argument, body)
    expect(answer.status, answer.text).toBeLessThan(300)
    expect(answer.body).toMatchObject({ zone: body })
  }

  async function runClient(code: string): Promise<void> {
    // Below node_modules, so that the snippet finds its packages as a reader's would.
    const folder = mkdtempSync(join(ROOT, 'node_modules/.docs-'))
    try {
      const file = join(folder, 'client.mjs')
      const script = code
        .replace("'watchpost/client'", `'${pathToFileURL(join(ROOT, 'shared/client.ts'))}'`)
        .replace(PUBLIC_URL, url)
        .replace('process.env.WATCHPOST_KEY', JSON.stringify(person.key))
      await writeFile(file, `${script}\nexport { data, error }\n`)
      const { data, error } = await import(/* @vite-ignore */ pathToFileURL(file).href)
      expect(error).toBeUndefined()
      expect(data.alerts).toHaveLength(1)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  async function compareHeaders(code: string): Promise<void> {
    const { key } = await at.service.person()
    const { headers } = await fetch(`${url}/api/v1/me`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    const shown = code
      .trim()
      .split('\n')
      .map((line) => line.split(': ') as [string, string])
    expect(shown.map(([name]) => [name, headers.get(name)])).toEqual(shown)
  }

  function messageOf(type: string): unknown {
    // The zones of the pages before are still there, with channels of their own.
    const mine = at.service.receiver.requests.filter(({ url }) => url === TARGET)
    const found = mine.map(({ body }) => JSON.parse(body)).filter((sent) => sent.type === type)
    expect(found.length, `how many ${type} were sent`).toBe(1)
    return found[0]
  }
})

/** A mark and its argument. */
function split(mark: string): [string, string] {
  const end = mark.indexOf('=')
  return end < 0 ? [mark, ''] : [mark.slice(0, end), mark.slice(end + 1)]
}

function isRunHere({ mark }: Block): boolean {
  return RUN_HERE.includes(split(mark)[0])
}

/** The first field of this name, wherever it is. */
function findField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, name)) return Reflect.get(value, name)
  for (const inner of Object.values(value)) {
    const found = findField(inner, name)
    if (found !== undefined) return found
  }
  return undefined
}
