import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { MAX_PUSHED_A_DAY, Pushed } from '../../../shared/schemas/push.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/events'
const One = z.object({
  event: z.looseObject({ id: z.string(), revisions: z.array(z.looseObject({})) }),
})

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

const item = (id: string, over: object = {}) => ({
  id,
  type: 'flood',
  title: 'The water rises',
  lat: 41,
  lon: 29,
  ts: new Date(Date.now() - 60_000).toISOString(),
  severity: 60,
  ...over,
})
const ask = (who: Pick<Person, 'key'>, events: unknown[], over: object = {}) =>
  service.request('POST', PATH, { key: who.key, body: { source: 'custom:buoys', events, ...over } })
const push = async (who: Pick<Person, 'key'>, events: unknown[], over: object = {}) =>
  parsed(await ask(who, events, over), 200, Pushed)
const outcomes = ({ results }: z.infer<typeof Pushed>) => results.map(({ outcome }) => outcome)
const eventOf = async (who: Pick<Person, 'key'>, id: string) =>
  parsed(
    await service.request('GET', `${PATH}/${encodeURIComponent(id)}`, { key: who.key }),
    200,
    One,
  ).event

describe('an event of one’s own', () => {
  test('has an id with the start of its account’s id, and is read by that and by one’s own', async () => {
    const me = await service.person()
    const { accepted, refused, results } = await push(me, [item('station-7')])
    const event_id = `custom:buoys:${me.user_id.replaceAll('-', '').slice(0, 12)}.station-7`
    expect({ accepted, refused }).toEqual({ accepted: 1, refused: 0 })
    expect(results).toEqual([
      { index: 0, id: 'station-7', event_id, outcome: 'created', reason: null },
    ])
    const event = await eventOf(me, event_id)
    expect(event).toMatchObject({
      id: event_id,
      source: 'custom:buoys',
      attribution: 'custom:buoys',
      type: 'flood',
      severity: 60,
      status: 'active',
    })
    expect((await eventOf(me, 'custom:buoys:station-7')).id).toBe(event_id)
  })

  test('sent again it is a revision, unless nothing changed or it is older', async () => {
    const me = await service.person()
    const first = item('a', { revised_at: '2026-03-01T12:00:00+02:00' })
    expect(outcomes(await push(me, [first]))).toEqual(['created'])
    expect(outcomes(await push(me, [first]))).toEqual(['unchanged'])
    const newer = { ...first, severity: 70, revised_at: '2026-03-01T10:00:01Z' }
    expect(outcomes(await push(me, [newer]))).toEqual(['revised'])
    const older = { ...first, severity: 10, revised_at: '2026-03-01T09:59:59Z' }
    expect(outcomes(await push(me, [older]))).toEqual(['unchanged'])
    const { severity, revisions } = await eventOf(me, 'custom:buoys:a')
    expect({ severity, revisions: revisions.length }).toEqual({ severity: 70, revisions: 2 })
  })

  test('is counted in the log line of its request, as the polls of feeds are', async () => {
    const me = await service.person()
    const same = item('same')
    await push(me, [item('b'), same])
    const [changed, wrong] = [item('b', { severity: 70 }), item('e', { lat: 91 })]
    await push(me, [changed, same, item('c'), item('d'), item('f'), wrong, wrong])
    const counted = { source: 'custom:buoys', inserted: 3, revised: 1, unchanged: 1 }
    await expect
      .poll(() => service.lines)
      .toContainEqual(expect.objectContaining({ ...counted, rejected_count: 2 }))
  })

  test('that comes too late for an alert is stored, and the answer says so', async () => {
    const me = await service.person()
    const days = (n: number) => new Date(Date.now() - n * 86_400_000).toISOString()
    const sent = await push(me, [
      item('old', { ts: days(8) }),
      item('lasting', { ts: days(8), ends_at: days(-1) }),
      item('over', { ts: days(8), ends_at: days(1), status: 'ended' }),
      item('fresh', { ts: days(6) }),
    ])
    expect(outcomes(sent)).toEqual(Array(4).fill('created'))
    const late = expect.stringContaining('older than 168 hours')
    expect(sent.results.map(({ reason }) => reason)).toEqual([late, null, late, null])
    expect(await eventOf(me, 'custom:buoys:old')).toMatchObject({ late: true, flag: null })
    expect(await eventOf(me, 'custom:buoys:fresh')).toMatchObject({ late: false })
  })

  test('of several with one id in a request the last counts', async () => {
    const me = await service.person()
    const sent = await push(me, [item('a', { severity: 1 }), item('b'), item('a', { severity: 2 })])
    expect(outcomes(sent)).toEqual(['superseded', 'created', 'created'])
    expect(await eventOf(me, 'custom:buoys:a')).toMatchObject({ severity: 2 })
  })

  test('the position of a ship is stored as one', async () => {
    const me = await service.person()
    const position = item('230123456:1', { type: 'vessel', subject: 'mmsi:230123456' })
    expect(outcomes(await push(me, [position]))).toEqual(['created'])
    expect(outcomes(await push(me, [position]))).toEqual(['unchanged'])
    const [stored] = await service.database.query(
      'select subject, source, tenant_id from watchpost.positions where tenant_id = $1',
      [me.user_id],
    )
    expect(stored).toEqual({
      subject: 'mmsi:230123456',
      source: 'custom:buoys',
      tenant_id: me.user_id,
    })
  })
})

describe('nobody else', () => {
  test('sees it, and the same id of another account is another event', async () => {
    const [me, other] = [await service.person(), await service.person()]
    const [mine] = (await push(me, [item('same')])).results
    const [theirs] = (await push(other, [item('same', { title: 'Other water' })])).results
    expect(theirs?.outcome).toBe('created')
    expect(theirs?.event_id).not.toBe(mine?.event_id)
    expect(await eventOf(other, 'custom:buoys:same')).toMatchObject({ title: 'Other water' })
    const answer = await service.request('GET', `${PATH}/${mine?.event_id}`, { key: other.key })
    expectProblem(answer, 404, 'not_found')
  })

  test('takes it over by its whole id', async () => {
    const [me, other] = [await service.person(), await service.person()]
    const [mine] = (await push(me, [item('x')])).results
    const own = mine?.event_id?.slice('custom:buoys:'.length) ?? ''
    expect(outcomes(await push(other, [item(own, { title: 'Taken over' })]))).toEqual(['created'])
    expect(await eventOf(me, 'custom:buoys:x')).toMatchObject({ title: 'The water rises' })
  })

  test('but the organisation sees what a member sends for it', async () => {
    const [owner, member, other] = [
      await service.person(),
      await service.person(),
      await service.person(),
    ]
    const org_id = await service.organisation(owner, [member, 'member'])
    expect(outcomes(await push(member, [item('shared')], { org_id }))).toEqual(['created'])
    const { id } = await eventOf(owner, 'custom:buoys:shared')
    expect(id).toBe(`custom:buoys:${org_id.replaceAll('-', '').slice(0, 12)}.shared`)
    expectProblem(
      await service.request('GET', `${PATH}/${id}`, { key: other.key }),
      404,
      'not_found',
    )
    const refused = await ask(other, [item('shared')], { org_id })
    expectProblem(refused, 422, 'invalid')
    expect(refused.body).toMatchObject({ errors: [{ path: 'org_id' }] })
  })
})

describe('each item is judged for itself', () => {
  const footprint = (coordinates: unknown) => ({ geometry: { type: 'Polygon', coordinates } })
  test.each<[string, object, string]>([
    ['no latitude', { lat: undefined }, 'lat: '],
    ['a latitude beyond the pole', { lat: 91 }, 'lat: '],
    ['an unknown type', { type: 'rain' }, 'type: '],
    ['a severity between two', { severity: 50.5 }, 'severity: '],
    ['an empty title', { title: ' ' }, 'title: '],
    ['a title with U+0000', { title: 'a\0b' }, 'title: Must be valid Unicode'],
    ['half a surrogate', { title: 'a\ud800' }, 'title: Must be valid Unicode'],
    ['a time without an offset', { ts: '2026-03-01T12:00:00' }, 'ts: '],
    ['an id with a space', { id: 'a b' }, 'id: '],
    ['an id that is too long', { id: 'x'.repeat(121) }, 'id: '],
    ['an address that runs', { url: 'javascript:alert(1)' }, 'url: '],
    [
      'a footprint off the earth',
      footprint([
        [
          [0, 0],
          [0, 91],
          [1, 0],
          [0, 0],
        ],
      ]),
      'geometry: Must hold',
    ],
    ['a footprint without positions', footprint([]), 'geometry: Must hold'],
    [
      'a footprint of 10,001 positions',
      footprint([Array.from({ length: 10_001 }, () => [0, 0])]),
      'geometry: Must have at most 10000',
    ],
    ['a field that there is not', { tittle: 'x' }, ''],
  ])('%s is refused, and the next item is stored', async (_, over, reason) => {
    const me = await service.person()
    const { accepted, refused, results } = await push(me, [item('bad', over), item('good')])
    expect({ accepted, refused }).toEqual({ accepted: 1, refused: 1 })
    expect(results).toMatchObject([
      { index: 0, event_id: null, outcome: 'refused', reason: expect.stringContaining(reason) },
      { index: 1, id: 'good', outcome: 'created' },
    ])
  })

  test.each([[null], [3], ['text'], [[]]])('%j is refused by its position', async (bad) => {
    const me = await service.person()
    expect((await push(me, [bad])).results).toMatchObject([
      { index: 0, id: null, outcome: 'refused' },
    ])
  })

  test('when all are refused nothing is stored, and the answer says so', async () => {
    const me = await service.person()
    const { accepted, refused } = await push(me, [{}, { id: 'x' }])
    expect({ accepted, refused }).toEqual({ accepted: 0, refused: 2 })
    expect(
      await service.database.query('select from watchpost.events where owner_id = $1', [
        me.user_id,
      ]),
    ).toEqual([])
  })
})

describe('the request is refused as a whole', () => {
  test.each([
    ['a source that is not one’s own', { source: 'usgs' }, 'source'],
    ['a source without a name', { source: 'custom:' }, 'source'],
    ['no events', { events: [] }, 'events'],
    ['1,001 events', { events: Array.from({ length: 1001 }, () => ({})) }, 'events'],
    ['an organisation that is no id', { org_id: 'mine' }, 'org_id'],
  ])('%s', async (_, over, path) => {
    const answer = await ask(await service.person(), [item('a')], over)
    expectProblem(answer, 422, 'invalid')
    expect(answer.body).toMatchObject({ errors: [{ path }] })
  })

  test('beyond the limit of a day, with the seconds to wait, and nothing is stored', async () => {
    const me = await service.person()
    await service.database.query(
      `insert into watchpost.rate_limits (bucket, tat)
      values ($1, now() + interval '1 day' - $2 * interval '1 day' / $3)`,
      [`events:${me.user_id}`, 1.5, MAX_PUSHED_A_DAY.pro],
    )
    const answer = await ask(me, [item('a'), item('b')])
    expectProblem(answer, 429, 'rate_limited')
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(outcomes(await push(me, [item('a')]))).toEqual(['created'])
  })

  test('an Enterprise account may send ten times as much', async () => {
    const rich = await service.person({ plan: 'enterprise' })
    await service.database.query(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '20 hours')`,
      [`events:${rich.user_id}`],
    )
    const events = Array.from({ length: 1000 }, (_, index) => item(String(index)))
    expect((await push(rich, events)).accepted).toBe(1000)
    await service.database.query(
      `update watchpost.rate_limits set tat = now() + interval '1 day' - interval '80 seconds' where bucket = $1`,
      [`events:${rich.user_id}`],
    )
    expectProblem(await ask(rich, events), 429, 'rate_limited')
  })
})
