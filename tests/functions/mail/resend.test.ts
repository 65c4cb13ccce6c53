import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MailRequest } from '../../../functions/channels/transport/send.ts'
import { extraHeaders, messageId } from '../../../functions/mail/mail.ts'
import { createMailApi, mailByApi } from '../../../functions/mail/resend.ts'
import { receiver } from '../../support/servers/receiver.ts'

const mail: MailRequest = {
  transport: 'mail',
  id: '7b1f0c4e-0000-4000-8000-000000000001',
  to: 'ops@example.com',
  subject: 'M 5.2 – Bodrum',
  text: 'Text',
  html: '<p>Günaydın</p>',
  date: new Date('2026-05-01T12:00:00Z'),
  thread: 'alert-1',
  is_reply: true,
  unsubscribe_url: 'https://watch.example/links/unsubscribe?token=x',
}

type Api = Awaited<ReturnType<typeof receiver>>
let api: Api
let answer: Parameters<typeof receiver>[0]
beforeAll(async () => {
  api = await receiver((response, request) => answer(response, request))
})
afterAll(() => api.close())

const sendAs = (name: string, timeout_ms = 5_000) =>
  createMailApi(
    { url: `http://127.0.0.1:${api.port}/v1`, key: 're_secret' },
    { from: { name, address: 'alerts@watch.example' }, timeout_ms },
  )(mail)

test('a mail is sent once by its id, with the headers of an alert', async () => {
  answer = (response) => response.writeHead(200).end('{"id":"49a3999c"}')
  expect(await sendAs('Watchpost')).toMatchObject({ ok: true, status: 200 })
  const [request] = api.received
  expect(request).toMatchObject({
    method: 'POST',
    path: '/v1/emails',
    headers: {
      authorization: 'Bearer re_secret',
      'idempotency-key': mail.id,
      'content-type': 'application/json',
    },
  })
  expect(JSON.parse(request?.body ?? '')).toEqual({
    from: 'Watchpost <alerts@watch.example>',
    to: ['ops@example.com'],
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      References: '<alert-1@watch.example>',
      'In-Reply-To': '<alert-1@watch.example>',
      'List-Unsubscribe': `<${mail.unsubscribe_url}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  })
})

test('a repeated attempt is the same request', async () => {
  answer = (response) => response.writeHead(200).end('{}')
  api.received.length = 0
  await sendAs('Watchpost')
  await sendAs('Watchpost')
  const [first, second] = api.received
  expect([second?.body, second?.headers['idempotency-key']]).toEqual([first?.body, mail.id])
})

test('the name of the sender cannot become another address', async () => {
  api.received.length = 0
  await sendAs('Nöbet, "A" <b@c.example>')
  expect(JSON.parse(api.received[0]?.body ?? '').from).toBe(
    '"Nöbet, \\"A\\" <b@c.example>" <alerts@watch.example>',
  )
})

test.each([
  ['Nöbet 24', 'Nöbet 24 <alerts@watch.example>'],
  ['A-B', '"A-B" <alerts@watch.example>'],
  ['a\\b', '"a\\\\b" <alerts@watch.example>'],
])('the sender %s is written %s', async (name, from) => {
  api.received.length = 0
  await sendAs(name)
  expect(JSON.parse(api.received[0]?.body ?? '').from).toBe(from)
})

test('a mail of its own has no thread, the first of a thread answers none, and not all have a way out', () => {
  const from = { name: 'Watchpost', address: 'alerts@watch.example' }
  const always = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }
  const alone = { ...mail, thread: null, unsubscribe_url: null }
  expect(extraHeaders(alone, from)).toEqual(always)
  expect(extraHeaders({ ...alone, thread: 'alert-1', is_reply: false }, from)).toEqual({
    ...always,
    References: '<alert-1@watch.example>',
  })
  expect(messageId(mail, from)).toBe(`<${mail.id}@watch.example>`)
})

test('there is no mail API where none is set', () => {
  const from = { name: 'Watchpost', address: 'alerts@watch.example' }
  expect(mailByApi(undefined)).toBeUndefined()
  expect(mailByApi({ from })).toBeUndefined()
  expect(mailByApi({ from, api: { url: 'https://a.example', key: 'k' } })).toBeTypeOf('function')
})

test('an answer comes back with its hint; a redirect is not followed', async () => {
  answer = (response) => response.writeHead(429, { 'retry-after': '7' }).end('{"name":"x"}')
  const busy = await sendAs('Watchpost')
  expect(busy).toMatchObject({ ok: true, status: 429, body: '{"name":"x"}' })
  expect(busy.ok && busy.headers.get('retry-after')).toBe('7')
  answer = (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  expect(await sendAs('Watchpost')).toMatchObject({ ok: true, status: 302 })
})

test('without an answer it says whose fault it is, and never the key', async () => {
  answer = () => undefined
  const late = await sendAs('Watchpost', 200)
  expect(late).toMatchObject({
    ok: false,
    failure: 'timeout',
    message: 'The mail API of this service did not answer in time.',
  })
  answer = (response) => response.destroy()
  const gone = await sendAs('Watchpost')
  expect(gone).toMatchObject({
    ok: false,
    failure: 'unreachable',
    message: 'The mail API of this service cannot be reached.',
  })
  expect(JSON.stringify([late, gone])).not.toContain('re_secret')
})
