import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeAis } from '../../../../functions/feeds/formats/ais-message.ts'
import { classA, type Field, payloadOf } from '../../../support/feeds/ais.ts'
import { decoded } from './decoded.ts'

const header = (type: number, mmsi = 230_123_450): Field[] => [
  [type, 6],
  [1, 2],
  [mmsi, 30],
]
const place: Field[] = [
  [1, 1],
  [Math.round(25.5 * 600_000), 28],
  [Math.round(-60.25 * 600_000), 27],
]
const at = { lat: -60.25, lon: 25.5, accuracy: true }

describe('messages by type', () => {
  test('1 to 3: a position of class A', () => {
    for (const type of [1, 2, 3]) {
      expect(decoded(classA({ type, status: 5 }))).toEqual({
        kind: 'position',
        type,
        repeat: 0,
        mmsi: '230123450',
        status: 5,
        lat: 60,
        lon: 25,
        accuracy: true,
        speed_knots: 10.2,
        course: 208.8,
        heading: 210,
        second: 41,
        raim: false,
      })
    }
  })

  test('what is not available is null', () => {
    const none = { lat: 91, lon: 181, speed: 1023, course: 3600, heading: 511, second: 60 }
    expect(decoded(classA(none))).toMatchObject({
      lat: null,
      lon: null,
      speed_knots: null,
      course: null,
      heading: null,
      second: null,
    })
    expect(decoded(classA({ lat: 90, lon: -180 }))).toMatchObject({ lat: 90, lon: -180 })
  })

  test('4: a base station and its clock', () => {
    const station = (time: Field[]) => decoded([...header(4), ...time, ...place, [0, 34]])
    const time: Field[] = [
      [2026, 14],
      [2, 4],
      [27, 5],
      [23, 5],
      [59, 6],
      [59, 6],
    ]
    expect(station(time)).toMatchObject({ kind: 'station', ...at, at: '2026-02-27T23:59:59.000Z' })
    for (const [index, none] of [0, 0, 0, 24, 60, 60].entries()) {
      const unknown = time.map(
        (field, at): Field => (at === index ? [none, Number(field[1])] : field),
      )
      expect(station(unknown)).toMatchObject({ at: null })
    }
    expect(
      station([
        [2026, 14],
        [2, 4],
        [30, 5],
        [0, 5],
        [0, 6],
        [0, 6],
      ]),
    ).toMatchObject({ at: null })
  })

  test('5: who a ship is', () => {
    const message = [
      ...header(5),
      [0, 2],
      [9_134_270, 30],
      ['3FOF8', 7],
      ['EVER DIADEM', 20],
      [70, 8],
      [225, 9],
      [70, 9],
      [1, 6],
      [31, 6],
      [1, 4],
      [0, 20],
      [122, 8],
      ['NEW YORK', 20],
      [0, 2],
    ] satisfies Field[]
    expect(decoded(message)).toMatchObject({
      kind: 'static',
      imo: 9_134_270,
      callsign: '3FOF8',
      name: 'EVER DIADEM',
      ship_type: 70,
      to_bow: 225,
      to_stern: 70,
      to_port: 1,
      to_starboard: 31,
      draught_m: 12.2,
      destination: 'NEW YORK',
    })
  })

  test('9: an aircraft of search and rescue, in whole knots', () => {
    const speed: Field[] = [
      [1493, 12],
      [151, 10],
    ]
    expect(
      decoded([...header(9, 111_503_003), ...speed, ...place, [2563, 12], [9, 6], [0, 34]]),
    ).toMatchObject({
      kind: 'position',
      ...at,
      speed_knots: 151,
      altitude_m: 1493,
      course: 256.3,
      second: 9,
    })
  })

  test('12 and 14: texts', () => {
    expect(
      decoded([...header(12), [0, 2], [215_724_000, 30], [0, 2], ['REPORT NOW', 10]]),
    ).toMatchObject({ kind: 'text', text: 'REPORT NOW', to: '215724000' })
    const to = decoded([...header(12), [0, 2], [2_275_200, 30], [0, 2], ['REPORT NOW  ', 12]])
    expect(to).toMatchObject({ text: 'REPORT NOW', to: '002275200' })
    expect(decoded([...header(14), [0, 2], ['MAN OVERBOARD', 15]])).toMatchObject({
      kind: 'text',
      text: 'MAN OVERBOARD',
      to: null,
    })
  })

  test('18 and 19: class B', () => {
    const motion: Field[] = [[0, 8], [47, 10], ...place, [2242, 12], [511, 9], [7, 6]]
    const unnamed = decoded([...header(18), ...motion, [0, 29]])
    expect(unnamed).not.toHaveProperty('name')
    expect(unnamed).toMatchObject({
      kind: 'position',
      status: null,
      ...at,
      speed_knots: 4.7,
      course: 224.2,
      heading: null,
      second: 7,
    })
    const named: Field[] = [
      ...motion,
      [0, 4],
      ['CAPT.J.RIMES', 20],
      [70, 8],
      [0, 30],
      [0, 4],
      [1, 1],
      [0, 6],
    ]
    expect(decoded([...header(19), ...named])).toMatchObject({
      ...at,
      name: 'CAPT.J.RIMES',
      raim: true,
    })
  })

  test('21: a mark, with the extension of its name', () => {
    const mark: Field[] = [
      [20, 5],
      ['CHINA ROSE MURPHY EX', 20],
      ...place,
      [0, 30],
      [1, 4],
      [50, 6],
      [1, 1],
      [0, 12],
    ]
    expect(decoded([...header(21), ...mark, ['PRESS', 5]])).toMatchObject({
      kind: 'aid',
      aid_type: 20,
      name: 'CHINA ROSE MURPHY EXPRESS',
      ...at,
      off_position: true,
      virtual: false,
    })
  })

  test.each([
    ['BUOY OF THE HARBOUR ', 'A', 'BUOY OF THE HARBOUR A'],
    [' WESTERN CARDINAL', '', 'WESTERN CARDINAL'],
    ['EASTERN CARDINAL    ', '  ', 'EASTERN CARDINAL'],
  ])('21: the name %j and its extension %j are %j', (first, more, name) => {
    const mark: Field[] = [[20, 5], [first, 20], ...place, [0, 53]]
    expect(decoded([...header(21), ...mark, [more, more.length]])).toMatchObject({ name })
  })

  test('24: a name, or the rest; the boat of a ship has no dimensions', () => {
    expect(decoded([...header(24), [0, 2], ['PROGUY', 20]])).toMatchObject({
      kind: 'static',
      name: 'PROGUY',
    })
    const rest: Field[] = [
      [1, 2],
      [60, 8],
      ['1D0', 3],
      [0, 24],
      ['TC6163', 7],
      [3, 9],
      [15, 9],
      [1, 6],
      [5, 6],
      [0, 6],
    ]
    expect(decoded([...header(24), ...rest])).toMatchObject({
      kind: 'static',
      ship_type: 60,
      callsign: 'TC6163',
      to_bow: 3,
      to_stern: 15,
      to_port: 1,
      to_starboard: 5,
    })
    expect(decoded([...header(24, 982_301_234), ...rest])).not.toHaveProperty('to_bow')
  })

  test.each<[string, 'static' | 'other', Field[]]>([
    [
      'a name of twenty characters',
      'static',
      [
        [0, 2],
        ['PROGUY', 20],
      ],
    ],
    [
      'a name that is cut off',
      'other',
      [
        [0, 2],
        ['PROGUY', 19],
      ],
    ],
    [
      'the rest',
      'static',
      [
        [1, 2],
        [0, 122],
      ],
    ],
    [
      'the rest that is cut off',
      'other',
      [
        [1, 2],
        [0, 121],
      ],
    ],
    [
      'a third part',
      'other',
      [
        [2, 2],
        [0, 128],
      ],
    ],
  ])('24 with %s is of the kind %s', (_, kind, fields) => {
    const message = decoded([...header(24), ...fields])
    expect(message).toMatchObject({ type: 24, repeat: 1, mmsi: '230123450', kind })
  })

  test('27: a position by satellite, in tenths of a minute', () => {
    const long: Field[] = [
      ...header(27),
      [1, 1],
      [0, 1],
      [2, 4],
      [137 * 600, 18],
      [-4.8 * 600, 17],
      [57, 6],
      [167, 9],
      [0, 3],
    ]
    expect(decoded(long)).toMatchObject({
      kind: 'position',
      status: 2,
      lat: -4.8,
      lon: 137,
      speed_knots: 57,
      course: 167,
    })
  })

  test.each([6, 7, 8, 10, 13, 15, 16, 17, 20, 22, 23, 25, 26])('%i has no part in this', (type) => {
    expect(decoded([...header(type), [0, 30]])).toEqual({
      kind: 'other',
      type,
      repeat: 1,
      mmsi: '230123450',
    })
  })
})

test.each([
  ...[1, 2, 3].map((type) => [type, 149]),
  ...[4, 11].map((type) => [type, 134]),
  ...[
    [5, 422],
    [9, 148],
    [12, 72],
    [14, 40],
    [18, 148],
    [19, 306],
    [21, 270],
    [24, 40],
    [27, 95],
  ],
])('a message of type %i is whole from %i bits on', (type = 0, least = 0) => {
  const of = (bits: number) => {
    const { payload, fill } = payloadOf([...header(type), [0, bits - 38]])
    return decodeAis(payload, fill)
  }
  expect(of(least)).toMatchObject({ type })
  expect(of(least - 1)).toEqual({ problem: expect.stringContaining(`${least - 1}`) })
})

test('a message of another type is whole once it says its sender', () => {
  expect(decoded(header(8))).toMatchObject({ kind: 'other', type: 8, mmsi: '230123450' })
})

test('an MMSI has nine digits at most, and zeros in front', () => {
  expect(decoded(classA({ mmsi: 999_999_999 }))).toMatchObject({ mmsi: '999999999' })
  expect(decoded(classA({ mmsi: 2_275_200 }))).toMatchObject({ mmsi: '002275200' })
})

describe('what cannot be decoded says why', () => {
  test.each([
    ['', 0, /0 bits are too few/],
    ['1!', 0, /character 2 is none of the 64/],
    ['1Z', 0, /character 2/],
    ['1é', 0, /character 2/],
    ['U31<0OOP000CshrMdl600?wP00SL', 0, /type: 37 is not a type/],
    ['031<0OOP000CshrMdl600?wP00SL', 0, /type: 0 is not a type/],
    [classA({ mmsi: 1_000_000_000 }).payload, 0, /1000000000 has more than nine digits/],
    [classA().payload.slice(0, 20), 0, /type 1 has at least 149 bits, not 120/],
  ])('%j', (payload, fill, problem) => {
    expect(decodeAis(payload, fill)).toEqual({ problem: expect.stringMatching(problem) })
  })

  test('no payload is an uncaught error or a number that is none', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.integer({ min: 0, max: 5 }), (payload, fill) => {
        const message = decodeAis(payload, fill)
        expect(JSON.stringify(message)).not.toContain('NaN')
      }),
    )
    const six = fc.constantFrom(
      ...'0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVW`abcdefghijklmnopqrstuvw',
    )
    fc.assert(
      fc.property(fc.string({ unit: six, maxLength: 80 }), (payload) => {
        const message = decodeAis(payload, 0)
        if ('problem' in message || !('lat' in message)) return
        expect(Math.abs(message.lat ?? 0)).toBeLessThanOrEqual(90)
        expect(Math.abs(message.lon ?? 0)).toBeLessThanOrEqual(180)
      }),
    )
  })
})
