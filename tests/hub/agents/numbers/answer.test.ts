import { expect, test } from 'vitest'
import { answerOf, figure } from '../../../../hub/agents/numbers/answer.ts'
import { chartOf, isFigure, measuresOf, shownTable } from '../../../../hub/agents/numbers/shown.ts'

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
  ['Leads: Trucks 40.', ['Company', 'Trucks'], [[null, 40]], {}],
  ['Leads: 1 (Demir).', ['Company', 'City'], [['Demir', 'Bursa']], {}],
  [
    'Leads: 2 (–, Kaya).',
    ['Company', 'City'],
    [
      [null, 'x'],
      ['Kaya', 'y'],
    ],
    {},
  ],
  [
    'Leads: 2 (a, b).',
    ['Stage', 'Leads', 'Won'],
    [
      ['a', 5, 1],
      ['b', 2, 1],
    ],
    {},
  ],
  ['Leads: 2 (3, 4).', ['Trucks'], [[3], [4]], {}],
  [
    'Leads: 2 (a, b).',
    ['Trucks', 'Company', 'Vans'],
    [
      [3, 'a', 4],
      [4, 'b', 5],
    ],
    {},
  ],
  [
    'Leads: 5 in all (– 5, x 0).',
    ['Tag', 'Leads'],
    [
      [null, 5],
      ['x', 0],
    ],
    { sql: 'select tag, count (*) from leads group by 1' },
  ],
  [
    'Leads: a -1, b 2.',
    ['Tag', 'Leads'],
    [
      ['a', -1],
      ['b', 2],
    ],
    {},
  ],
  [
    'Score: a 1, b 2.',
    ['Name', 'Score'],
    [
      ['a', 1],
      ['b', 2],
    ],
    { sql: 'select name, account from leads' },
  ],
  ['Region: 3.', ['Region'], [[3]], {}],
  ['Total sent: 3.', ['Total sent'], [[3]], {}],
  [
    'Leads: 7 (a0, a1, a2, a3, a4, a5, a6).',
    ['Company', 'City'],
    Array.from({ length: 7 }, (_, n) => [`a${n}`, 'x']),
    {},
  ],
  [
    'Leads: 8 (a0, a1, a2, a3, a4, a5, a6 and 1 more).',
    ['Company', 'City'],
    Array.from({ length: 8 }, (_, n) => [`a${n}`, 'x']),
    {},
  ],
])('%s', (sentence, columns, rows, more) => {
  expect(answer(columns, rows, more)).toBe(sentence)
})

test.each(['n', 'N', 'count', 'sum', 'total', 'c', '?column?', 'adet', ''])(
  'a column “%s” has no name for a reader',
  (column) => {
    expect(answer([column], [[3]])).toBe('Leads: 3.')
  },
)

test.each([
  'limit 5', 'fetch first row only', 'offset 5', ', unnest(tags)', 'join notes', ', lateral x',
  'having true', 'distinct', 'avg(x)', 'ROUND(x)', 'over ()',
])('a count with “%s” has no sum', (more) => {
  const rows = [['a', 5], ['b', 2]]
  expect(answer(['Tag', 'Leads'], rows, { sql: `${COUNT} ${more}` })).toBe('Leads: a 5, b 2.')
}) // biome-ignore format: lists

test.each([
  [1.2345, '1.23'],
  ['1234.5', '1,234.5'],
  [null, '–'],
  [undefined, '–'],
  ['2026-03-01', '2026-03-01'],
  [true, 'true'],
])('%s is written %s', (cell, written) => {
  expect(figure(cell, 'en')).toBe(written)
})

test.each([
  [3, true],
  [Number.NaN, false],
  ['-5', true],
  ['1.50', true],
  ['1.', false],
  ['x1', false],
  ['1x', false],
  ['123456789012345', true],
  ['1234567890123456', false],
  [true, false],
  [null, false],
  [undefined, false],
])('whether %s is a figure: %s', (cell, is) => {
  expect(isFigure(cell)).toBe(is)
})

test('a table without rows has no measures, and one with a gap none there', () => {
  expect(measuresOf({ columns: ['a', 'b'], rows: [] })).toEqual([])
  const rows = [
    [1, 2, 'x'],
    [3, null, '4'],
  ]
  expect(measuresOf({ columns: ['a', 'b', 'c'], rows })).toEqual([0])
})

test('each value is a cell that a page can show', () => {
  const words = { en: 'Kept', tr: 'Kaldı' }
  const values = [
    undefined, true, 1.5, 'x'.repeat(501), new Date('2026-03-01T10:00:00Z'), words,
    { list: ['y'.repeat(600)] },
  ] // biome-ignore format: a list
  const { rows } = shownTable(
    values.map((_, at) => `c${at}`),
    [values],
    'tr',
  )
  expect(rows[0]).toEqual([
    null, true, 1.5, 'x'.repeat(500), '2026-03-01T10:00:00.000Z', 'Kaldı',
    `{"list":["${'y'.repeat(490)}`,
  ]) // biome-ignore format: a list
})

test.each<[string, time: string, kind: 'line' | 'bar']>([
  ['a month', '2026-03', 'line'],
  ['a day', '2026-03-02', 'line'],
  ['a time', '2026-03-02T10:00:00.000Z', 'line'],
  ['a time of Postgres', '2026-03-02 10:00', 'line'],
  ['a time and more', '2026-03-02 10:00 o’clock', 'bar'],
  ['more before it', 'on 2026-03-02', 'bar'],
  ['more behind it', '2026-03-02x', 'bar'],
  ['words behind it', '2026-03-02 soon', 'bar'],
])('over %s a chart is of the right kind: %s', (_, time, kind) => {
  const rows = [
    [time, 1],
    ['2026-04', 2],
  ]
  expect(chartOf({ columns: ['t', 'n'], rows })).toEqual({ kind, x: 't', y: 'n' })
})

test.each<[string, columns: string[], rows: (string | number)[][], is: boolean]>([
  ['two columns of one name', ['n', 'n'], [['a', 1], ['b', 2]], false],
  ['two measures alone', ['a', 'b'], [[1, 2], [3, 4]], false],
  ['a measure alone', ['a'], [[1], [2]], false],
  ['100 rows', ['a', 'n'], Array.from({ length: 100 }, (_, n) => [`a${n}`, n]), true],
  ['two rows', ['a', 'n'], [['a', 1], ['b', 2]], true],
])('whether there is a chart of %s', (_, columns, rows, is) => {
  expect(chartOf({ columns, rows }) !== undefined).toBe(is)
}) // biome-ignore format: tables

test.each<[string, columns: string[], rows: unknown[][], shown: unknown[][]]>([
  ['one word twice', ['s', 'n'], [['won', 1], ['new', 2], ['won', 3]],
    [['Won', 1], ['New', 2], ['Won', 3]]],
  ['words of two kinds', ['s', 'a', 'n'], [['won', 'marketing', 1], ['new', 'research', 2]],
    [['Won', 'Marketing', 1], ['New', 'Research', 2]]],
  ['no figures', ['s', 'who'], [['won', 'a'], ['new', 'b']], [['Won', 'a'], ['New', 'b']]],
])('a table with %s stays in the order of its query', (_, columns, rows, shown) => {
  expect(shownTable(columns, rows, 'en').rows).toEqual(shown)
}) // biome-ignore format: tables

test('a gap among the hub’s own words, or a column of gaps, changes nothing', () => {
  expect(shownTable(['s', 'n'], [['won', 1], [null, 2], ['new', 3]], 'en').rows).toEqual([
    [null, 2], ['New', 3], ['Won', 1],
  ])
  expect(shownTable(['x', 's', 'n'], [[null, 'won', 1], [null, 'new', 2]], 'en').rows).toEqual([
    [null, 'New', 2], [null, 'Won', 1],
  ])
}) // biome-ignore format: tables

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
