import { describe, expect, test } from 'vitest'
import {
  alertOf,
  ask,
  fates,
  jobs,
  pass,
  sent,
  stepsOf,
  tell,
  told,
  useService,
} from './escalation-scene.ts'

useService()

describe('quiet hours', () => {
  const clock = (minutes: number) =>
    new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  const quiet = () => ({ quiet_hours_start: clock(-60), quiet_hours_end: clock(60) })
  const loud = { quiet_hours_start: null, quiet_hours_end: null }

  test('hold an alert without its steps, which begin when it is released', async () => {
    const at = await told(quiet())
    expect((await alertOf(at.person)).status).toBe('held')
    expect(await stepsOf(at)).toEqual([])
    await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
    await jobs.drain()
    expect(sent()).toMatchObject([['first', 'alert.digest', null]])
    expect(await fates(at)).toEqual([
      [1, 'waiting', null],
      [2, 'waiting', null],
    ])
    await pass(at, 1)
    await jobs.drain()
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
  })

  test('of an event that ended meanwhile, or was acknowledged, begin none', async () => {
    const ended = await told(quiet())
    await tell({ ...ended.event, status: 'ended' })
    const seen = await told(quiet())
    await ask(seen.person, 'POST', `alerts/${(await alertOf(seen.person)).id}/acknowledge`)
    for (const at of [ended, seen]) {
      await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
      await jobs.drain()
      expect(await stepsOf(at)).toEqual([])
    }
    sent()
  })

  test('of an event that ended and was revised meanwhile begin when it is released', async () => {
    const at = await told(quiet())
    await tell({ ...at.event, status: 'ended' })
    await tell({ ...at.event, severity: 47 })
    await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
    await jobs.drain()
    expect(await fates(at)).toEqual([
      [1, 'waiting', null],
      [2, 'waiting', null],
    ])
    sent()
  })

  test('that hold a revision begin no steps of an alert that was sent before the zone had any', async () => {
    const at = await told({ escalation: null })
    const { first, second } = at.channels
    const messages = ['alert.raised', 'alert.revised', 'alert.digest']
    await ask(at.person, 'PATCH', `channels/${first}`, { messages })
    const escalation = [{ after_minutes: 10, channel_ids: [second] }]
    await ask(at.person, 'PATCH', `zones/${at.zone}`, { escalation, ...quiet() })
    await tell({ ...at.event, severity: 47 })
    sent()
    await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
    await jobs.drain()
    expect(sent()).toMatchObject([['first', 'alert.digest', null]])
    expect(await stepsOf(at)).toEqual([])
  })

  test('make a step wait that falls due in them, but not in an emergency', async () => {
    const at = await told()
    await ask(at.person, 'PATCH', `zones/${at.zone}`, quiet())
    sent()
    await pass(at, 1)
    await jobs.drain()
    expect(sent()).toEqual([])
    const [step, next] = await stepsOf(at)
    expect(step).toMatchObject({ status: 'waiting', reason: null })
    const minutesUntil = (due: string | undefined) => (Date.parse(due ?? '') - Date.now()) / 60_000
    expect(minutesUntil(step?.due_at)).toBeGreaterThan(58)
    expect(minutesUntil(step?.due_at)).toBeLessThan(61)
    expect(minutesUntil(next?.due_at)).toBeLessThan(31)
    await ask(at.person, 'PATCH', `zones/${at.zone}`, { emergency_severity: 45 })
    await pass(at, 1)
    await jobs.drain()
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
  })

  test('are passed by what gets worse, and what was acknowledged while it was held is so no more', async () => {
    const at = await told({ ...quiet(), emergency_severity: 80 })
    await ask(at.person, 'POST', `alerts/${(await alertOf(at.person)).id}/acknowledge`)
    const { seen_at } = await alertOf(at.person)
    await tell({ ...at.event, severity: 85 })
    expect(sent()).toEqual([['first', 'alert.raised', null]])
    const alert = await alertOf(at.person)
    expect(alert).toMatchObject({ seen_at: null, seen_by: null, seen_via: null })
    expect(alert.updates).toMatchObject([
      { kind: 'escalated', changes: { seen_at: [seen_at, null] } },
    ])
    expect(await fates(at)).toEqual([
      [1, 'waiting', null],
      [2, 'waiting', null],
    ])
  })

  test('hold an escalation, with which the steps begin anew', async () => {
    const at = await told()
    await ask(at.person, 'POST', `alerts/${(await alertOf(at.person)).id}/acknowledge`)
    await ask(at.person, 'PATCH', `zones/${at.zone}`, quiet())
    await tell({ ...at.event, severity: 85 })
    const before = await fates(at)
    expect(before).toEqual([
      [1, 'stopped', 'acknowledged'],
      [2, 'stopped', 'acknowledged'],
    ])
    await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
    await jobs.drain()
    expect(await fates(at)).toEqual([...before, [1, 'waiting', null], [2, 'waiting', null]])
    sent()
  })
})
