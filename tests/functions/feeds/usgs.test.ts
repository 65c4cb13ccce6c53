import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normaliseUsgs } from '../../../functions/feeds/formats/usgs-feature.ts'
import { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { quake } from '../../support/feeds/quakes.ts'

const SAMPLES = new URL('../../../../shared/samples/usgs/', import.meta.url)

function event(over: Parameters<typeof quake>[0] = {}): NormalisedEvent {
  const result = normaliseUsgs(quake(over))
  if ('rejected' in result) throw new Error(result.rejected.reason)
  return result.event
}

describe('a feature becomes an event', () => {
  test('with every field of the canonical form', () => {
    expect(event({ ids: ',us7,xx1,', place: 'Testville', title: 'M 4.0 - Testville' })).toEqual({
      id: 'usgs:xx1',
      source: 'usgs',
      type: 'earthquake',
      title: 'M 4.0 - Testville',
      lat: 10.25,
      lon: -20.5,
      ts: '2026-03-01T11:50:00.000Z',
      severity: 43,
      subject: null,
      status: 'active',
      url: 'https://earthquake.usgs.gov/earthquakes/eventpage/xx1',
      geometry: null,
      ends_at: null,
      magnitude: 4,
      depth_km: 12.3,
      revised_at: '2026-03-01T11:55:00.000Z',
      aliases: ['usgs:us7', 'usgs:xx1'],
    })
  })

  test.each([
    [null, 0],
    [-0.6, 0],
    [1.5, 0],
    [2.5, 17],
    [4, 43],
    [4.5, 51],
    [5, 60],
    [5.7, 71],
    [6, 77],
    [7, 94],
    [7.4, 100],
    [9.5, 100],
  ])('magnitude %s has severity %i', (mag, severity) => {
    expect(event({ mag }).severity).toBe(severity)
  })

  test.each([
    [4, 'green', 43],
    [4, 'yellow', 60],
    [4, 'orange', 80],
    [4, 'red', 100],
    [6.5, 'yellow', 85],
    [null, 'orange', 80],
    [4, 'mauve', 43],
  ])('magnitude %s with PAGER %s has severity %i', (mag, alert, severity) => {
    expect(event({ mag, alert }).severity).toBe(severity)
  })

  test.each([
    ['quarry blast', 'other', 20],
    ['quarry_blast', 'other', 20],
    ['explosion', 'other', 20],
    ['volcanic eruption', 'volcano', 20],
    ['volcanic_eruption', 'volcano', 20],
    ['earthquake', 'earthquake', 77],
    [null, 'earthquake', 77],
  ])('a magnitude 6 %s is of type %s and severity %i', (type, canonical, severity) => {
    expect(event({ mag: 6, type })).toMatchObject({ type: canonical, severity })
  })

  test('an unknown place or magnitude leaves a readable title', () => {
    expect(event({ place: null, title: 'M 4.0 - null' }).title).toBe('M 4.0 - 10.25, -20.50')
    expect(event({ mag: null, title: null }).title).toBe('Magnitude unknown - 10 km N of Testville')
  })

  test('a deleted event is retracted', () => {
    expect(event({ status: 'deleted' }).status).toBe('retracted')
    expect(event({ status: 'REVIEWED' }).status).toBe('active')
  })

  test('depth may be negative, null or missing', () => {
    for (const at of [
      [1, 2, -1.2],
      [1, 2, null],
      [1, 2],
    ]) {
      expect(event({ at })).toMatchObject({ lon: 1, lat: 2, geometry: null })
    }
  })

  test('a link that is no web address is dropped', () => {
    expect(event({ url: 'javascript:alert(1)' }).url).toBeNull()
    expect(event({ url: null }).url).toBeNull()
  })

  test.each([
    [{ at: [-20, 91, 0] }, 'lat'],
    [{ at: [181, 0, 0] }, 'lon'],
    [{ at: [] }, 'coordinates'],
    [{ time: null }, 'time'],
    [{ time: 1e300 }, 'ts'],
    [{ updated: 1e300 }, 'revised_at'],
    [{ mag: 'big' }, 'mag'],
    [{ id: '' }, 'id'],
    [{ id: 'xx 1' }, 'id'],
    [{ id: ' xx1' }, 'id'],
    [{ id: 'xx1 ' }, 'id'],
  ])('%j is rejected, and the reason names the field', (over, field) => {
    const result = normaliseUsgs(quake(over))
    expect(result).toHaveProperty('rejected.reason', expect.stringContaining(field))
  })

  test('what is rejected is named by its id, or else by its place in the answer', () => {
    const named = normaliseUsgs(quake({ mag: 'big' }), '#3')
    expect(named).toMatchObject({ rejected: { item: 'xx1' } })
    expect(normaliseUsgs({}, '#3')).toMatchObject({ rejected: { item: '#3' } })
    expect(normaliseUsgs({})).toMatchObject({ rejected: { item: '#1' } })
  })

  test('without an update or a state it is active and not revised', () => {
    expect(event({ updated: null, status: null })).toMatchObject({
      revised_at: null,
      status: 'active',
    })
  })

  test.each([
    [',us7,,xx1,', ['usgs:us7', 'usgs:xx1']],
    [',us 7, us8,us9 ,xx1,', ['usgs:xx1']],
    [null, []],
  ])('the ids %j are the aliases %j', (ids, aliases) => {
    expect(event({ ids }).aliases).toEqual(aliases)
  })

  test.each([
    ['12.3', null],
    [Number.NaN, null],
    [null, null],
    [-1.5, -1.5],
  ])('the third coordinate %s is the depth %s', (third, depth_km) => {
    expect(event({ at: [-20.5, 10.25, third] }).depth_km).toBe(depth_km)
  })

  test.each([
    [{ title: ' M 4.0 - Testville ' }, 'M 4.0 - Testville'],
    [{ title: 'x'.repeat(600) }, 'x'.repeat(500)],
    [{ title: null, place: ' Testville ' }, 'M 4.0 - Testville'],
    [{ title: null, place: ' ' }, 'M 4.0 - 10.25, -20.50'],
    [{ title: null, place: 'x'.repeat(600) }, `M 4.0 - ${'x'.repeat(492)}`],
  ])('%j is called %s', (over, title) => {
    expect(event(over).title).toBe(title)
  })

  test('whatever comes in, a valid event or a reason comes out', () => {
    const value = fc.oneof(
      fc.double(),
      fc.string(),
      fc.constant(null),
      fc.integer(),
      fc.jsonValue(),
    )
    const over = fc.record(
      { id: fc.string(), at: fc.array(value), mag: value, place: value, time: value, ids: value },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(over.map(quake), fc.jsonValue()), (feature) => {
        const result = normaliseUsgs(feature)
        if ('event' in result) NormalisedEvent.parse(result.event)
        else expect(result.rejected.reason).not.toBe('')
      }),
      { numRuns: 500 },
    )
  })
})

// Real recordings, where they lie beside the clone; the fixtures above say the same in small.
const recorded = existsSync(SAMPLES) ? describe : () => undefined
recorded('recorded answers', () => {
  test.each([
    ['all_week-2018-02-07.geojson', 1707],
    ['fdsnws-query-2026-09-16.geojson', 4],
  ])('%s gives %i valid events', (file, count) => {
    const { features } = JSON.parse(readFileSync(new URL(file, SAMPLES), 'utf8'))
    const events = features
      .map((feature: unknown) => normaliseUsgs(feature))
      .map((result: object) => 'event' in result && result.event)
    expect(events).toHaveLength(count)
    for (const event of events) NormalisedEvent.parse(event)
    expect(new Set(events.map((event: NormalisedEvent) => event.id)).size).toBe(count)
  })

  test('a red PAGER alert makes a magnitude 7.1 extreme', () => {
    const detail = JSON.parse(readFileSync(new URL('detail-us6000pi9w.geojson', SAMPLES), 'utf8'))
    expect(normaliseUsgs(detail)).toMatchObject({ event: { severity: 100, lat: 28.639 } })
  })
})
