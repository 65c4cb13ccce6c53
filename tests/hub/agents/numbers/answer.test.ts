import { expect, test } from 'vitest'
import { answerOf } from '../../../../hub/agents/numbers/answer.ts'
import { chartOf, shownTable } from '../../../../hub/agents/numbers/shown.ts'

const COUNT = 'select stage, count(*) from leads group by 1'
const answer = (columns: string[], rows: unknown[][], more: object = {}) => {
  const given = { title: 'Leads', sql: COUNT, is_cut: false, language: 'en' as const, ...more }
  return answerOf(shownTable(columns, rows, given.language), given)
}

test.each<[string, string[], unknown[][], object]>([
  ['Leads: nothing was found.', ['a'], [], {}],
  ['Leads: 1,250.', ['n'], [['1250']], {}],
  ['Answered: 12.5.', ['Answered'], [['12.50']], {}],
  ['Leads: Sent 10, Answered 3.', ['Sent', 'Answered'], [[10, 3]], {}],
  ['Demir: Trucks 40.', ['Company', 'Trucks'], [['Demir', 40]], {}],
  [
    'x: 7 in all (New 5, Won 2).',
    ['Stage', 'n'],
    [
      ['won', 2],
      ['new', '5'],
    ],
    { title: 'x' },
  ],
  [
    'Aday: toplam 1.007 (Yeni 1.005, Kazanıldı 2).',
    ['Aşama', 'Aday'],
    [
      ['won', 2],
      ['new', 1005],
    ],
    { language: 'tr' },
  ],
  // What may be counted twice, or only in part, has no sum.
  [
    'Leads: New 5, Won 2.',
    ['Stage', 'Leads'],
    [
      ['new', 5],
      ['won', 2],
    ],
    { sql: `${COUNT} limit 2` },
  ],
  [
    'Leads: a 5, b 2.',
    ['Tag', 'Leads'],
    [
      ['a', 5],
      ['b', 2],
    ],
    { sql: 'select t, count(*) from leads, unnest(tags) t' },
  ],
  [
    'Leads: New 5, Won 2.',
    ['Stage', 'Leads'],
    [
      ['new', 5],
      ['won', 2],
    ],
    { is_cut: true },
  ],
  [
    'Score: a 1.5, b 2.',
    ['Name', 'Score'],
    [
      ['a', 1.5],
      ['b', 2],
    ],
    {},
  ],
  [
    'Leads: 2 (Demir, Kaya).',
    ['Company', 'City'],
    [
      ['Demir', 'Bursa'],
      ['Kaya', null],
    ],
    {},
  ],
  ['Leads: more than 2 (Demir, Kaya).', ['Company'], [['Demir'], ['Kaya']], { is_cut: true }],
  [
    'Leads: 9 (a0, a1, a2, a3, a4, a5, a6 and 2 more).',
    ['Company', 'City'],
    Array.from({ length: 9 }, (_, n) => [`a${n}`, 'x']),
    {},
  ],
])('%s', (sentence, columns, rows, more) => {
  expect(answer(columns, rows, more)).toBe(sentence)
})

test.each<[string, string[], unknown[][], object | undefined]>([
  [
    'one measure over labels',
    ['Stage', 'Leads'],
    [
      ['won', 2],
      ['new', 5],
    ],
    { kind: 'bar', x: 'Stage', y: 'Leads' },
  ],
  [
    'one measure over times',
    ['Week', 'Leads'],
    [
      ['2026-03-02', 2],
      ['2026-03-09', 5],
    ],
    { kind: 'line', x: 'Week', y: 'Leads' },
  ],
  [
    'the measure first',
    ['Leads', 'Stage'],
    [
      [2, 'won'],
      [5, 'new'],
    ],
    { kind: 'bar', x: 'Stage', y: 'Leads' },
  ],
  ['one row', ['Stage', 'Leads'], [['won', 2]], undefined],
  [
    'two measures',
    ['Stage', 'Leads', 'Won'],
    [
      ['a', 2, 1],
      ['b', 5, 1],
    ],
    undefined,
  ],
  [
    'two labels',
    ['Stage', 'City', 'Leads'],
    [
      ['a', 'x', 2],
      ['b', 'y', 5],
    ],
    undefined,
  ],
  [
    'no measure',
    ['Stage', 'City'],
    [
      ['a', 'x'],
      ['b', 'y'],
    ],
    undefined,
  ],
  [
    'a gap',
    ['Stage', 'Leads'],
    [
      ['a', null],
      ['b', 5],
    ],
    undefined,
  ],
  [
    'too many rows',
    ['Name', 'Leads'],
    Array.from({ length: 101 }, (_, n) => [`a${n}`, n]),
    undefined,
  ],
])('a chart of %s', (_, columns, rows, chart) => {
  expect(chartOf(shownTable(columns, rows, 'en'))).toEqual(chart)
})

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
