import { createPool, type Database, inTransaction } from '../../functions/db.ts'
import type { AnyFeed } from '../../functions/feeds/feed.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import type { JobDeps } from '../../functions/jobs/queue.ts'
import { createZoneMirror } from '../../functions/jobs/zone-mirror.ts'
import { createRunner, type Runner } from '../../functions/jobs.ts'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'
import type { Service } from './service.ts'

export type TestJobs = {
  db: Database
  runner: Runner
  lines: Record<string, unknown>[]
  /** Stores events as their source reported them, without matching them. */
  ingest: (...events: (NormalisedEvent & { first_seen_at?: string })[]) => Promise<void>
  /** Runs every job that is due and returns how many ran; throws if one failed. */
  drain: () => Promise<number>
  close: () => Promise<void>
}

/** Runs the jobs against a test service's database; every request goes to its fake receiver. */
export async function createTestJobs(
  service: Service,
  options: Partial<Pick<JobDeps, 'db' | 'feeds' | 'fetch' | 'mail' | 'tracing' | 'portions'>> = {},
): Promise<TestJobs> {
  const db = options.db ?? createPool({ url: service.database.jobsUrl, max: 6 })
  const lines: TestJobs['lines'] = []
  const runner = createRunner({
    db,
    seal: service.seal,
    send: async (request) => {
      service.receiver.requests.push(request)
      return service.receiver.answer(request)
    },
    mail: options.mail,
    allow: { ranges: [], names: new Set() },
    feeds: options.feeds ?? [],
    fetch: options.fetch ?? fetch,
    contact: 'ops@watchpost.example',
    public_url: 'https://watch.example',
    tracing: options.tracing,
    portions: options.portions,
    zones: createZoneMirror(db),
    log: (line) => void lines.push(line),
  })
  await registerSource(service, 'test')
  for (const feed of options.feeds ?? []) await registerSource(service, feed.source, feed)
  return {
    db,
    runner,
    lines,
    ingest: async (...events) => {
      await inTransaction(db, (sql) => ingestEvents(sql, events[0]?.source ?? 'test', events))
    },
    drain: async () => {
      const from = lines.length
      const { ran } = await runner.drain({ budget_ms: 60_000 })
      const failed = lines.slice(from).find((line) => line.outcome === 'failed')
      if (failed) throw new Error(`a job failed: ${JSON.stringify(failed)}`)
      return ran
    },
    close: () => db.end(),
  }
}

/** Registers a source that is never polled unless a feed is given. */
export async function registerSource(
  service: Service,
  source: string,
  feed?: AnyFeed,
): Promise<void> {
  await service.database.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds, enabled)
    values ($1, $1, 'a test', $2, $3, $4) on conflict do nothing`,
    [source, feed?.types ?? ['earthquake'], feed?.interval_seconds ?? 60, feed !== undefined],
  )
}

let count = 0

/** An earthquake of the source `test`; a test gives only the fields that matter to it. */
export function quake(given: Partial<NormalisedEvent> = {}): NormalisedEvent {
  count += 1
  return {
    id: `test:${process.pid}-${count}`,
    source: 'test',
    type: 'earthquake',
    title: `M 5.0 - test ${count}`,
    lat: 33.9,
    lon: -117.5,
    ts: new Date().toISOString(),
    severity: 60,
    subject: null,
    status: 'active',
    url: null,
    geometry: null,
    ends_at: null,
    revised_at: null,
    aliases: [],
    ...given,
  }
}
