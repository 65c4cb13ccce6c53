import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { performance } from 'node:perf_hooks'
import { inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { startApi } from './api.ts'
import { createOwners, near, RADIUS_KM, switchOnVacuum } from './burst.ts'
import { inWords, quantile } from './figure.ts'
import { connectJobs, createSource, type Ground, insertZones, quakeAt } from './ground.ts'

const ZONES = Number(process.env.BENCH_CALM ?? 100_000)
const PLACE = { lat: 10, lon: -160 }
const PATHS = ['/api/v1/zones?limit=1', '/api/v1/alerts?limit=10', '/api/v1/me']
/** So often is one of the paths asked for, whether or not the former answer has come. */
const EVERY_MS = 40
/** How long the messages go out while it is asked on, and how long it is asked before the event. */
const SENDING_MS = 15_000
const QUIET_MS = 5_000
/** The loops of the service sleep when it has run for so long. */
const SETTLED_MS = 5_000
const MATCHED_POLL_MS = 50
const LIMIT_MS = 250

type Phase = 'before it' | 'while it is matched' | 'while its messages are sent'

/**
 * Requests of one account to `npm start`'s own process, the API and the jobs in one, before an event inside very many
 * zones, while it is matched, and while its messages are sent: how long the answers take.
 */
export async function benchCalm(ground: Ground): Promise<void> {
  const { admin, say, figure } = ground
  await switchOnVacuum(admin)
  await createSource(admin, 'bench')
  const receiver = createServer((asked, response) => {
    asked.resume()
    response.end('ok')
  })
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready))
  // safe: a server that listens on TCP has an address with a port
  const { port } = receiver.address() as AddressInfo
  const owners = await createOwners(admin, port)
  say(`Creating ${ZONES.toLocaleString('en')} zones …`)
  await insertZones(
    admin,
    Array.from({ length: ZONES }, (_, nr) => ({
      ...near(PLACE),
      radius_km: RADIUS_KM,
      owner_id: owners[nr % owners.length]?.user_id ?? '',
    })),
  )
  await admin.query('vacuum analyze')
  const service = await startApi(ground, tmpdir(), { ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  await pause(SETTLED_MS)
  const asking = startAsking(service.url, owners[0]?.key ?? '')
  try {
    say('Asking before the event …')
    await pause(QUIET_MS)
    asking.enter('while it is matched')
    await accept(ground)
    say('The event is matched …')
    await untilMatched(ground)
    asking.enter('while its messages are sent')
    say('Its messages are sent …')
    await pause(SENDING_MS)
  } finally {
    const times = await asking.stop()
    for (const [phase, all] of times) {
      for (const [name, share] of Object.entries({ p50: 0.5, p95: 0.95, p99: 0.99 })) {
        const value = quantile(all, share)
        figure({
          name: `One event inside ${ZONES.toLocaleString('en')} zones: answers of the API ${phase}, ${name}`,
          value,
          unit: 'ms',
          against: `the limit of ${LIMIT_MS} ms`,
          ratio: value / LIMIT_MS,
          note: `${inWords(all.length)} requests`,
          ...(name === 'p99' && phase !== 'before it' ? { goal: { at_most: 1 } } : {}),
        })
      }
    }
    await service.stop()
    receiver.closeAllConnections()
    receiver.close()
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function accept(ground: Ground): Promise<void> {
  const db = connectJobs(ground, 1)
  await inTransaction(db, (sql) => ingestEvents(sql, 'bench', [quakeAt('bench:calm', PLACE, 60)]))
  await db.end()
}

async function untilMatched({ admin }: Ground): Promise<void> {
  for (;;) {
    const { rows } = await admin.query<{ is_over: boolean }>(
      'select not exists (select from watchpost.batches where matched_at is null) as is_over',
    )
    if (rows[0]?.is_over) return
    await pause(MATCHED_POLL_MS)
  }
}

/** Asks until it is stopped; the times of the answers in milliseconds, by the phase in which they were asked for. */
function startAsking(url: string, key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  const times = new Map<Phase, number[]>()
  let phase: Phase = 'before it'
  let isOver = false
  const ask = async (path: string) => {
    const [asked, at] = [phase, performance.now()]
    await answered(agent, `${url}${path}`, key)
    const measured = times.get(asked) ?? []
    times.set(asked, measured)
    measured.push(performance.now() - at)
  }
  const asking = (async () => {
    const answers: Promise<void>[] = []
    for (let nr = 0; !isOver; nr += 1) {
      const answer = ask(PATHS[nr % PATHS.length] ?? '')
      // One that is refused ends it, and is thrown by `stop`.
      answer.catch(() => {
        isOver = true
      })
      answers.push(answer)
      await pause(EVERY_MS)
    }
    await Promise.all(answers)
  })()
  return {
    enter: (next: Phase) => {
      phase = next
    },
    stop: async () => {
      isOver = true
      await asking
      agent.destroy()
      return times
    },
  }
}

/** Until a request was answered whole; throws when it was refused. */
function answered(agent: Agent, url: string, key: string): Promise<void> {
  return new Promise((done, fail) => {
    const asked = request(url, { agent, headers: { Authorization: `Bearer ${key}` } }, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) done()
        else fail(new Error(`${url} answered ${answer.statusCode}`))
      })
    })
    asked.on('error', fail).end()
  })
}
