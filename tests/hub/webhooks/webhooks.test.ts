import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWebhooks } from '../../../hub/webhooks/deliver.ts'
import { seal, unseal } from '../../../hub/webhooks/seal.ts'
import { isForbidden } from '../../../hub/webhooks/target.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject } from '../support/mission-help.ts'

type Received = { headers: IncomingMessage['headers']; body: string }
let hub: TestHub
let receiver: Server
let url = ''
let received: Received[] = []
let answers: { status: number; headers?: Record<string, string> }[] = []
/** How far the clock of the sender is moved. */
let shift_ms = 0
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  receiver = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(parts).toString() })
      const { status, headers = {} } = answers.shift() ?? { status: 204 }
      response.writeHead(status, headers).end(status === 204 ? '' : 'the answer')
    })
  })
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', () => done()))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook` // safe: it listens on a port
})
afterAll(async () => {
  receiver.closeAllConnections()
  await new Promise((done) => receiver.close(done))
  await hub.close()
})
afterEach(async () => {
  await hub.query('delete from hub.webhooks')
  received = []
  answers = []
  shift_ms = 0
})

const post = async (path: string, body: object) => {
  const answer = await hub.call('POST', `settings/webhooks${path}`, body)
  return { status: answer.status, body: await answer.json() }
}
const events = [
  'mission.done',
  'draft.to_approve',
  'mail.replied',
  'mail.bounced',
  'mail.opted_out',
]
const make = async (more: object = {}) => {
  const made = await post('', { label: 'Mine', url, events, allow_private: true, ...more })
  expect(made.status).toBe(201)
  return made.body as { webhook: { id: string }; secret: string }
}
const sender = () => {
  const { db, config } = hub.deps
  return createWebhooks({
    db,
    paths: config.paths,
    log: () => {},
    now: () => new Date(Date.now() + shift_ms),
  })
}
const states = () =>
  hub.query<{ event: string; state: string; attempts: number }>(
    'select event, state, attempts from hub.webhook_deliveries order by created_at, event',
  )
/** A draft of the project with one recipient. */
async function draftWithRecipient() {
  const [draft] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, state)
     select id, '{"kind": "list", "filter": {}}', 'draft' from hub.projects where slug = 'rota'
     returning id`,
  )
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, email, state)
     select id, project_id, 'ayse@lead.example', 'sent' from hub.drafts where id = $1`,
    [draft?.id],
  )
  return draft?.id ?? ''
}

describe('what happens', () => {
  test('is stored with the act and delivered signed, without anything about a person', async () => {
    const { secret } = await make()
    const id = await draftWithRecipient()
    await hub.query("update hub.drafts set state = 'rendered' where id = $1", [id])
    await hub.query('update hub.recipients set replied_at = now() where draft_id = $1', [id])
    await hub.query('update hub.recipients set last_replied_at = now() where draft_id = $1', [id])
    await hub.query(
      "update hub.recipients set bounced_at = now(), bounce = 'hard', unsubscribed_at = now() where draft_id = $1",
      [id],
    )
    expect((await states()).map(({ event }) => event).sort()).toEqual([
      'draft.to_approve',
      'mail.bounced',
      'mail.opted_out',
      'mail.replied',
      'mail.replied',
    ])
    await sender().sweep()
    expect(received).toHaveLength(5)
    expect((await states()).every(({ state }) => state === 'succeeded')).toBe(true)
    for (const { headers, body } of received) {
      const verified = new Webhook(secret).verify(body, headers as Record<string, string>)
      expect(verified).toMatchObject({ data: { project: 'rota', draft_id: id } })
      expect(body).not.toContain('ayse')
    }
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(5)
  })

  test('leaves no delivery when its transaction is rolled back', async () => {
    await make()
    const id = await draftWithRecipient()
    const work = hub.deps.db.transaction('*', async (sql) => {
      await sql`update hub.drafts set state = 'rendered' where id = ${id}`
      throw new Error('rolled back')
    })
    await expect(work).rejects.toThrow('rolled back')
    expect(await states()).toEqual([])
  })

  test('is told only to who asked for it: by event, by project, and while it is on', async () => {
    await make({ events: ['mail.replied'] })
    const other = await make({ events: ['draft.to_approve'], label: 'Off' })
    await post('/change', { id: other.webhook.id, enabled: false })
    await hub.query(
      "insert into hub.projects (slug, name) values ('other', 'Other') on conflict do nothing",
    )
    await make({ events: ['draft.to_approve'], project: 'other' })
    const id = await draftWithRecipient()
    await hub.query("update hub.drafts set state = 'rendered' where id = $1", [id])
    expect(await states()).toEqual([])
  })
})

describe('a delivery', () => {
  const told = async () => {
    const id = await draftWithRecipient()
    await hub.query("update hub.drafts set state = 'rendered' where id = $1", [id])
  }

  test('is tried again after an error, not before it is due, with the same id', async () => {
    await make()
    answers = [{ status: 500 }, { status: 204 }]
    await told()
    const webhooks = sender()
    await webhooks.sweep()
    await webhooks.sweep()
    expect(received).toHaveLength(1)
    shift_ms = 10_000
    await webhooks.sweep()
    expect(received).toHaveLength(2)
    expect(received[0]?.headers['webhook-id']).toBe(received[1]?.headers['webhook-id'])
    expect(await states()).toMatchObject([{ state: 'succeeded', attempts: 2 }])
  })

  test('waits as long as the receiver asks', async () => {
    await make()
    answers = [{ status: 503, headers: { 'retry-after': '120' } }]
    await told()
    const webhooks = sender()
    await webhooks.sweep()
    shift_ms = 100_000
    await webhooks.sweep()
    expect(received).toHaveLength(1)
    shift_ms = 160_000
    await webhooks.sweep()
    expect(received).toHaveLength(2)
  })

  test('ends with the webhook when the receiver is gone', async () => {
    const { webhook } = await make()
    answers = [{ status: 410 }]
    await told()
    await sender().sweep()
    const [row] = await hub.query('select enabled, disabled_reason from hub.webhooks')
    expect(row).toEqual({ enabled: false, disabled_reason: 'gone' })
    const back = await post('/change', { id: webhook.id, enabled: true })
    expect(back.body.webhook).toMatchObject({ enabled: true, disabled_reason: null })
  })

  test('is kept for 30 days after it is over', async () => {
    await make()
    await told()
    await sender().sweep()
    await hub.query("update hub.webhook_deliveries set created_at = now() - interval '29 days'")
    await sender().sweep()
    expect(await states()).toHaveLength(1)
    await hub.query("update hub.webhook_deliveries set created_at = now() - interval '31 days'")
    await sender().sweep()
    expect(await states()).toEqual([])
  })

  test('follows no redirect', async () => {
    await make()
    answers = [{ status: 302, headers: { location: `${url}/elsewhere` } }]
    await told()
    await sender().sweep()
    expect(received).toHaveLength(1)
    expect(await states()).toMatchObject([{ state: 'queued' }])
  })

  test('is taken up again when the hub was killed while it was sent', async () => {
    await make()
    await told()
    await hub.query(
      "update hub.webhook_deliveries set state = 'sending', attempts = 1, next_at = now() + interval '1 minute'",
    )
    const webhooks = sender()
    await webhooks.sweep()
    expect(received).toHaveLength(0)
    shift_ms = 61_000
    await webhooks.sweep()
    expect(await states()).toMatchObject([{ state: 'succeeded', attempts: 2 }])
  })

  test('is listed with its attempts and sent again as a new message', async () => {
    const { webhook } = await make()
    answers = [{ status: 410 }]
    await told()
    await sender().sweep()
    await post('/change', { id: webhook.id, enabled: true })
    const path = `settings/webhooks/deliveries?webhook_id=${webhook.id}`
    const [first] = (await (await hub.call('GET', path)).json()).deliveries
    expect(first).toMatchObject({
      state: 'failed',
      attempts: [{ status: 410, answer: 'the answer' }],
    })
    const again = await post('/redeliver', { id: first.id })
    expect(again).toMatchObject({ status: 202, body: { delivery: { redelivery_of: first.id } } })
    await expect.poll(() => received.at(-1)?.headers['webhook-id']).toBe(again.body.delivery.id)
  })
})

describe('a webhook', () => {
  test('is tested with the answer shown, whatever it is', async () => {
    const { webhook } = await make()
    answers = [{ status: 418 }]
    const { status, body } = await post('/test', { id: webhook.id })
    expect(status).toBe(200)
    expect(body.delivery).toMatchObject({
      event: 'webhook.test',
      attempts: [{ status: 418, failure: null, answer: 'the answer' }],
    })
  })

  test('signs with the former secret too after a new one was made', async () => {
    const { webhook, secret } = await make()
    const rotated = await post('/rotate', { id: webhook.id })
    expect(rotated.body.secret).not.toBe(secret)
    await post('/test', { id: webhook.id })
    const [{ headers, body }] = received as [Received] // safe: the test was received
    for (const one of [secret, rotated.body.secret]) {
      expect(() => new Webhook(one).verify(body, headers as Record<string, string>)).not.toThrow()
    }
    await hub.query("update hub.webhooks set former_until = now() - interval '1 second'")
    await post('/test', { id: webhook.id })
    const last = received.at(-1)
    const old = () =>
      new Webhook(secret).verify(last?.body ?? '', last?.headers as Record<string, string>)
    expect(old).toThrow()
  })

  test('shows its secret once, and the database has it sealed', async () => {
    const { secret } = await make()
    const rows = JSON.stringify(await hub.query('select * from hub.webhooks'))
    expect(rows).not.toContain(secret.slice(6))
    expect(await (await hub.call('GET', 'settings/webhooks')).text()).not.toContain(secret)
    const sealed = await seal(hub.paths, 'a secret')
    expect(await unseal(hub.paths, sealed)).toBe('a secret')
    const broken = Buffer.from(sealed, 'base64')
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1
    expect(await unseal(hub.paths, broken.toString('base64'))).toBeUndefined()
  })

  test.each([
    ['https://10.0.0.5/x', false, 'private'],
    ['https://localhost/x', false, 'private'],
    ['https://[::1]/x', false, 'private'],
    ['https://nas.local/x', false, 'private'],
    ['http://hooks.example/x', false, 'no_https'],
    ['https://user:pass@hooks.example/x', false, 'credentials'],
    ['https://169.254.169.254/latest', true, 'forbidden'],
    ['ftp://hooks.example/x', true, 'no_https'],
    ['hooks.example', false, 'no_url'],
  ])('may not be at %s (private allowed: %s): %s', async (target, allow_private, code) => {
    const refused = await post('', { label: 'x', url: target, events, allow_private })
    expect(refused.status).toBe(422)
    expect(refused.body.errors).toMatchObject([{ path: 'url', code }])
  })

  test('is never in the networks of a machine’s own secrets', () => {
    const never = ['169.254.1.1', 'fe80::1', 'FE9f::1', 'fea0::1', 'febf::1', 'fd00:ec2::254']
    for (const address of never) expect(isForbidden(address), address).toBe(true)
    const others = ['1.169.254.1', '169.253.1.1', 'fec0::1', 'fe7f::1', '1:fe80::1', 'fd00:ec3::1']
    for (const address of others) expect(isForbidden(address), address).toBe(false)
  })

  test.each([
    ['a private network', false, '10.0.0.5'],
    ['what clouds keep secrets in, private ones allowed', true, '169.254.169.254'],
  ])('is not reached when its name leads into %s', async (_, allow_private, address) => {
    const target = { label: ' x ', url: ' https://hooks.example/x ', events, allow_private }
    const made = await post('', target)
    expect(made.body.webhook).toMatchObject({ label: 'x', url: 'https://hooks.example/x' })
    const { db, config } = hub.deps
    const reach = { resolve: async () => (allow_private ? [address] : ['93.184.215.14', address]) }
    const webhooks = createWebhooks({ db, paths: config.paths, log: () => {}, reach })
    const [row] = await hub.query<{ id: string }>(
      `insert into hub.webhook_deliveries (webhook_id, event, data)
       values ($1, 'webhook.test', '{}') returning id`,
      [made.body.webhook.id],
    )
    expect(await webhooks.now(row?.id ?? '')).toMatchObject({ failure: 'refused' })
    expect(await states()).toMatchObject([{ state: 'failed' }])
  })
})
