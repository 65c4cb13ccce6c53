import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ZoneBulkAnswer } from '../../../../shared/schemas/zone-bulk.ts'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

const PATH = '/api/v1/zones/bulk'
const Zone = z.looseObject({ id: z.uuid(), version: z.int(), external_id: z.string().nullable() })
const One = z.object({ zone: Zone })
const Many = z.object({ zones: z.array(Zone), next_cursor: z.null() })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

type Key = Pick<Person, 'key'>
const ask = ({ key }: Key, method: string, path: string, body?: object) =>
  service.request(method, `/api/v1/${path}`, { key, body })
const send = (who: Key, zones: unknown[], more: object = {}) =>
  service.request('POST', PATH, { key: who.key, body: { zones, ...more } })
const bulk = async (who: Key, zones: unknown[], more: object = {}) =>
  parsed(await send(who, zones, more), 200, ZoneBulkAnswer)
const site = (external_id: string, more: object = {}) => ({
  external_id,
  label: `Site ${external_id}`,
  lat: 41,
  lon: 29,
  ...more,
})
const statuses = ({ results }: ZoneBulkAnswer) => results.map(({ status }) => status)
const errors = ({ results }: ZoneBulkAnswer) => results.map(({ error }) => error?.code ?? null)
const idAt = ({ results }: ZoneBulkAnswer, row: number) => results[row - 1]?.id ?? 'none'
const read = async (who: Key, id: string) =>
  parsed(await ask(who, 'GET', `zones/${id}`), 200, One).zone
const labels = async (who: Key, external_id: string) =>
  parsed(await ask(who, 'GET', `zones?external_id=${external_id}`), 200, Many).zones.map(
    ({ label }) => label,
  )
const audited = async (id: string) =>
  (
    await service.database.query<{ action: string }>(
      'select action from watchpost.audit where target_id = $1 order by seq',
      [id],
    )
  ).map(({ action }) => action)

describe('a list of zones', () => {
  test('is created, changed and left alone, row by row, with a version and an audit row for each change', async () => {
    const me = await service.person()
    const first = await bulk(me, [site('a', { radius_km: 10 }), site('b', { color: '#D9480F' })])
    expect(first).toMatchObject({ dry_run: false, created: 2, updated: 0, rejected: 0 })
    expect(first.results.map(({ row, external_id }) => [row, external_id])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ])
    const a = idAt(first, 1)
    expect(await read(me, a)).toMatchObject({
      label: 'Site a',
      radius_km: 10,
      min_severity: 40,
      version: 1,
    })
    const again = await bulk(me, [
      { external_id: 'a', radius_km: 20 },
      site('b', { color: '#d9480f' }),
      site('c'),
    ])
    expect(again).toMatchObject({ created: 1, updated: 1, unchanged: 1, rejected: 0 })
    expect(statuses(again)).toEqual(['updated', 'unchanged', 'created'])
    expect([idAt(again, 1), idAt(again, 2)]).toEqual([a, idAt(first, 2)])
    expect(await read(me, a)).toMatchObject({ label: 'Site a', radius_km: 20, version: 2 })
    expect(await read(me, idAt(first, 2))).toMatchObject({ version: 1 })
    expect(await audited(a)).toEqual(['zone.created', 'zone.updated'])
    expect(await audited(idAt(first, 2))).toEqual(['zone.created'])
    const versions = await ask(me, 'GET', `zones/${a}/versions`)
    expect(versions.body).toMatchObject({
      versions: [{ changes: { radius_km: [10, 20] }, actor_email: me.email }, {}],
    })
  })

  test('leaves what it does not name as it is', async () => {
    const me = await service.person()
    const first = await bulk(me, [site('a'), site('b')])
    await bulk(me, [site('b', { label: 'Other' })])
    expect(await read(me, idAt(first, 1))).toMatchObject({ label: 'Site a', version: 1 })
  })

  test('has each mistake answered in its row, and the other rows done', async () => {
    const me = await service.person()
    const made = await bulk(me, [site('kept')])
    const cross = { type: 'Polygon', coordinates: [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]] } // biome-ignore format: a ring
    const answer = await bulk(me, [
      site('good'),
      { external_id: 'new', label: 'No place' },
      site('bad', { lat: 91, radius: 3 }),
      { label: 'Nameless', lat: 1, lon: 2 },
      'no row',
      site('crossed', { polygon: cross }),
      site('dark', { quiet_hours_start: '22:00' }),
      { external_id: 'kept', label: null },
      { external_id: 'kept2', label: 'X', lat: 1, lon: 2, version: 7 },
      site('nul', { label: 'a\0b' }),
      site('half', { label: 'a\ud800b' }),
      site('late', { snoozed_until: '0999-01-01T00:00:00Z' }),
      site('fine'),
    ])
    expect(answer).toMatchObject({ created: 2, updated: 0, unchanged: 0, rejected: 11 })
    expect(
      answer.results.map(({ row, external_id, error }) => [
        row,
        external_id,
        error?.fields.map(({ path }) => path) ?? 'done',
      ]),
    ).toEqual([
      [1, 'good', 'done'],
      [2, 'new', ['lat', 'lon']],
      [3, 'bad', ['lat', 'radius']],
      [4, null, ['external_id']],
      [5, null, ['']],
      [6, 'crossed', ['polygon.coordinates.0']],
      [7, 'dark', ['quiet_hours_end']],
      [8, 'kept', ['label']],
      [9, 'kept2', ['version']],
      [10, 'nul', ['label']],
      [11, 'half', ['label']],
      [12, 'late', ['snoozed_until']],
      [13, 'fine', 'done'],
    ])
    expect(answer.results[2]?.error).toMatchObject({
      code: 'invalid',
      detail: expect.stringMatching(/^lat: .* And 1 more/),
    })
    expect(await read(me, idAt(made, 1))).toMatchObject({ label: 'Site kept' })
  })

  test('that has an external_id twice does the first row and names it', async () => {
    const me = await service.person()
    const answer = await bulk(me, [
      site('x'),
      site('a', { lat: 200 }),
      site('x', { lat: 2 }),
      site('a'),
    ])
    expect(errors(answer)).toEqual([null, 'invalid', 'duplicate_row', 'duplicate_row'])
    expect(answer.results[2]?.error?.detail).toContain('Row 1 ')
    expect(answer.results[3]?.error?.detail).toContain('Row 2 ')
    expect(await read(me, idAt(answer, 1))).toMatchObject({ lat: 41 })
  })

  test('is told beforehand by a dry run, which changes nothing', async () => {
    const me = await service.person()
    const made = await bulk(me, [site('a'), site('b')])
    const rows = [site('a', { lat: 5 }), site('b'), site('c'), site('d', { lon: 999 }), site('c')]
    const foretold = await bulk(me, rows, { dry_run: true })
    expect(foretold).toMatchObject({ dry_run: true, created: 1, updated: 1, unchanged: 1 })
    expect(statuses(foretold)).toEqual(['updated', 'unchanged', 'created', 'rejected', 'rejected'])
    expect(foretold.results[2]).toMatchObject({ id: null, error: null })
    expect(await labels(me, 'c')).toEqual([])
    expect(await read(me, idAt(made, 1))).toMatchObject({ lat: 41, version: 1 })
    expect(statuses(await bulk(me, rows))).toEqual(statuses(foretold))
  })

  test('can be sent back as it was read', async () => {
    const me = await service.person()
    await bulk(me, [
      site('a', { polygon: { type: 'Polygon', coordinates: [[[28, 40], [30, 40], [30, 42], [28, 40]]] }, lat: 40.5 }), // biome-ignore format: a ring
      site('b', { snoozed_until: '2030-01-01T00:00:00+03:00' }),
    ])
    const { zones } = parsed(await ask(me, 'GET', 'zones'), 200, Many)
    expect(await bulk(me, zones)).toMatchObject({ unchanged: 2, rejected: 0 })
    const other = zones.map((zone) => ({ ...zone, owner_id: zone.id }))
    expect(errors(await bulk(me, other))).toEqual(['invalid', 'invalid'])
    const circle = await bulk(me, [{ external_id: 'a', shape_type: 'circle' }])
    expect(await read(me, idAt(circle, 1))).toMatchObject({ polygon: null, shape_type: 'circle' })
  })

  test.each([
    ['no rows', { zones: [] }, 'zones'],
    ['more than 1,000', { zones: Array(1001).fill({}) }, 'zones', /1000 rows.*Send the others/],
    ['an unknown field', { zones: [{}], delete_others: true }, 'delete_others'],
    ['no list', { zones: {} }, 'zones'],
  ])('is refused as a whole with %s', async (_, body, path, way_out = /./) => {
    const me = await service.person()
    const answer = await service.request('POST', PATH, { key: me.key, body })
    expectProblem(answer, 422, 'invalid')
    const message = expect.stringMatching(way_out)
    expect(answer.body).toMatchObject({ errors: [{ path, message }] })
  })

  test('is refused by its size over 2 MiB', async () => {
    const me = await service.person()
    expectProblem(await send(me, ['x'.repeat(2 * 1024 * 1024)]), 413, 'too_large')
  })

  test('makes the first zones that the plan has room for, and names the others', async () => {
    const me = await service.person()
    await fill(me, 998)
    await bulk(me, [site('old')])
    const rows = [site('n1'), site('bad', { lat: 99 }), site('old', { lat: 3 }), site('n2')]
    const foretold = await bulk(me, rows, { dry_run: true })
    expect(errors(foretold)).toEqual([null, 'invalid', null, 'limit_reached'])
    const answer = await bulk(me, rows)
    expect(errors(answer)).toEqual(errors(foretold))
    expect(answer).toMatchObject({ created: 1, updated: 1, rejected: 2 })
    expect(answer.results[3]?.error?.detail).toBe(
      'The limit of the plan is reached: the pro plan allows 1000 zones. Delete some or change the plan.',
    )
    expectProblem(await ask(me, 'POST', 'zones', site('n3')), 409, 'limit_reached')
    await ask(me, 'DELETE', `zones/${idAt(answer, 1)}`)
    expect(statuses(await bulk(me, [site('n2'), site('n1')]))).toEqual(['created', 'rejected'])
  })

  test('makes none while too many deleted ones are kept, and still changes those that are there', async () => {
    const me = await service.person()
    await bulk(me, [site('a')])
    await fill(me, 4000, 'now()')
    const answer = await bulk(me, [site('a', { lat: 3 }), site('b')])
    expect(errors(answer)).toEqual([null, 'conflict'])
    expect(answer.results[1]?.error?.detail).toContain('Deleted zones can be restored')
    expectProblem(await ask(me, 'POST', 'zones', site('c')), 409, 'conflict')
  })

  test('leaves out a zone with too long a history, and changes the others', async () => {
    const me = await service.person()
    const made = await bulk(me, [site('worn'), site('new')])
    await service.database.query(
      `insert into watchpost.zone_versions (zone_id, version, definition)
      select $1, 1000 + n, '{}' from generate_series(1, 499) n`,
      [idAt(made, 1)],
    )
    const rows = [site('worn', { lat: 2 }), site('new', { lat: 2 })]
    expect(errors(await bulk(me, rows, { dry_run: true }))).toEqual(['conflict', null])
    const answer = await bulk(me, rows)
    expect(errors(answer)).toEqual(['conflict', null])
    expect(answer.results[0]).toMatchObject({ id: idAt(made, 1) })
    expect(answer.results[0]?.error?.detail).toContain('changed too often')
    expectProblem(await ask(me, 'PATCH', `zones/${idAt(made, 1)}`, { lat: 2 }), 409, 'conflict')
  })
})

/** Gives a person more zones than a test could create. */
const fill = async (who: Person, count: number, deleted_at: 'null' | 'now()' = 'null') => {
  const { commit, query } = await service.transaction()
  await query("set local session_replication_role = 'replica'", [])
  await query(
    `insert into watchpost.zones (owner_id, label, lat, lon, boxes, deleted_at)
    select $1, 'Filled', 0, 0, array['(1,1),(0,0)'::box], ${deleted_at} from generate_series(1, $2::int)`,
    [who.user_id, count],
  )
  await commit()
}

describe('an external_id', () => {
  test('is set, changed and cleared on one zone, filters the list, and is its own alone', async () => {
    const me = await service.person()
    const made = parsed(await ask(me, 'POST', 'zones', site('one')), 201, One).zone
    expect(made.external_id).toBe('one')
    expectProblem(await ask(me, 'POST', 'zones', site('one')), 409, 'conflict')
    const { zone } = parsed(await ask(me, 'POST', 'zones', site('two')), 201, One)
    const taken = await ask(me, 'PATCH', `zones/${zone.id}`, { external_id: 'one' })
    expectProblem(taken, 409, 'conflict')
    expect(taken.body).toMatchObject({ errors: [{ path: 'external_id', code: 'taken' }] })
    expect(await labels(me, 'two')).toEqual(['Site two'])
    await ask(me, 'PATCH', `zones/${zone.id}`, { external_id: null })
    expect(await labels(me, 'two')).toEqual([])
    for (const external_id of ['', ' ', 'x'.repeat(201), 'a\nb']) {
      expectProblem(await ask(me, 'PATCH', `zones/${zone.id}`, { external_id }), 422, 'invalid')
    }
    expectProblem(await ask(me, 'GET', 'zones?external_id='), 400, 'invalid_query')
  })

  test('is free again when its zone is deleted, which then cannot be restored beside another', async () => {
    const me = await service.person()
    const { zone } = parsed(await ask(me, 'POST', 'zones', site('one')), 201, One)
    await ask(me, 'DELETE', `zones/${zone.id}`)
    const again = await bulk(me, [site('one')])
    expect(statuses(again)).toEqual(['created'])
    expectProblem(await ask(me, 'POST', `zones/${zone.id}/restore`), 409, 'conflict')
    await ask(me, 'DELETE', `zones/${idAt(again, 1)}`)
    expect((await ask(me, 'POST', `zones/${zone.id}/restore`)).status).toBe(200)
  })
})

describe('a list and what is shared', () => {
  const team = async () => {
    const [owner, admin, member, stranger] = await Promise.all([
      service.person(),
      service.person(),
      service.person(),
      service.person(),
    ])
    const org_id = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
    return { owner, admin, member, stranger, org_id }
  }

  test('never reaches the zones of another tenant', async () => {
    const { owner, member, stranger, org_id } = await team()
    const theirs = await bulk(stranger, [site('a', { label: 'Theirs' })])
    const shared = await bulk(owner, [site('a', { org_id, label: 'Shared' })])
    const mine = await bulk(member, [site('a', { label: 'Mine' })])
    expect(statuses(mine)).toEqual(['created'])
    const intruder = await bulk(stranger, [site('a', { label: 'Seized' }), site('b', { org_id })])
    expect(statuses(intruder)).toEqual(['updated', 'rejected'])
    expect(intruder.results[1]?.error?.fields).toMatchObject([{ path: 'org_id' }])
    expect(await read(owner, idAt(shared, 1))).toMatchObject({ label: 'Shared', version: 1 })
    expect(await read(stranger, idAt(theirs, 1))).toMatchObject({ label: 'Seized' })
    expect(await read(member, idAt(mine, 1))).toMatchObject({ label: 'Mine', version: 1 })
    expect(await labels(stranger, 'a')).toEqual(['Seized'])
    expect((await labels(member, 'a')).sort()).toEqual(['Mine', 'Shared'])
  })

  test('is changed by its owner and by admins, and by no other member', async () => {
    const { owner, admin, member, org_id } = await team()
    const made = await bulk(owner, [site('a', { org_id })])
    const refused = await bulk(member, [site('a', { org_id, lat: 3 }), site('b', { org_id })])
    expect(errors(refused)).toEqual(['forbidden', null])
    expect(refused.results[0]?.id).toBe(idAt(made, 1))
    expect(statuses(await bulk(admin, [site('a', { org_id, lat: 3 })]))).toEqual(['updated'])
    expect(await read(owner, idAt(made, 1))).toMatchObject({ lat: 3, owner_id: owner.user_id })
  })

  test('asks which is meant when a zone was shared since, and neither moves nor doubles it', async () => {
    const { owner, org_id } = await team()
    const other = await service.organisation(owner)
    const made = await bulk(owner, [site('a')])
    const a = idAt(made, 1)
    await ask(owner, 'PATCH', `zones/${a}`, { org_id })
    const again = await bulk(owner, [site('a', { lat: 3 })])
    expect(errors(again)).toEqual(['ambiguous'])
    expect(await read(owner, a)).toMatchObject({ org_id, lat: 41 })
    const named = await bulk(owner, [site('a', { org_id, lat: 4 })])
    expect(named.results[0]).toMatchObject({ status: 'updated', id: a })
    for (const elsewhere of [null, other]) {
      const apart = await bulk(owner, [site('a', { org_id: elsewhere, lat: 9 })])
      expect(statuses(apart)).toEqual(['created'])
      expect(await read(owner, idAt(apart, 1))).toMatchObject({ org_id: elsewhere })
    }
    expect(await read(owner, a)).toMatchObject({ org_id, lat: 4 })
    // With a private one of its name there is no doubt any more.
    expect(statuses(await bulk(owner, [site('a', { lat: 8 })]))).toEqual(['updated'])
  })

  test('checks the channels of each row against what its caller and owner see', async () => {
    const { owner, stranger, admin, org_id } = await team()
    const channelOf = async (who: Person) => {
      const body = { kind: 'webhook', target: 'https://hooks.example.com/in' }
      const made = await ask(who, 'POST', 'channels', body)
      return parsed(made, 201, z.object({ channel: z.object({ id: z.uuid() }) })).channel.id
    }
    const [mine, theirs, admins] = [
      await channelOf(owner),
      await channelOf(stranger),
      await channelOf(admin),
    ]
    const answer = await bulk(owner, [
      site('a', { org_id, channel_ids: [mine] }),
      site('b', { channel_ids: [mine, theirs] }),
      site('c', { escalation: [{ after_minutes: 5, channel_ids: [theirs] }] }),
    ])
    expect(statuses(answer)).toEqual(['created', 'rejected', 'rejected'])
    expect(
      answer.results.flatMap(({ error }) => error?.fields.map(({ path }) => path) ?? []),
    ).toEqual(['channel_ids.1', 'escalation.0.channel_ids.0'])
    // The owner's private channel may stay in a zone that an admin changes; the admin's own may not come in.
    const byAdmin = await bulk(admin, [{ external_id: 'a', org_id, channel_ids: [mine], lat: 7 }])
    expect(statuses(byAdmin)).toEqual(['updated'])
    const worse = await bulk(admin, [{ external_id: 'a', org_id, channel_ids: [mine, admins] }])
    expect(worse.results[0]?.error?.fields).toMatchObject([{ path: 'channel_ids.1' }])
  })

  test('an organisation that is deleted gives zones back, without the external_id of one that is there', async () => {
    const { owner, org_id } = await team()
    const shared = parsed(await ask(owner, 'POST', 'zones', site('a', { org_id })), 201, One).zone
    const kept = parsed(await ask(owner, 'POST', 'zones', site('b', { org_id })), 201, One).zone
    const mine = parsed(await ask(owner, 'POST', 'zones', site('a')), 201, One).zone
    await service.database.query('delete from watchpost.organisations where id = $1', [org_id])
    expect(await read(owner, shared.id)).toMatchObject({ external_id: null, org_id: null })
    expect(await read(owner, kept.id)).toMatchObject({ external_id: 'b', org_id: null })
    expect(await read(owner, mine.id)).toMatchObject({ external_id: 'a' })
  })
})
