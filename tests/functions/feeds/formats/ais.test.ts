import { describe, expect, test } from 'vitest'
import {
  classOfMmsi,
  createVessels,
  severityOfVessel,
  toMmsi,
  toVesselEvent,
} from '../../../../functions/feeds/formats/ais.ts'

describe('MMSIs', () => {
  test.each([
    [2_275_200, '002275200'],
    ['002275200', '002275200'],
    [' 230123450\n', '230123450'],
    [0, null],
    [1_000_000_000, null],
    ['23o123450', null],
    [1.5, null],
    [Number.NaN, null],
  ])('%s is %s', (given, mmsi) => {
    expect(toMmsi(given)).toBe(mmsi)
  })

  test.each([
    ['982301234', 'ship'],
    ['230970100', 'ship'],
    ['971123456', 'ship'],
    ['111230001', 'aircraft'],
    ['002275200', 'coast station'],
    ['992301234', 'aid to navigation'],
    ['970123456', 'distress transmitter'],
    ['972123456', 'distress transmitter'],
    ['974123456', 'distress transmitter'],
  ])('%s is that of a %s', (mmsi, mmsiClass) => {
    expect(classOfMmsi(mmsi)).toBe(mmsiClass)
  })

  test('a report without a status has severity 0, also without a fix it is rejected', () => {
    expect(severityOfVessel({ mmsi: '230123450', status: null })).toBe(0)
    const report = {
      source: 'nmea',
      mmsi: '230123450',
      name: ' ',
      lat: 1,
      lon: null,
      at: Date.parse('2026-03-01T12:00:00Z'),
      status: null,
    }
    expect(toVesselEvent(report)).toHaveProperty('rejected')
    expect(toVesselEvent({ ...report, lon: 2 })).toMatchObject({ event: { title: '230123450' } })
  })
})

test.each([
  [0, 25, true],
  [60, 0, true],
  [0, 0, false],
  [null, 0, false],
  [0, null, false],
  [null, null, false],
])('the latitude %s and the longitude %s are a place: %s', (lat, lon, isPlace) => {
  const at = Date.parse('2026-03-01T12:00:00Z')
  const report = { source: 'nmea', mmsi: '230123450', name: null, lat, lon, at, status: null }
  expect(toVesselEvent(report)).toMatchObject(
    isPlace
      ? { event: { lat, lon } }
      : { rejected: { reason: 'lat, lon: the sender has no position' } },
  )
})

describe('the vessels of a source', () => {
  const at = Date.parse('2026-03-01T12:00:00Z')
  const mmsi = '230123450'
  const there = { mmsi, lat: 60, lon: 25, at, status: null }
  const half_hour = 30 * 60_000

  test('keep the last name that says something', () => {
    const vessels = createVessels('nmea')
    vessels.named(mmsi, 'EVER GIVEN')
    vessels.named(mmsi, '  ')
    vessels.named(mmsi, undefined)
    expect(vessels.position(there)).toMatchObject({ event: { title: 'EVER GIVEN' } })
    expect(vessels.position({ ...there, name: ' ' })).toMatchObject({
      event: { title: 'EVER GIVEN' },
    })
    expect(vessels.position({ ...there, name: 'EVER GREEN' })).toMatchObject({
      event: { title: 'EVER GREEN' },
    })
    expect(vessels.position(there)).toMatchObject({ event: { title: 'EVER GREEN' } })
  })

  test('send a safety text from where they were in the half hour before', () => {
    const vessels = createVessels('nmea')
    const text = (later: number) => vessels.text({ mmsi, at: at + later, text: 'FIRE, NO TEST' })
    expect(text(0)).toHaveProperty('rejected')
    vessels.position(there)
    expect(text(half_hour)).toMatchObject({
      event: { lat: 60, lon: 25, title: '230123450: FIRE, NO TEST', severity: 30 },
    })
    expect(text(half_hour + 1)).toEqual({
      rejected: {
        item: mmsi,
        reason: 'lat, lon: a safety text came before any position of its sender',
      },
    })
  })

  test.each([{ lat: null }, { lon: null }])('keep their place when one comes with %j', (none) => {
    const vessels = createVessels('nmea')
    vessels.position(there)
    vessels.position({ ...there, ...none })
    expect(vessels.text({ mmsi, at, text: 'FIRE' })).toMatchObject({ event: { lat: 60, lon: 25 } })
  })

  test('forget the one that was heard least lately of 200,001', () => {
    const vessels = createVessels('nmea')
    const title = (number: string) => {
      const made = vessels.position({ mmsi: number, lat: 60, lon: 25, at, status: null })
      return 'event' in made ? made.event.title : null
    }
    vessels.named('230000001', 'FIRST')
    vessels.named('230000002', 'SECOND')
    vessels.named('230000001', 'FIRST AGAIN')
    for (let n = 3; n <= 200_000; n++) vessels.named(`${230_000_000 + n}`, 'X')
    vessels.named('231000000', 'LAST')
    expect(title('230000001')).toBe('FIRST AGAIN')
    expect(title('230000002')).toBe('230000002')
  })
})
