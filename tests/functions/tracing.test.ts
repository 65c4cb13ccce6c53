import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../functions/config.ts'
import { inTransaction } from '../../functions/db.ts'
import { type Feed, feedError } from '../../functions/feeds/feed.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { startService } from '../../functions/service.ts'
import { startTracing } from '../../functions/tracing/otlp/otlp.ts'
import { traceMail } from '../../functions/tracing/outgoing.ts'
import { NO_TRACING, traceCall } from '../../functions/tracing/tracing.ts'
import { CreatedChannel, CreatedZone } from '../support/delivery-service.ts'
import { createTestJobs, quake } from '../support/jobs.ts'
import { receiver } from '../support/servers/receiver.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  TEST_SEAL_KEY,
} from '../support/service.ts'
import { runWithout, spansIn, wayTo } from '../support/spans.ts'

let collector: Awaited<ReturnType<typeof receiver>>
let service: Service
const api = { tracing: NO_TRACING }
beforeAll(async () => {
  collector = await receiver((response) => void response.writeHead(200).end('{}'))
  service = await createService({
    // Each test has a tracing of its own, because what was recorded is sent when it stops.
    tracing: {
      is_on: true,
      span: (options, work) => api.tracing.span(options, work),
      traceparent: () => api.tracing.traceparent(),
      stop: async () => undefined,
    },
  })
})
afterAll(async () => {
  await service.close()
  collector.close()
})

const tracingAs = (service_name: string, more: object = {}) =>
  startTracing(
    {
      url: collector.url,
      protocol: 'http/json',
      service_name,
      sampler: 'parentbased_always_on',
      ratio: 1,
      ...more,
    },
    (problem) => {
      throw new Error(problem)
    },
  )

/** What was sent to the collector since the last call. */
const spans = () => spansIn(collector.received.splice(0))

async function watch(person: Person, target: string, more: object = {}): Promise<string> {
  const post = (path: string, body: object) =>
    service.request('POST', `/api/v1/${path}`, { key: person.key, body })
  const { channel } = parsed(
    await post('channels', { kind: 'webhook', target }),
    201,
    CreatedChannel,
  )
  const zone = { label: 'A place', lat: 33.9, lon: -117.5, channel_ids: [channel.id], ...more }
  return parsed(await post('zones', zone), 201, CreatedZone).zone.id
}

const CALLER = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' }
const traceparent = `00-${CALLER.trace}-${CALLER.span}-01`

test('a trace leads from the request of a caller through two processes to the receiver', async () => {
  const person = await service.person()
  await watch(person, 'https://hooks.example.com/in')
  const jobs = await createTestJobs(service, { tracing: NO_TRACING })
  await jobs.drain()
  await jobs.close()
  api.tracing = tracingAs('the api')
  const event = { id: 'a', type: 'earthquake', title: 'A quake', lat: 33.9, lon: -117.5 }
  const answer = await service.request('POST', '/api/v1/events', {
    key: person.key,
    headers: { traceparent, tracestate: 'vendor=what-a-caller-says' },
    body: {
      source: 'custom:own',
      events: [{ ...event, ts: new Date().toISOString(), severity: 90 }],
    },
  })
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('created')])
  await api.tracing.stop()
  api.tracing = NO_TRACING
  const tracing = tracingAs('the jobs')
  const other = await createTestJobs(service, { tracing })
  await other.drain()
  await tracing.stop()
  await other.close()
  const all = spans()
  const way = wayTo('settle_deliveries', all)
  expect(way).toEqual([
    'settle_deliveries',
    'process deliver',
    'raise_alerts',
    'match',
    'process match',
    'POST /api/v1/events',
  ])
  expect(wayTo('claim_deliveries', all)[1]).toBe('process deliver')
  for (const name of way) expect(all.find((span) => span.name === name)?.traceId).toBe(CALLER.trace)
  const [first, deliver] = ['POST /api/v1/events', 'process deliver'].map((name) =>
    all.find((span) => span.name === name),
  )
  expect(first).toMatchObject({ parentSpanId: CALLER.span, service: 'the api' })
  expect(first?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/api/v1/events',
    'http.response.status_code': 200,
  })
  expect(deliver?.service).toBe('the jobs')
  expect(deliver?.attributes).toMatchObject({
    'messaging.system': 'pg-boss',
    'messaging.destination.name': 'deliver',
    'messaging.operation.type': 'process',
    'watchpost.kind': 'webhook',
    'watchpost.result': 'ok',
  })
  expect(JSON.stringify(all)).not.toContain('what-a-caller-says')
})

test('a trace leads from the poll of a feed to the answer of the receiver, and nothing in it is secret', async () => {
  const SECRETS = {
    feed_key: 'MAPKEY0123456789',
    target: 'T0KEN-IN-A-PATH',
    query: 'T0KEN-IN-A-QUERY',
    header: 'T0KEN-IN-A-HEADER',
    address: 'ada.lovelace',
    error: 'T0KEN-IN-AN-ERROR',
    page: 'T0KEN-OF-A-PAGE',
  }
  const upstream = await receiver((response) => void response.writeHead(200).end('{}'))
  const target = await receiver((response) => void response.writeHead(204).end())
  const person = await service.person({ email: `${SECRETS.address}@example.com` })
  const here = { lat: 10, lon: 10 }
  const post = (path: string, body: object) =>
    service.request('POST', `/api/v1/${path}`, { key: person.key, body })
  let polls = 0
  const feed: Feed = {
    source: 'slow',
    title: 'A feed',
    attribution: '',
    types: ['earthquake'],
    interval_seconds: 1,
    poll: async ({ fetch }) => {
      polls += 1
      const url = new URL(`/csv/${SECRETS.feed_key}/all?key=${SECRETS.feed_key}`, upstream.url)
      await fetch(url, { headers: { Authorization: SECRETS.header } })
      if (polls > 1) throw feedError('unreadable', `nothing at ${url} ${SECRETS.error}`)
      const events = [quake({ id: 'slow:1', source: 'slow', ...here })]
      return { events, rejected: [], state: {}, not_modified: false }
    },
  }
  const config = readConfig(
    {
      ...{ SEAL_KEYS: TEST_SEAL_KEY, FEEDS: 'none', ALLOW_PRIVATE_TARGETS: '127.0.0.1' },
      ...{ JOBS_DATABASE_URL: service.database.jobsUrl, OTEL_SERVICE_NAME: 'the jobs' },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin },
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
    'jobs',
  )
  config.feeds = [feed]
  api.tracing = tracingAs('the api')
  // The addresses of receivers, with everything that may be secret in them.
  const secret_target = `${target.url}/${SECRETS.target}?token=${SECRETS.query}`
  await service.database.query('select 1')
  const made = await post('channels', {
    kind: 'webhook',
    target: 'https://hooks.example.com/in',
    config: { headers: { Authorization: SECRETS.header } },
  })
  const { channel } = parsed(made, 201, CreatedChannel)
  await service.database.query('update watchpost.channels set target_sealed = $2 where id = $1', [
    channel.id,
    await service.seal.seal(secret_target),
  ])
  parsed(
    await post('zones', { label: 'Here', ...here, channel_ids: [channel.id] }),
    201,
    CreatedZone,
  )
  await service.request('GET', `/api/v1/feeds/${SECRETS.page}.atom?k=${SECRETS.query}`)
  await service.request('GET', `/links/acknowledge?token=${SECRETS.page}`)
  await service.request('GET', `/no/such/${SECRETS.page}`)
  await api.tracing.stop()
  api.tracing = NO_TRACING
  const lines: Record<string, unknown>[] = []
  const running = await startService(config, (line) => void lines.push(line))
  try {
    await expect.poll(() => target.received.length, { interval: 20 }).toBe(1)
    await expect.poll(() => polls, { interval: 20 }).toBeGreaterThan(1)
  } finally {
    await running.stop()
  }
  const sent = collector.received.map(({ body }) => body).join()
  const all = spans()
  expect(wayTo('settle_deliveries', all)).toEqual([
    'settle_deliveries',
    'process deliver',
    'raise_alerts',
    'match',
    'process match',
    'ingest_events',
    'process ingest',
  ])
  const { traceId } = all.find(({ name }) => name === 'settle_deliveries') ?? {}
  const parents = ['GET', 'POST'].map((method) => {
    const span = all.find((one) => one.name === method && one.traceId === traceId)
    expect(span?.attributes).toEqual({
      'http.request.method': method,
      'http.response.status_code': method === 'GET' ? 200 : 204,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL((method === 'GET' ? upstream : target).url).port),
      'url.scheme': 'http',
    })
    return all.find(({ spanId }) => spanId === span?.parentSpanId)?.name
  })
  expect(parents).toEqual(['process ingest', 'process deliver'])
  const delivered = lines.find(({ queue, result }) => queue === 'deliver' && result === 'ok')
  expect(delivered).toMatchObject({ trace_id: traceId })
  // The collector got all of it, and the secrets were really used.
  expect(target.received[0]?.path).toContain(SECRETS.target)
  expect(target.received[0]?.headers.authorization).toBe(SECRETS.header)
  expect(upstream.received[0]?.path).toContain(SECRETS.feed_key)
  expect(JSON.stringify(lines)).toContain(SECRETS.error)
  expect(sent).toContain('GET /api/v1/feeds/:file')
  for (const secret of [...Object.values(SECRETS), person.key, channel.signing_secret]) {
    expect(sent).not.toContain(secret)
  }
  upstream.close()
  target.close()
})

test('a mail has a span that does not tell its recipient', async () => {
  const tracing = tracingAs('mail')
  const send = traceMail(tracing, async () => ({
    ok: false,
    failure: 'timeout',
    message: 'to ada@example.com',
    duration_ms: 1,
  }))
  await send?.({
    ...{ transport: 'mail', id: 'm', to: 'ada@example.com', subject: 's', text: 't', html: 'h' },
    ...{ date: new Date(), thread: null, is_reply: false, unsubscribe_url: null },
  })
  await tracing.stop()
  const [span, ...others] = spans()
  expect(others).toEqual([])
  expect(span).toMatchObject({
    name: 'send mail',
    attributes: { 'error.type': 'timeout' },
    status: { code: 2 },
  })
  expect(JSON.stringify(span)).not.toContain('ada@')
})

test('a digest is linked to the messages that it carries', async () => {
  const person = await service.person()
  const clock = (minutes: number) =>
    new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  const here = { lat: -20, lon: 20 }
  const zone = await watch(person, 'https://hooks.example.com/digest', {
    ...here,
    quiet_hours_start: clock(-60),
    quiet_hours_end: clock(60),
  })
  const tracing = tracingAs('the jobs')
  const jobs = await createTestJobs(service, { tracing })
  for (const lat of [-20, -20.1]) {
    await jobs.ingest(quake({ ...here, lat }))
    await jobs.drain()
  }
  const loud = { quiet_hours_start: null, quiet_hours_end: null }
  await service.request('PATCH', `/api/v1/zones/${zone}`, { key: person.key, body: loud })
  await jobs.drain()
  await tracing.stop()
  await jobs.close()
  const all = spans()
  const digest = all.find(({ attributes }) => attributes['watchpost.type'] === 'alert.digest')
  const raised = all.filter(({ name }) => name === 'raise_alerts')
  expect(raised).toHaveLength(2)
  expect(digest?.links.map(({ spanId }) => spanId).sort()).toEqual(
    raised.map(({ spanId }) => spanId).sort(),
  )
  expect(wayTo('process deliver', all)).toEqual([
    'process deliver',
    'release_held',
    'process match_zone',
  ])
})

test('batches that are matched together go on in the trace of the oldest, with links to the others', async () => {
  const tracing = tracingAs('the jobs')
  const jobs = await createTestJobs(service, { tracing })
  for (const name of ['first', 'second', 'third']) {
    await inTransaction(jobs.db, (sql) =>
      traceCall({ tracing, sql }, { name }, () => ingestEvents(sql, 'test', [quake({ lat: 70 })])),
    )
  }
  await jobs.drain()
  await tracing.stop()
  await jobs.close()
  const all = spans()
  const match = all.find(({ name }) => name === 'match')
  expect(wayTo('match', all).at(-1)).toBe('first')
  const linked = match?.links.map((link) => all.find(({ spanId }) => spanId === link.spanId)?.name)
  expect(linked).toEqual(['second', 'third'])
})

test('each of many alerts at once has a trace of its own that is linked to what raised it', async () => {
  const person = await service.person()
  const here = { lat: 40, lon: 40 }
  await watch(person, 'https://hooks.example.com/many', here)
  const tracing = tracingAs('the jobs')
  const jobs = await createTestJobs(service, { tracing })
  await jobs.ingest(...Array.from({ length: 21 }, () => quake(here)))
  await jobs.drain()
  await tracing.stop()
  await jobs.close()
  const all = spans()
  const raised = all.find(({ name }) => name === 'raise_alerts')
  const sent = all.filter(({ name }) => name === 'claim_deliveries')
  const roots = all.filter(({ name }) => name === 'process deliver')
  expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(roots.length)
  expect(roots.length).toBeGreaterThanOrEqual(21)
  expect(sent.length).toBeGreaterThanOrEqual(21)
  for (const { parentSpanId, links, traceId } of roots) {
    expect(parentSpanId).toBeUndefined()
    expect(traceId).not.toBe(raised?.traceId)
    expect(links.map(({ spanId }) => spanId)).toEqual([raised?.spanId])
  }
})

test('a sampler decides what is recorded, and a trace that is not has no id in the log', async () => {
  const names = async (sampler: string, ratio: number, parent: string | null) => {
    const tracing = tracingAs('sampled', { sampler, ratio })
    await tracing.span({ name: 'a span', parent }, async () => undefined)
    await tracing.stop()
    return spans().length
  }
  const unsampled = traceparent.replace(/01$/, '00')
  expect([
    await names('always_on', 1, unsampled),
    await names('always_off', 1, traceparent),
    await names('traceidratio', 0, traceparent),
    await names('parentbased_always_on', 1, unsampled),
    await names('parentbased_always_on', 1, null),
    await names('parentbased_always_off', 1, traceparent),
    await names('parentbased_always_off', 1, null),
    await names('parentbased_traceidratio', 0, null),
    await names('parentbased_traceidratio', 1, 'no traceparent at all'),
  ]).toEqual([1, 0, 0, 0, 1, 1, 0, 0, 1])
})

test('spans that were not accepted are told of', async () => {
  const refusing = await receiver((response) => void response.writeHead(400).end('{}'))
  const problems: string[] = []
  const tracing = startTracing(
    {
      url: refusing.url,
      protocol: 'http/protobuf',
      service_name: undefined,
      sampler: 'always_on',
      ratio: 1,
    },
    (problem) => void problems.push(problem),
  )
  // So many are sent at once.
  for (let count = 0; count < 512; count += 1) {
    await tracing.span({ name: 'a span' }, async () => undefined)
  }
  await expect.poll(() => problems).toEqual(['OTLPExporterError: Bad Request'])
  expect(refusing.received[0]?.headers['content-type']).toBe('application/x-protobuf')
  await tracing.stop()
  refusing.close()
})

test('nothing of it is loaded where it is off, and what is missing where it is on is said', async () => {
  const off = await runWithout(service.database.jobsUrl, {})
  expect(off.text).toContain('running the jobs')
  const on = await runWithout(service.database.jobsUrl, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
  })
  expect([on.code, on.text]).toEqual([1, expect.stringContaining('sh scripts/setup.sh tracing')])
})
