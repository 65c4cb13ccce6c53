import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../functions/config.ts'
import { createPool, type Pool } from '../../../functions/db.ts'
import { createMetrics, metricsRoutes } from '../../../functions/node/metrics.ts'
import { startService } from '../../../functions/service.ts'
import { findPort } from '../../../scripts/postgres/port.ts'
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.ts'
import { TEST_SEAL_KEY } from '../../support/service.ts'

let database: TestDatabase
let jobs: Pool
beforeAll(async () => {
  database = await createTestDatabase()
  jobs = createPool({ url: database.jobsUrl, max: 2 })
})
afterAll(async () => {
  await jobs.end()
  await database.drop()
})

const OWNER = '4bfa0f38-0000-4000-8000-000000000001'

/** The samples of our own metrics, without what is 0. */
const samplesOf = (text: string) =>
  text
    .split('\n')
    .filter(
      (line) =>
        line.startsWith('watchpost_') && !/(_bucket\{|_sum)/.test(line) && !/ 0$/.test(line),
    )
    .sort()

describe('what a process did', () => {
  test('is counted from its log lines, by labels that stay few', async () => {
    const metrics = createMetrics()
    const request = {
      msg: 'request',
      method: 'GET',
      route: '/api/v1/zones/:id',
      status: 200,
      duration_ms: 7,
    }
    for (const line of [
      { ...request, path: '/api/v1/zones/4bfa0f38', user_id: 'somebody' },
      { ...request, status: 404 },
      { ...request, method: 'BREW', route: 'none', status: 404 },
      {
        msg: 'job',
        queue: 'ingest',
        outcome: 'done',
        duration_ms: 20,
        source: 'usgs',
        inserted: 3,
        revised: 2,
        unchanged: 0,
        rejected_count: 1,
      },
      { msg: 'stream', source: 'nmea', inserted: 5, dropped_late: 2 },
      { ...request, route: '/push', source: 'custom:mine', inserted: 4, rejected_count: 1 },
      {
        msg: 'job',
        queue: 'match',
        outcome: 'done',
        duration_ms: 30,
        source: 'custom:gauges',
        alerts: 2,
      },
      {
        msg: 'job',
        queue: 'match',
        outcome: 'done',
        duration_ms: 30,
        source: 'custom:others',
        alerts: 1,
      },
      {
        msg: 'job',
        queue: 'deliver',
        outcome: 'done',
        duration_ms: 40,
        kind: 'webhook',
        result: 'ok',
        latency_ms: 70,
        delivery_id: 'd',
      },
      {
        msg: 'job',
        queue: 'deliver',
        outcome: 'done',
        duration_ms: 40,
        kind: 'webhook',
        result: 'retry',
        error: 'https://secret.example',
      },
      { msg: 'job', queue: 'deliver', outcome: 'done', duration_ms: 1, expired: 'too late' },
      { msg: 'job', queue: 'deliver', outcome: 'failed', duration_ms: 1, error: 'x' },
      { msg: 'stopped' },
    ]) {
      metrics.count(line)
    }
    const text = await metrics.text()
    expect(samplesOf(text)).toEqual([
      'watchpost_alerts_raised_total{source="custom"} 3',
      'watchpost_deliveries_dropped_total{outcome="expired"} 1',
      'watchpost_delivery_attempts_total{kind="webhook",outcome="ok"} 1',
      'watchpost_delivery_attempts_total{kind="webhook",outcome="retry"} 1',
      'watchpost_delivery_latency_seconds_count{kind="webhook"} 1',
      'watchpost_events_ingested_total{source="custom",outcome="inserted"} 4',
      'watchpost_events_ingested_total{source="nmea",outcome="dropped"} 2',
      'watchpost_events_ingested_total{source="nmea",outcome="inserted"} 5',
      'watchpost_events_ingested_total{source="usgs",outcome="inserted"} 3',
      'watchpost_events_ingested_total{source="usgs",outcome="revised"} 2',
      'watchpost_events_rejected_total{source="custom"} 1',
      'watchpost_events_rejected_total{source="usgs"} 1',
      'watchpost_http_request_duration_seconds_count{method="GET",route="/api/v1/zones/:id"} 2',
      'watchpost_http_request_duration_seconds_count{method="GET",route="/push"} 1',
      'watchpost_http_request_duration_seconds_count{method="other",route="none"} 1',
      'watchpost_http_requests_total{method="GET",route="/api/v1/zones/:id",status="200"} 1',
      'watchpost_http_requests_total{method="GET",route="/api/v1/zones/:id",status="404"} 1',
      'watchpost_http_requests_total{method="GET",route="/push",status="200"} 1',
      'watchpost_http_requests_total{method="other",route="none",status="404"} 1',
      'watchpost_job_duration_seconds_count{queue="deliver"} 4',
      'watchpost_job_duration_seconds_count{queue="ingest"} 1',
      'watchpost_job_duration_seconds_count{queue="match"} 2',
      'watchpost_jobs_total{queue="deliver",outcome="done"} 3',
      'watchpost_jobs_total{queue="deliver",outcome="failed"} 1',
      'watchpost_jobs_total{queue="ingest",outcome="done"} 1',
      'watchpost_jobs_total{queue="match",outcome="done"} 2',
    ])
    expect(text).toContain('watchpost_delivery_latency_seconds_bucket{le="0.05",kind="webhook"} 0')
    expect(text).toContain('watchpost_delivery_latency_seconds_bucket{le="0.1",kind="webhook"} 1')
    expect(text).toContain('# TYPE watchpost_http_requests_total counter')
    expect(text).toContain('process_cpu_user_seconds_total')
    expect(text).not.toMatch(/secret|somebody|4bfa0f38|gauges|mine/)
  })
})

test('a line counts only what its queue and its numbers say', async () => {
  const metrics = createMetrics()
  const done = { msg: 'job', outcome: 'done', duration_ms: 20 }
  for (const line of [
    { ...done, queue: 'deliver', cancelled: 'The zone was deleted.', alerts: 3 },
    {
      ...done,
      queue: 'release',
      expired: 'x',
      cancelled: 'x',
      result: 'ok',
      kind: 'slack',
      alerts: 3,
    },
    {
      ...done,
      queue: 'ingest',
      source: 'usgs',
      unchanged: 4,
      dropped: 1,
      inserted: 0,
      revised: -1,
    },
    { ...done, queue: 'ingest', source: 'a custom:b', inserted: '7', rejected_count: 2 },
    { ...done, queue: 'ingest', inserted: 9, rejected_count: 9 },
    { ...done, queue: 'deliver', kind: 'ntfy', result: 'ok', latency_ms: '70' },
  ]) {
    metrics.count(line)
  }
  const text = await metrics.text()
  const ours = text.split('\n').filter((line) => /^watchpost_(?!jobs|job_|queue)/.test(line))
  expect(ours.filter((line) => line.includes('{'))).toEqual([
    'watchpost_events_ingested_total{source="usgs",outcome="unchanged"} 4',
    'watchpost_events_ingested_total{source="usgs",outcome="dropped"} 1',
    'watchpost_events_rejected_total{source="a custom:b"} 2',
    'watchpost_delivery_attempts_total{kind="ntfy",outcome="ok"} 1',
    'watchpost_deliveries_dropped_total{outcome="cancelled"} 1',
  ])
  expect(text).toContain('watchpost_job_duration_seconds_sum{queue="deliver"} 0.04')
})

describe('what all processes share', () => {
  test('is read from the database, at most every 15 seconds, and forgotten while it is away', async () => {
    await database.query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds, enabled, last_success_at)
      values ('usgs', 'USGS', '', '{}', 60, true, '2026-03-01T12:00:00Z'), ('off', 'Off', '', '{}', 60, false, null)`,
    )
    await database.query(
      `insert into auth.users (id, email, email_confirmed_at) values ($1, 'owner@watchpost.test', now())`,
      [OWNER],
    )
    await database.query(
      `insert into watchpost.sources (source, title, attribution, types, interval_seconds, last_success_at, last_event_at,
        longest_silence_seconds)
      values ('silent', 'Silent', '', '{}', 60, now(), now() - interval '3 hours', 60);
      insert into watchpost.hosts (kind, host, paused_until)
      values ('slack', 'hooks.slack.com', now() + interval '1 minute'), ('slack', 'over', now() - interval '1 minute');
      insert into watchpost.channels (owner_id, kind, target_sealed, target_masked, status, enabled, paused_until, deleted_at)
      select '${OWNER}', 'webhook', 'sealed', 'masked', x.status, x.enabled, now() + x.paused, x.deleted
      from (values ('ok', true, null::interval, null::timestamptz), ('failing', true, interval '1 minute', null),
        ('failing', true, interval '-1 minute', null), ('disabled', true, null, null), ('ok', false, null, null),
        ('failing', true, interval '1 minute', now())) x (status, enabled, paused, deleted);
      insert into watchpost.deliveries (channel_id, type, status, payload, due_at, next_attempt_at)
      select c.id, x.type, 'queued', '{}', now() - x.due, now() + x.next
      from (select id from watchpost.channels limit 1) c, (values
        ('channel.confirmation', interval '2 hours', interval '-30 seconds'),
        ('channel.confirmation', interval '20 seconds', null),
        ('channel.confirmation', interval '3 hours', interval '1 hour'),
        ('channel.test', interval '4 hours', null)) x (type, due, next)`,
    )
    await database.query(
      `update watchpost.heartbeat
      set looked_at = now(), reasons = '{x}', called_at = '2026-03-01T12:00:00Z'`,
    )
    const add = (queue: string, more = '') =>
      database.query(
        `insert into pgboss.job (name, data, start_after, source_name, state)
        values ($1, '{}', now() - interval '90 seconds', 'match', 'created') ${more}`,
        [queue],
      )
    await add('match')
    await add('dead')
    await database.query(
      `insert into pgboss.job (name, data, start_after) values ('match', '{}', now() + interval '1 hour');
      insert into pgboss.job (name, data, state) values ('deliver', '{}', 'active'), ('deliver', '{}', 'completed')`,
    )
    let now = 0
    let isAway = false
    const connect: Pool['connect'] = () =>
      isAway ? Promise.reject(new Error('is away')) : jobs.connect()
    const errors: unknown[] = []
    const metrics = createMetrics({ now: () => now, on_error: (error) => errors.push(error) })
    metrics.readFrom({ ...jobs, connect })
    metrics.watchPool('jobs', () => ({ total: 3, idle: 2, waiting: 1 }))
    const text = await metrics.text()
    expect(errors).toEqual([])
    const first = samplesOf(text)
    expect(first).toEqual(
      expect.arrayContaining([
        'watchpost_database_connections{pool="jobs",state="idle"} 2',
        'watchpost_database_connections{pool="jobs",state="total"} 3',
        'watchpost_database_connections{pool="jobs",state="waiting"} 1',
        'watchpost_channels_paused{kind="webhook"} 1',
        'watchpost_channels{kind="webhook",state="disabled"} 1',
        'watchpost_channels{kind="webhook",state="failing"} 2',
        'watchpost_channels{kind="webhook",state="off"} 1',
        'watchpost_channels{kind="webhook",state="ok"} 1',
        'watchpost_heartbeat_last_call_timestamp_seconds 1772366400',
        'watchpost_hosts_paused{kind="slack"} 1',
        'watchpost_source_status{source="silent",status="stale"} 1',
        'watchpost_database_up 1',
        'watchpost_queue_jobs{queue="dead",state="waiting"} 1',
        'watchpost_queue_jobs{queue="deliver",state="running"} 1',
        'watchpost_queue_jobs{queue="match",state="failed"} 1',
        'watchpost_queue_jobs{queue="match",state="later"} 1',
        'watchpost_queue_jobs{queue="match",state="waiting"} 1',
        'watchpost_source_last_success_timestamp_seconds{source="usgs"} 1772366400',
        'watchpost_source_status{source="off",status="disabled"} 1',
      ]),
    )
    expect(
      first.filter((line) => line.startsWith('watchpost_source_status{source="usgs"')),
    ).toHaveLength(1)
    expect(text).toMatch(/^watchpost_deliveries_oldest_seconds 3\d\./m)
    expect(text).toMatch(/^watchpost_deliveries_waiting\{status="queued"\} 4$/m)
    expect(text).toMatch(/^watchpost_heartbeat_well 0$/m)
    const told = text.split('\n').filter((line) => /^# \w+ watchpost_/.test(line))
    await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('../golden/metrics.txt')
    expect(text).toMatch(/^watchpost_queue_oldest_seconds\{queue="match"\} 9\d\./m)
    await add('match')
    now = 14_999
    expect(samplesOf(await metrics.text())).toEqual(first)
    now = 15_000
    expect(await metrics.text()).toContain('watchpost_queue_jobs{queue="match",state="waiting"} 2')
    isAway = true
    now = 30_000
    const away = await metrics.text()
    expect(away).toContain('watchpost_database_up 0')
    const labelled = ['queue_jobs{', 'channels{', 'hosts_paused{', 'source_status{']
    const plain = ['deliveries_oldest_seconds ', 'heartbeat_well ', 'heartbeat_last_call_']
    for (const gone of [...labelled, ...plain]) {
      expect(away).not.toMatch(new RegExp(`^watchpost_${gone}`, 'm'))
    }
    expect(errors.map(String)).toEqual(['Error: is away'])
    isAway = false
    now = 45_000
    await database.query(`update watchpost.heartbeat set reasons = '{}', called_at = null`)
    const well = await metrics.text()
    expect(well).toContain('watchpost_database_up 1')
    expect(well).toContain('watchpost_heartbeat_well 1')
    expect(well).not.toMatch(/^watchpost_heartbeat_last_call_/m)
    now = 60_000
    await database.query('update watchpost.heartbeat set looked_at = null')
    expect(await metrics.text()).not.toMatch(/^watchpost_heartbeat_/m)
  })
})

test('the metrics are for whoever has the token', async () => {
  const metrics = createMetrics()
  const ask = async (token: string | undefined, authorization?: string) => {
    const headers: Record<string, string> = authorization ? { Authorization: authorization } : {}
    return metricsRoutes(metrics, token).request('/metrics', { headers })
  }
  const token = 'a token of 24 characters'
  for (const wrong of [undefined, 'Bearer ', `Bearer ${token}x`, token, 'Bearer undefined']) {
    const answer = await ask(token, wrong)
    expect([wrong, answer.status]).toEqual([wrong, 401])
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="watchpost metrics"')
    expect(await answer.text()).toBe('Send METRICS_TOKEN as "Authorization: Bearer …".\n')
  }
  const answer = await ask(token, `Bearer ${token}`)
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, metrics.content_type])
  expect(answer.headers.get('Cache-Control')).toBe('no-store')
  expect(metrics.content_type).toContain('text/plain; version=0.0.4')
  expect((await ask(undefined)).status).toBe(200)
  // A token that is empty by mistake opens nothing.
  expect((await ask('')).status).toBe(401)
})

describe('the service', () => {
  const start = async (more: Record<string, string>, mode: 'serve' | 'jobs' = 'serve') => {
    const lines: Record<string, unknown>[] = []
    const port = await findPort({ host: '127.0.0.1', port: 0 })
    const config = readConfig(
      {
        ...{ PORT: String(port), SEAL_KEYS: TEST_SEAL_KEY, FEEDS: 'none' },
        ...{ API_DATABASE_URL: database.apiUrl, JOBS_DATABASE_URL: database.jobsUrl, ...more },
      },
      mode,
    )
    const service = await startService(config, (line) => void lines.push(line))
    return { service, lines, url: `http://127.0.0.1:${port}` }
  }

  test('shows them beside the API with a token', async () => {
    const METRICS_TOKEN = 'a token of 24 characters'
    const { service, url } = await start({ METRICS_TOKEN })
    try {
      expect((await fetch(`${url}/metrics`)).status).toBe(401)
      await fetch(`${url}/api/v1/zones/4bfa0f38`)
      const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
      const text = await (await fetch(`${url}/metrics`, { headers })).text()
      expect(text).toContain(
        'watchpost_http_requests_total{method="GET",route="/api/v1/zones/:id",status="401"} 1',
      )
      expect(text).toContain('watchpost_database_connections{pool="api",state="total"}')
      expect(text).toContain('watchpost_database_up 1')
    } finally {
      await service.stop()
    }
  })

  test('shows them on a port of their own, and nowhere where none is asked for', async () => {
    const METRICS_PORT = String(await findPort({ host: '127.0.0.1', port: 0 }))
    const { service, url } = await start({ METRICS_PORT })
    try {
      expect((await fetch(`${url}/metrics`)).status).toBe(404)
      const own = await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)
      expect([own.status, (await own.text()).includes('watchpost_database_up 1')]).toEqual([
        200,
        true,
      ])
    } finally {
      await service.stop()
    }
  })

  test('says that jobs alone need a port for them', async () => {
    const { service, lines } = await start({ METRICS_TOKEN: 'a token of 24 characters' }, 'jobs')
    await service.stop()
    expect(lines).toContainEqual({ msg: 'metrics', error: expect.stringContaining('METRICS_PORT') })
  })
})
