import { describe, expect, test } from 'vitest'
import { GivenPolygon, ZonePolygon } from '../../../shared/geometry/polygon.ts'
import { rectangle } from '../../support/attacks/shapes.ts'

const ring = rectangle(0, 0, 1, 1)
const polygon = { type: 'Polygon', coordinates: [ring] }
const parts = { type: 'MultiPolygon', coordinates: [[ring], [ring, ring]] }
const feature = { type: 'Feature', properties: { name: 'Home' }, geometry: parts }

describe('the polygon of a zone', () => {
  test.each([
    ['a polygon', polygon, polygon],
    ['a multipolygon', parts, parts],
    ['with heights', { type: 'Polygon', coordinates: [[[1, 2, 3]]] }, undefined],
    ['of a ring that is still empty', { type: 'Polygon', coordinates: [[]] }, undefined],
    ['in a feature', feature, parts],
    ['in a collection', { type: 'FeatureCollection', features: [feature] }, parts],
  ])('is taken: %s', (_, given, kept) => {
    expect(GivenPolygon.parse(given)).toEqual(kept ?? given)
  })

  test.each<[string, unknown, (string | number)[], string]>([
    ['no list', 'Polygon', [], 'a list'],
    ['no rings', [], [], 'at least one ring'],
    ['a ring that is none', [ring, null], [1], 'a list'],
    ['a position that is none', [[[0, 0], 7]], [0, 1], 'a position'],
    ['a position of one number', [[[0, 0], [1]]], [0, 1], 'a position'],
    ['a position of four numbers', [[[0, 0, 0, 0]]], [0, 0], 'a position'],
    ['a text for a number', [[[0, '1']]], [0, 0, 1], 'a position'],
    ['a number that is none', [[[Number.NaN, 1]]], [0, 0, 0], 'a position'],
    ['a number without an end', [[[1, Number.POSITIVE_INFINITY]]], [0, 0, 1], 'a position'],
  ])('is refused at the first mistake: %s', (_, coordinates, path, message) => {
    const { error } = ZonePolygon.safeParse({ type: 'Polygon', coordinates })
    expect(error?.issues).toMatchObject([{ path: ['coordinates', ...path] }])
    expect(error?.issues[0]?.message).toContain(message)
  })

  test.each([
    [[[ring], []], [1]],
    [[], []],
    [[[ring, [[0]]]], [0, 1, 0]],
  ])('of parts is refused at the first mistake: %#', (coordinates, path) => {
    const { error } = ZonePolygon.safeParse({ type: 'MultiPolygon', coordinates })
    expect(error?.issues).toMatchObject([{ path: ['coordinates', ...path] }])
  })

  test('is one: neither two features, nor none, nor another shape', () => {
    for (const features of [[feature, feature], []]) {
      const { error } = GivenPolygon.safeParse({ type: 'FeatureCollection', features })
      expect(error?.issues[0]?.message).toContain('A zone has one shape')
    }
    expect(GivenPolygon.safeParse({ type: 'LineString', coordinates: ring }).success).toBe(false)
  })
})
