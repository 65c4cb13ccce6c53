import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Aedes, type AuthenticateError } from 'aedes'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Notification } from '../../../functions/channels/channel.ts'
import { mqtt } from '../../../functions/channels/mqtt.ts'
import type { MqttRequest } from '../../../functions/channels/transport/send.ts'
import { mqttSender } from '../../../functions/channels/transport/send-mqtt.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { LOCALHOST } from '../../support/servers/mail-server.ts'

const here = parseAllowList('127.0.0.1')
const nowhere = parseAllowList('')
const NOW = new Date('2026-11-23T00:00:00Z')
const TEST: Notification = {
  type: 'channel.test',
  timestamp: '2026-11-23T00:00:00.000Z',
  alert: null,
  zone: null,
}

type Heard = { topic: string; payload: string; qos: number; retain: boolean }
const heard: Heard[] = []
const servers: Server[] = []
const sockets = new Set<Socket>()
let broker: Aedes
let port: number

async function listen(
  onSocket: (socket: Socket) => unknown,
  open: (listener: (socket: Socket) => void) => Server = createServer,
): Promise<number> {
  const server = open((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  // safe: the server listens on TCP
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  broker = await Aedes.createBroker()
  broker.authenticate = (_, username, password, done) => {
    if (username === undefined || password?.toString() === 'right') return done(null, true)
    const returnCode = username === 'busy' ? 3 : 4
    done(Object.assign(new Error('refused'), { returnCode }) as AuthenticateError, null)
  }
  broker.authorizePublish = (_, { topic }, done) =>
    done(topic.startsWith('forbidden') ? new Error('forbidden') : null)
  broker.on('publish', ({ topic, payload, qos, retain }, client) => {
    if (client) heard.push({ topic, payload: payload.toString(), qos, retain })
  })
  port = await listen(broker.handle)
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  await new Promise<void>((resolve) => broker.close(resolve))
})

const message = (target: string, config: unknown = {}, notification = TEST) => ({
  id: '7c9f0ad4-3c12-4cb0-8a4f-6a7a3ad80001',
  notification,
  target,
  config,
  secrets: [],
  now: NOW,
  language: 'en' as const,
  time_zone: 'UTC',
  public_url: null,
  remote_ref: null,
  acknowledge_url: null,
})

async function deliver(target: string, config: unknown = {}, send = mqttSender({ allow: here })) {
  // safe: this kind renders nothing else
  const request = (await mqtt.render(message(target, config))) as MqttRequest
  return mqtt.classify(await send(request), NOW)
}

describe('over a broker', () => {
  test('a message is published once, confirmed, and says its id', async () => {
    heard.length = 0
    const target = `mqtt://127.0.0.1:${port}/watchpost/d%C3%A9p%C3%B4t`
    expect(await deliver(target)).toEqual({ outcome: 'ok', throttled: false, counted: true })
    expect(heard).toMatchObject([{ topic: 'watchpost/dépôt', qos: 1, retain: false }])
    expect(JSON.parse(heard[0]?.payload ?? '')).toEqual({
      id: '7c9f0ad4-3c12-4cb0-8a4f-6a7a3ad80001',
      type: 'channel.test',
      timestamp: '2026-11-23T00:00:00.000Z',
      data: { alert: null, zone: null },
    })
  })

  test('QoS 2, retained, with a user name', async () => {
    heard.length = 0
    const config = { username: 'us', password: 'right', qos: 2, retain: true }
    expect(await deliver(`mqtt://127.0.0.1:${port}/last`, config)).toMatchObject({ outcome: 'ok' })
    expect(heard).toMatchObject([{ topic: 'last', qos: 2, retain: true }])
  })

  test('a wrong password disables the channel, a busy broker is tried again', async () => {
    const target = `mqtt://127.0.0.1:${port}/a`
    const wrong = await deliver(target, { username: 'us', password: 's3cret' })
    expect(wrong).toMatchObject({ outcome: 'disable_channel' })
    expect(wrong.error).not.toContain('s3cret')
    expect(await deliver(target, { username: 'busy', password: 'x' })).toMatchObject({
      outcome: 'retry',
    })
  })

  test('each message is of a client of its own, of which the broker keeps nothing', async () => {
    const clients: { id: string; clean: boolean }[] = []
    const note = ({ id, clean }: { id: string; clean: boolean }) => void clients.push({ id, clean })
    broker.on('client', note)
    for (let time = 0; time < 2; time += 1) await deliver(`mqtt://127.0.0.1:${port}/a`)
    broker.off('client', note)
    expect(clients).toMatchObject([{ clean: true }, { clean: true }])
    for (const { id } of clients) expect(id).toMatch(/^watchpost-[0-9a-f]{12}$/)
    expect(clients[0]?.id).not.toBe(clients[1]?.id)
  })

  test('what came of it is told in numbers', async () => {
    const target = `mqtt://127.0.0.1:${port}/a`
    // safe: this kind renders nothing else
    const request = (await mqtt.render(message(target, {}))) as MqttRequest
    const result = await mqttSender({ allow: here })(request)
    expect(result).toMatchObject({ ok: true, status: 0, body: '' })
    expect(Number.isInteger(result.duration_ms)).toBe(true)
    expect(result.duration_ms).toBeLessThan(15_000)
  })

  test('at an address of IPv6 it is found too', async () => {
    const server = createServer(broker.handle).listen(0, '::1')
    servers.push(server)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // safe: the server listens on TCP
    const send = mqttSender({ allow: parseAllowList('::1') })
    expect(await deliver(`mqtt://[::1]:${port}/a`, {}, send)).toMatchObject({ outcome: 'ok' })
  })

  test('a broker that does not confirm has not taken the message', async () => {
    heard.length = 0
    expect(await deliver(`mqtt://127.0.0.1:${port}/forbidden/a`)).toMatchObject({
      outcome: 'retry',
    })
    expect(heard).toEqual([])
  })
})

describe('where no broker answers', () => {
  test.each<[string, (socket: Socket) => unknown, string]>([
    ['hangs up', (socket) => socket.destroy(), 'dropped'],
    ['speaks HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), 'dropped'],
    ['says nothing', () => undefined, 'in time'],
  ])('one that %s is tried again', async (_, onSocket, words) => {
    const target = `mqtt://127.0.0.1:${await listen(onSocket)}/a`
    const found = await deliver(target, {}, mqttSender({ allow: here, timeout_ms: 300 }))
    expect(found).toMatchObject({ outcome: 'retry', error: expect.stringContaining(words) })
  })

  test('a connection without TLS where TLS was asked for is not used', async () => {
    const found = await deliver(`mqtts://127.0.0.1:${port}/a`)
    expect(found).toMatchObject({ outcome: 'retry' })
  })

  test('a broker that cannot show a certificate for its name is told nothing', async () => {
    heard.length = 0
    const secure = await listen(broker.handle, (listener) => createTlsServer(LOCALHOST, listener))
    const config = { username: 'us', password: 'right' }
    const trusting = mqttSender({ allow: here, ca: LOCALHOST.cert })
    const at = (host: string, send = trusting) =>
      deliver(`mqtts://${host}:${secure}/a`, config, send)
    const stranger = { outcome: 'retry', error: expect.stringContaining('TLS certificate') }
    expect(await at('localhost', mqttSender({ allow: here }))).toMatchObject(stranger)
    expect(await at('127.0.0.1')).toMatchObject(stranger)
    expect(heard).toEqual([])
    expect(await at('localhost')).toMatchObject({ outcome: 'ok' })
    expect(heard).toHaveLength(1)
  })

  test('private addresses are refused, as literals and as what a name resolves to', async () => {
    const connections = sockets.size
    const resolve = async () => ['127.0.0.1']
    const guarded = mqttSender({ allow: nowhere, resolve })
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'broker.example']) {
      const found = await deliver(`mqtts://${host}:${port}/a`, {}, guarded)
      expect(found, host).toMatchObject({ outcome: 'fail_permanent' })
    }
    expect(sockets.size).toBe(connections)
  })
})

describe('what is saved', () => {
  const codes = (target: string, config: unknown = null) =>
    mqtt.check({ target, config, allow: nowhere }).map(({ path, code }) => `${path} ${code}`)

  test('a broker with a topic passes', () => {
    expect(codes('mqtts://broker.example.com/watchpost/alerts')).toEqual([])
    expect(codes('mqtts://broker.example.com:8884/a', { qos: 2, retain: true })).toEqual([])
    expect(codes(`mqtts://broker.example.com/${'é'.repeat(250)}`)).toEqual([])
  })

  test.each([
    ['https://broker.example.com/a', 'target scheme'],
    ['mqtts:broker.example.com', 'target scheme'],
    ['mqtts://broker.example.com', 'target topic'],
    ['mqtts://broker.example.com/', 'target topic'],
    ['mqtts://broker.example.com/a/+/b', 'target topic'],
    ['mqtts://broker.example.com/a/%23', 'target topic'],
    ['mqtts://broker.example.com/%00', 'target topic'],
    ['mqtts://broker.example.com/%FF', 'target topic'],
    ['mqtts://broker.example.com/$SYS/a', 'target topic'],
    [`mqtts://broker.example.com/${'a'.repeat(501)}`, 'target topic'],
    [`mqtts://broker.example.com/${'é'.repeat(251)}`, 'target topic'],
    ['mqtts://broker.example.com/a#b', 'target malformed'],
    ['mqtts://broker.example.com/a?b', 'target malformed'],
    ['mqtts://us:pw@broker.example.com/a', 'target credentials'],
    ['mqtt://broker.example.com/a', 'target plain_http'],
    ['mqtts://0x7f.1/a', 'target private_address'],
    ['mqtts://[::1]/a', 'target private_address'],
    ['mqtts://localhost/a', 'target private_name'],
  ])('%s is refused', (target, code) => {
    expect(codes(target)).toEqual([code])
  })

  test('a config is checked by its names', () => {
    const target = 'mqtts://broker.example.com/a'
    expect(codes(target, { qos: 0 })).toEqual(['config.qos invalid_union'])
    expect(codes(target, { user: 'a' })).toEqual(['config unrecognized_keys'])
    expect(codes(target, { username: '' })).toEqual(['config.username too_small'])
  })

  test.each([
    ['https://broker.example.com/a', 'Send the broker and the topic as a URL such as mqtts://'],
    ['mqtts://broker.example.com/', 'Name the topic after the broker: mqtts://'],
    ['mqtts://broker.example.com/a?b', 'The topic must not contain "?" or "#". Write %3F'],
    ['mqtts://broker.example.com/%23', 'A topic to publish to has no "+", "#" or NUL'],
    [`mqtts://broker.example.com/${'a'.repeat(501)}`, 'The topic must have at most 500 bytes.'],
  ])('of %s it is said what is wrong', (target, words) => {
    const [issue] = mqtt.check({ target, config: null, allow: nowhere })
    expect(issue?.message.slice(0, words.length)).toBe(words)
  })

  test('what was never saved is not sent', async () => {
    await expect(mqtt.render(message('mqtts://a.example/b', { qos: 7 }))).rejects.toThrow(
      'the config of this channel was checked when it was saved',
    )
    expect(mqtt.mask('nothing')).toBe('…')
  })

  test('the topic is masked, which may say what is watched', () => {
    expect(mqtt.mask('mqtts://broker.example.com:8883/watchpost/alerts')).toBe(
      'mqtts://broker.example.com:8883/…',
    )
  })
})
