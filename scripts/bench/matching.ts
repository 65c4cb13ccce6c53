import { inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { inWords, seconds } from './figure.ts'
import {
  anywhere,
  connectJobs,
  createAccount,
  createJobs,
  createSource,
  type Ground,
  quakeAt,
  seedZones,
} from './ground.ts'

const ZONES = Number(process.env.BENCH_ZONES ?? 100_000)
const EVENTS = Number(process.env.BENCH_MATCHED ?? 50_000)

/** Storing events, finding their zones and deciding, beside a plain spatial join of the same rows. */
export async function benchMatching(ground: Ground): Promise<void> {
  const { admin, say, figure } = ground
  const owner = await createAccount(admin)
  await createSource(admin, 'bench')
  say(`Creating ${ZONES.toLocaleString('en')} zones …`)
  await seedZones(admin, owner.user_id, ZONES)
  await admin.query('vacuum analyze')

  say(`Storing ${EVENTS.toLocaleString('en')} events …`)
  const db = connectJobs(ground, 4)
  const ingest = await seconds(async () => {
    for (let from = 0; from < EVENTS; from += 1000) {
      // One event in a hundred reaches the zones' threshold, as with the real feed.
      const events = Array.from({ length: Math.min(1000, EVENTS - from) }, (_, index) =>
        quakeAt(`bench:m${from + index}`, anywhere(), index % 100 === 0 ? 60 : 8),
      )
      await inTransaction(db, (sql) => ingestEvents(sql, 'bench', events))
    }
  })
  await admin.query('vacuum analyze')

  say('Narrowing by a plain join …')
  const join = await seconds(() =>
    admin.query(
      `select count(*) from watchpost.event_revisions r join watchpost.zone_boxes b on b.box && r.extent`,
    ),
  )
  const plain = `a plain join of the boxes, ${inWords(EVENTS / join)} events/s`
  const narrow = await seconds(() =>
    admin.query(
      `select count(c.id) from watchpost.batches b cross join lateral private.batch_candidates(array[b.id]) c`,
    ),
  )
  figure({
    name: 'Narrowing as matching does it (boxes, severity, filters, memory)',
    value: EVENTS / narrow,
    unit: 'events/s',
    against: plain,
    ratio: join / narrow,
    goal: { at_least: 1 },
  })
  say('Matching …')
  const lines: Record<string, unknown>[] = []
  const matching = await seconds(async () => {
    await createJobs(db, { lines }).drain({ budget_ms: 30 * 60_000 })
  })
  const jobs = lines.filter((line) => line.queue === 'match')
  const sum = (key: string) => jobs.reduce((total, line) => total + Number(line[key] ?? 0), 0)
  await db.end()
  figure({
    name: 'Storing events (1,000 a transaction)',
    value: EVENTS / ingest,
    unit: 'events/s',
    against: plain,
    ratio: join / ingest,
  })
  figure({
    name: `Matching ${EVENTS.toLocaleString('en')} events with ${ZONES.toLocaleString('en')} zones, 1 % of them relevant`,
    value: EVENTS / matching,
    unit: 'events/s',
    against: plain,
    ratio: join / matching,
    note: `${inWords(sum('pairs'))} pairs decided, ${inWords(sum('alerts'))} alerts`,
  })
}
