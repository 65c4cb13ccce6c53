import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { generateKey } from '../../../shared/key.ts'
import { ALERT_STATUSES, Alert } from '../../../shared/schemas/alert.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/alerts'
const List = z.object({ alerts: z.array(Alert), next_cursor: z.string().nullable() })
const One = z.object({ alert: Alert })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

const query = (statement: string, values: unknown[] = []) =>
  service.database.query<{ id: string }>(statement, values)
async function id(statement: string, values: unknown[]): Promise<string> {
  const [row] = await query(statement, values)
  return z.uuid().parse(row?.id)
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
const zoneOf = ({ user_id }: Pick<Person, 'user_id'>, org: string | null = null) =>
  id(
    `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes)
    values ($1, $2, 'A zone', 1, 2, array[box '(3,2),(1,0)']) returning id`,
    [user_id, org],
  )

let count = 0
type Fields = {
  status?: string
  raised?: string
  updated?: string
  resolved?: boolean
  source?: string
  severity?: number
}
/** An alert of a zone; `raised` and `updated` are SQL. */
function alertOf(zone: string, fields: Fields = {}): Promise<string> {
  const { status = 'recorded', raised = 'now()', updated = 'now()', resolved = false } = fields
  const { source = 'test', severity = 50 } = fields
  count += 1
  return id(
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity, reason,
      first_reason, status, raised_at, checks, zone_version, event_revision, updated_at, resolved)
    select id, label, owner_id, org_id, $2, $6, $3, $7, 'r', 'r', $4,
      date_trunc('milliseconds', ${raised}), '[]', 1, 1, ${updated}, $5
    from watchpost.zones where id = $1 returning id`,
    [zone, `test:${count}`, EVENT, status, resolved, source, severity],
  )
}

async function listed(person: Pick<Person, 'key'>, filter = ''): Promise<string[]> {
  const answer = await service.request('GET', `${PATH}?${filter}`, { key: person.key })
  return parsed(answer, 200, List).alerts.map((alert) => alert.id)
}

/** Midnight in UTC, so many days ago. */
const midnight = (days: number) =>
  `(date_trunc('day', now() at time zone 'UTC') - ${days} * interval '1 day') at time zone 'UTC'`

describe('the list of alerts', () => {
  test.each([1, 2, 7, 90])(
    'of %i days begins with the first moment of the first day',
    async (days) => {
      const person = await service.person()
      const zone = await zoneOf(person)
      const first = await alertOf(zone, { raised: midnight(days - 1) })
      await alertOf(zone, { raised: `${midnight(days - 1)} - interval '1 millisecond'` })
      expect(await listed(person, `days=${days}`)).toEqual([first])
      if (days === 7) expect(await listed(person)).toEqual([first])
    },
  )

  test('filters by status, zone, resolution and time of change', async () => {
    const person = await service.person()
    const [zone, other] = [await zoneOf(person), await zoneOf(person)]
    const old = `now() - interval '1 hour'`
    const ids = new Map<string, string>()
    for (const status of ALERT_STATUSES)
      ids.set(status, await alertOf(zone, { status, updated: old }))
    const resolved = await alertOf(other, { status: 'dispatched', resolved: true, updated: old })
    for (const status of ALERT_STATUSES) {
      const expected = [ids.get(status), ...(status === 'dispatched' ? [resolved] : [])]
      expect((await listed(person, `status=${status}`)).sort()).toEqual(expected.sort())
    }
    expect(await listed(person, 'resolved=true')).toEqual([resolved])
    expect((await listed(person, 'resolved=false')).sort()).toEqual([...ids.values()].sort())
    expect(await listed(person, `zone_id=${other}`)).toEqual([resolved])
    expect(await listed(person, `zone_id=${zone}&status=dispatched`)).toEqual([
      ids.get('dispatched'),
    ])
    expect(await listed(person, `zone_id=${other}&resolved=false`)).toEqual([])
    for (const filter of [
      'status=gone',
      'resolved=maybe',
      'zone_id=x',
      'days=0',
      'days=401',
      'x=1',
    ]) {
      const answer = await service.request('GET', `${PATH}?${filter}`, person)
      expectProblem(answer, 400, 'invalid_query')
    }
  })

  test('a window begins with its first moment and ends before its last, however long ago', async () => {
    const person = await service.person()
    const zone = await zoneOf(person)
    const [from, to] = ['2026-01-01T12:00:00.000Z', '2026-01-01T13:00:00.000Z']
    const at = (time: string, by = '0') => ({
      raised: `timestamptz '${time}' + interval '${by} milliseconds'`,
    })
    const before = await alertOf(zone, at(from, '-1'))
    const first = await alertOf(zone, at(from))
    const last = await alertOf(zone, at(to, '-1'))
    const after = await alertOf(zone, at(to))
    expect(await listed(person, `from=${from}&to=${to}`)).toEqual([last, first])
    expect(await listed(person, `from=${from}`)).toEqual([after, last, first])
    expect(await listed(person, `to=${to}`)).toEqual([last, first, before])
    for (const filter of [`days=7&from=${from}`, `days=7&to=${to}`, 'limit=501']) {
      const answer = await service.request('GET', `${PATH}?${filter}`, person)
      expectProblem(answer, 400, 'invalid_query')
    }
  })

  test('filters by source, severity and event, also one that another source reported', async () => {
    const person = await service.person()
    const zone = await zoneOf(person)
    const [mild, severe] = [
      await alertOf(zone, { severity: 49.5, raised: `now() - interval '1 minute'` }),
      await alertOf(zone, { severity: 50, source: 'other' }),
    ]
    expect(await listed(person, 'source=other')).toEqual([severe])
    expect(await listed(person, 'min_severity=50')).toEqual([severe])
    expect(await listed(person, 'min_severity=49.5')).toEqual([severe, mild])
    await query(
      `insert into watchpost.alert_events (
        zone_id, event_id, alert_id, source, event, event_revision, checks, reason, zone_version, added_at)
      select zone_id, 'third:1', id, 'third', event, 1, checks, reason, zone_version, raised_at
      from watchpost.alerts where id = $1`,
      [mild],
    )
    expect(await listed(person, 'event_id=third:1')).toEqual([mild])
    expect(await listed(person, `event_id=test:${count}`)).toEqual([severe])
    const page = await service.request('GET', `${PATH}?limit=1`, person)
    expect(parsed(page, 200, List).next_cursor).not.toBeNull()
  })

  test('updated_after leaves out what changed at that very moment', async () => {
    const person = await service.person()
    const zone = await zoneOf(person)
    const at = '2026-01-01T12:00:00.000Z'
    await alertOf(zone, { updated: `timestamptz '${at}'` })
    await alertOf(zone, { updated: `timestamptz '${at}' - interval '1 second'` })
    const after = await alertOf(zone, { updated: `timestamptz '${at}' + interval '1 millisecond'` })
    expect(await listed(person, `updated_after=${at}`)).toEqual([after])
  })

  test('pages newest first, through alerts of one moment too, and loses none', async () => {
    const [person, owner] = [await service.person(), await service.person()]
    const org = await service.organisation(owner, [person, 'member'])
    const [mine, shared] = [await zoneOf(person), await zoneOf(owner, org)]
    await alertOf(await zoneOf(owner))
    const moment = `now() - interval '1 minute'`
    const rows: string[] = []
    for (let n = 0; n < 3; n += 1) {
      rows.push(await alertOf(mine, { raised: `${midnight(0)} - ${n} * interval '1 minute'` }))
      rows.push(await alertOf(shared, { raised: `${midnight(0)} - ${n} * interval '1 minute'` }))
    }
    rows.push(await alertOf(shared, { raised: moment }))
    const [{ ids } = { ids: [] }] = await service.database.query<{ ids: string[] }>(
      'select array_agg(id order by raised_at desc, id desc) as ids from watchpost.alerts where id = any($1)',
      [rows],
    )
    for (const limit of [1, 2, 3, 7, 500]) {
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const path: string = `${PATH}?limit=${limit}${cursor && `&cursor=${cursor}`}`
        const page: z.infer<typeof List> = parsed(
          await service.request('GET', path, person),
          200,
          List,
        )
        seen.push(...page.alerts.map((alert) => alert.id))
        cursor = page.next_cursor
      }
      expect(seen).toEqual(ids)
    }
  })
})

describe('resolving an alert', () => {
  const patch = (person: Pick<Person, 'key'>, alert: string, body: object) =>
    service.request('PATCH', `${PATH}/${alert}`, { key: person.key, body })

  test('keeps when, how and why it was resolved, also when resolved again; reopening keeps the note', async () => {
    const [person, colleague] = [await service.person(), await service.person()]
    const org = await service.organisation(person, [colleague, 'member'])
    const alert = await alertOf(await zoneOf(person, org), { updated: `now() - interval '1 hour'` })
    const before = parsed(await service.request('GET', `${PATH}/${alert}`, person), 200, One).alert
    const set = async (body: object, who = person) =>
      parsed(await patch(who, alert, body), 200, One).alert
    const first = await set({ resolved: true, note: 'a false alarm' })
    expect(first).toMatchObject({ resolved: true, resolved_via: 'api', note: 'a false alarm' })
    expect(first.resolved_at).not.toBeNull()
    expect(first.updated_at > before.updated_at).toBe(true)
    expect(first.resolved_by).toBe(person.user_id)
    const session = { ...colleague, key: await service.session(colleague) }
    const again = await set({ resolved: true }, session)
    expect(again).toEqual({ ...first, updated_at: again.updated_at })
    const open = await set({ resolved: false })
    expect(open).toEqual({
      ...first,
      resolved: false,
      resolved_at: null,
      resolved_by: null,
      resolved_via: null,
      updated_at: open.updated_at,
    })
    expect(await set({ resolved: true, note: null }, session)).toMatchObject({
      resolved_via: 'console',
      resolved_by: colleague.user_id,
      note: null,
    })
  })

  test('is open to everybody who sees the alert and may write', async () => {
    const [owner, admin, member, stranger] = await Promise.all([
      service.person(),
      service.person(),
      service.person(),
      service.person(),
    ])
    const org = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
    const shared = await alertOf(await zoneOf(owner, org))
    const mine = await alertOf(await zoneOf(owner))
    const reader = { key: await service.key(owner, { scopes: ['read'] }) }
    const who = { owner, admin, member, stranger, reader }
    const statuses = async (alert: string) =>
      Object.fromEntries(
        await Promise.all(
          Object.entries(who).map(async ([name, person]) => [
            name,
            (await patch(person, alert, { resolved: true })).status,
          ]),
        ),
      )
    const all = { owner: 200, stranger: 404, reader: 403 }
    expect(await statuses(shared)).toEqual({ ...all, admin: 200, member: 200 })
    expect(await statuses(mine)).toEqual({ ...all, admin: 404, member: 404 })
  })

  test.each([
    [{ note: 'x'.repeat(4000), resolved: true }, 200],
    [{ note: 'x'.repeat(4001), resolved: true }, 422],
    [{ note: 'a\u0000b' }, 422],
    [{ resolved: 'yes' }, 422],
    [{ resolved: true, status: 'failed' }, 422],
  ])('%o', async (body, status) => {
    const person = await service.person()
    const alert = await alertOf(await zoneOf(person))
    expect((await patch(person, alert, body)).status).toBe(status)
  })
})

test('an alert shows the channel that was first to get it, and only channels its reader sees', async () => {
  const [owner, member] = [await service.person(), await service.person()]
  const org = await service.organisation(owner, [member, 'member'])
  const alert = await alertOf(await zoneOf(owner, org))
  const channelOf = (label: string, shared: boolean) =>
    id(
      `insert into watchpost.channels (owner_id, org_id, kind, label, target_sealed, target_masked)
      values ($1, $2, 'webhook', $3, 'sealed', 'masked') returning id`,
      [owner.user_id, shared ? org : null, label],
    )
  for (const [label, shared, status, ago] of [
    ['failed', true, 'failed', 9],
    ['private', false, 'succeeded', 3],
    ['early', true, 'succeeded', 2],
    ['late', true, 'succeeded', 1],
  ] as const) {
    await query(
      `insert into watchpost.deliveries (alert_id, channel_id, type, status, delivered_at, created_at)
      values ($1, $2, 'alert.raised', $3, case when $3 = 'succeeded' then now() - $4 * interval '1 minute' end,
        now() + $4 * interval '1 minute')`,
      [alert, await channelOf(label, shared), status, ago],
    )
  }
  const read = async (person: Person) =>
    parsed(await service.request('GET', `${PATH}/${alert}`, person), 200, One).alert
  const [theirs, mine] = [await read(member), await read(owner)]
  expect(mine.channel).toBe('private')
  expect(theirs.channel).toBe('early')
  expect(theirs.deliveries.map(({ channel }) => channel)).toEqual(['late', 'early', 'failed'])
  expect(mine.deliveries.map(({ channel }) => channel)).toEqual([
    'late',
    'early',
    'private',
    'failed',
  ])
})

test('a form that there is not is 406 for whom we know, and 401 for anybody else', async () => {
  const alert = await alertOf(await zoneOf(await service.person()))
  const ask = (key: string) =>
    service.request('GET', `${PATH}/${alert}`, { key, headers: { Accept: 'text/html' } })
  expectProblem(await ask((await service.person()).key), 406, 'not_acceptable')
  expectProblem(await ask(generateKey()), 401, 'unauthenticated')
})
