import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ZonePolygon } from '../../../shared/geometry/polygon.ts'
import {
  checkZone,
  ZoneCreate,
  type ZoneFields,
  ZonePatch,
  zoneDefaults,
} from '../../../shared/schemas/zone.ts'

const base = { label: 'Home', lat: 5, lon: 5 }
const zone = (more: Partial<ZoneFields> = {}): ZoneFields => ({ ...zoneDefaults(base), ...more })
const square = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
  [0, 0],
]

describe('a new zone', () => {
  it('needs a label and a place, and gets defaults for the rest', () => {
    expect(ZoneCreate.safeParse({ label: 'Home', lat: 1 }).success).toBe(false)
    expect(zoneDefaults(ZoneCreate.parse(base))).toEqual({
      ...base,
      radius_km: 50,
      shape_type: 'circle',
      polygon: null,
      match: 'footprint',
      min_severity: 40,
      severity_multiplier: 1,
      dwell_minutes: 0,
      quiet_hours_start: null,
      quiet_hours_end: null,
      quiet_hours_tz: 'UTC',
      quiet_windows: null,
      quiet_mode: 'hold',
      emergency_severity: null,
      aftershocks: null,
      max_alerts_per_hour: null,
      escalation: null,
      color: null,
      icon: null,
      org_id: null,
      channel_ids: null,
      sources: null,
      types: null,
      snoozed_until: null,
      enabled: true,
      external_id: null,
    })
  })

  it('is a polygon when it brings one, unless it says circle', () => {
    const polygon: ZonePolygon = { type: 'Polygon', coordinates: [square] }
    expect(zoneDefaults({ ...base, polygon }).shape_type).toBe('polygon')
    expect(zoneDefaults({ ...base, polygon, shape_type: 'circle' }).shape_type).toBe('circle')
  })

  it('lets every position through when it only tracks vessels or aircraft', () => {
    expect(zoneDefaults({ ...base, types: ['vessel', 'aircraft'] }).min_severity).toBe(0)
    expect(zoneDefaults({ ...base, types: ['vessel', 'storm'] }).min_severity).toBe(40)
    expect(zoneDefaults({ ...base, types: ['vessel'], min_severity: 30 }).min_severity).toBe(30)
  })

  it('refuses a mistyped field and names it', () => {
    const result = ZoneCreate.safeParse({ ...base, min_serverity: 3 })
    expect(result.error?.issues[0]).toMatchObject({
      code: 'unrecognized_keys',
      keys: ['min_serverity'],
    })
  })

  it.each([
    ['label', ''],
    ['label', ' '],
    ['label', 'a\u0000b'],
    ['label', 'x'.repeat(121)],
    ['lat', 90.1],
    ['lon', -180.1],
    ['radius_km', 0.09],
    ['radius_km', 5001],
    ['radius_km', null],
    ['min_severity', 101],
    ['severity_multiplier', 0.05],
    ['severity_multiplier', 5.1],
    ['dwell_minutes', 10_081],
    ['quiet_hours_start', '24:00'],
    ['quiet_hours_start', '7:00'],
    ['color', 'red'],
    ['icon', 'Anchor'],
    ['org_id', 'x'],
    ['channel_ids', ['x']],
    ['sources', []],
    ['types', ['ufo']],
    ['snoozed_until', '2026-01-01'],
    ['polygon', { type: 'Point', coordinates: [1, 2] }],
  ])('refuses %s = %j', (field, value) => {
    expect(ZoneCreate.safeParse({ ...base, [field]: value }).error?.issues[0]?.path[0]).toBe(field)
  })
})

describe('a change', () => {
  it('says nothing about absent fields and may clear with null', () => {
    expect(ZonePatch.parse({})).toEqual({})
    expect(ZonePatch.parse({ quiet_hours_start: null, color: '#ABCDEF' })).toEqual({
      quiet_hours_start: null,
      color: '#abcdef',
    })
    expect(ZonePatch.safeParse({ enabled: null }).success).toBe(false)
    expect(ZonePatch.safeParse({ nickname: 'x' }).success).toBe(false)
  })
})

describe('the OpenAPI schema', () => {
  it('can be generated and tells what is required', () => {
    // Named schemas are referred to.
    const schema = z.toJSONSchema(ZoneCreate, { io: 'input' }).$defs?.ZoneCreate
    expect(schema?.required).toEqual(['label', 'lat', 'lon'])
    expect(schema?.additionalProperties).toBe(false)
    expect(schema?.properties?.min_severity).toMatchObject({
      minimum: 0,
      maximum: 100,
      example: 40,
    })
  })
})

describe('a whole zone', () => {
  it('has both quiet hours or neither', () => {
    expect(checkZone(zone({ quiet_hours_start: '22:00', quiet_hours_end: '07:00' }))).toEqual([])
    expect(checkZone(zone({ quiet_hours_start: '22:00' }))).toMatchObject([
      { path: 'quiet_hours_end', code: 'required' },
    ])
    expect(checkZone(zone({ quiet_hours_end: '07:00' }))).toMatchObject([
      { path: 'quiet_hours_start', code: 'required' },
    ])
  })

  it('has a time zone by name', () => {
    for (const name of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe']) {
      expect(checkZone(zone({ quiet_hours_tz: name }))).toEqual([])
    }
    for (const name of ['Mars/Olympus', '+02:00', 'Europe']) {
      expect(checkZone(zone({ quiet_hours_tz: name }))).toMatchObject([
        { path: 'quiet_hours_tz', code: 'unknown_time_zone' },
      ])
    }
  })

  it('has a polygon when it says so', () => {
    expect(checkZone(zone({ shape_type: 'polygon' }))).toMatchObject([
      { path: 'polygon', code: 'required' },
    ])
  })
})
