import { expect, test } from 'vitest'
import { runToEnd } from '../../../shared/geometry/steps.ts'
import { markGaps, type TrackStep, thinSteps } from '../../../shared/schemas/track.ts'

const HOUR = 3_600_000
const step = (hours: number, lon: number, lat = 0, flag: TrackStep['flag'] = null): TrackStep => ({
  lon,
  lat,
  ts: new Date(Date.UTC(2026, 0, 1) + hours * HOUR).toISOString(),
  severity: 30,
  flag,
})
const flags = (steps: TrackStep[]) => steps.map(({ flag }) => flag)

test.each([
  ['vessel', [0, 1, 2.01], [null, null, 'gap']],
  ['aircraft', [0, 0.16, 0.32, 0.49], [null, null, null, 'gap']],
  ['storm', [0, 6, 18, 30.1], [null, null, null, 'gap']],
  ['other', [0, 168, 336, 1100], [null, null, null, 'gap']],
  ['other', [0, 168, 336, 900], [null, null, null, null]],
  ['other', [0, 1, 2, 26, 51], [null, null, null, null, 'gap']],
] as const)('a silence of a %s at %j hours', (type, hours, found) => {
  expect(
    flags(
      markGaps(
        type,
        hours.map((hour) => step(hour, hour)),
      ),
    ),
  ).toEqual(found)
})

test('what is usual is the middle of its waits, however they follow each other', () => {
  const usual = [0, 100, 102, 110, 210, 218, 226].map((hour) => step(hour, hour))
  // Of 2, 8, 8, 8, 100 and 100 hours it is 8: more than 32 are a silence.
  expect(flags(markGaps('other', usual))).toEqual([null, 'gap', null, null, 'gap', null, null])
})

test('what was marked when it came stays so', () => {
  const jumped = [step(0, 0), step(5, 9, 0, 'jump')]
  expect(flags(markGaps('vessel', jumped))).toEqual([null, 'jump'])
  const marked = markGaps('vessel', [step(0, 0), step(0.1, 9, 0, 'jump'), step(0.2, 9, 0, 'gap')])
  expect(flags(marked)).toEqual([null, 'jump', 'gap'])
  expect(markGaps('storm', [])).toEqual([])
})

const thin = (steps: TrackStep[], degrees: number) =>
  runToEnd(thinSteps(steps, degrees)).map(({ lon, ts }) => [lon, (Date.parse(ts) / HOUR) % 24])

test('steps in one place are one, but for when it lay down and when it went on', () => {
  const still = [0, 0.01, 0.02, 0.02, 0.02, 1, 2, 2.05, 2.1].map((lon, hour) => step(hour, lon))
  expect(thin(still, 0.5)).toEqual([
    [0, 0],
    [0.02, 4],
    [1, 5],
    [2, 6],
    [2.1, 8],
  ])
  expect(thin(still, 0)).toHaveLength(9)
})

test('both ends of a gap stay; a step over 180° is short, and one near a pole shorter', () => {
  const gone = [
    step(0, 0),
    step(1, 0.1),
    step(2, 0.2),
    step(3, 0.3, 0, 'gap'),
    step(4, 0.3),
    step(5, 0.3),
  ]
  expect(thin(gone, 1)).toEqual([
    [0, 0],
    [0.2, 2],
    [0.3, 3],
    [0.3, 5],
  ])
  const across = [step(0, 179.9), step(1, -179.9), step(2, 179.9), step(3, 179.9)]
  expect(thin(across, 1)).toHaveLength(2)
  const polar = [0, 2, 4, 6].map((lon, hour) => step(hour, lon, 89))
  expect(thin(polar, 1)).toHaveLength(2)
})
