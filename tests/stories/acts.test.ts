import { describe, expect, test } from 'vitest'
import { type Channel, DEFAULT_MESSAGES } from '../../shared/schemas/channel.ts'
import { CreatedZone } from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { type Person, sendResult } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// What channels hear of what people do with an alert.
const at = createStory()

const KEY = 'a'.repeat(32)
/** The service of PagerDuty: of each key the state of its incident. */
let incidents: Record<string, string>

/** Sends what waits, without the pace of the channels. */
async function drain() {
  await at.query(`delete from watchpost.rate_limits where bucket like 'channel:%'`)
  await at.jobs.drain()
}

type Acted = { person: Person; id: string }
type Scene = Acted & { event: ReturnType<typeof quake>; zone: string }

/** An alert that went to a channel of PagerDuty and to the given webhook. */
async function alerted(webhook: Partial<Channel> = {}, fields: object = {}): Promise<Scene> {
  const person = await at.service.person()
  await at.ask(person, 'POST', 'channels', { kind: 'pagerduty', target: KEY })
  await at.channelOf(person, webhook)
  const here = at.place()
  const body = { label: 'The coast', ...here, ...fields }
  const { zone } = await at.make(person, 'zones', body, CreatedZone)
  await drain()
  answerAsPagerDuty()
  const event = quake({ ...here, severity: 45 })
  await at.jobs.ingest(event)
  await drain()
  return { person, id: (await at.alertOf(person)).id, event, zone: zone.id }
}

function answerAsPagerDuty() {
  incidents = {}
  at.service.receiver.answer = ({ url, body }) => {
    if (!url.includes('pagerduty.com')) return sendResult(200, 'ok')
    const { event_action, dedup_key } = JSON.parse(body)
    const state = incidents[dedup_key]
    if (event_action === 'trigger') incidents[dedup_key] = state === 'acknowledge' ? state : 'open'
    else if (state !== undefined) incidents[dedup_key] = event_action
    return sendResult(202, JSON.stringify({ status: 'success', dedup_key }))
  }
}

const act = async ({ person, id }: Acted, body: object | 'acknowledge') => {
  const answer =
    body === 'acknowledge'
      ? await at.ask(person, 'POST', `alerts/${id}/acknowledge`)
      : await at.ask(person, 'PATCH', `alerts/${id}`, body)
  expect(answer.status).toBe(200)
}
const resolve = (scene: Acted) => act(scene, { resolved: true })
const reopen = (scene: Acted) => act(scene, { resolved: false })

const requests = (host: string) =>
  at.service.receiver.requests
    .filter(({ url }) => url.includes(host))
    .map(({ body }) => JSON.parse(body))
const actions = () => requests('pagerduty.com').map(({ event_action }) => event_action)
const types = () => requests('hooks.example.com').map(({ type }) => type)
const states = () => Object.values(incidents)

const ALL = [
  'alert.raised',
  'alert.escalated',
  'alert.acknowledged',
  'alert.resolved',
  'alert.reopened',
] as const

describe('an incident of PagerDuty', () => {
  test('is acknowledged, resolved and opened again with its alert; a webhook hears of it on request', async () => {
    const scene = await alerted()
    expect(states()).toEqual(['open'])
    for (const [does, state] of [
      [() => act(scene, 'acknowledge'), 'acknowledge'],
      [() => resolve(scene), 'resolve'],
      [() => reopen(scene), 'open'],
      [() => resolve(scene), 'resolve'],
    ] as const) {
      await does()
      await drain()
      expect(states()).toEqual([state])
    }
    expect(actions()).toEqual(['trigger', 'acknowledge', 'resolve', 'trigger', 'resolve'])
    expect(DEFAULT_MESSAGES).not.toContain('alert.resolved')
    expect(types()).toEqual(['alert.raised'])
  })

  test('is told nothing that changes nothing', async () => {
    const scene = await alerted()
    await resolve(scene)
    await resolve(scene)
    await act(scene, 'acknowledge')
    await act(scene, { note: 'False alarm' })
    await drain()
    expect(actions()).toEqual(['trigger', 'resolve'])
  })

  test('follows also where the channel takes first messages alone', async () => {
    const scene = await alerted()
    await at.query(
      `update watchpost.channels set messages = '{alert.raised}' where owner_id = $1`,
      [scene.person.user_id],
    )
    await resolve(scene)
    await drain()
    expect([actions(), types()]).toEqual([['trigger', 'resolve'], ['alert.raised']])
  })

  test('is opened again by an escalation, once', async () => {
    const scene = await alerted({ messages: [...ALL] })
    await resolve(scene)
    await drain()
    await at.jobs.ingest({ ...scene.event, severity: 90 })
    await drain()
    expect(actions()).toEqual(['trigger', 'resolve', 'trigger'])
    expect(types()).toEqual(['alert.raised', 'alert.resolved', 'alert.escalated'])
    await resolve(scene)
    await drain()
    expect(states()).toEqual(['resolve'])
  })

  test('is not opened again for what is over', async () => {
    const scene = await alerted()
    await at.jobs.ingest({ ...scene.event, status: 'ended' })
    await resolve(scene)
    await reopen(scene)
    await drain()
    expect(states()).toEqual(['resolve'])
    expect(actions().filter((action) => action === 'trigger')).toHaveLength(1)
  })

  test('never begins where the alert was resolved before its message was sent', async () => {
    const scene = await alerted({ messages: [...ALL] }, QUIET)
    expect(at.service.receiver.requests).toEqual([])
    await resolve(scene)
    await drain()
    expect(at.service.receiver.requests).toEqual([])
    await at.ask(scene.person, 'PATCH', `zones/${scene.zone}`, LOUD)
    await drain()
    expect([states(), actions()]).toEqual([[], ['resolve']])
  })

  test.each([1, 2])(
    'is acknowledged at once where %i were seen while they were held',
    async (count) => {
      const scene = await alerted({ messages: [...ALL] }, QUIET)
      const { lat, lon } = scene.event
      if (count > 1) await at.jobs.ingest(quake({ lat, lon, type: 'flood', severity: 50 }))
      await drain()
      const alerts = await at.alertsOf(scene.person)
      expect(alerts).toHaveLength(count)
      for (const { id } of alerts) await act({ ...scene, id }, 'acknowledge')
      await drain()
      expect(at.service.receiver.requests).toEqual([])
      await at.ask(scene.person, 'PATCH', `zones/${scene.zone}`, LOUD)
      await drain()
      await drain()
      expect(states()).toEqual(Array(count).fill('acknowledge'))
      const each = ['alert.acknowledged', 'alert.raised'].flatMap((type) => Array(count).fill(type))
      expect(types().toSorted()).toEqual(each)
    },
  )

  test('of a drill is resolved when the drill is over, and nobody else is told', async () => {
    const scene = await alerted({ messages: [...ALL] })
    const channels = await at.query('select id from watchpost.channels where owner_id = $1', [
      scene.person.user_id,
    ])
    const escalation = [{ after_minutes: 5, channel_ids: [channels[0]?.id] }]
    await at.ask(scene.person, 'PATCH', `zones/${scene.zone}`, { escalation })
    await at.ask(scene.person, 'POST', `zones/${scene.zone}/drill?wait=0`, { escalate: true })
    const endNow = async () => {
      await at.query(
        `update pgboss.job set start_after = now() where name = 'drill' and state = 'created'`,
      )
      await drain()
    }
    await drain()
    expect(states()).toEqual(['open', 'open'])
    await endNow()
    expect(states()).toEqual(['open', 'open'])
    await at.query('update watchpost.alert_steps set due_at = now()')
    await drain()
    await endNow()
    expect(states()).toEqual(['open', 'open'])
    await at.query(`update watchpost.alert_steps set settled_at = now() - interval '15 minutes'`)
    await endNow()
    expect(states()).toEqual(['open', 'resolve'])
    expect(types()).not.toContain('alert.resolved')
  })

  test('that waits for an answer is resolved after it was opened, not before', async () => {
    const scene = await alerted()
    const again = at.service.receiver.answer
    at.service.receiver.answer = () => sendResult(503, '')
    await at.jobs.ingest({ ...scene.event, severity: 90 })
    await drain()
    await resolve(scene)
    await drain()
    expect(actions()).toEqual(['trigger', 'trigger'])
    at.service.receiver.answer = again
    await at.query('update watchpost.channels set paused_until = null')
    await at.query(
      `update pgboss.job set start_after = now() where name = 'deliver' and state = 'created'`,
    )
    await drain()
    expect(actions()).toEqual(['trigger', 'trigger', 'trigger', 'resolve'])
    expect(states()).toEqual(['resolve'])
  })
})

const clock = (minutes: number) =>
  new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
const QUIET = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
const LOUD = { quiet_hours_start: null, quiet_hours_end: null }

describe('an emergency of Pushover', () => {
  const config = { app_token: 'b'.repeat(30), emergency: {} }
  const pushed = () =>
    at.service.receiver.requests
      .filter(({ url }) => url.includes('pushover.net'))
      .map(({ url }) => new URL(url).pathname.split('/')[2])

  test.each([
    [{ receipt: 'R1' }, ['messages.json', 'receipts']],
    [{}, ['messages.json']],
  ])('stops with the alert where it was one: %j', async (receipt, paths) => {
    const person = await at.service.person()
    const body = { kind: 'pushover', target: 'c'.repeat(30), config }
    expect((await at.ask(person, 'POST', 'channels', body)).status).toBe(201)
    const here = at.place()
    await at.make(person, 'zones', { label: 'The coast', ...here }, CreatedZone)
    at.service.receiver.answer = () =>
      sendResult(200, JSON.stringify({ status: 1, request: 'r1', ...receipt }))
    await at.jobs.ingest(quake({ ...here, severity: 90 }))
    await drain()
    const scene = { person, id: (await at.alertOf(person)).id }
    await resolve(scene)
    await reopen(scene)
    await drain()
    expect(pushed()).toEqual(paths)
  })
})

describe('a webhook that asked for it', () => {
  test('hears of every act, in order, with the alert as it was', async () => {
    const scene = await alerted({ messages: [...ALL] })
    await act(scene, 'acknowledge')
    await resolve(scene)
    await reopen(scene)
    await resolve(scene)
    await drain()
    const acts = ['alert.acknowledged', 'alert.resolved', 'alert.reopened', 'alert.resolved']
    expect(types()).toEqual(['alert.raised', ...acts])
    const messages = requests('hooks.example.com')
    expect(messages.at(-1).data).toMatchObject({
      alert: { id: scene.id, resolved: true, seen_via: 'api' },
      zone: { label: 'The coast' },
    })
  })

  test('hears of the act alone when it takes nothing else', async () => {
    const scene = await alerted({ messages: ['alert.resolved'] })
    expect(types()).toEqual([])
    await resolve(scene)
    await drain()
    expect(types()).toEqual(['alert.resolved'])
  })

  test('hears nothing of an alert that was never sent', async () => {
    const scene = await alerted({ messages: [...ALL] }, { ...QUIET, quiet_mode: 'drop' })
    await resolve(scene)
    await drain()
    expect(at.service.receiver.requests).toEqual([])
  })
})
