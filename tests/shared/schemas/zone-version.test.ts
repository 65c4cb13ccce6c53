import { describe, expect, test } from 'vitest'
import {
  type OwnerState,
  offReason,
  parseZoneVersion,
} from '../../../shared/schemas/zone-version.ts'

const [ME, OTHER] = ['me', 'other']
const AT = new Date('2026-03-02T12:00:00Z')
const ON = { owner_id: ME, deleted_at: null, enabled: true }
const state = (more: Partial<OwnerState>): OwnerState => ({
  ...{ user_id: ME, valid_from: '2026-03-01T00:00:00Z', plan: 'pro', banned_until: null },
  ...more,
})

describe('why a zone raised nothing', () => {
  test.each<[string, Partial<typeof ON> | { deleted_at: string }, OwnerState[], string | null]>([
    ['it was on', {}, [state({})], null],
    ['nothing is known of its owner', {}, [], null],
    ['it was deleted', { deleted_at: '2026-03-01T00:00:00Z' }, [state({})], 'deleted'],
    ['it was switched off', { enabled: false }, [state({})], 'disabled'],
    ['its owner had no plan', {}, [state({ plan: 'free' })], 'paused_by_plan'],
    ['and it was off as well', { enabled: false }, [state({ plan: 'free' })], 'paused_by_plan'],
    ['another had no plan', {}, [state({}), state({ plan: 'free', user_id: OTHER })], null],
    ['a ban held', {}, [state({ banned_until: '2026-03-02T12:00:00.001Z' })], 'owner_banned'],
    ['a ban ended then', {}, [state({ banned_until: '2026-03-02T12:00:00Z' })], null],
    [
      'the plan began then',
      {},
      [state({ plan: 'free' }), state({ valid_from: '2026-03-02T12:00:00Z' })],
      null,
    ],
    [
      'the plan began later',
      {},
      [state({ plan: 'free' }), state({ valid_from: '2026-03-02T12:00:00.001Z' })],
      'paused_by_plan',
    ],
  ])('when %s', (_, zone, states, reason) => {
    expect(offReason({ ...ON, ...zone }, states, AT)).toBe(reason)
  })
})

test('a stored zone has its times as the API has them, and the fields that are newer than it', () => {
  const stored = { label: 'Home', snoozed_until: '2026-03-02T12:00:00+02:00' }
  expect(parseZoneVersion(stored)).toEqual({
    ...{ label: 'Home', snoozed_until: '2026-03-02T10:00:00.000Z' },
    ...{ aftershocks: null, max_alerts_per_hour: null, escalation: null, external_id: null },
  })
  const newer = { snoozed_until: null, external_id: 'store-1', max_alerts_per_hour: 5 }
  expect(parseZoneVersion(newer)).toMatchObject(newer)
})
