import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createWebhooks } from '../../../hub/webhooks/deliver.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject } from '../support/mission-help.ts'
import { startReceiver } from './receiver.ts'

let hub: TestHub
let receiver: Awaited<ReturnType<typeof startReceiver>>
/** How far the clock of the sender is moved. */
let shift_ms = 0
const HOUR_MS = 3_600_000
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  await hub.query("insert into hub.projects (slug, name) values ('other', 'Other')")
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

type Shown = { id: string; [field: string]: unknown }
const post = async (path: string, body: object) => {
  const answer = await hub.call('POST', `settings/webhooks${path}`, body)
  return { status: answer.status, body: await answer.json() }
}
const fields = (more: object = {}) => ({
  label: 'Mine',
  url: receiver.url,
  events: ['mission.done'],
  allow_private: true,
  ...more,
})
const make = async (more: object = {}) => {
  const made = await post('', fields(more))
  expect(made.status).toBe(201)
  return made.body as { webhook: Shown; secret: string }
}
const all = async (): Promise<Shown[]> =>
  (await (await hub.call('GET', 'settings/webhooks')).json()).webhooks
const sender = () =>
  createWebhooks({
    db: hub.deps.db,
    paths: hub.paths,
    log: () => {},
    now: () => new Date(Date.now() + shift_ms),
  })
/** Stores deliveries as if something had happened a while ago. */
const store = async (webhook_id: string, count = 1, minutes = 0): Promise<string[]> => {
  const rows = await hub.query<{ id: string }>(
    `insert into hub.webhook_deliveries (webhook_id, event, data, created_at, next_at)
     select $1, 'mission.done', '{}', now() - make_interval(mins => $3) + make_interval(secs => n), now()
     from generate_series(1, $2) as n returning id`,
    [webhook_id, count, minutes],
  )
  return rows.map(({ id }) => id)
}
const told = () =>
  hub.query<{ event: string; slug: string; data: object }>(
    `select event, slug, data from hub.webhook_deliveries
     join hub.projects on projects.id = project_id order by event, slug`,
  )

describe('the webhooks', () => {
  test('are 50 at most, and listed as they were made', async () => {
    await hub.query(
      `insert into hub.webhooks (label, url, events, secret, created_at)
       select n, 'https://hooks.example', '{mail.replied}', 'x', now() - make_interval(secs => 100 - n)
       from generate_series(1, 49) as n`,
    )
    await make({ label: 'The last' })
    const refused = await post('', fields())
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(refused.body.detail).toContain('50')
    const labels = (await all()).map(({ label }) => label)
    expect(labels).toEqual([...Array.from({ length: 49 }, (_, at) => `${at + 1}`), 'The last'])
  })

  test.each([
    ['a label of over 120 characters', 'label', 'x'.repeat(121), 'x'.repeat(120)],
    ['no label', 'label', ' ', 'x'],
    [
      'an address of over 2000 characters',
      'url',
      `https://hooks.example/${'x'.repeat(1979)}`,
      `https://hooks.example/${'x'.repeat(1978)}`,
    ],
    ['no event', 'events', [], ['mail.replied']],
    ['a project that is not there', 'project', 'nobody', 'rota'],
  ])('cannot have %s', async (_, field, wrong, right) => {
    const refused = { status: 422, body: { errors: [{ path: field }] } }
    expect(await post('', fields({ [field]: wrong }))).toMatchObject(refused)
    const { webhook } = await make({ [field]: right })
    expect(await post('/change', { id: webhook.id, [field]: wrong })).toMatchObject(refused)
    expect(await all()).toMatchObject([{ [field]: right }])
  })

  test('say that their project is not there, and where they are listed once they are made', async () => {
    const { errors } = (await post('', fields({ project: 'nobody' }))).body
    expect(errors).toMatchObject([{ path: 'project', code: 'not_found' }])
    const made = await hub.call('POST', 'settings/webhooks', fields())
    expect(made.headers.get('location')).toBe('/api/cockpit/settings/webhooks')
  })

  test('are of all projects, with public addresses alone, where nothing else is said', async () => {
    const made = await post('', {
      label: 'Plain',
      url: 'https://hooks.example',
      events: ['mail.replied', 'mail.bounced', 'mail.replied'],
    })
    expect(made.body.webhook).toMatchObject({
      project: null,
      allow_private: false,
      enabled: true,
      events: ['mail.replied', 'mail.bounced'],
    })
  })

  test('are changed, given a new secret and deleted one at a time', async () => {
    const one = await make()
    const two = await make({ label: 'Two' })
    const secrets = () =>
      hub.query<{ secret: string; hours: number | null }>(
        `select secret, round(extract(epoch from former_until - now()) / 3600)::int as hours
         from hub.webhooks order by created_at`,
      )
    const before = await secrets()
    expect(await post('/change', { id: one.webhook.id, label: 'One' })).toMatchObject({
      body: { webhook: { ...one.webhook, label: 'One' } },
    })
    expect((await all())[1]).toEqual(two.webhook)
    await post('/rotate', { id: one.webhook.id })
    const after = await secrets()
    // The receiver has a day to change over.
    expect(after.map(({ hours }) => hours)).toEqual([24, null])
    expect(after[0]?.secret).not.toBe(before[0]?.secret)
    expect(after[1]?.secret).toBe(before[1]?.secret)
    expect((await post('/delete', { id: one.webhook.id })).status).toBe(200)
    expect(await all()).toEqual([two.webhook])
    for (const path of ['/change', '/rotate', '/delete', '/test']) {
      expect((await post(path, { id: one.webhook.id })).status, path).toBe(404)
    }
    const list = `settings/webhooks/deliveries?webhook_id=${one.webhook.id}`
    expect((await hub.call('GET', list)).status).toBe(404)
    expect((await post('/redeliver', { id: one.webhook.id })).status).toBe(404)
  })

  test('stay with their project until another is named, or all', async () => {
    const { webhook } = await make({ project: 'rota' })
    const change = async (more: object) =>
      (await post('/change', { id: webhook.id, ...more })).body.webhook.project
    expect(await change({ label: 'Still' })).toBe('rota')
    expect(await change({ project: 'other' })).toBe('other')
    expect(await change({ project: null })).toBeNull()
  })

  test('are not moved into a private network, nor left in one that is allowed no more', async () => {
    const refused = { status: 422, body: { errors: [{ path: 'url' }] } }
    const there = await make({ url: 'https://hooks.example', allow_private: false })
    const inside = await make()
    const { id } = there.webhook
    expect(await post('/change', { id, url: 'https://10.0.0.5' })).toMatchObject(refused)
    const forbidden = { id: inside.webhook.id, allow_private: false }
    expect(await post('/change', forbidden)).toMatchObject(refused)
    expect(await all()).toEqual([there.webhook, inside.webhook])
  })

  test('that failed keep saying why while they are changed and not enabled', async () => {
    const { webhook } = await make()
    await hub.query("update hub.webhooks set enabled = false, disabled_reason = 'failing'")
    const changed = await post('/change', { id: webhook.id, label: 'Other' })
    expect(changed.body.webhook).toMatchObject({ enabled: false, disabled_reason: 'failing' })
  })
})

describe('who is told', () => {
  test('what a mission became, once, with its project, in the project of the webhook alone', async () => {
    await make({ project: 'other', events: ['mission.done', 'mission.failed', 'draft.sent'] })
    for (const slug of ['rota', 'other']) {
      for (const status of ['done', 'failed', 'cancelled']) {
        const [mission] = await hub.query<{ id: string }>(
          `insert into hub.missions (project_id, department, task, status)
           select id, 'data', 'x', 'processing' from hub.projects where slug = $1 returning id`,
          [slug],
        )
        // The second changes nothing.
        for (const _ of [1, 2]) {
          await hub.query('update hub.missions set status = $2 where id = $1', [
            mission?.id,
            status,
          ])
        }
      }
    }
    const about = { project: 'other', department: 'data' }
    expect(await told()).toMatchObject([
      { event: 'mission.done', slug: 'other', data: { ...about, status: 'done' } },
      { event: 'mission.failed', slug: 'other', data: { ...about, status: 'failed' } },
    ])
    await hub.query('delete from hub.missions')
  })

  test('that a draft waits and is sent, that a mail bounced and who opted out, once each', async () => {
    await make({ events: ['draft.to_approve', 'draft.sent', 'mail.bounced', 'mail.opted_out'] })
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
    for (const state of ['rendered', 'rendered', 'approved', 'sending', 'sent', 'sent']) {
      await hub.query('update hub.drafts set state = $2 where id = $1', [draft?.id, state])
    }
    for (const _ of [1, 2]) {
      await hub.query(
        "update hub.recipients set bounced_at = now(), bounce = 'hard', unsubscribed_at = now()",
      )
    }
    expect((await told()).map(({ event }) => event)).toEqual([
      'draft.sent',
      'draft.to_approve',
      'mail.bounced',
      'mail.opted_out',
    ])
    await hub.query('delete from hub.drafts')
  })
})

describe('the deliveries', () => {
  test('are listed by webhook, newest first, a page at a time', async () => {
    const { webhook } = await make()
    const other = await make({ label: 'Other' })
    const [first, second, third] = await store(webhook.id, 3)
    await hub.query('update hub.webhook_deliveries set created_at = now()')
    await store(other.webhook.id)
    const page = async (more = '') => {
      const path = `settings/webhooks/deliveries?webhook_id=${webhook.id}&limit=2${more}`
      const { deliveries, next_cursor } = await (await hub.call('GET', path)).json()
      return { ids: deliveries.map(({ id }: Shown) => id), next_cursor }
    }
    const one = await page()
    const two = await page(`&cursor=${encodeURIComponent(one.next_cursor)}`)
    // Of one moment, the id decides.
    expect([...one.ids, ...two.ids]).toEqual([first, second, third].sort().reverse())
    expect(two.next_cursor).toBeNull()
  })

  test('say when the next attempt is only while there is one', async () => {
    const { webhook } = await make()
    const [id] = await store(webhook.id)
    receiver.answers = [{ status: 500 }, { status: 503 }]
    const shown = async () => {
      const path = `settings/webhooks/deliveries?webhook_id=${webhook.id}`
      return (await (await hub.call('GET', path)).json()).deliveries[0]
    }
    const webhooks = sender()
    await webhooks.sweep()
    expect((await shown()).next_at).not.toBeNull()
    for (const hours of [1, 2]) {
      shift_ms = hours * HOUR_MS
      await webhooks.sweep()
    }
    const { attempts, ...rest } = await shown()
    expect(rest).toMatchObject({ id, state: 'succeeded', next_at: null })
    expect(attempts.map(({ status }: { status: number }) => status)).toEqual([500, 503, 204])
  })

  test('say when it happened, and are signed with the time at which they are sent', async () => {
    const { webhook, secret } = await make()
    await store(webhook.id, 1, 600)
    await sender().sweep()
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
    // It refuses what was signed over five minutes ago.
    new Webhook(secret).verify(body, headers as Record<string, string>)
    const age_ms = Date.now() - Date.parse(JSON.parse(body).timestamp)
    expect(Math.round(age_ms / 60_000)).toBe(600)
  })

  test('go five at a time, in the order in which they are due', async () => {
    const { webhook } = await make()
    const ids = await store(webhook.id, 7)
    await hub.query(
      `update hub.webhook_deliveries set next_at = now() - make_interval(secs => place)
       from unnest($1::uuid[]) with ordinality as one (known, place) where id = known`,
      [ids],
    )
    const taken: string[][] = []
    receiver.meanwhile = async () => {
      const rows = await hub.query<{ id: string }>(
        "select id from hub.webhook_deliveries where state <> 'queued'",
      )
      taken.push(rows.map(({ id }) => id))
    }
    await sender().sweep()
    expect(receiver.received).toHaveLength(7)
    expect(taken[0]?.toSorted()).toEqual(ids.slice(2).toSorted())
  })

  test('wait while the receiver asks for less, for as long as they have waited already', async () => {
    const { webhook } = await make()
    const [id] = await store(webhook.id)
    receiver.answers = [{ status: 500 }, { status: 429 }]
    const webhooks = sender()
    await webhooks.sweep()
    shift_ms = 600_000
    await webhooks.sweep()
    const [row] = await hub.query<{ seconds: number }>(
      'select extract(epoch from next_at - now())::int as seconds from hub.webhook_deliveries where id = $1',
      [id],
    )
    expect(Math.round(((row?.seconds ?? 0) - 600) / 60)).toBe(10)
  })

  test('fail after ten seconds without an answer, or where nobody listens, and are tried again', async () => {
    const { webhook } = await make()
    const gone = await startReceiver()
    await gone.close()
    const shut = await make({ url: gone.url })
    const [unheard] = await store(shut.webhook.id)
    await sender().sweep()
    const [slow] = await store(webhook.id)
    const never = Promise.withResolvers<void>()
    receiver.meanwhile = () => never.promise
    const { timeout } = AbortSignal
    const patience = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 200))
    try {
      await sender().sweep()
      expect(patience).toHaveBeenCalledWith(10_000)
    } finally {
      patience.mockRestore()
      never.resolve()
    }
    const rows = await hub.query(
      `select d.id, d.state, a.failure, d.delivered_at, w.enabled from hub.webhook_deliveries as d
       join hub.webhook_attempts as a on a.delivery_id = d.id
       join hub.webhooks as w on w.id = d.webhook_id`,
    )
    const waiting = { state: 'queued', delivered_at: null, enabled: true }
    expect(rows).toHaveLength(2)
    expect(rows).toContainEqual({ id: slow, failure: 'timeout', ...waiting })
    expect(rows).toContainEqual({ id: unheard, failure: 'unreachable', ...waiting })
  })

  test('are not sent to an address that is allowed no more', async () => {
    const { webhook } = await make()
    await store(webhook.id)
    await hub.query('update hub.webhooks set allow_private = false')
    await sender().sweep()
    expect(receiver.received).toEqual([])
    const rows = await hub.query(
      `select state, failure, enabled from hub.webhook_deliveries as d
       join hub.webhook_attempts as a on a.delivery_id = d.id
       join hub.webhooks as w on w.id = d.webhook_id`,
    )
    // Nobody refused it, so the webhook stays on.
    expect(rows).toEqual([{ state: 'failed', failure: 'refused', enabled: true }])
  })

  test('stay in their project when they are sent again', async () => {
    const { webhook } = await make()
    const [id] = await store(webhook.id)
    await hub.query(
      `update hub.webhook_deliveries set state = 'failed', project_id = (
         select id from hub.projects where slug = 'other')`,
    )
    expect((await post('/redeliver', { id })).status).toBe(202)
    expect(await told()).toMatchObject([{ slug: 'other' }, { slug: 'other' }])
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 20_000)
  })
})
