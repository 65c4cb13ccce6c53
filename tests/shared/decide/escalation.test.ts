import { describe, expect, test } from 'vitest'
import { Escalation, escalationIssues } from '../../../shared/decide/escalation.ts'

const channel_ids = ['0c2a7a0f-6f0e-4c0e-9a55-3b7f0f4f7f1d']
const steps = (...minutes: number[]) =>
  minutes.map((after_minutes) => ({ after_minutes, channel_ids }))

describe('the steps of a zone', () => {
  test.each([
    [steps(1), true],
    [steps(1, 2, 3, 4, 1440), true],
    [[{ after_minutes: 5, channel_ids: [] }], true],
    [[], false],
    [steps(1, 2, 3, 4, 5, 6), false],
    [steps(0), false],
    [steps(1441), false],
    [steps(1.5), false],
    [[{ after_minutes: 5 }], false],
    [[{ after_minutes: 5, channel_ids: ['first'] }], false],
    [[{ after_minutes: 5, channel_ids: Array(101).fill(channel_ids[0]) }], false],
    [[{ after_minutes: 5, channel_ids, repeat: true }], false],
  ])('%j: %s', (given, isGood) => {
    expect(Escalation.safeParse(given).success).toBe(isGood)
  })

  test('come one after the other', () => {
    expect(escalationIssues({ escalation: null })).toEqual([])
    expect(escalationIssues({ escalation: steps(5, 10, 60) })).toEqual([])
    const issues = escalationIssues({ escalation: steps(10, 10, 5) })
    expect(issues.map(({ path, code }) => [path, code])).toEqual([
      ['escalation.1.after_minutes', 'not_ascending'],
      ['escalation.2.after_minutes', 'not_ascending'],
    ])
    expect(issues[1]?.message).toContain('after 5 minutes, not more than 10')
  })
})
