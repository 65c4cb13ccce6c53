import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { parseAllowList } from '../../../../functions/channels/transport/target.ts'
import { PROOF, PROOF_MS, progress, reportProof } from '../../../support/proof.ts'
import { type Received, receiver } from '../../../support/servers/receiver.ts'
import { createService, parsed, type Service } from '../../../support/service.ts'
import { type Orders, runStory } from './crash-worker.ts'

const WORKER = fileURLToPath(new URL('./crash-worker.ts', import.meta.url))
/** How many boundaries of the story `npm test` dies at; the proof dies at every one. */
const SAMPLE = 5
const LANES = 2
const LONG_MS = PROOF ? PROOF_MS : 60_000

type Scene = {
  service: Service
  received: Received[]
  orders: (die_at?: number) => Orders
  /** What came of it all, without ids and times. A poll that failed is not tried again: the next one comes. */
  outcome: () => Promise<Outcome>
  close: () => Promise<void>
}
type Outcome = {
  alerts: unknown[]
  deliveries: { id: string; is_sent: boolean }[]
  left: unknown[]
}

/** A service with three zones (one in its quiet hours) and two channels, one of which fails at first. */
async function setScene(): Promise<Scene> {
  const seen = new Set<unknown>()
  const hooks = await receiver((response, { headers, path }) => {
    const isFirst = !seen.has(headers['webhook-id'])
    seen.add(headers['webhook-id'])
    response.writeHead(path === '/shaky' && isFirst ? 503 : 200).end('ok')
  })
  const service = await createService({ allow: parseAllowList('127.0.0.1') })
  const { key } = await service.person()
  const channel = async (path: string) => {
    const target = `http://127.0.0.1:${hooks.port}/${path}`
    const made = await post(service, key, '/api/v1/channels', {
      kind: 'webhook',
      target,
      label: path,
    })
    return parsed(made, 201, Channel).channel.id
  }
  const [steady] = [await channel('steady'), await channel('shaky')]
  const place = { lat: 41, lon: 29 }
  const clock = (minutes: number) =>
    new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  await post(service, key, '/api/v1/zones', { ...place, label: 'near', radius_km: 50 })
  await post(service, key, '/api/v1/zones', {
    ...place,
    label: 'wide',
    radius_km: 300,
    channel_ids: [steady],
  })
  await post(service, key, '/api/v1/zones', {
    ...place,
    label: 'asleep',
    radius_km: 50,
    quiet_hours_start: clock(-120),
    quiet_hours_end: clock(120),
  })
  const { database } = service
  await database.query(
    // It answered before: the past that a first answer tells is history.
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds, last_success_at)
    values ('crash', 'crash', 'a test', '{earthquake}', 60, now())`,
  )
  return {
    service,
    received: hooks.received,
    orders: (die_at) => ({
      jobsUrl: database.jobsUrl,
      adminUrl: database.adminUrl,
      die_at: die_at ?? null,
    }),
    outcome: async () => ({
      alerts: await database.query(
        `select a.zone_name, a.event_id, a.status, a.severity,
          (select jsonb_agg(u ->> 'kind') from jsonb_array_elements(a.updates) u) as updates,
          (select jsonb_agg(jsonb_build_array(c.label, d.type, d.status, d.digest_id is null,
              (select count(*) from watchpost.delivery_attempts t
               where t.delivery_id = d.id and t.outcome = 'ok'))
             order by c.label, d.type, d.sequence)
           from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id
           where d.alert_id = a.id) as deliveries
        from watchpost.alerts a order by 1, 2`,
      ),
      deliveries: await database.query(
        'select id, digest_id is null as is_sent from watchpost.deliveries',
      ),
      left: await database.query(
        `select 'job' as what, name, state::text from pgboss.job
        where state <> 'completed' and not (name = 'ingest' and state = 'failed')
        union all
        select 'batch', source, null from watchpost.batches where matched_at is null`,
      ),
    }),
    close: async () => {
      hooks.close()
      await service.close()
    },
  }
}

async function post(service: Service, key: string, path: string, body: object) {
  const answer = await service.request('POST', path, { key, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer
}

const Channel = z.object({ channel: z.object({ id: z.uuid() }) })

/** Runs the worker as a process of its own; says how it ended and what it said last. */
async function runWorker(orders: Orders): Promise<{ signal: string | null; said: string }> {
  const child = spawn(process.execPath, [WORKER, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const [, signal] = await once(child, 'close')
  return { signal, said }
}

/** Every message arrived, nothing arrived that is not stored, and each at most once too often a death. */
async function expectAllTold({ received, outcome }: Scene, calm: Outcome, deaths: number) {
  const { alerts, deliveries, left } = await outcome()
  expect(alerts).toEqual(calm.alerts)
  expect(left).toEqual([])
  const times = new Map<unknown, number>()
  for (const { headers, path } of received) {
    const id = headers['webhook-id']
    times.set(id, (times.get(id) ?? (path === '/shaky' ? -1 : 0)) + 1)
  }
  const sent = deliveries.filter(({ is_sent }) => is_sent).map(({ id }) => id)
  expect([...times.keys()].sort()).toEqual(sent.sort())
  for (const count of times.values()) {
    expect(count).toBeGreaterThanOrEqual(1)
    expect(count).toBeLessThanOrEqual(1 + deaths)
  }
}

let boundaries: string[] = []
let calm: Outcome

beforeAll(async () => {
  const scene = await setScene()
  const { signal, said } = await runWorker(scene.orders())
  expect(signal).toBeNull()
  boundaries = z.array(z.string()).parse(JSON.parse(said))
  calm = await scene.outcome()
  await expectAllTold(scene, calm, 0)
  await scene.close()
})

test('without a crash, every event inside a zone is delivered once', () => {
  const told = (channel: string, ...messages: string[]) =>
    messages.map((message) => [channel, message, 'succeeded', true, 1])
  const near = [...told('shaky', 'alert.escalated', 'alert.raised')]
  expect(boundaries.length).toBeGreaterThan(150)
  expect(boundaries.filter((where) => where.includes('private.pass_batches'))).not.toEqual([])
  expect(calm.alerts).toMatchObject([
    { zone_name: 'asleep', event_id: 'crash:both', status: 'dispatched', updates: ['escalated'] },
    { zone_name: 'asleep', event_id: 'crash:late', status: 'dispatched' },
    {
      zone_name: 'near',
      event_id: 'crash:both',
      status: 'dispatched',
      severity: 85,
      updates: ['escalated'],
      deliveries: [...near, ...told('steady', 'alert.escalated', 'alert.raised')],
    },
    { zone_name: 'near', event_id: 'crash:late', status: 'dispatched' },
    {
      zone_name: 'wide',
      event_id: 'crash:both',
      updates: ['escalated'],
      deliveries: told('steady', 'alert.escalated', 'alert.raised'),
    },
    { zone_name: 'wide', event_id: 'crash:late' },
    {
      zone_name: 'wide',
      event_id: 'crash:one',
      status: 'dispatched',
      updates: ['retracted'],
      deliveries: told('steady', 'alert.raised', 'alert.retracted'),
    },
  ])
})

test(
  'a process killed at any boundary loses nothing and repeats at most what was on its way',
  async () => {
    const points = pointsOf()
    const reached = await inLanes(points, async (point) => {
      const scene = await setScene()
      try {
        const { signal, said } = await runWorker(scene.orders(point))
        expect(signal, `boundary ${point} of ${boundaries.length} was not reached`).toBe('SIGKILL')
        await runStory(scene.orders())
        await expectAllTold(scene, calm, 1)
        return said
      } catch (error) {
        throw new Error(`killed at boundary ${point} of ${boundaries.length}`, { cause: error })
      } finally {
        await scene.close()
      }
    })
    reportProof('deaths survived', {
      deaths: points.length,
      boundaries: boundaries.length,
      different: new Set(reached).size,
    })
  },
  LONG_MS,
)

test('a process killed again and again still finishes', async () => {
  const scene = await setScene()
  const deaths = spread(ours(), 5)
  for (const point of deaths) await runWorker(scene.orders(point))
  await runStory(scene.orders())
  await expectAllTold(scene, calm, deaths.length)
  await scene.close()
})

test(
  'every connection cut off at any boundary loses nothing',
  async () => {
    const points = pointsOf()
    await inLanes(points, async (point) => {
      const scene = await setScene()
      try {
        let count = 0
        await runStory(scene.orders(), async () => {
          count += 1
          if (count === point) await cutConnections(scene)
        })
        await expectAllTold(scene, calm, 1)
      } catch (error) {
        throw new Error(`cut off at boundary ${point} of ${boundaries.length}`, { cause: error })
      } finally {
        await scene.close()
      }
    })
    reportProof('cut connections survived', { cuts: points.length, boundaries: boundaries.length })
  },
  LONG_MS,
)

function cutConnections({ service }: Scene): Promise<unknown> {
  return service.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = 'watchpost_jobs'`,
  )
}

/**
 * Every boundary in the proof; else some of those where our own state is half written, and the one between two
 * portions of a match that takes several.
 */
function pointsOf(): number[] {
  if (PROOF) return boundaries.map((_, index) => index + 1)
  return [...spread(ours(), SAMPLE - 1), betweenPortions()]
}

function betweenPortions(): number {
  const passed = boundaries.findIndex((where) => where.includes('private.pass_batches'))
  const committed = boundaries.findIndex((where, at) => at > passed && /^after commit/i.test(where))
  expect(committed).toBeGreaterThan(passed)
  return committed + 1
}

/** The boundaries of what we do ourselves; most of the others are the queue looking after itself. */
function ours(): number[] {
  const own =
    /^(after|before) (send|select private\.|insert into watchpost|update watchpost|commit)/
  return boundaries.flatMap((where, index) => (own.test(where) ? [index + 1] : []))
}

/** `count` of the points, evenly. */
function spread(points: number[], count: number): number[] {
  return Array.from(
    { length: count },
    (_, index) => points[Math.floor(((index + 0.5) * points.length) / count)] ?? 1,
  )
}

/** A few at once: each waits mostly for processes to start. */
async function inLanes<T>(points: number[], work: (point: number) => Promise<T>): Promise<T[]> {
  const left = [...points]
  const results: T[] = []
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let point = left.shift(); point !== undefined; point = left.shift()) {
        results.push(await work(point))
        if (results.length % 50 === 0) progress(results.length, points.length, 'boundaries')
      }
    }),
  )
  return results
}
