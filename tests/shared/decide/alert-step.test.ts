import { describe, expect, test } from 'vitest'
import { judgeStep, type StepFacts, stepTimes } from '../../../shared/decide/alert-step.ts'

const AT = new Date('2026-03-02T22:30:00.000Z')
const QUIET = { quiet_hours_start: '22:00', quiet_hours_end: '07:00' }
const rule = {
  snoozed_until: null,
  quiet_hours_start: null,
  quiet_hours_end: null,
  quiet_hours_tz: 'UTC',
  quiet_windows: null,
  quiet_mode: 'hold' as const,
  emergency_severity: null,
}
const facts: StepFacts = {
  rule,
  calm: null,
  alert_status: 'dispatched',
  held_until: null,
  severity: 60,
  off: null,
  is_in_zone: true,
}
const judge = (given: Partial<StepFacts>) => judgeStep({ ...facts, ...given }, AT)

describe('a step that is due', () => {
  test.each<[string, Partial<StepFacts>, object]>([
    ['runs', {}, { run: true }],
    ['runs for an alert that failed', { alert_status: 'failed' }, { run: true }],
    ['not when it was seen', { calm: 'acknowledged' }, { stop: 'acknowledged' }],
    ['not when the event ended', { calm: 'ended' }, { stop: 'ended' }],
    ['not when the zone is paused', { off: 'paused_by_plan' }, { stop: 'paused_by_plan' }],
    ['not when the alert is suppressed', { alert_status: 'suppressed' }, { stop: 'suppressed' }],
    ['not when the zone has it no more', { is_in_zone: false }, { stop: 'removed' }],
    [
      'not in a snooze',
      { rule: { ...rule, snoozed_until: '2026-03-02T22:30:00.001Z' } },
      { stop: 'snoozed' },
    ],
    ['after a snooze', { rule: { ...rule, snoozed_until: AT.toISOString() } }, { run: true }],
    [
      'later when the alert is held',
      { alert_status: 'held', held_until: '2026-03-03T07:00:00.000Z' },
      { wait_until: new Date('2026-03-03T07:00:00.000Z') },
    ],
    [
      'later when it is quiet',
      { rule: { ...rule, ...QUIET } },
      { wait_until: new Date('2026-03-03T07:00:00.000Z') },
    ],
    [
      'never when what is quiet is dropped',
      { rule: { ...rule, ...QUIET, quiet_mode: 'drop' } },
      { stop: 'quiet_hours' },
    ],
    [
      'in an emergency',
      { rule: { ...rule, ...QUIET, emergency_severity: 60 }, severity: 60 },
      { run: true },
    ],
    [
      'by what ends it rather than by what delays it',
      { rule: { ...rule, ...QUIET }, calm: 'resolved', off: 'disabled' },
      { stop: 'resolved' },
    ],
  ])('%s', (_, given, verdict) => {
    expect(judge(given)).toEqual(verdict)
  })
})

describe('the times of the steps of an alert', () => {
  const escalation = [10, 90].map((after_minutes) => ({ after_minutes, channel_ids: [] }))
  const times = (more: object) =>
    stepTimes({ ...rule, escalation, ...more }, 60, new Date('2026-03-02T21:00:00.000Z')).map(
      (at) => at.toISOString().slice(5, 16),
    )

  test('are after its minutes, later in quiet hours, and none where these drop', () => {
    expect(times({})).toEqual(['03-02T21:10', '03-02T22:30'])
    expect(times(QUIET)).toEqual(['03-02T21:10', '03-03T07:00'])
    expect(times({ ...QUIET, quiet_mode: 'drop' })).toEqual(['03-02T21:10'])
    expect(times({ ...QUIET, emergency_severity: 50 })).toEqual(['03-02T21:10', '03-02T22:30'])
    expect(times({ escalation: null })).toEqual([])
  })
})
