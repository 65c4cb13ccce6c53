import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWebhooks } from '../../../hub/webhooks/deliver.ts'
import { seal, unseal } from '../../../hub/webhooks/seal.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject } from '../support/mission-help.ts'
import { startReceiver } from './receiver.ts'

let hub: TestHub
let receiver: Awaited<ReturnType<typeof startReceiver>>
/** How far the clock of the sender is moved. */
let shift_ms = 0
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  receiver = await startReceiver()
})
afterAll(async () => {
  await receiver.close()
  await hub.close()
})
afterEach(async () => {
  await hub.query('delete from hub.webhooks')
  receiver.reset()
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
  const made = await post('', {
    label: 'Mine',
    url: receiver.url,
    events,
    allow_private: true,
    ...more,
  })
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
const offOf = () => hub.query('select enabled, disabled_reason from hub.webhooks')
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
    expect(receiver.received).toHaveLength(5)
    expect((await states()).every(({ state }) => state === 'succeeded')).toBe(true)
    for (const { headers, body } of receiver.received) {
      const verified = new Webhook(secret).verify(body, headers as Record<string, string>)
      expect(verified).toMatchObject({ data: { project: 'rota', draft_id: id } })
      expect(body).not.toContain('ayse')
    }
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(5)
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
    receiver.answers = [{ status: 500 }, { status: 204 }]
    await told()
    const webhooks = sender()
    await webhooks.sweep()
    await webhooks.sweep()
    expect(receiver.received).toHaveLength(1)
    shift_ms = 10_000
    await webhooks.sweep()
    expect(receiver.received).toHaveLength(2)
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
    expect(await states()).toMatchObject([{ state: 'succeeded', attempts: 2 }])
  })

  test('waits as long as the receiver asks', async () => {
    await make()
    receiver.answers = [{ status: 503, headers: { 'retry-after': '120' } }]
    await told()
    const webhooks = sender()
    await webhooks.sweep()
    shift_ms = 100_000
    await webhooks.sweep()
    expect(receiver.received).toHaveLength(1)
    shift_ms = 160_000
    await webhooks.sweep()
    expect(receiver.received).toHaveLength(2)
  })

  test('is given up after eight attempts, of which a 429 is none, and turns its webhook off', async () => {
    await make()
    receiver.answers = [429, 429, 500, 500, 500, 500, 500, 500, 500, 429].map((status) => ({
      status,
    }))
    await told()
    const webhooks = sender()
    const sendAgain = async () => {
      await webhooks.sweep()
      return hub.query<{ state: string; is_later: boolean }>(
        `with due as (
          select id, state, next_at > now() + interval '50 seconds' as is_later from hub.webhook_deliveries)
        update hub.webhook_deliveries d set next_at = now() - interval '1 second' from due where due.id = d.id
        returning due.state, due.is_later`,
      )
    }
    expect(await sendAgain()).toEqual([{ state: 'queued', is_later: true }])
    while (receiver.answers.length > 0)
      expect(await sendAgain()).toMatchObject([{ state: 'queued' }])
    receiver.answers = [{ status: 500 }]
    expect(await sendAgain()).toMatchObject([{ state: 'failed' }])
    expect(await offOf()).toEqual([{ enabled: false, disabled_reason: 'failing' }])
  })

  test('waits while its webhook is off', async () => {
    const { webhook } = await make()
    await told()
    await post('/change', { id: webhook.id, enabled: false })
    await sender().sweep()
    expect(await states()).toMatchObject([{ state: 'queued', attempts: 0 }])
    await post('/change', { id: webhook.id, enabled: true })
    await sender().sweep()
    expect(await states()).toMatchObject([{ state: 'succeeded', attempts: 1 }])
  })

  test('ends with a secret of another machine, which is no fault of the receiver', async () => {
    await make()
    await told()
    await hub.query("update hub.webhooks set secret = 'of another machine'")
    await sender().sweep()
    expect(receiver.received).toHaveLength(0)
    const rows = await hub.query(
      `select state, failure, enabled from hub.webhook_deliveries d
      join hub.webhook_attempts a on a.delivery_id = d.id join hub.webhooks w on w.id = d.webhook_id`,
    )
    expect(rows).toEqual([{ state: 'failed', failure: 'secret', enabled: true }])
  })

  test('is left to itself for a minute, and nobody else sends it at once', async () => {
    await make()
    await told()
    let left = 0
    receiver.meanwhile = async () => {
      const [row] = await hub.query<{ id: string; seconds: number }>(
        'select id, extract(epoch from next_at - now())::float as seconds from hub.webhook_deliveries',
      )
      left = row?.seconds ?? 0
      expect(await sender().now(row?.id ?? '')).toBeUndefined()
    }
    await sender().sweep()
    expect(receiver.received).toHaveLength(1)
    expect(left).toBeGreaterThan(50)
    expect(left).toBeLessThanOrEqual(60)
  })

  test.each([
    ['another process sends it', "state = 'sending', attempts = attempts + 1", 'sending'],
    ['its outcome is known already', "state = 'failed'", 'failed'],
  ])('keeps its state when, as the answer comes, %s', async (_, change, state) => {
    await make()
    await told()
    receiver.meanwhile = () => hub.query(`update hub.webhook_deliveries set ${change}`)
    await sender().sweep()
    expect(receiver.received).toHaveLength(1)
    expect(await states()).toMatchObject([{ state }])
  })

  test('is given up when it is too old, and of the answer the beginning is kept', async () => {
    await make()
    receiver.answers = [{ status: 500, body: `a\0${'b'.repeat(1500)}` }]
    await told()
    await hub.query("update hub.webhook_deliveries set first_attempt_at = now() - interval '40h'")
    await sender().sweep()
    const rows = await hub.query(
      'select state, answer from hub.webhook_deliveries join hub.webhook_attempts on delivery_id = id',
    )
    expect(rows).toEqual([{ state: 'failed', answer: `a${'b'.repeat(998)}` }])
  })

  test('says no reason for a webhook that somebody has turned off meanwhile', async () => {
    await make()
    receiver.answers = [{ status: 410 }]
    await told()
    receiver.meanwhile = () => hub.query('update hub.webhooks set enabled = false')
    await sender().sweep()
    expect(await offOf()).toEqual([{ enabled: false, disabled_reason: null }])
  })

  test('ends with the webhook when the receiver is gone', async () => {
    const { webhook } = await make()
    receiver.answers = [{ status: 410 }]
    await told()
    await sender().sweep()
    expect(await offOf()).toEqual([{ enabled: false, disabled_reason: 'gone' }])
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
    await told()
    await hub.query(
      "update hub.webhook_deliveries set created_at = now() - interval '31 days', next_at = now() + interval '1 day'",
    )
    await sender().sweep()
    expect(await states()).toMatchObject([{ state: 'queued' }])
  })

  test('follows no redirect', async () => {
    await make()
    receiver.answers = [{ status: 302, headers: { location: `${receiver.url}/elsewhere` } }]
    await told()
    await sender().sweep()
    expect(receiver.received).toHaveLength(1)
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
    expect(receiver.received).toHaveLength(0)
    shift_ms = 61_000
    await webhooks.sweep()
    expect(await states()).toMatchObject([{ state: 'succeeded', attempts: 2 }])
  })

  test('is listed with its attempts and sent again as a new message', async () => {
    const { webhook } = await make()
    receiver.answers = [{ status: 410 }]
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
    await expect
      .poll(() => receiver.received.at(-1)?.headers['webhook-id'])
      .toBe(again.body.delivery.id)
  })
})

describe('a webhook', () => {
  test('is tested with the answer shown, whatever it is', async () => {
    const { webhook } = await make()
    receiver.answers = [{ status: 418 }]
    const delivery = {
      event: 'webhook.test',
      attempts: [{ status: 418, failure: null, answer: 'the answer' }],
    }
    const tested = await post('/test', { id: webhook.id })
    expect(tested).toMatchObject({ status: 200, body: { delivery } })
  })

  test('signs with the former secret too after a new one was made', async () => {
    const { webhook, secret } = await make()
    const rotated = await post('/rotate', { id: webhook.id })
    expect(rotated.body.secret).not.toBe(secret)
    await post('/test', { id: webhook.id })
    const { headers = {}, body = '' } = receiver.received[0] ?? {}
    for (const one of [secret, rotated.body.secret]) {
      expect(() => new Webhook(one).verify(body, headers as Record<string, string>)).not.toThrow()
    }
    await hub.query("update hub.webhooks set former_until = now() - interval '1 second'")
    await post('/test', { id: webhook.id })
    const last = receiver.received.at(-1)
    const known = last?.headers as Record<string, string>
    expect(() => new Webhook(secret).verify(last?.body ?? '', known)).toThrow()
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

  test('may not be in a private network unless that is allowed', async () => {
    const target = { label: 'x', url: 'https://10.0.0.5/x', events, allow_private: false }
    const body = { errors: [{ path: 'url', code: 'private' }] }
    expect(await post('', target)).toMatchObject({ status: 422, body })
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
