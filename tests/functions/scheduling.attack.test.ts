import { expect, test } from 'vitest'
import { createPacer, limitConcurrency, runInSlices } from '../../functions/scheduling.ts'
import type { DecidableEvent } from '../../shared/decide/checks.ts'
import { prepareZone } from '../../shared/geometry/geometry.ts'
import { TooMuchWork } from '../../shared/geometry/steps.ts'
import { previewInSteps } from '../../shared/preview/preview.ts'
import { zoneDefaults } from '../../shared/schemas/zone.ts'
import { checkShapeInSteps } from '../../shared/schemas/zone-shape.ts'
import { coast, diagonals } from '../support/attacks/expensive.ts'

/** Counts how often the process comes round to other things. */
function rounds() {
  let count = 0
  let next = setImmediate(function again() {
    count++
    next = setImmediate(again)
  })
  return {
    count: () => count,
    stop: () => clearImmediate(next),
  }
}

test('a long computation lets others have their turn', async () => {
  const others = rounds()
  await runInSlices(checkShapeInSteps(diagonals(9988)))
  others.stop()
  expect(others.count()).toBeGreaterThanOrEqual(10)
})

test('two of them never follow each other without a pause', async () => {
  const order: string[] = []
  const named = function* (name: string) {
    for (let step = 0; step < 6; step++) {
      order.push(name)
      yield 100_000
    }
    return name
  }
  let paused = 0
  const idle = setInterval(() => order.at(-1) !== '-' && order.push('-') && paused++, 0)
  await Promise.all([runInSlices(named('a')), runInSlices(named('b'))])
  clearInterval(idle)
  expect(order.filter((name) => name === 'a')).toHaveLength(6)
  expect(paused).toBeGreaterThanOrEqual(6)
})

test('a loop with a breather pauses once a turn of work, and not for little', async () => {
  const breathe = createPacer()
  expect(breathe(99_999)).toBeUndefined()
  const pause = breathe(1)
  expect(pause).toBeInstanceOf(Promise)
  await pause
  expect(breathe(1)).toBeUndefined()
})

const NOW = new Date('2026-03-07T12:00:00Z')

function quake(index: number): { event: DecidableEvent; first_seen_at: Date } {
  const ts = new Date(NOW.getTime() - index * 60_000).toISOString()
  const event = {
    id: `usgs:${index}`,
    source: 'usgs',
    type: 'earthquake',
    title: 'M 5',
    lat: 10,
    lon: 29,
    ts,
    severity: 50,
    subject: null,
    status: 'active',
    geometry: null,
    ...{ magnitude: 5, depth_km: 10, ends_at: null, flag: null, known_since: ts },
  } as const
  return { event, first_seen_at: new Date(ts) }
}

test('a preview is one decision a step, and is given up beyond its budget', async () => {
  const zone = zoneDefaults({ label: 'Coast', lat: 10, lon: 29, polygon: coast(9999) })
  const revisions = Array.from({ length: 200 }, (_, index) => quake(index)).reverse()
  const options = { days: 7, now: NOW }
  const { vertices } = prepareZone(zone)
  let decisions = 0
  const steps = previewInSteps(zone, revisions, options)
  for (let step = steps.next(); !step.done; step = steps.next()) {
    // A decision says what looking for its place in such a shape costs; the rest is little.
    if (step.value > vertices / 10) decisions++
  }
  // Once for the answer, and at most twice more for the suggestion.
  expect(decisions).toBeGreaterThanOrEqual(200)
  expect(decisions).toBeLessThanOrEqual(600)
  const begun = previewInSteps(zone, revisions, options)
  await expect(runInSlices(begun, 200_000)).rejects.toBeInstanceOf(TooMuchWork)
})

test('of everybody one long computation runs, and few of all; who waits too long is told', async () => {
  const most = { all: 0, a: 0 }
  const now = { all: 0, a: 0 }
  const work = (who: 'a' | 'b' | 'c') => () =>
    limitConcurrency(who, async () => {
      now.all++
      if (who === 'a') now.a++
      most.all = Math.max(most.all, now.all)
      most.a = Math.max(most.a, now.a)
      await new Promise((done) => setTimeout(done, 5))
      now.all--
      if (who === 'a') now.a--
      return who
    })
  const asked = [work('a'), work('a'), work('a'), work('b'), work('c'), work('b')]
  expect(await Promise.all(asked.map((ask) => ask()))).toEqual(['a', 'a', 'a', 'b', 'c', 'b'])
  expect(most).toEqual({ all: 2, a: 1 })
  const flood = await Promise.allSettled(Array.from({ length: 40 }, () => work('a')()))
  const refused = flood.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(19)
  expect(refused[0]).toMatchObject({ reason: { code: 'unavailable' } })
})
