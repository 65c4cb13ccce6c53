import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listmonk } from '../../../../hub/mail/listmonk/listmonk.ts'
import { checkListmonk } from '../../../../hub/mail/listmonk/listmonk-check.ts'
import { PERMISSIONS } from './listmonk-answering.ts'
import { type ListmonkStandIn, startListmonk } from './listmonk-stand-in.ts'

let standIn: ListmonkStandIn
beforeAll(async () => {
  standIn = await startListmonk()
})
afterAll(() => standIn.close())

describe('failures are sorted', () => {
  const input = { name: 'F', tag: 'failures' }

  test('no connection is not sent', async () => {
    const client = listmonk({ url: 'http://127.0.0.1:1', user: 'a', token: 'b' })
    const post = client.blocklist([1])
    await expect(post).rejects.toMatchObject({
      kind: 'not_sent',
      message: expect.stringMatching(/ECONNREFUSED/),
    })
    const name = listmonk({ url: 'http://listmonk.invalid', user: 'a', token: 'b' })
    await expect(name.blocklist([1])).rejects.toMatchObject({ kind: 'not_sent' })
    expect(await checkListmonk({ url: 'http://127.0.0.1:1', user: 'a', token: 'b' })).toMatchObject(
      {
        ok: false,
        version: null,
        message: { en: expect.stringMatching(/no connection/) },
      },
    )
  })

  test('no certificate we trust is not sent', async () => {
    const client = listmonk({ url: standIn.url.replace('http', 'https'), user: 'a', token: 'b' })
    await expect(client.blocklist([1])).rejects.toMatchObject({ kind: 'not_sent' })
  })

  test.each(['drop_before', 'drop_after', 'error'] as const)(
    '%s of a write is unclear',
    async (fault) => {
      const client = listmonk(standIn)
      standIn.failNext('POST', '/lists', fault)
      const tag = `fault-${fault}`
      await expect(client.ensureList({ name: 'Fault', tag })).rejects.toMatchObject({
        kind: 'unclear',
      })
      const made = [...standIn.state.lists.values()].filter((list) => list.tags.includes(tag))
      expect(made).toHaveLength(fault === 'drop_after' ? 1 : 0)
      await client.ensureList({ name: 'Fault', tag })
      const after = [...standIn.state.lists.values()].filter((list) => list.tags.includes(tag))
      expect(after).toHaveLength(1)
    },
  )

  test('a read that got no answer changed nothing', async () => {
    standIn.failNext('GET', '/lists', 'drop_after')
    const client = listmonk(standIn)
    await expect(client.ensureList(input)).rejects.toMatchObject({ kind: 'not_sent' })
  })

  test.each([
    ['no answer in time', null],
    ['an answer of another program', '<html>'],
    ['an answer of another shape', '{"data":{"id":"x"}}'],
  ])('%s to a write is unclear', async (_, answer) => {
    const server = createServer((request, response) => {
      request.resume()
      if (answer !== null) response.setHeader('content-type', 'application/json').end(answer)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo // safe: it listens on TCP
    const settings = { url: `http://127.0.0.1:${port}`, user: 'a', token: 'b' }
    const client = listmonk(settings, { answer_timeout_ms: 300 })
    await expect(client.blocklist([1])).rejects.toMatchObject({
      kind: 'unclear',
      status: answer === null ? null : 200,
    })
    server.closeAllConnections()
    server.close()
  })

  test.each([
    ['a read', 500, 'refused'],
    ['a read', 404, 'refused'],
    ['a write', 500, 'unclear'],
    ['a write', 502, 'unclear'],
    ['a write', 499, 'refused'],
    ['a write', 400, 'refused'],
    ['a write', 399, 'refused'],
    ['a write', 300, 'refused'],
  ])(
    '%s that is answered by %i is told, in its own words unless it is elsewhere: %s',
    async (what, status, kind) => {
      const server = createServer((request, response) => {
        request.resume()
        response.setHeader('content-type', 'application/json')
        response.writeHead(status).end('{"message":"No such thing"}')
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo // safe: it listens on TCP
      const client = listmonk({ url: `http://127.0.0.1:${port}`, user: 'a', token: 'b' })
      // Behind a redirect another program speaks.
      const words = status < 400 ? /^(?!.*No such thing)/ : new RegExp(`${status}.*No such thing`)
      await expect(
        what === 'a read' ? client.bounces() : client.blocklist([1]),
      ).rejects.toMatchObject({
        kind,
        status,
        message: expect.stringMatching(words),
      })
      server.closeAllConnections()
      server.close()
    },
  )

  test('somebody who is there, but hidden from the token, is refused by name', async () => {
    const server = createServer((request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json')
      if (request.method === 'POST') response.writeHead(409).end('{"message":"exists"}')
      else response.end('{"data":{"results":[]}}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo // safe: it listens on TCP
    const client = listmonk({ url: `http://127.0.0.1:${port}`, user: 'a', token: 'b' })
    const hidden = { email: 'ada@client.example', name: 'Ada', list_id: 1, attribs: {} }
    await expect(client.subscribe(hidden)).rejects.toMatchObject({
      kind: 'refused',
      status: 409,
      message: expect.stringContaining('ada@client.example'),
    })
    server.closeAllConnections()
    server.close()
  })

  test('a redirect is refused and the token is not carried on', async () => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(request.url ?? '')
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo // safe: it listens on TCP
    const client = listmonk({ url: `http://127.0.0.1:${port}`, user: 'a', token: 'b' })
    await expect(client.blocklist([1])).rejects.toMatchObject({ kind: 'refused', status: 302 })
    expect(seen).toEqual(['/api/subscribers/blocklist'])
    server.closeAllConnections()
    server.close()
  })

  test.each(PERMISSIONS)('a missing %s is named', async (missing) => {
    const all = (await checkListmonk(standIn)).permissions.map((each) => each.name)
    const limited = await startListmonk({ permissions: all.filter((name) => name !== missing) })
    const check = await checkListmonk(limited)
    expect(check.ok).toBe(false)
    expect(check.missing).toContain(missing)
    expect(check.message.en).toContain(missing)
    expect(check.message.tr).toContain(`eksik: ${missing}`)
    await limited.close()
  })
})
