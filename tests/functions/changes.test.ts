import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createFollower, type Follower } from '../support/follower.ts'
import { registerSource } from '../support/jobs.ts'
import { PROOF, PROOF_MS, progress, reportProof } from '../support/proof.ts'
import { createService, type Person, type Service } from '../support/service.ts'

const RUNS = Number(process.env.CHANGES_RUNS ?? (PROOF ? 1000 : 50))
const SEED = Number(process.env.CHANGES_SEED ?? 20_260_301)
const WRITERS = 4

let service: Service
let writers: Writer[]
beforeAll(async () => {
  service = await createService()
  await registerSource(service, 'test')
  writers = await Promise.all(Array.from({ length: WRITERS }, createWriter))
})
afterAll(async () => {
  for (const { client } of writers ?? []) await client.end()
  await service?.close()
})

/** One who writes in transactions that stay open as long as the history wants. Statements may wait for each other. */
type Writer = {
  client: pg.Client
  /** What was issued and has not been answered. */
  busy: Promise<unknown>
  isOpen: boolean
  /** What the open transaction changed, by id, and when it first wrote. */
  changed: Set<string>
  began: number
}

async function createWriter(): Promise<Writer> {
  const client = new pg.Client({ connectionString: service.database.adminUrl })
  client.on('error', () => {})
  await client.connect()
  // Those who wait for each other in a ring are set free at once.
  await client.query(`set deadlock_timeout = '20ms'`)
  return { client, busy: Promise.resolve(), isOpen: false, changed: new Set(), began: 0 }
}

type Scene = { owner: Person; member: Person; org: string; zones: string[]; name: string }

async function createScene(name: string): Promise<Scene> {
  const [owner, member] = [await service.person(), await service.person()]
  const org = await service.organisation(owner, [member, 'member'])
  const zones = await service.database.query<{ id: string }>(
    `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes)
    select $1, o, 'A zone', 1, 2, array[box '(3,2),(1,0)'] from unnest($2::uuid[]) as o returning id`,
    [owner.user_id, [null, org]],
  )
  const scene = { owner, member, org, zones: zones.map(({ id }) => id), name }
  for (let which = 0; which < 6; which += 1) {
    for (const act of ['raise', 'hear'] as const) {
      await service.database.query(...statementOf({ act, which }, scene, -1 - which))
    }
  }
  return scene
}

const step = fc.record({
  writer: fc.nat(WRITERS - 1),
  act: fc.constantFrom(
    ...(['raise', 'raise', 'note', 'note', 'note', 'drop', 'share', 'unshare'] as const),
    ...(['hear', 'hear', 'retell', 'retell', 'hand over', 'forget', 'leave', 'join'] as const),
    ...(['commit', 'commit', 'commit', 'commit', 'commit', 'commit', 'rollback'] as const),
    ...(['read', 'read', 'read', 'read', 'read', 'read'] as const),
  ),
  which: fc.nat(1000),
  limit: fc.integer({ min: 1, max: 5 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The statement of an act; each returns the ids of what it changed. */
function statementOf(
  { act, which }: Pick<Step, 'act' | 'which'>,
  scene: Scene,
  unique: number,
): [string, unknown[]] {
  const { owner, member, org, zones, name } = scene
  const alert = `id = (select id from watchpost.alerts where owner_id = $1 order by md5(id::text || '${which}') limit 1)`
  const event = `id = (select id from watchpost.events where id like 'test:' || $1 || '-%'
    order by md5(id || '${which}') limit 1)`
  switch (act) {
    case 'raise':
      return [
        `insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity,
          reason, first_reason, status, raised_at, checks, zone_version, event_revision, note)
        select id, label, owner_id, org_id, $2, 'test', $3, 50, 'r', 'r', 'recorded',
          date_trunc('milliseconds', now()), '[]', 1, 1, $2
        from watchpost.zones where id = $1 returning id`,
        [zones[which % 2], `test:${unique}`, EVENT],
      ]
    case 'note':
      return [
        `update watchpost.alerts set note = $2 where ${alert} returning id`,
        [owner.user_id, unique],
      ]
    case 'drop':
      return [`delete from watchpost.alerts where ${alert} returning id`, [owner.user_id]]
    case 'share':
    case 'unshare':
      return [
        `update watchpost.alerts set org_id = $2, note = $3 where ${alert} returning id`,
        [owner.user_id, act === 'share' ? org : null, unique],
      ]
    case 'hear':
      return [
        `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, owner_id, org_id)
        select 'test:' || $1 || '-' || $2, 'test', 'storm', $2, 1, 2, date_trunc('milliseconds', now()), 5, 'active',
          box '(2,1),(2,1)', $3, $4
        returning id`,
        [
          name,
          String(unique),
          which % 3 === 0 ? null : owner.user_id,
          which % 3 === 1 ? org : null,
        ],
      ]
    case 'retell':
      return [`update watchpost.events set title = $2 where ${event} returning id`, [name, unique]]
    case 'hand over':
      return [
        `update watchpost.events set owner_id = $2, org_id = $3, title = $4 where ${event} returning id`,
        [
          name,
          which % 3 === 0 ? null : owner.user_id,
          which % 3 === 1 ? org : null,
          String(unique),
        ],
      ]
    case 'forget':
      return [`delete from watchpost.events where ${event} returning id`, [name]]
    case 'leave':
      return [
        'delete from watchpost.members where org_id = $1 and user_id = $2 returning id',
        [org, member.user_id],
      ]
    case 'join':
      return [
        `insert into watchpost.members (org_id, user_id, email, role, status, joined_at)
        select $1, user_id, email, 'member', 'active', now() from watchpost.accounts where user_id = $2
        on conflict do nothing returning id`,
        [org, member.user_id],
      ]
    default:
      throw new Error(`${act} is no statement`)
  }
}

const EVENT = {
  id: 'test:1',
  source: 'test',
  type: 'earthquake',
  title: 'M 5',
  lat: 1,
  lon: 2,
  ts: '2026-01-01T00:00:00.000Z',
  severity: 50,
  url: null,
}

/** A transaction that ended well: when it began to write and when it was known to be over, by one clock. */
type Committed = { changed: Set<string>; began: number; ended: number }

/** One history: transactions that overlap at random, and readers in the middle of it. */
async function live(steps: Step[], scene: Scene, followers: Follower[]): Promise<Committed[]> {
  const committed: Committed[] = []
  let clock = 0
  let unique = 0
  const end = (writer: Writer, how: 'commit' | 'rollback') => {
    if (!writer.isOpen) return
    writer.isOpen = false
    writer.busy = writer.busy.then(async () => {
      const { command } = await writer.client.query(how)
      clock += 1
      const { changed, began } = writer
      if (command === 'COMMIT') committed.push({ changed, began, ended: clock })
      writer.changed = new Set()
    })
  }
  let reading: Promise<unknown> = Promise.resolve()
  for (const given of steps) {
    const writer = writers[given.writer]
    if (!writer) throw new Error('there are as many writers')
    if (given.act === 'read') {
      const follower = followers[given.which % followers.length]
      reading = reading.then(() => follower?.ask(`limit=${given.limit}`))
      // Sometimes the readers are ahead of the writers and sometimes behind.
      if (given.which % 4 > 0) await reading
    } else if (given.act === 'commit' || given.act === 'rollback') {
      end(writer, given.act)
      if (given.which % 2 === 0) await Promise.race([writer.busy, moment()])
    } else {
      unique += 1
      const [text, values] = statementOf(given, scene, unique)
      const isFirst = !writer.isOpen
      writer.isOpen = true
      writer.busy = writer.busy.then(async () => {
        if (isFirst) await writer.client.query('begin')
        clock += 1
        // An update that finds its row gone changes nothing and has taken its number all the same.
        if (isFirst) writer.began = clock
        // A statement that fails, of a deadlock or after one, leaves a transaction that ends in ROLLBACK.
        const done = await writer.client.query(text, values).catch(() => undefined)
        for (const { id } of done?.rows ?? []) writer.changed.add(id)
      })
      await Promise.race([writer.busy, moment()])
    }
  }
  for (const writer of writers) end(writer, 'commit')
  await Promise.all(writers.map(({ busy }) => busy))
  await reading
  return committed
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 2))

test('what others may see of it later hides from nobody that it is gone', async () => {
  const scene = await createScene('hand')
  const { owner, member } = scene
  const follower = createFollower(service, { key: member.key, things: 'alerts' })
  await follower.catchUp()
  const shared = [...follower.held.keys()]
  expect(shared.length).toBeGreaterThan(0)
  // Out of the organisation, into another one, and out of that.
  const [other] = [await service.organisation(owner)]
  for (const org of [null, other, null]) {
    await service.database.query(
      'update watchpost.alerts set org_id = $2 where id = any($1::uuid[])',
      [shared, org],
    )
  }
  const told = await follower.catchUp()
  expect(told.map(({ kind, id }) => `${kind} ${id}`).sort()).toEqual(
    shared.map((id) => `gone ${id}`).sort(),
  )
  expect(await follower.ask()).toEqual([])
})

/** What somebody sees at the end, by id. */
async function alertsSeen({ key }: Person): Promise<Map<string, unknown>> {
  const { body } = await service.request('GET', '/api/v1/alerts?days=2&limit=500', { key })
  const { alerts } = z.object({ alerts: z.array(z.looseObject({ id: z.string() })) }).parse(body)
  return new Map(alerts.map((alert) => [alert.id, alert]))
}

async function eventsSeen({ user_id }: Person): Promise<Map<string, string>> {
  const rows = await service.database.query<{ id: string; title: string }>(
    `select id, title from watchpost.events
    where tenant_id is null or tenant_id = $1
      or tenant_id in (select org_id from watchpost.members where user_id = $1 and status = 'active')`,
    [user_id],
  )
  return new Map(rows.map(({ id, title }) => [id, title]))
}

const sorted = <T>(map: Map<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

/** Told by number without gaps, never twice the same, and never before what was over when it began. */
function expectInOrder({ told }: Follower, committed: Committed[], isMember: boolean): void {
  expect(told.map(({ seq }) => seq)).toEqual(told.map((_, index) => index + 1))
  const held = new Map<string, string>()
  for (const { kind, id, thing } of told) {
    const now = JSON.stringify(thing)
    // Whoever left and came back between two answers is told again what they had.
    if (kind === 'upsert' && !isMember) expect(held.get(id)).not.toBe(now)
    if (kind === 'gone') held.delete(id)
    else held.set(id, now)
  }
  if (isMember) return
  // The last place at which each thing was told is that of the last transaction that changed it.
  const place = new Map(told.map(({ id }, index) => [id, index]))
  const last = new Map<string, Committed>()
  for (const done of committed) for (const id of done.changed) last.set(id, done)
  const ids = [...place.keys()].filter((id) => last.has(id))
  for (const a of ids) {
    for (const b of ids) {
      const [before, after] = [last.get(a), last.get(b)]
      if (!before || !after || before.ended >= after.began) continue
      expect(place.get(a), `${a} before ${b}`).toBeLessThan(place.get(b) ?? -1)
    }
  }
}

test(
  'followers are told each change once, whatever transactions overlap',
  async () => {
    let count = 0
    let changes = 0
    let gone = 0
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.nat()), async (seed) => {
        count += 1
        const steps = fc.sample(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), {
          numRuns: 1,
          seed,
        })[0]
        if (!steps) throw new Error('a sample of one is one')
        const scene = await createScene(`r${count}`)
        const people = [scene.owner, scene.member]
        const followers = people.flatMap(({ key }) => [
          createFollower(service, { key, things: 'alerts' }),
          createFollower(service, { key, things: 'events' }),
        ])
        const committed = await live(steps, scene, followers)
        for (const [index, person] of people.entries()) {
          const [alerts, events] = followers.slice(2 * index, 2 * index + 2)
          if (!alerts || !events) throw new Error('two followers a person')
          await alerts.catchUp('limit=3')
          await events.catchUp('limit=3')
          expect(sorted(alerts.held)).toEqual(sorted(await alertsSeen(person)))
          const titles = [...events.held].map(([id, event]): [string, string] => [
            id,
            z.looseObject({ title: z.string() }).parse(event).title,
          ])
          expect(sorted(new Map(titles))).toEqual(sorted(await eventsSeen(person)))
          for (const follower of [alerts, events]) {
            expectInOrder(follower, committed, index === 1)
            changes += follower.told.length
            gone += follower.told.filter(({ kind }) => kind === 'gone').length
          }
        }
        await service.database.query('delete from watchpost.events')
        if (count % 50 === 0) progress(count, RUNS, 'histories')
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    )
    reportProof('changes followed through overlapping transactions', {
      histories: RUNS,
      seed: SEED,
      changes,
      gone,
    })
    expect(changes).toBeGreaterThan(10 * RUNS)
    expect(gone).toBeGreaterThan(RUNS / 2)
  },
  PROOF ? PROOF_MS : 120_000,
)
