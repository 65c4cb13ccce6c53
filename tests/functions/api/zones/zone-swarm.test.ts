import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Zone } from '../../../../shared/schemas/zone.ts'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

const PLACE = { label: 'A place', lat: 41, lon: 29 }
const One = z.object({ zone: Zone, warnings: z.array(z.string()).optional() })
const SET = { aftershocks: { magnitude_gap: 1.5 }, max_alerts_per_hour: 5 }
const OFF = { aftershocks: null, max_alerts_per_hour: null }

let service: Service
let person: Person
beforeAll(async () => {
  service = await createService()
  person = await service.person()
})
afterAll(() => service?.close())

const ask = (method: string, path: string, body?: object) =>
  service.request(method, `/api/v1/zones${path}`, { key: person.key, body })
const create = async (fields: object = {}) =>
  parsed(await ask('POST', '', { ...PLACE, ...fields }), 201, One)
const get = async (id: string) => parsed(await ask('GET', `/${id}`), 200, One).zone
const patch = async (id: string, body: object) =>
  parsed(await ask('PATCH', `/${id}`, body), 200, One).zone

test('both settings are off unless they are set, and null switches them off', async () => {
  const { zone } = await create()
  expect(zone).toMatchObject(OFF)
  expect(await patch(zone.id, SET)).toMatchObject({ ...SET, version: 2 })
  expect(await get(zone.id)).toMatchObject(SET)
  // What is absent is unchanged; the whole zone can be sent back.
  expect(await patch(zone.id, { label: 'Changed' })).toMatchObject(SET)
  expect(await patch(zone.id, await get(zone.id))).toMatchObject({ ...SET, version: 3 })
  expect(await patch(zone.id, { aftershocks: {} })).toMatchObject({
    ...SET,
    aftershocks: { magnitude_gap: 2 },
  })
  expect(await patch(zone.id, OFF)).toMatchObject(OFF)
  const answer = await ask('GET', `/${zone.id}/versions`)
  const Versions = z.object({ versions: z.array(z.object({ changes: z.looseObject({}) })) })
  const { versions } = parsed(answer, 200, Versions)
  expect(versions.map(({ changes }) => changes)).toMatchObject([
    { aftershocks: [{ magnitude_gap: 2 }, null], max_alerts_per_hour: [5, null] },
    { aftershocks: [{ magnitude_gap: 1.5 }, { magnitude_gap: 2 }] },
    { label: ['A place', 'Changed'] },
    { aftershocks: [null, { magnitude_gap: 1.5 }], max_alerts_per_hour: [null, 5] },
    {},
  ])
})

test('the limits hold, and what is refused is named', async () => {
  for (const fields of [
    { aftershocks: { magnitude_gap: 0.5 }, max_alerts_per_hour: 1 },
    { aftershocks: { magnitude_gap: 5 }, max_alerts_per_hour: 1000 },
  ]) {
    const { zone } = await create(fields)
    expect(zone).toMatchObject(fields)
  }
  const { zone } = await create()
  for (const [path, fields] of [
    ['aftershocks.magnitude_gap', { aftershocks: { magnitude_gap: 0.49 } }],
    ['aftershocks.magnitude_gap', { aftershocks: { magnitude_gap: 5.01 } }],
    ['aftershocks.gap', { aftershocks: { gap: 2 } }],
    ['aftershocks', { aftershocks: true }],
    ['max_alerts_per_hour', { max_alerts_per_hour: 0 }],
    ['max_alerts_per_hour', { max_alerts_per_hour: 1001 }],
    ['max_alerts_per_hour', { max_alerts_per_hour: 1.5 }],
  ] as const) {
    for (const answer of [
      await ask('POST', '', { ...PLACE, ...fields }),
      await ask('PATCH', `/${zone.id}`, fields),
    ]) {
      expectProblem(answer, 422, 'invalid')
      expect(answer.body).toMatchObject({ errors: [{ path }] })
    }
  }
})

test('a zone without earthquakes is told that aftershocks does nothing', async () => {
  const told = ({ warnings = [] }: z.infer<typeof One>) =>
    warnings.filter((warning) => warning.startsWith('aftershocks does nothing'))
  expect(told(await create({ ...SET, types: ['storm'] }))).toHaveLength(1)
  expect(told(await create({ ...SET, types: ['storm', 'earthquake'] }))).toEqual([])
  expect(told(await create(SET))).toEqual([])
  expect(told(await create({ types: ['storm'] }))).toEqual([])
})

test('a draft can be previewed with both', async () => {
  const answer = await ask('POST', '/preview', { ...PLACE, ...SET })
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ count: 0, suppressed: { aftershock: 0, burst: 0 } })
})
