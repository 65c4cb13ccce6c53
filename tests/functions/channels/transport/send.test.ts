import { Socket } from 'node:net'
import tls from 'node:tls'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Resolve } from '../../../../functions/channels/transport/plain-http.ts'
import { explain, nodeSend } from '../../../../functions/channels/transport/send-node.ts'
import { workersSend } from '../../../../functions/channels/transport/send-workers.ts'
import { parseAllowList } from '../../../../functions/channels/transport/target.ts'
import { rawReceiver, receiver } from '../../../support/servers/receiver.ts'

const open: { close: () => void }[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})
function opened<T extends { close: () => void }>(server: T): T {
  open.push(server)
  return server
}

const here = parseAllowList('127.0.0.1')
const nowhere = parseAllowList('')
const post = (url: string) => ({ url, method: 'POST' as const, headers: {}, body: '{}' })
const ok = async () => opened(await receiver((response) => response.end('thanks')))

describe.each([
  ['node', nodeSend({ allow: here })],
  ['workers', workersSend({ allow: here })],
] as const)('on %s', (_, send) => {
  test('what was asked is sent, and the answer comes back', async () => {
    const { url, received } = await ok()
    const headers = { 'content-type': 'application/json', 'x-a': 'b' }
    const result = await send({ url, method: 'POST', headers, body: '{"ö":1}' })
    expect(result).toMatchObject({ ok: true, status: 200, body: 'thanks' })
    expect(received).toMatchObject([{ method: 'POST', path: '/hook', headers, body: '{"ö":1}' }])
  })

  test('a GET has no body', async () => {
    const { url, received } = await ok()
    const asked = { url, method: 'GET', headers: {}, body: '' } as const
    expect(await send(asked)).toMatchObject({ ok: true, status: 200 })
    expect(received).toMatchObject([{ method: 'GET', body: '' }])
    expect(received[0]?.headers).not.toHaveProperty('content-length')
  })

  test('an answer without a body is empty', async () => {
    const { url } = opened(await receiver((response) => response.writeHead(204).end()))
    expect(await send(post(url))).toMatchObject({ ok: true, status: 204, body: '' })
  })

  test('a header that the caller sets is sent once, whatever its case', async () => {
    const { url, received } = await ok()
    await send({ url, method: 'POST', headers: { Accept: 'text/plain' }, body: '{}' })
    expect(received).toMatchObject([{ headers: { accept: 'text/plain' } }])
  })

  test('a redirect is an answer and is not followed', async () => {
    const inside = await ok()
    const { url } = opened(
      await receiver((response) => {
        response.writeHead(302, { location: inside.url }).end()
      }),
    )
    expect(await send(post(url))).toMatchObject({ ok: true, status: 302 })
    expect(inside.connections()).toBe(0)
  })

  test('a target that is not permitted is refused before any connection', async () => {
    const { port, connections } = await ok()
    for (const host of ['[::ffff:127.0.0.2]', 'metadata', '169.254.169.254', '127.0.0.2']) {
      const result = await send(post(`https://${host}:${port}/s3cr3t`))
      expect(result).toMatchObject({ ok: false, failure: 'refused' })
    }
    expect(connections()).toBe(0)
  })

  test('a body without end is read to 16 KiB, and its connection is given up', async () => {
    const ended = vi.fn()
    const { url } = opened(
      await receiver((response) => {
        response.on('close', ended)
        const fill = () => {
          while (response.write('x'.repeat(65_536)));
        }
        response.on('drain', fill)
        fill()
      }),
    )
    const result = await send(post(url))
    expect(result).toMatchObject({ ok: true, status: 200, body: 'x'.repeat(16_384) })
    await vi.waitFor(() => expect(ended).toHaveBeenCalled(), 20_000)
  })

  test('an answer is waited for 15 seconds', async () => {
    const { url } = opened(await rawReceiver(() => {}))
    const timeout = AbortSignal.timeout
    const waits = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(20))
    try {
      expect(await send(post(url))).toMatchObject({ ok: false, failure: 'timeout' })
      expect(waits.mock.calls).toEqual([[15_000]])
    } finally {
      waits.mockRestore()
    }
  })

  test('a connection that is refused or reset before the answer is unreachable', async () => {
    const closed = await receiver(() => {})
    closed.close()
    const reset = opened(await rawReceiver((socket) => socket.resetAndDestroy()))
    const hung_up = opened(await rawReceiver((socket) => socket.end()))
    const babble = opened(await rawReceiver((socket) => socket.end('220 smtp ready\r\n')))
    for (const { url } of [closed, reset, hung_up, babble]) {
      expect(await send(post(url))).toMatchObject({ ok: false, failure: 'unreachable' })
    }
  })

  test('a connection that breaks after the status has still said the status', async () => {
    const { url } = opened(
      await rawReceiver((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npartial', () => socket.end())
      }),
    )
    expect(await send(post(url))).toMatchObject({ ok: true, status: 200, body: 'partial' })
  })
})

test('what some services refuse a request without is sent, unless the caller says otherwise', async () => {
  const { url, received } = await ok()
  const send = nodeSend({ allow: here })
  await send(post(url))
  await send({ ...post(url), headers: { 'User-Agent': 'x', Accept: 'y' } })
  expect(received).toMatchObject([
    { headers: { accept: '*/*', 'user-agent': expect.stringMatching(/^Watchpost\/\d/) } },
    { headers: { accept: 'y', 'user-agent': 'x' } },
  ])
})

describe('time', () => {
  const send = nodeSend({ allow: here, timeout_ms: 100 })

  test('a receiver that says nothing times out', async () => {
    const { url } = opened(await rawReceiver(() => {}))
    expect(await send(post(url))).toMatchObject({ ok: false, failure: 'timeout' })
  })

  test('a receiver that sends headers endlessly slowly times out', async () => {
    const { url } = opened(
      await rawReceiver((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const drip = setInterval(() => socket.write('x-a: b\r\n'), 5)
        socket.on('close', () => clearInterval(drip))
      }),
    )
    expect(await send(post(url))).toMatchObject({ ok: false, failure: 'timeout' })
  })

  test('a receiver that sends its body endlessly slowly still counts by its status', async () => {
    const { url } = opened(
      await receiver((response) => {
        const drip = setInterval(() => response.write('.'), 5)
        response.on('close', () => clearInterval(drip))
      }),
    )
    const result = await send(post(url))
    expect(result).toMatchObject({ ok: true, status: 200, body: expect.stringMatching(/^\.+$/) })
  })
})

describe('names', () => {
  const resolving = (...answers: string[][]) => {
    const asked: string[] = []
    const resolve: Resolve = async (host) => {
      asked.push(host)
      return answers[Math.min(asked.length, answers.length) - 1] ?? []
    }
    return { resolve, asked }
  }

  test('connects to the very address that was checked', async () => {
    const { port, received } = await ok()
    const { resolve, asked } = resolving(['127.0.0.1'])
    const send = nodeSend({ allow: here, resolve })
    expect(await send(post(`http://hooks.example.org:${port}/`))).toMatchObject({ ok: true })
    expect(asked).toEqual(['hooks.example.org'])
    expect(received[0]?.headers.host).toBe(`hooks.example.org:${port}`)
  })

  test('a name that was public when saved and is private when dialled is refused', async () => {
    const { port, connections } = await ok()
    const { resolve, asked } = resolving(['127.0.0.1'])
    const send = nodeSend({ allow: nowhere, resolve })
    const result = await send(post(`https://rebind.example.org:${port}/`))
    expect(result).toMatchObject({ ok: false, failure: 'refused' })
    expect(asked).toHaveLength(1)
    expect(connections()).toBe(0)
  })

  test.each([
    ['one private address among public ones', ['93.184.215.14', '10.0.0.1']],
    ['a private IPv6 address among public ones', ['93.184.215.14', 'fd00::1']],
    ['a mapped private address', ['::ffff:10.0.0.1']],
    ['what is no address', ['example.org']],
  ])('%s is refused', async (_, addresses) => {
    const { resolve } = resolving(addresses)
    const send = nodeSend({ allow: here, resolve })
    expect(await send(post('https://hooks.example.org/'))).toMatchObject({ failure: 'refused' })
  })

  test('a public address is not dialled over plain http because some range is permitted', async () => {
    const { resolve } = resolving(['93.184.215.14'])
    const send = nodeSend({ allow: here, resolve })
    expect(await send(post('http://hooks.example.org/'))).toMatchObject({ failure: 'refused' })
  })

  test('a public address is dialled over https, and called by its family', async () => {
    const addresses = ['93.184.215.14', '2606:4700::1111']
    const dialled: unknown[] = []
    const connect = vi.spyOn(tls, 'connect').mockImplementation(((
      options: tls.ConnectionOptions,
    ) => {
      const tell = (error: unknown, found: unknown) => void dialled.push(error ?? found)
      options.lookup?.('hooks.example.org', { all: true }, tell)
      options.lookup?.('hooks.example.org', { all: false }, tell)
      return new Socket()
    }) as typeof tls.connect)
    try {
      const { resolve } = resolving(addresses)
      const send = nodeSend({ allow: nowhere, resolve, timeout_ms: 50 })
      expect(await send(post('https://hooks.example.org/'))).toMatchObject({ failure: 'timeout' })
      const [four, six] = [
        { address: addresses[0], family: 4 },
        { address: addresses[1], family: 6 },
      ]
      expect(dialled).toEqual([[four, six], addresses[0]])
    } finally {
      connect.mockRestore()
    }
  })

  test('a permitted name is dialled wherever it leads, another name that leads there is not', async () => {
    const { port, connections } = await ok()
    const { resolve } = resolving(['127.0.0.1'])
    const send = nodeSend({ allow: parseAllowList('relay'), resolve })
    expect(await send(post(`http://relay:${port}/`))).toMatchObject({ ok: true })
    const other = await send(post(`https://other.example.org:${port}/`))
    expect(other).toMatchObject({ failure: 'refused' })
    expect(connections()).toBe(1)
  })

  test('localhost needs no DNS and leads to the permitted loopback address', async () => {
    const { port } = await ok()
    const { resolve, asked } = resolving(['10.0.0.1'])
    const send = nodeSend({ allow: here, resolve })
    expect(await send(post(`http://localhost:${port}/`))).toMatchObject({ ok: true })
    expect(asked).toEqual([])
  })

  test('a name that cannot be resolved is not sent to, and may be tried again', async () => {
    const failing = nodeSend({ allow: nowhere, resolve: () => Promise.reject(new Error('down')) })
    const empty = nodeSend({ allow: nowhere, resolve: async () => [] })
    for (const send of [failing, empty]) {
      const result = await send(post('https://hooks.example.org/'))
      expect(result).toMatchObject({ ok: false, failure: 'unresolvable' })
    }
  })
})

test('https to a receiver that speaks no TLS is called that', async () => {
  const { port } = await ok()
  const send = nodeSend({ allow: here })
  expect(await send(post(`https://127.0.0.1:${port}/`))).toMatchObject({ failure: 'tls' })
})

test('no failure tells the target', async () => {
  const { port } = await ok()
  const { url } = opened(await rawReceiver((socket) => socket.resetAndDestroy()))
  const send = nodeSend({
    allow: here,
    resolve: () => Promise.reject(new Error('s3cr3t.example.org')),
  })
  for (const target of [
    `${url}/s3cr3t`,
    'https://10.0.0.1/s3cr3t',
    'https://s3cr3t.example.org/s3cr3t',
    `https://127.0.0.1:${port}/s3cr3t`,
  ]) {
    const result = JSON.stringify(await send(post(target)))
    expect(result).toContain('"ok":false')
    expect(result).not.toMatch(/s3cr3t|127\.0\.0\.1|10\.0\.0\.1/)
  }
})

test('several addresses that do not answer in time are one timeout', () => {
  const late = Object.assign(new Error('connect'), { code: 'ETIMEDOUT' })
  expect(explain(new TypeError('fetch failed', { cause: new AggregateError([late, late]) }))).toBe(
    'timeout',
  )
})
