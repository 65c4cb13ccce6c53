import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createFollower } from '../support/follower.ts'
import { quake } from '../support/jobs.ts'
import { parsed, sendResult } from '../support/service.ts'
import { createStory } from '../support/story.ts'

const at = createStory()

const Zone = z.object({ zone: z.object({ id: z.uuid() }) })
const Alerts = z.object({ alerts: z.array(z.looseObject({ id: z.uuid() })) })

async function alertsOf(key: string) {
  const answer = await at.service.request('GET', '/api/v1/alerts', { key })
  return parsed(answer, 200, Alerts).alerts
}

test('an analyst’s SIEM follows the alerts and never asks for one twice', async () => {
  const analyst = await at.service.person()
  await at.channelOf(analyst)
  const here = at.place()
  await at.make(analyst, 'zones', { label: 'The plant', ...here }, Zone)
  const siem = createFollower(at.service, { key: analyst.key, things: 'alerts' })

  // It begins with what there is: one alert, which went out.
  await at.jobs.ingest(quake(here))
  await at.jobs.drain()
  await siem.catchUp()
  expect([...siem.held.values()]).toEqual(await alertsOf(analyst.key))
  expect(siem.told.map(({ seq, kind }) => [seq, kind])).toEqual([[1, 'upsert']])
  expect(await siem.ask()).toEqual([])

  // Nothing happens, and it waits; then the ground shakes, and it is told.
  const waiting = siem.ask('wait=30')
  await at.jobs.ingest(quake(here))
  await at.jobs.drain()
  expect((await waiting).map(({ kind }) => kind)).toEqual(['upsert'])
  await siem.catchUp()

  // The analyst looks at one and writes a note; the SIEM has it.
  const [newest] = await alertsOf(analyst.key)
  await at.service.request('PATCH', `/api/v1/alerts/${newest?.id}`, {
    key: analyst.key,
    body: { resolved: true, note: 'Drill' },
  })
  const [change, ...rest] = await siem.catchUp()
  expect(change?.thing).toMatchObject({ id: newest?.id, resolved: true, note: 'Drill' })
  expect(rest).toEqual([])
  expect(siem.held.get(newest?.id ?? '')).toEqual((await alertsOf(analyst.key))[0])
})

test('the end of a delivery is told, although nothing else of its alert changes', async () => {
  const analyst = await at.service.person()
  await at.channelOf(analyst, { target: 'https://good.example.com/in' })
  await at.channelOf(analyst, { target: 'https://bad.example.com/in' })
  const here = at.place()
  await at.make(analyst, 'zones', { label: 'Two channels', ...here }, Zone)
  const siem = createFollower(at.service, { key: analyst.key, things: 'alerts', after: 'now' })
  await siem.ask()
  at.service.receiver.answer = ({ url }) => sendResult(url.includes('bad') ? 500 : 200)
  await at.jobs.ingest(quake(here))
  await at.jobs.drain()
  await siem.catchUp()
  const before = siem.told.length
  at.service.receiver.answer = ({ url }) => sendResult(url.includes('bad') ? 410 : 200)
  await at.query(`update watchpost.channels set paused_until = null where owner_id = $1`, [
    analyst.user_id,
  ])
  await at.query(
    `update pgboss.job set start_after = now() where name = 'deliver' and state = 'created'`,
  )
  await at.jobs.drain()
  at.service.receiver.answer = () => sendResult(200)
  await siem.catchUp()
  expect(siem.told.length).toBe(before + 1)
  expect([...siem.held.values()]).toEqual(await alertsOf(analyst.key))
  expect(JSON.stringify([...siem.held.values()])).toContain('"status":"failed"')
})

test('what a colleague no longer sees is gone from their copy, and what they see anew is in it', async () => {
  const { service, jobs } = at
  const [owner, colleague] = [await service.person(), await service.person()]
  const org = await service.organisation(owner, [colleague, 'member'])
  const here = at.place()
  const { zone } = await at.make(owner, 'zones', { label: 'Ours', ...here, org_id: org }, Zone)
  await jobs.ingest(quake(here))
  await jobs.drain()
  const theirs = createFollower(service, { key: colleague.key, things: 'alerts' })
  const owners = createFollower(service, { key: owner.key, things: 'alerts' })
  await theirs.catchUp()
  await owners.catchUp()
  const [alert] = await alertsOf(owner.key)
  expect([...theirs.held.keys()]).toEqual([alert?.id])

  const share = async (org_id: string | null) => {
    const path = `/api/v1/zones/${zone.id}`
    const { status } = await service.request('PATCH', path, { key: owner.key, body: { org_id } })
    expect(status).toBe(200)
  }
  await share(null)
  expect(await theirs.catchUp()).toEqual([
    { seq: 2, kind: 'gone', id: alert?.id, thing: { id: alert?.id } },
  ])
  expect((await owners.catchUp()).every(({ kind }) => kind === 'upsert')).toBe(true)
  await share(org)
  expect((await theirs.catchUp()).map(({ kind, id }) => [kind, id])).toEqual([
    ['upsert', alert?.id],
  ])
  await owners.catchUp()

  const members = `/api/v1/orgs/${org}/members/${colleague.user_id}`
  const { status } = await service.request('DELETE', members, { key: owner.key })
  expect(status).toBe(200)
  expect((await theirs.catchUp()).map(({ kind }) => kind)).toEqual(['gone'])
  expect(theirs.held.size).toBe(0)
  expect(await alertsOf(colleague.key)).toEqual([])

  // What happens there from now on is no business of theirs.
  await jobs.ingest(quake(here))
  await jobs.drain()
  expect(await theirs.catchUp()).toEqual([])
  expect(await owners.catchUp()).toHaveLength(1)

  await at.query(
    `insert into watchpost.members (org_id, user_id, email, role, status, joined_at)
    select $1, user_id, email, 'member', 'active', now() from watchpost.accounts where user_id = $2`,
    [org, colleague.user_id],
  )
  await theirs.catchUp()
  expect([...theirs.held.keys()].sort()).toEqual(
    (await alertsOf(owner.key)).map(({ id }) => id).sort(),
  )
  await at.query('delete from watchpost.organisations where id = $1', [org])
  await theirs.catchUp()
  expect(theirs.held.size).toBe(0)
  await owners.catchUp()
  expect([...owners.held.keys()].sort()).toEqual(
    (await alertsOf(owner.key)).map(({ id }) => id).sort(),
  )
})

test('a map follows events, as they come, change and are deleted for their age', async () => {
  const viewer = await at.service.person()
  const map = createFollower(at.service, { key: viewer.key, things: 'events', after: 'now' })
  await map.ask()
  const here = at.place()
  const event = quake(here)
  await at.jobs.ingest(event)
  await at.jobs.ingest({ ...event, severity: 80, title: 'Stronger' })
  expect((await map.catchUp()).map(({ kind, id }) => [kind, id])).toEqual([['upsert', event.id]])
  expect(map.held.get(event.id)).toMatchObject({ title: 'Stronger', severity: 80, ...here })
  await at.query(
    `update watchpost.events set ts = now() - interval '91 days', updated_at = now() - interval '91 days'
    where id = $1`,
    [event.id],
  )
  await at.query('select private.purge()')
  await map.catchUp()
  expect([...map.held.keys()]).toEqual([])
  expect(map.told.at(-1)).toMatchObject({ kind: 'gone', id: event.id })
})

test('who comes back after months is told to start again, not given a copy with holes', async () => {
  const { service } = at
  const person = await service.person()
  const siem = createFollower(service, { key: person.key, things: 'events' })
  await siem.catchUp('limit=500')
  const path = `/api/v1/events/changes?after=`
  const first = await service.request('GET', `${path}now`, { key: person.key })
  const { next_cursor } = parsed(first, 200, z.object({ next_cursor: z.string() }))
  const event = quake(at.place())
  await at.jobs.ingest(event)
  await at.query('delete from watchpost.events where id = $1', [event.id])
  await at.query(`update watchpost.visibility_changes set at = now() - interval '31 days'`)
  await at.query('select private.purge()')
  const answer = await service.request('GET', path + next_cursor, { key: person.key })
  expect(answer).toMatchObject({
    status: 410,
    body: { code: 'cursor_expired', detail: expect.stringMatching(/start again without "after"/) },
  })
  // What was purged here is no month old: it may be younger than a transaction of another test.
  const again = await vi.waitFor(async () => {
    const fresh = createFollower(service, { key: person.key, things: 'events' })
    await fresh.catchUp('limit=500')
    return fresh
  }, 20_000)
  expect(again.held.has(event.id)).toBe(false)
})

test('after a backup was restored into another server, nobody is left with what was never told', async () => {
  const { service } = at
  const person = await service.person()
  const first = await service.request('GET', '/api/v1/events/changes?after=now', person)
  const { next_cursor } = parsed(first, 200, z.object({ next_cursor: z.string() }))
  const event = quake(at.place())
  await at.jobs.ingest(event)
  // As the rows look there: written by transactions that this server has not counted up to.
  await at.query(`alter table watchpost.events disable trigger events_changed`)
  await at.query(`update watchpost.events set changed_in = '900000000000' where id = $1`, [
    event.id,
  ])
  await at.query(`alter table watchpost.events enable trigger events_changed`)
  await at.query(`update watchpost.change_history set seen_in = '900000000000'`)
  const path = `/api/v1/events/changes?after=${next_cursor}`
  expect(await service.request('GET', path, person)).toMatchObject({ status: 503 })
  await at.query('select private.purge()')
  expect(await service.request('GET', path, person)).toMatchObject({ status: 410 })
  const again = createFollower(service, { key: person.key, things: 'events' })
  await again.catchUp('limit=500')
  expect(again.held.has(event.id)).toBe(true)
})
