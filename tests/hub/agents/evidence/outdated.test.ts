import { expect, test } from 'vitest'
import { isOutdated } from '../../../../hub/agents/evidence/outdated.ts'

test.each<[string, string, string, boolean]>([
  ['We won a prize last year.', '2025-12-31T10:00:00Z', '2026-01-01T10:00:00Z', true],
  ['We won a prize last year.', '2026-01-01T10:00:00Z', '2026-12-31T10:00:00Z', false],
  ['They open a depot this month.', '2026-03-31T23:59:00Z', '2026-04-01T00:01:00Z', true],
  ['They open a depot next week.', '2026-11-23T08:00:00Z', '2026-11-29T08:00:00Z', false],
  ['They open a depot next week.', '2026-11-29T08:00:00Z', '2026-11-30T08:00:00Z', true],
  ['He called yesterday.', '2026-11-25T08:00:00Z', '2026-11-26T08:00:00Z', true],
  ['Sales rose this quarter.', '2026-03-31T08:00:00Z', '2026-04-01T08:00:00Z', true],
  ['Geçen ay bir depo açtılar.', '2026-10-31T08:00:00Z', '2026-11-01T08:00:00Z', true],
  ['Bu yıl 300 sürücüyü eğittik.', '2025-05-01T08:00:00Z', '2026-05-01T08:00:00Z', true],
  ['They run 40 trucks.', '2020-01-01T08:00:00Z', '2026-05-01T08:00:00Z', false],
  ['The dünya map is large.', '2020-01-01T08:00:00Z', '2026-05-01T08:00:00Z', false],
])('%s noted %s, read %s: outdated %s', (text, noted, now, outdated) => {
  expect(isOutdated(text, noted, new Date(now))).toBe(outdated)
})

test('what has no time is taken as it is', () => {
  expect(isOutdated('We won a prize last year.', undefined, new Date())).toBe(false)
})
