import { expect } from 'vitest'
import { z } from 'zod'
import { loadQuakes } from '../../functions/feeds/replay/load.ts'
import { asOperator, createLink } from '../../scripts/postgres/accounts.ts'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'
import { CreatedZone, type DeliveryService } from './delivery-service.ts'
import { registerSource } from './jobs.ts'
import { type Person, parsed } from './service.ts'

/** What the commands of a page find in their environment, and what happens while it is read. */
export type Scene = {
  /** The address of the person who reads it. */
  email?: string
  prepare: (person: Person) => Promise<Record<string, string>>
  /** Runs before the first block whose text it matches. */
  before?: readonly [RegExp, (env: Record<string, string>) => Promise<unknown>][]
}

/** Those that the steps of zones.md name. */
const STEP_CHANNELS = [
  '0c2a7a0f-6f0e-4c0e-9a55-3b7f0f4f7f1d',
  'b1c3f5f0-8f7a-4f0e-8a39-6a1f6e3d2c4b',
]
const CALIFORNIA = { label: 'Southern California', lat: 33.9, lon: -117.5, radius_km: 300 }
const soon = (minutes: number) =>
  new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)

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

/** scenesOf prepares what the examples of each page are about. */
export function scenesOf(at: () => DeliveryService): Record<string, Scene> {
  async function happen(...events: NormalisedEvent[]) {
    await at().jobs.ingest(...events)
    await at().jobs.drain()
  }
  async function zoneOf(person: Person, fields: object = {}) {
    const made = await at().make(person, 'zones', { ...CALIFORNIA, ...fields }, CreatedZone)
    await at().jobs.drain()
    return made.zone.id
  }

  const scenes: Record<string, Scene> = {
    'README.md': {
      prepare: async (person) => {
        const ZONE = await zoneOf(person, { min_severity: 15 })
        const { id, title, ...event } = await recorded(2.96)
        await registerSource(at().service, 'usgs-replay')
        const replayed = { id: `${id.replace('usgs', 'usgs-replay')}-r1`, title: `REPLAY ${title}` }
        await happen({ ...event, ...replayed, source: 'usgs-replay' })
        return { ZONE }
      },
    },
    'docs/accounts.md': {
      email: 'deniz@example.com',
      prepare: async (person) => {
        const email = 'ayse@example.com'
        await at().service.account({ email })
        const org = await at().service.organisation(person)
        await at().query(
          `update watchpost.organisations set name = 'Harbour watch' where id = $1`,
          [org],
        )
        const link = await asOperator(at().service.database.adminUrl, (sql) =>
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
            const made = await at().service.request('POST', '/api/v1/channels', { key: KEY, body })
            expect(made.status, made.text).toBe(201)
            await at().jobs.drain()
            await happen(await recorded(4))
          },
        ],
        [
          /wait=30/,
          async ({ KEY: key = '' }) => {
            const { alerts } = parsed(
              await at().service.request('GET', '/api/v1/alerts', { key }),
              200,
              z.object({ alerts: z.array(z.object({ id: z.uuid() })) }),
            )
            const body = { resolved: false }
            await at().service.request('PATCH', `/api/v1/alerts/${alerts[0]?.id}`, { key, body })
          },
        ],
      ],
    },
    'docs/channels.md': {
      prepare: async () => ({}),
      before: [[/"type": "alert\.raised"/, allMessages]],
    },
    'docs/feeds-out.md': { prepare: async (person) => ({ ZONE: await zoneOf(person) }) },
    'docs/feeds.md': { prepare: async () => ({}) },
    'docs/quiet-hours.md': { prepare: async (person) => ({ ZONE: await zoneOf(person) }) },
    'docs/zones.md': {
      prepare: async (person) => {
        for (const id of STEP_CHANNELS) {
          const made = await at().channelOf(person)
          await at().query('update watchpost.channels set id = $1 where id = $2', [id, made.id])
        }
        const ZONE = await zoneOf(person, { min_severity: 30 })
        await happen(await recorded(2.5, 'ci38098688'))
        await happen(await recorded(4.4, 'ci38098704'))
        await happen(await recorded(4))
        return { ZONE }
      },
    },
  }

  /** One earthquake that is revised, escalates, is acknowledged, resolved and reopened, ends and is retracted; a night of two others; a test; and an outage. */
  async function allMessages({ KEY: key = '', CHANNEL = '' }: Record<string, string>) {
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await at().service.request(method, `/api/v1/${path}`, { key, body })
      expect(answer.status, answer.text).toBeLessThan(300)
      return answer
    }
    const { zone } = parsed(await ask('POST', 'zones', CALIFORNIA), 201, CreatedZone)
    await at().jobs.drain()
    const event = await recorded(4)
    await happen(event)
    await happen({ ...event, ...withMagnitude(event.title, 4.3) })
    await happen({ ...event, ...withMagnitude(event.title, 5.3) })
    const { alerts } = parsed(
      await ask('GET', 'alerts'),
      200,
      z.object({ alerts: z.array(z.object({ id: z.uuid() })) }),
    )
    const alertPath = `alerts/${alerts[0]?.id}`
    await ask('POST', `${alertPath}/acknowledge`)
    await at().jobs.drain()
    for (const resolved of [true, false]) {
      await ask('PATCH', alertPath, { resolved })
      await at().jobs.drain()
    }
    await happen({ ...event, ...withMagnitude(event.title, 5.3), status: 'ended' })
    await happen({ ...event, ...withMagnitude(event.title, 5.3), status: 'retracted' })
    const zonePath = `zones/${zone.id}`
    await ask('PATCH', zonePath, { quiet_hours_start: soon(-60), quiet_hours_end: soon(60) })
    await happen(await recorded(5.6, 'ci38098688'), await recorded(4.4, 'ci38098704'))
    await ask('PATCH', zonePath, { quiet_hours_start: null, quiet_hours_end: null })
    await at().jobs.drain()
    await ask('POST', `channels/${CHANNEL}/test`, {})
    await failForAnHour()
    const other = { kind: 'webhook', label: 'Night shift', target: 'https://other.example.com/in' }
    await failAsChannel((await ask('POST', 'channels', other)).body)
  }

  /** A channel fails, and works again an hour later. */
  async function failAsChannel(made: unknown) {
    const { id } = z.object({ channel: z.object({ id: z.uuid() }) }).parse(made).channel
    const look = async () => {
      await at().query('select private.watch_channels()')
      await at().jobs.drain()
    }
    const set = (columns: string) =>
      at().query(`update watchpost.channels set ${columns} where id = $1`, [id])
    await set(`status = 'failing', failures = 9, failing_reason = 'The receiver answered HTTP 503.',
      failing_since = now() - interval '70 minutes'`)
    await look()
    await set(`status = 'ok', failures = 0, failing_reason = null, failing_since = null`)
    await at().query(
      `insert into watchpost.deliveries (channel_id, type, status, delivered_at)
      values ($1, 'channel.test', 'succeeded', now())`,
      [id],
    )
    await look()
    await at().query(
      `update watchpost.channel_troubles set well_at = began_at + interval '1 hour' where channel_id = $1`,
      [id],
    )
    await look()
  }

  /** The USGS answers with errors for an hour, and is well again five minutes ago. */
  async function failForAnHour() {
    const look = () => at().query('select private.watch_sources()')
    await at().query(
      `update watchpost.sources set last_success_at = now() - interval '1 hour', error_at = now(),
      error = 'earthquake.usgs.gov answered HTTP 503'`,
    )
    await look()
    await at().query(`update watchpost.blindness set began_at = now() - interval '65 minutes'`)
    await look()
    await at().query(
      'update watchpost.sources set last_success_at = now(), error = null, error_at = null',
    )
    await look()
    await at().query(`update watchpost.blindness set well_at = began_at + interval '60 minutes'`)
    await look()
    await at().jobs.drain()
  }

  return scenes
}
