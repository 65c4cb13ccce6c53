import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  planRows,
  refusalOf,
  type Surroundings,
} from '../../../../functions/api/zones/bulk-plan.ts'
import { type GivenRow, invalidRow, readRows } from '../../../../functions/api/zones/bulk-rows.ts'
import { runToEnd } from '../../../../shared/geometry/steps.ts'
import { ZoneCreate, zoneDefaults } from '../../../../shared/schemas/zone.ts'
import { diagonals } from '../../../support/attacks/expensive.ts'

type Found = NonNullable<ReturnType<Surroundings['found']['get']>>[number]

const me = randomUUID()
const site = (external_id: string, more: object = {}) => ({
  ...{ external_id, label: 'Site', lat: 41, lon: 29 },
  ...more,
})
const given = (...rows: object[]): GivenRow[] => runToEnd(readRows(rows)).given

/** What the database would say of these rows: there is room for one zone, and of zones only those `found`. */
const around = (found: Found[] = [], more: Partial<Surroundings> = {}): Surroundings => ({
  found: Map.groupBy(found, ({ external_id }) => external_id),
  unusable: new Map(),
  my_orgs: [],
  caller: me,
  room: { room: 1, code: 'WPLIM', refusal: 'the plan allows 1 zone' },
  ...more,
})

/** A zone as it is stored. */
const stored = (external_id: string, more: Partial<Found> = {}): Found => ({
  ...zoneDefaults(ZoneCreate.parse(site(external_id))),
  ...{ id: randomUUID(), owner_id: me, external_id, version: 3 },
  ...{ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' },
  ...{ is_here: true, may_edit: true, history_refusal: null, is_polygon_left_out: false },
  ...more,
})

const plan = (rows: object[], surroundings: Surroundings) =>
  runToEnd(planRows(given(...rows), surroundings))

describe('a row of a list', () => {
  test('whose stored polygon was too large to read beside the others asks for a request of its own', () => {
    const big = stored('big', { is_polygon_left_out: true })
    const plans = plan([site('big', { lat: 3 }), site('new')], around([big]))
    expect(plans).toMatchObject([
      {
        ...{ row: 1, external_id: 'big', status: 'rejected', id: big.id },
        error: { code: 'too_much_work', fields: [] },
      },
      { row: 2, status: 'created' },
    ])
    expect(plans[0]).toMatchObject({
      error: { detail: expect.stringMatching(/^The stored polygons .* another request\.$/) },
    })
  })

  test('whose zone is not valid any more names the mistake, and the other rows are done', () => {
    const old = stored('old', { severity_multiplier: 9 })
    const plans = plan([site('old', { lat: 3 }), site('new')], around([old]))
    expect(plans).toMatchObject([
      {
        ...{ status: 'rejected', id: old.id },
        error: { code: 'invalid', fields: [{ path: 'severity_multiplier' }] },
      },
      { status: 'created' },
    ])
  })

  test('that could mean a zone of an organisation says how to name which', () => {
    const elsewhere = stored('a', { is_here: false })
    expect(plan([site('a')], around([elsewhere]))).toMatchObject([
      {
        ...{ status: 'rejected', id: null },
        error: {
          code: 'ambiguous',
          detail: expect.stringMatching(/organisation with org_id, or send null .*private/),
        },
      },
    ])
  })

  test('keeps the channels that its zone already has in its list and its steps, and takes no other of its owner’s', () => {
    const [kept, escalated, foreign] = [randomUUID(), randomUUID(), randomUUID()]
    const owner_id = randomUUID()
    const step = (...channel_ids: string[]) => [{ after_minutes: 5, channel_ids }]
    const zone = stored('a', { owner_id, channel_ids: [kept], escalation: step(escalated) })
    const unusable = new Map([[owner_id, [kept, escalated, foreign]]])
    const issues = (patch: object) => {
      const [one] = plan([{ external_id: 'a', ...patch }], around([zone], { unusable }))
      return one?.status === 'rejected' ? one.error.fields.map(({ path }) => path) : one?.status
    }
    expect(issues({ lat: 3, channel_ids: [kept], escalation: step(escalated) })).toBe('updated')
    expect(issues({ channel_ids: [kept, foreign] })).toEqual(['channel_ids.1'])
    expect(issues({ channel_ids: [escalated] })).toEqual(['channel_ids.0'])
    expect(issues({ escalation: step(escalated, foreign) })).toEqual(['escalation.0.channel_ids.1'])
    expect(issues({ escalation: step(kept) })).toEqual(['escalation.0.channel_ids.0'])
  })

  test('takes the room of a zone only when it makes one', () => {
    const plans = plan(
      [site('bad', { lat: 99 }), site('old', { lat: 3 }), site('n1'), site('n2')],
      around([stored('old')]),
    )
    expect(plans.map(({ status }) => status)).toEqual(['updated', 'created', 'rejected'])
    expect(plans[2]).toMatchObject({ row: 4, error: { code: 'limit_reached' } })
  })

  test('counts as more work with a polygon of more corners, so that others are answered in between', () => {
    const ring = (corners: number) => {
      const points = Array.from({ length: corners }, (_, nr) => {
        const angle = (2 * Math.PI * nr) / corners
        return [29 + Math.cos(angle), 41 + Math.sin(angle)]
      })
      return { type: 'Polygon', coordinates: [[...points, points[0]]] }
    }
    const rows = [site('a'), site('b', { polygon: ring(4) }), site('c', { polygon: ring(100) })]
    const [circle = 0, square = 0, round = 0] = planRows(given(...rows), around())
    expect(circle).toBeGreaterThan(0)
    expect(square).toBeGreaterThan(circle)
    expect(round).toBeGreaterThan(2 * square - circle)
  })
})

test.each([
  ['WPLIM', 'limit_reached', /^The limit of the plan is reached: so many/],
  ['WPCON', 'conflict', /^so many/],
])('no room because of %s is %s', (code, answered, detail) => {
  const refusal = refusalOf({ code, refusal: 'so many' })
  expect(refusal).toMatchObject({
    code: answered,
    detail: expect.stringMatching(detail),
    fields: [],
  })
})

describe('the mistakes of a row', () => {
  const issue = (nr: number) => ({ path: `field${nr}`, code: 'wrong', message: `Mistake ${nr}.` })
  const issues = (count: number) => Array.from({ length: count }, (_, nr) => issue(nr + 1))

  test.each([
    [1, 'field1: Mistake 1.', 1],
    [2, 'field1: Mistake 1. And 1 more: see "fields".', 2],
    [10, 'field1: Mistake 1. And 9 more: see "fields".', 10],
    [11, 'field1: Mistake 1. And 10 more: see "fields".', 10],
  ])(
    'of which there are %i are told in a sentence, and the first ten by field',
    (count, detail, told) => {
      const answer = invalidRow(issues(count))
      expect(answer).toEqual({ code: 'invalid', detail, fields: issues(told) })
    },
  )

  test('of the row as a whole have no field before them', () => {
    expect(
      invalidRow([{ path: '', code: 'invalid_type', message: 'It is no object.' }]),
    ).toMatchObject({ detail: 'It is no object.' })
  })
})

test('polygons that come after those that were all the work of a request are refused, and circles are not', () => {
  const tangled = diagonals(2000)
  const rows = ['a', 'b', 'c'].map((external_id) => site(external_id, { polygon: tangled }))
  const { given: read, rejected } = runToEnd(readRows([...rows, site('circle')]))
  expect(read.map(({ row, inShape }) => [row, inShape])).toEqual([
    [1, []],
    [2, []],
    [4, []],
  ])
  expect(rejected).toMatchObject([
    {
      ...{ row: 3, external_id: 'c' },
      error: {
        code: 'too_much_work',
        detail: expect.stringMatching(/^The polygons of earlier rows .* another request\.$/),
      },
    },
  ])
})
