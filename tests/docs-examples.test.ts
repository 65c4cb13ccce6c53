import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { loadQuakes } from '../functions/feeds/replay/load.ts'
import { usgs } from '../functions/feeds/usgs.ts'
import { registerFeeds } from '../functions/jobs/ingest.ts'
import { asOperator, createLink } from '../scripts/postgres/accounts.ts'
import type { NormalisedEvent } from '../shared/event.ts'
import {
  CreatedZone,
  createDeliveryService,
  type DeliveryService,
} from './support/delivery-service.ts'
import { createIssuingApp, type IssuingApp } from './support/issuing-app.ts'
import { registerSource } from './support/jobs.ts'
import { type Block, blocksOf, PAGES, ROOT } from './support/pages.ts'
import { type Person, parsed } from './support/service.ts'
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
  'sh demo': 'docs.test.ts runs them against npm run demo',
  'js test=receive': 'docs.test.ts verifies signatures with them',
}
/** The languages of blocks without a mark, and why they are not run. */
const NOT_RUN: Record<string, string> = {
  mermaid: 'a picture',
  text: 'the output of a command, or a list of files',
  sql: 'for the SQL editor of a platform; needs its account',
  toml: 'a part of a configuration file',
  ts: 'an example of our own code',
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

/** What the commands of a page find in their environment, and what happens while it is read. */
type Scene = {
  /** The address of the person who reads it. */
  email?: string
  prepare: (person: Person) => Promise<Record<string, string>>
  /** Runs before the first block whose text it matches. */
  before?: readonly [RegExp, (env: Record<string, string>) => Promise<unknown>][]
}

/** An earthquake of the recorded week as if it were happening now, and with this magnitude. */
async function recorded(mag: number, id = 'ci38096656'): Promise<NormalisedEvent> {
  const { items } = await loadQuakes()
  const found = items.find(({ event }) => event.id === `usgs:${id}`)?.event
  if (!found) throw new Error(`${id} is not in the recorded week`)
  return { ...found, ts: new Date().toISOString(), ...withMagnitude(found.title, mag) }
}

function withMagnitude(title: string, magnitude: number) {
  const severity = Math.round((magnitude - 1.5) * 17)
  return { magnitude, severity, title: title.replace(/^M [\d.]+/, `M ${magnitude.toFixed(1)}`) }
}

async function happen(...events: NormalisedEvent[]) {
  await at.jobs.ingest(...events)
  await at.jobs.drain()
}
const CALIFORNIA = { label: 'Southern California', lat: 33.9, lon: -117.5, radius_km: 300 }
async function zoneOf(person: Person, fields: object = {}) {
  const made = await at.make(person, 'zones', { ...CALIFORNIA, ...fields }, CreatedZone)
  await at.jobs.drain()
  return made.zone.id
}
/** Where the channel of channels.md sends to. */
const TARGET = 'https://example.com/hooks/watchpost'
const soon = (minutes: number) =>
  new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)

const SCENES: Record<string, Scene> = {
  'README.md': {
    prepare: async (person) => {
      const ZONE = await zoneOf(person, { min_severity: 15 })
      const { id, title, ...event } = await recorded(2.96)
      await registerSource(at.service, 'usgs-replay')
      const replayed = { id: `${id.replace('usgs', 'usgs-replay')}-r1`, title: `REPLAY ${title}` }
      await happen({ ...event, ...replayed, source: 'usgs-replay' })
      return { ZONE }
    },
  },
  'docs/accounts.md': {
    email: 'deniz@example.com',
    prepare: async (person) => {
      const email = 'ayse@example.com'
      await at.service.account({ email })
      const org = await at.service.organisation(person)
      await at.query(`update watchpost.organisations set name = 'Harbour watch' where id = $1`, [
        org,
      ])
      const link = await asOperator(at.service.database.adminUrl, (sql) =>
        createLink(sql, { email }),
      )
      return { ORG: org, HASH: link.token_hash }
    },
  },
  'docs/api.md': {
    prepare: async () => ({}),
    before: [
      [
        /alerts\?limit=1"/,
        async ({ KEY = '' }) => {
          const target = 'https://hooks.example.com/in'
          const body = { kind: 'webhook', label: 'On call', target }
          const made = await at.service.request('POST', '/api/v1/channels', { key: KEY, body })
          expect(made.status, made.text).toBe(201)
          await at.jobs.drain()
          await happen(await recorded(4))
        },
      ],
      [
        /wait=30/,
        async ({ KEY: key = '' }) => {
          const { alerts } = parsed(
            await at.service.request('GET', '/api/v1/alerts', { key }),
            200,
            z.object({ alerts: z.array(z.object({ id: z.uuid() })) }),
          )
          const body = { resolved: false }
          await at.service.request('PATCH', `/api/v1/alerts/${alerts[0]?.id}`, { key, body })
        },
      ],
    ],
  },
  'docs/channels.md': {
    prepare: async () => ({}),
    before: [[/"type": "alert\.raised"/, allMessages]],
  },
  'docs/feeds.md': { prepare: async () => ({}) },
  'docs/quiet-hours.md': { prepare: async (person) => ({ ZONE: await zoneOf(person) }) },
  'docs/zones.md': {
    prepare: async (person) => {
      const ZONE = await zoneOf(person, { min_severity: 30 })
      await happen(await recorded(2.5, 'ci38098688'))
      await happen(await recorded(4.4, 'ci38098704'))
      await happen(await recorded(4))
      return { ZONE }
    },
  },
}

/** One earthquake that is revised, escalates, ends and is retracted; a night of two others; a test; and an outage. */
async function allMessages({ KEY: key = '', CHANNEL = '' }: Record<string, string>) {
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await at.service.request(method, `/api/v1/${path}`, { key, body })
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer
  }
  const { zone } = parsed(await ask('POST', 'zones', CALIFORNIA), 201, CreatedZone)
  await at.jobs.drain()
  const event = await recorded(4)
  await happen(event)
  await happen({ ...event, ...withMagnitude(event.title, 4.3) })
  await happen({ ...event, ...withMagnitude(event.title, 5.3) })
  await happen({ ...event, ...withMagnitude(event.title, 5.3), status: 'ended' })
  await happen({ ...event, ...withMagnitude(event.title, 5.3), status: 'retracted' })
  const zonePath = `zones/${zone.id}`
  await ask('PATCH', zonePath, { quiet_hours_start: soon(-60), quiet_hours_end: soon(60) })
  await happen(await recorded(5.6, 'ci38098688'), await recorded(4.4, 'ci38098704'))
  await ask('PATCH', zonePath, { quiet_hours_start: null, quiet_hours_end: null })
  await at.jobs.drain()
  await ask('POST', `channels/${CHANNEL}/test`, {})
  await failForAnHour()
}

/** The USGS answers with errors for an hour, and is well again five minutes ago. */
async function failForAnHour() {
  const look = () => at.query('select private.watch_sources()')
  await at.query(
    `update watchpost.sources set last_success_at = now() - interval '1 hour', error_at = now(),
      error = 'earthquake.usgs.gov answered HTTP 503'`,
  )
  await look()
  await at.query(`update watchpost.blindness set began_at = now() - interval '65 minutes'`)
  await look()
  await at.query(
    'update watchpost.sources set last_success_at = now(), error = null, error_at = null',
  )
  await look()
  await at.query(`update watchpost.blindness set well_at = began_at + interval '60 minutes'`)
  await look()
  await at.jobs.drain()
}

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
