import { describe, expect, test } from 'vitest'
import type {
  MailRequest,
  MqttRequest,
  SendRequest,
  SendResult,
} from '../../functions/channels/transport/send.ts'
import { readConfig } from '../../functions/config.ts'
import { traceFetch, traceMail, traceMqtt, traceSend } from '../../functions/tracing/outgoing.ts'
import {
  callSpan,
  errorType,
  NO_TRACING,
  originOf,
  type SpanOptions,
  type Tracing,
  traceIdOf,
} from '../../functions/tracing/tracing.ts'

const LEAST = {
  JOBS_DATABASE_URL: 'postgres://watchpost_jobs:b@localhost/postgres',
  SEAL_KEYS: Buffer.alloc(32, 1).toString('base64'),
}
const settingsOf = (given: Record<string, string>) =>
  readConfig({ ...LEAST, ...given }, 'jobs').tracing

const OK: SendResult = { ok: true, status: 204, headers: new Headers(), body: '', duration_ms: 1 }
const LATE: SendResult = { ok: false, failure: 'timeout', message: 'secret', duration_ms: 1 }

type Told = SpanOptions & { set: object; failed: string | undefined }

/** Keeps what a tracing was told. */
function recorder() {
  const told: Told[] = []
  const tracing: Tracing = {
    ...NO_TRACING,
    is_on: true,
    span: (options, work) => {
      const span: Told = { ...options, set: {}, failed: undefined }
      told.push(span)
      return work({
        set: (attributes) => void Object.assign(span.set, attributes),
        rename: (name) => void Object.assign(span, { name }),
        fail: (type) => void Object.assign(span, { failed: String(type) }),
      })
    },
  }
  return { told, tracing }
}

describe('the settings of tracing', () => {
  const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example.com' }

  test('are none without an address, and where it is switched off', () => {
    expect(settingsOf({})).toBeUndefined()
    expect(settingsOf({ OTEL_SERVICE_NAME: 'jobs' })).toBeUndefined()
    expect(settingsOf({ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
    expect(settingsOf({ ...ENDPOINT, OTEL_SDK_DISABLED: 'false' })).toBeDefined()
  })

  test('record everything by default, in protobuf', () => {
    expect(settingsOf(ENDPOINT)).toEqual({
      url: 'https://otlp.example.com/v1/traces',
      protocol: 'http/protobuf',
      service_name: undefined,
      sampler: 'parentbased_always_on',
      ratio: 1,
    })
  })

  test('are those that were given', () => {
    expect(
      settingsOf({
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces.example.com/in/',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_SERVICE_NAME: 'jobs',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
      }),
    ).toEqual({
      url: 'http://traces.example.com/in/',
      protocol: 'http/json',
      service_name: 'jobs',
      sampler: 'traceidratio',
      ratio: 0.25,
    })
  })

  test.each([
    ['https://otlp.example.com/', 'https://otlp.example.com/v1/traces'],
    ['https://otlp.example.com//', 'https://otlp.example.com/v1/traces'],
    ['http://otlp.example.com:4318/a/b', 'http://otlp.example.com:4318/a/b/v1/traces'],
  ])('send traces for %s to %s', (OTEL_EXPORTER_OTLP_ENDPOINT, url) => {
    expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT })?.url).toBe(url)
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://own.example.com' }
    expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT, ...own })?.url).toBe('https://own.example.com')
  })

  test.each([
    'always_on',
    'always_off',
    'traceidratio',
    'parentbased_always_on',
    'parentbased_always_off',
    'parentbased_traceidratio',
  ])('take the sampler %s', (sampler) => {
    expect(settingsOf({ ...ENDPOINT, OTEL_TRACES_SAMPLER: sampler })?.sampler).toBe(sampler)
  })

  test.each(['0', '1'])('take the ratio %s', (ratio) => {
    const given = { ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: ratio }
    expect(settingsOf(given)?.ratio).toBe(Number(ratio))
  })

  const RATIO = 'must be a number from 0 to 1'
  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://otlp.example.com', 'must be an http or https URL'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'xhttp://otlp.example.com', 'must be an http or https URL'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'httpx://a.example', 'must be an http or https URL'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'must be one of http/protobuf, http/json'],
    ['OTEL_TRACES_SAMPLER', 'x', /must be one of always_on, .*, parentbased_traceidratio/],
    ['OTEL_TRACES_SAMPLER_ARG', 'half', RATIO],
    ['OTEL_TRACES_SAMPLER_ARG', '-0.1', RATIO],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1', RATIO],
    ['OTEL_SDK_DISABLED', 'yes', 'must be one of true, false'],
  ])('refuse %s=%s', (name, value, sentence) => {
    expect(() => settingsOf({ ...ENDPOINT, [name]: value })).toThrow(sentence)
  })
})

describe('a request to a feed', () => {
  const traced = async (status: number, ...asked: Parameters<typeof fetch>) => {
    const { told, tracing } = recorder()
    const answer = new Response(null, { status })
    const fetched = await traceFetch(tracing, async () => answer)(...asked)
    expect(fetched).toBe(answer)
    return told
  }

  test.each([
    ['https://a.example/secret?key=secret', 443, 'https'],
    ['http://a.example/secret', 80, 'http'],
    ['https://a.example:8443/secret', 8443, 'https'],
    ['http://a.example:443/', 443, 'http'],
  ])('%s has a span with its host and nothing more', async (url, port, scheme) => {
    const attributes = {
      'http.request.method': 'GET',
      'server.address': 'a.example',
      'server.port': port,
      'url.scheme': scheme,
    }
    const expected = {
      ...{ name: 'GET', kind: 'client', attributes, failed: undefined },
      set: { 'http.response.status_code': 200 },
    }
    expect(await traced(200, url)).toEqual([expected])
    expect(await traced(200, new URL(url))).toEqual([expected])
    expect(await traced(200, new Request(url))).toEqual([expected])
  })

  test('is called by its method', async () => {
    const url = 'https://a.example/'
    expect(await traced(200, url, { method: 'POST' })).toMatchObject([{ name: 'POST' }])
    const request = new Request(url, { method: 'PUT' })
    expect(await traced(200, request)).toMatchObject([
      { name: 'PUT', attributes: { 'http.request.method': 'PUT' } },
    ])
    expect(await traced(200, request, { method: 'POST' })).toMatchObject([{ name: 'POST' }])
  })

  test('has failed from status 400 on', async () => {
    expect(await traced(304, 'https://a.example/')).toMatchObject([{ failed: undefined }])
    expect(await traced(399, 'https://a.example/')).toMatchObject([{ failed: undefined }])
    expect(await traced(400, 'https://a.example/')).toMatchObject([
      { failed: '400', set: { 'http.response.status_code': 400 } },
    ])
  })
})

describe('a message', () => {
  const REQUEST: SendRequest = {
    ...{ url: 'https://a.example/secret', method: 'POST', headers: {}, body: 'secret' },
  }
  const MQTT: MqttRequest = {
    ...{ transport: 'mqtt', url: 'mqtts://a.example', topic: 'secret', payload: 'secret' },
    ...{ qos: 1, retain: false },
  }
  const MAIL: MailRequest = {
    ...{ transport: 'mail', id: 'm', to: 'secret', subject: 'secret', text: 't', html: 'h' },
    ...{ date: new Date(0), thread: null, is_reply: false, unsubscribe_url: null },
  }
  const giving = (result: SendResult) => async () => result

  test('to a receiver has a span with the status, or why there is none', async () => {
    const { told, tracing } = recorder()
    expect(await traceSend(tracing, giving(OK))(REQUEST)).toBe(OK)
    expect(await traceSend(tracing, giving({ ...OK, status: 410 }))(REQUEST)).toMatchObject({
      status: 410,
    })
    expect(await traceSend(tracing, giving(LATE))(REQUEST)).toBe(LATE)
    expect(told).toMatchObject([
      { name: 'POST', set: { 'http.response.status_code': 204 }, failed: undefined },
      { name: 'POST', set: { 'http.response.status_code': 410 }, failed: '410' },
      { name: 'POST', set: {}, failed: 'timeout' },
    ])
    expect(told[2]?.set).toEqual({})
    expect(JSON.stringify(told)).not.toContain('secret')
  })

  test('to an address that cannot be read is left to what sends it', async () => {
    const { told, tracing } = recorder()
    expect(await traceSend(tracing, giving(LATE))({ ...REQUEST, url: 'nowhere' })).toBe(LATE)
    expect(told).toEqual([])
  })

  test('by mail or to a broker has a span without its content', async () => {
    const { told, tracing } = recorder()
    expect(await traceMail(tracing, giving(OK))?.(MAIL)).toBe(OK)
    expect(await traceMail(tracing, giving(LATE))?.(MAIL)).toBe(LATE)
    expect(await traceMqtt(tracing, giving(OK))?.(MQTT)).toBe(OK)
    expect(await traceMqtt(tracing, giving(LATE))?.(MQTT)).toBe(LATE)
    const mail = { name: 'send mail', kind: 'client', set: {} }
    const attributes = { 'messaging.system': 'mqtt', 'messaging.operation.type': 'send' }
    const mqtt = { name: 'send mqtt', kind: 'producer', attributes, set: {} }
    expect(told).toEqual([
      { ...mail, failed: undefined },
      { ...mail, failed: 'timeout' },
      { ...mqtt, failed: undefined },
      { ...mqtt, failed: 'timeout' },
    ])
  })

  test('goes its plain way where tracing is off, and none where there is no way', () => {
    const { tracing } = recorder()
    const send = giving(OK)
    const plain = async () => new Response()
    expect(traceFetch(NO_TRACING, plain)).toBe(plain)
    expect(traceSend(NO_TRACING, send)).toBe(send)
    expect(traceMail(NO_TRACING, send)).toBe(send)
    expect(traceMqtt(NO_TRACING, send)).toBe(send)
    expect(traceMail(tracing, undefined)).toBeUndefined()
    expect(traceMqtt(tracing, undefined)).toBeUndefined()
  })
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE}-b7ad6b7169203331`

test.each([
  [undefined, undefined],
  [`${PARENT}-01`, TRACE],
  [`${PARENT}-03`, TRACE],
  [`${PARENT}-ff`, TRACE],
  [`${PARENT}-00`, undefined],
  [`${PARENT}-02`, undefined],
  [`${PARENT}-f0`, undefined],
  [`x${PARENT}-01`, undefined],
  [`${PARENT}-01x`, undefined],
  [`01${PARENT.slice(2)}-01`, undefined],
])('the trace of %s that is recorded is %s', (traceparent, id) => {
  expect(traceIdOf({ ...NO_TRACING, traceparent: () => traceparent })).toBe(id)
})

test('a job apart starts a trace that is linked to what led to it', () => {
  expect(originOf(`${PARENT}-01 apart`)).toEqual({ parent: null, links: [`${PARENT}-01`] })
})

test('a call of the database is named after its function', () => {
  expect(callSpan('match', { 'watchpost.kind': 'webhook' })).toEqual({
    name: 'match',
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.stored_procedure.name': 'private.match',
      'watchpost.kind': 'webhook',
    },
  })
})

test.each([
  ['a text', 'Error'],
  [new TypeError('secret'), 'TypeError'],
  [Object.assign(new Error('secret'), { code: 'ECONNRESET' }), 'ECONNRESET'],
  [Object.assign(new Error('secret'), { code: 23505 }), '23505'],
  [Object.assign(new Error('secret'), { code: 'not a word' }), 'Error'],
  [Object.assign(new Error('secret'), { code: 'x'.repeat(60) }), 'x'.repeat(60)],
  [Object.assign(new Error('secret'), { code: 'x'.repeat(61) }), 'Error'],
  [Object.assign(new Error('secret'), { code: '' }), 'Error'],
])('the word for the error %s is %s', (error, word) => {
  expect(errorType(error)).toBe(word)
})
