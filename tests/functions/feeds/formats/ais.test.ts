import { describe, expect, test } from 'vitest'
import {
  classOfMmsi,
  severityOfVessel,
  toMmsi,
  toVesselEvent,
} from '../../../../functions/feeds/formats/ais.ts'

describe('MMSIs', () => {
  test.each([
    [2_275_200, '002275200'],
    ['002275200', '002275200'],
    [0, null],
    [1_000_000_000, null],
    ['23o123450', null],
    [1.5, null],
    [Number.NaN, null],
  ])('%s is %s', (given, mmsi) => {
    expect(toMmsi(given)).toBe(mmsi)
  })

  test('the boat of a ship is a ship', () => {
    expect(classOfMmsi('982301234')).toBe('ship')
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
