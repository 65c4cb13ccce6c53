import { describe, expect, test } from 'vitest'
import {
  decodeList,
  guessMapping,
  isTable,
  readNumber,
  readTable,
  repeated,
  sitesOf,
} from '../../web/pages/zones/import/sites.ts'

const read = (text: string) => {
  const table = readTable(text)
  return sitesOf(table, guessMapping(table.heads))
}

describe('a list of sites', () => {
  test.each([
    ['name,lat,lon', true],
    ['\uFEFFAd;Enlem;Boylam\r\nA;1;2', true],
    ['sep=;\r\nx;y\r\n1;2', true],
    ['Ad;Yarıçap (km)', true],
    ['41.0, 29.5', false],
    ['41°00\'36"N, 28°58\'48"E', false],
    ['{"type": "Feature", "a": 1}', false],
    ['POLYGON((28 40, 30 40, 30 42, 28 40))', false],
    ['<kml a="1,2">', false],
    ['hello', false],
  ])('%j is one: %s', (text, is) => {
    expect(isTable(text)).toBe(is)
  })

  test('has its columns by their names, and its numbers as people write them', () => {
    expect(read('Code,Site name,Latitude,Lon,Radius (km),Threshold\nA1,Depot,41.5,29,12.5,60')).toEqual([
      { line: 2, external_id: 'A1', label: 'Depot', lat: 41.5, lon: 29, radius_km: 12.5, min_severity: 60 },
    ]) // biome-ignore format: a row
    expect(read('\uFEFFKod;Ad;ENLEM;Boylam;Yarıçap (km);Eşik\r\n7;"Depo; ""kuzey""";41,5;-29;;40')).toEqual([
      { line: 2, external_id: '7', label: 'Depo; "kuzey"', lat: 41.5, lon: -29, min_severity: 40 },
    ]) // biome-ignore format: a row
  })

  test('knows a row by its name when there are no codes, and says in which line it stands', () => {
    const sites = read('sep=;\nname;lat;lon\n\n"two\nlines";1;2\n;;\nB;x;4\nB;5;6')
    expect(sites).toEqual([
      { line: 4, external_id: 'two\nlines', label: 'two\nlines', lat: 1, lon: 2 },
      { line: 7, external_id: 'B', label: 'B', lat: 'x', lon: 4 },
      { line: 8, external_id: 'B', label: 'B', lat: 5, lon: 6 },
    ])
    expect([...repeated(sites)]).toEqual([[8, 7]])
    expect(
      repeated([
        { external_id: '', line: 1 },
        { external_id: '', line: 2 },
      ]).size,
    ).toBe(0)
  })

  test.each([
    ['41.0082', 41.0082],
    ['41,0082', 41.0082],
    ['-0,5', -0.5],
    ['1.234,5', 1234.5],
    ['1,234.5', 1234.5],
    ['.5', 0.5],
    ['12 km', '12 km'],
    ['1e3', '1e3'],
    ['41,0,8', '41,0,8'],
    ['', ''],
  ])('the number %j is %j', (text, value) => {
    expect(readNumber(text)).toBe(value)
  })

  test('is read as it was saved: UTF-8, UTF-16, or as Excel saves it in Turkey', () => {
    const encoder = new TextEncoder()
    expect(decodeList(encoder.encode('Ağ;İş'))).toBe('Ağ;İş')
    expect(decodeList(Uint8Array.of(0x41, 0xf0, 0x3b, 0xdd, 0xfe))).toBe('Ağ;İş')
    expect(decodeList(Uint8Array.of(0xff, 0xfe, 0x41, 0, 0x1f, 0x01))).toBe('Ağ')
    expect(decodeList(Uint8Array.of(0xfe, 0xff, 0, 0x41, 0x01, 0x1f))).toBe('Ağ')
  })
})
