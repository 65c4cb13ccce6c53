import { describe, expect, test } from 'vitest'
import { readToday, senderKey, volumeOf } from '../../../hub/mail/today.ts'
import type { Sql } from '../../../shared/sql.ts'

const counts = (more: object = {}) => ({
  sender: 'ayse@demir.example',
  used: 0,
  days: 0,
  sent: 0,
  hard_bounces: 0,
  complaints: 0,
  ...more,
})
/** The state of mail by what the database counts for each sender. */
const today = (rows: object[], daily_cap = 200) => {
  const sql = (async () => rows) as unknown as Sql // safe: only called as a template
  return readToday(sql, { daily_cap }, { reason: null, detail: null, since: null })
}

describe('mail stops by itself', () => {
  test.each([
    // Complaints: more than one in a thousand.
    [1000, 0, 1, null],
    [999, 0, 1, 'complaints'],
    [2001, 0, 3, 'complaints'],
    // Bounces: at least three, and more than two in a hundred.
    [10, 2, 0, null],
    [10, 3, 0, 'bounces'],
    [150, 3, 0, null],
    [149, 3, 0, 'bounces'],
    [10, 3, 1, 'complaints'],
    [0, 0, 0, null],
  ])(
    'of %i mails %i bounced and %i were complained of: %s',
    async (sent, hard_bounces, complaints, reason) => {
      const { alarm } = await today([counts({ sent, hard_bounces, complaints })])
      expect(alarm?.reason ?? null).toBe(reason)
    },
  )

  test('for what all senders together had, and says how much it was', async () => {
    const one = counts({ sent: 40, hard_bounces: 2 })
    const state = await today([
      one,
      { ...one, sender: 'al@demir.example' },
      { ...one, sender: null },
    ])
    expect(state).toMatchObject({ sent: 120, hard_bounces: 6, complaints: 0 })
    expect(state.alarm).toMatchObject({
      reason: 'bounces',
      detail: { en: expect.stringMatching(/\b6\b.*\b120\b.*\b5(\.0)?\s?%/) },
    })
  })
})

describe('what may go today', () => {
  const rows = [
    counts({ used: 30, days: 2 }),
    counts({ sender: 'al@demir.example', used: 50, days: 9 }),
    counts({ sender: null, used: 20, days: 5 }),
  ]
  const ramp = { start: 20, step: 20 }

  test('is what all senders leave of the limit, also those that are not known any more', async () => {
    const state = await today(rows)
    expect(state).toMatchObject({ cap: 200, used: 100, left: 100, alarm: null })
    expect([...state.senders.keys()]).toEqual(['ayse@demir.example', 'al@demir.example'])
    expect(await today(rows, 99)).toMatchObject({ cap: 99, used: 100, left: 0 })
  })

  test.each([
    ['without a ramp', null, 'ayse@demir.example', 200, [200, 100, 100, 3]],
    ['in the ramp', ramp, 'Ayse@Demir.example', 200, [60, 30, 30, 3]],
    ['at the end of the ramp', ramp, 'al@demir.example', 200, [200, 50, 100, 10]],
    ['on its first day', ramp, 'new@demir.example', 200, [20, 0, 20, 1]],
    ['with more than the ramp', { start: 5, step: 5 }, 'ayse@demir.example', 200, [15, 30, 0, 3]],
    ['with little left by others', ramp, 'ayse@demir.example', 110, [60, 30, 10, 3]],
    ['with a limit below the ramp', ramp, 'ayse@demir.example', 40, [40, 30, 0, 3]],
  ])('by a sender %s', async (_, given, email, daily_cap, expected) => {
    const state = await today(rows, daily_cap)
    const { cap, used, left, day } = volumeOf(state, { daily_cap, ramp: given }, { email })
    expect([cap, used, left, day]).toEqual(expected)
  })

  test('by nobody is that of a first day', async () => {
    const state = await today(rows)
    const volume = volumeOf(state, { daily_cap: 200, ramp }, null)
    expect(volume).toEqual({ cap: 20, used: 0, left: 20, day: 1 })
    expect(senderKey('Ayse@Demir.Example')).toBe('ayse@demir.example')
  })
})
