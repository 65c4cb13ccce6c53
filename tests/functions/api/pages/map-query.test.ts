import { describe, expect, test } from 'vitest'
import { boxesOf, filterOf, MapQuery, pixelAt } from '../../../../functions/api/pages/map-query.ts'

/** What a field is read as, or the reason why it is refused. */
function read(query: Record<string, string>): unknown {
  const { data, error } = MapQuery.safeParse(query)
  if (!data) return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return Object.values(data)[0]
}

const FORM = 'bbox: Must be west,south,east,north in degrees, as in -10,35,30,60.'

describe('a box', () => {
  test.each([
    ['-10,35,30,60', [-10, 35, 30, 60]],
    ['-180,-90,180,90', [-180, -90, 180, 90]],
    ['170,-10.5,-170,0', [170, -10.5, -170, 0]],
    [' 1 , 2 , 3 , 4 ', [1, 2, 3, 4]],
    ['5,5,5,5', [5, 5, 5, 5]],
  ])('%s is four degrees', (bbox, box) => {
    expect(read({ bbox })).toEqual(box)
  })

  test.each([
    ...['', '1,2,3', '1,2,3,4,5', '1,2,3,', ',2,3,4', '1, ,3,4', 'a,b,c,d', '1;2;3;4'],
    ...['180.1,0,0,0', '-180.1,0,0,0', '0,90.1,0,90.1', '0,-90.1,0,0', '0,0,180.1,0', '0,0,0,90.1'],
    ...['0,0,-180.1,0', '0,0,0,-90.1', 'NaN,0,0,0', 'Infinity,0,0,0'],
  ])('%s is refused with its form', (bbox) => {
    expect(read({ bbox })).toEqual([FORM])
  })

  test('whose south is north of its north is refused', () => {
    expect(read({ bbox: '1,9,3,4' })).toEqual(['bbox: south must not be greater than north.'])
  })

  test('is one for the database, and two where it crosses the antimeridian', () => {
    expect(boxesOf([-10, 35, 30, 60])).toBe('{(30,60),(-10,35)}')
    expect(boxesOf([5, 1, 5, 2])).toBe('{(5,2),(5,1)}')
    expect(boxesOf([170, -1, -175, 2])).toBe('{(180,2),(170,-1);(-175,2),(-180,-1)}')
  })
})

describe('a zoom', () => {
  test.each([
    ['0', 0],
    ['22', 22],
    ['3.5', 3.5],
  ])('%s is one', (zoom, number) => {
    expect(read({ zoom })).toBe(number)
  })

  test.each(['-0.1', '22.1', 'x'])('%s is none', (zoom) => {
    expect(read({ zoom })).toEqual([expect.stringMatching(/^zoom: /)])
  })

  test('says how many degrees a pixel is wide, of a world of 512 pixels at zoom 0', () => {
    expect([0, 1, 9].map(pixelAt)).toEqual([360 / 512, 360 / 1024, 360 / 512 / 512])
    expect(pixelAt(undefined)).toBe(0)
  })
})

describe('the filters', () => {
  test('are types with commas between them, each one that there is', () => {
    expect(read({ types: 'storm,flood' })).toEqual(['storm', 'flood'])
    for (const types of ['', 'storm,', 'storm, flood', 'hail'])
      expect(read({ types })).toEqual([expect.stringMatching(/^types\./)])
  })

  test('are a severity from 0 to 100', () => {
    expect([read({ min_severity: '0' }), read({ min_severity: '100' })]).toEqual([0, 100])
    for (const min_severity of ['-1', '100.5', 'high'])
      expect(read({ min_severity })).toEqual([expect.stringMatching(/^min_severity: /)])
  })

  test('are nulls for the database where nothing is filtered, and whole numbers from there on', () => {
    expect(filterOf({})).toEqual({ types: null, min_severity: null })
    expect(filterOf({ types: ['storm'], min_severity: 0 })).toEqual({
      types: ['storm'],
      min_severity: 0,
    })
    // Severities are whole, so that 10.5 is reached from 11 on.
    expect(filterOf({ min_severity: 10.5 }).min_severity).toBe(11)
  })
})

test('what a map does not know is refused', () => {
  expect(read({ box: '1,2,3,4' })).toEqual([expect.stringContaining('box')])
})
