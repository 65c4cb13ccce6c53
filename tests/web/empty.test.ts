import { expect, test } from 'vitest'
import { emptyHint } from '../../web/pages/map/empty.ts'

const nothing = { isEmpty: true, filter: {}, isPart: false, window: 'day' as const, isBlind: false }

test.each([
  ['a cluster or what moves is not nothing', { isEmpty: false }, null],
  ['the filter comes first', { filter: { min_severity: 60 }, isPart: true }, 'filter'],
  ['a filter by type is one as well', { filter: { types: 'wildfire' as const } }, 'filter'],
  ['in a part of the map, the rest may have more', { isPart: true }, 'zoom'],
  ['a longer time shows nothing of sources without data', { isBlind: true }, 'blind'],
  [
    'the filter may hide what they gave before',
    { isBlind: true, filter: { min_severity: 60 } },
    'filter',
  ],
  ['of the world, seven days have more than one', {}, 'window'],
  ['of seven days of the world, nothing has more', { window: 'week' as const }, 'nothing'],
])('where there are no events: %s', (_, given, hint) => {
  expect(emptyHint({ ...nothing, ...given })).toBe(hint)
})
