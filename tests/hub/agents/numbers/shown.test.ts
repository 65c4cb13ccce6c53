import { expect, test } from 'vitest'
import { shownTable } from '../../../../hub/agents/numbers/shown.ts'

test('the hub’s own words are the reader’s, in the order of the stages', () => {
  const rows = [
    ['lost', 3],
    ['replied', 9],
    ['new', 1],
  ]
  expect(shownTable(['s', 'n'], rows, 'tr').rows).toEqual([
    ['Yeni', 1],
    ['Yanıtladı', 9],
    ['Kaybedildi', 3],
  ])
  expect(
    shownTable(
      ['s', 'n'],
      [
        ['marketing', 2],
        ['research', 1],
      ],
      'en',
    ).rows,
  ).toEqual([
    ['Research', 1],
    ['Marketing', 2],
  ])
  // A list of leads stays in the order of its query.
  expect(
    shownTable(
      ['who', 's'],
      [
        ['b', 'won'],
        ['a', 'new'],
      ],
      'en',
    ).rows,
  ).toEqual([
    ['b', 'Won'],
    ['a', 'New'],
  ])
  // A column with another word is not the hub's.
  expect(
    shownTable(
      ['s', 'n'],
      [
        ['new', 2],
        ['Acme', 1],
      ],
      'en',
    ).rows,
  ).toEqual([
    ['new', 2],
    ['Acme', 1],
  ])
})
