import { expect, test } from 'vitest'
import {
  type Figure,
  interleave,
  inWords,
  isGood,
  isMeasured,
  median,
  quantile,
} from '../../../scripts/bench/figure.ts'
import { type Run, renderPage } from '../../../scripts/bench/record.ts'

const reads: Figure = {
  name: 'GET /zones',
  value: 900,
  unit: 'requests/s',
  against: 'the ceiling, 3,600/s',
  ratio: 0.25,
  goal: { at_least: 0.75 },
}

function runOf(at: string, change: string, figures: Figure[]): Run {
  const parts = { api: { about: 'requests', figures, left_out: [] } }
  return { at, change, machine: '2 cores', load: 0.1, parts }
}

test('a figure is good when its ratio reaches its goal, or when it has none', () => {
  expect(isGood(reads)).toBe(false)
  expect(isGood({ ...reads, ratio: 0.75 })).toBe(true)
  expect(isGood({ ...reads, ratio: 1.01, goal: { at_most: 1 } })).toBe(false)
  expect(isGood({ ...reads, ratio: 1, goal: { at_most: 1 } })).toBe(true)
  expect(isGood({ ...reads, ratio: 0, goal: undefined })).toBe(true)
})

test('what never happened is no figure', () => {
  expect(isMeasured(reads)).toBe(true)
  expect(isMeasured({ ...reads, value: Number.POSITIVE_INFINITY })).toBe(false)
  expect(isMeasured({ ...reads, ratio: Number.NaN })).toBe(false)
})

test('numbers below 100 have three digits, others none after the point', () => {
  expect([0.28333, 1.5, 99.94, 100.4, 34_300.2].map(inWords)).toEqual([
    '0.283',
    '1.5',
    '99.9',
    '100',
    '34,300',
  ])
})

test('a quantile is one of the values, in whatever order they came', () => {
  expect(median([9, 1, 5])).toBe(5)
  expect(quantile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.99)).toBe(9)
  expect(quantile([2, 1], 1)).toBe(2)
  expect(median([])).toBeNaN()
})

test('the works of a comparison take turns, and the median of each counts', async () => {
  const order: string[] = []
  const given = [30, 10, 20]
  const work = (name: string, factor: number) => async () => {
    order.push(name)
    return factor * (given[Math.floor((order.length - 1) / 2)] ?? Number.NaN)
  }
  expect(await interleave(3, { ours: work('ours', 1), theirs: work('theirs', 2) })).toEqual({
    ours: 20,
    theirs: 40,
  })
  expect(order).toEqual(['ours', 'theirs', 'ours', 'theirs', 'ours', 'theirs'])
})

test('the page shows each figure first and now, its goal, and what each change did', () => {
  const page = renderPage([
    runOf('2026-01-01T00:00:00Z', 'As it was', [reads]),
    runOf('2026-01-02T00:00:00Z', 'Half of the statements', [
      { ...reads, value: 2900, ratio: 0.8, note: '0 errors' },
    ]),
    runOf('2026-01-03T00:00:00Z', 'Nothing that shows', [{ ...reads, value: 2950, ratio: 0.81 }]),
  ])
  expect(page).toContain(
    '| GET /zones | 900 (0.25) | 2,950 requests/s | **0.81** of the ceiling, 3,600/s | ≥ 0.75, met |',
  )
  expect(page).toContain(`**2026-01-01**: As it was

**2026-01-02**: Half of the statements

| what | figure | ratio |
|---|---|---|
| GET /zones | 900 → 2,900 requests/s | 0.25 → 0.8 |

**2026-01-03**: Nothing that shows
`)
})

test('a run that says nothing and moves nothing is no change', () => {
  const page = renderPage([
    runOf('2026-01-01T00:00:00Z', '', [reads]),
    runOf('2026-01-02T00:00:00Z', '', [{ ...reads, ratio: 0.26 }]),
    runOf('2026-01-03T00:00:00Z', '', [{ ...reads, value: 2900, ratio: 0.8 }]),
  ])
  expect(page).not.toContain('2026-01-01**')
  expect(page).not.toContain('2026-01-02**')
  expect(page).toContain('**2026-01-03**: measured again')
})

test('figures of growth become a chart, and what was left out is said with its reason', () => {
  const grown = [1000, 1_000_000].map((zones) => ({
    ...reads,
    name: `${zones} zones`,
    value: zones / 3,
    along: { chart: 'Matching by zones', at: String(zones) },
  }))
  const run = runOf('2026-01-01T00:00:00Z', 'As it was', grown)
  const left_out = [{ what: 'Tile38', why: 'TILE38_URL is not set.' }]
  const page = renderPage([
    { ...run, parts: { api: { about: 'requests', figures: grown, left_out } } },
  ])
  expect(page).toContain('x-axis ["1000", "1000000"]')
  expect(page).toContain('0 --> 333334')
  expect(page).toContain('line [333, 333000]')
  expect(page).toContain('| not measured | why |\n|---|---|\n| Tile38 | TILE38_URL is not set. |')
})
