import { expect, test } from 'vitest'
import { contentOf } from '../../../hub/projects/documents.ts'

/** The parts of the one paragraph of a document. */
function partsOf(markdown: string): unknown {
  const [block, ...more] = contentOf(markdown)
  expect(more).toEqual([])
  return block && typeof block === 'object' && 'text' in block ? block.text : undefined
}

test.each<[string, unknown[]]>([
  ['plain', [{ text: ['plain'] }]],
  ['**bold**', [{ text: ['bold'], bold: true }]],
  ['*slanted*', [{ text: ['slanted'], italics: true }]],
  ['~~struck~~', [{ text: ['struck'], decoration: 'lineThrough' }]],
  ['***both***', [{ text: ['both'], italics: true, bold: true }]],
  ['[a **link**](https://x.example)', [{ text: ['a '] }, { text: ['link'], bold: true }]],
  ['one  \ntwo', [{ text: ['one'] }, { text: '\n' }, { text: ['two'] }]],
  ['`code <b>`', [{ text: ['code <b>'] }]],
  ['\\*star', [{ text: ['*'] }, { text: ['star'] }]],
  ['a <i>b</i>', [{ text: ['a '] }, { text: ['<i>'] }, { text: ['b'] }, { text: ['</i>'] }]],
  ['![alt](https://x.example/a.png)', [{ text: ['![alt](https://x.example/a.png)'] }]],
  ['&lt;&gt;&quot;&#39;&amp;lt;', [{ text: ['<>"\'&lt;'] }]],
])('%j is set as %j', (markdown, parts) => {
  expect(partsOf(markdown)).toEqual(parts)
})

test('a word longer than any line is cut into pieces, and others stay whole', () => {
  const cut = (text: string) => partsOf(text)
  expect(cut('x'.repeat(200))).toEqual([{ text: ['x'.repeat(200)] }])
  expect(cut('x'.repeat(401))).toEqual([{ text: ['x'.repeat(200), 'x'.repeat(200), 'x'] }])
  expect(cut(`${'x'.repeat(200)} y`)).toEqual([{ text: [`${'x'.repeat(200)} y`] }])
})

test('headings get smaller, the first has the look of a title', () => {
  const sizes = [1, 2, 3, 4, 5, 6].map((depth) => {
    const [block] = contentOf(`${'#'.repeat(depth)} Title`)
    return block
  })
  expect(sizes).toEqual([
    { text: [{ text: ['Title'] }], bold: true, style: 'title', fontSize: 20, margin: [0, 0, 0, 6] },
    ...[15, 12.5, 11, 10.5, 10.5].map((fontSize) => ({
      text: [{ text: ['Title'] }],
      bold: true,
      fontSize,
      margin: [0, 8, 0, 6],
    })),
  ])
})

test.each<[string, unknown[]]>([
  [
    '> said',
    [
      {
        stack: [{ text: [{ text: ['said'] }], margin: [0, 0, 0, 8] }],
        color: '#444444',
        margin: [14, 0, 0, 4],
      },
    ],
  ],
  [
    '```\n  a <b>\n```',
    [{ text: ['  a <b>'], fontSize: 8.5, preserveLeadingSpaces: true, margin: [0, 0, 0, 8] }],
  ],
  [
    '- a\n- b',
    [
      {
        ul: [{ stack: [{ text: [{ text: ['a'] }] }] }, { stack: [{ text: [{ text: ['b'] }] }] }],
        margin: [0, 0, 0, 8],
      },
    ],
  ],
  ['1. a', [{ ol: [{ stack: [{ text: [{ text: ['a'] }] }] }], margin: [0, 0, 0, 8] }]],
  [
    '- [x] a\n- [ ] b',
    [
      {
        ul: [
          { stack: [{ text: [{ text: '[x] ' }, { text: ['a'] }] }] },
          { stack: [{ text: [{ text: '[  ] ' }, { text: ['b'] }] }] },
        ],
        margin: [0, 0, 0, 8],
      },
    ],
  ],
  [
    '---',
    [
      {
        canvas: [{ type: 'line', x1: 0, y1: 0, x2: 480, y2: 0, lineWidth: 0.5 }],
        margin: [0, 0, 0, 8],
      },
    ],
  ],
  ['[a]: https://x.example\n\n', []],
  ['<div>x</div>', [{ text: ['<div>x</div>'], margin: [0, 0, 0, 8] }]],
])('%j is the block %j', (markdown, blocks) => {
  expect(contentOf(markdown)).toEqual(blocks)
})

test('a table has a bold head, and its columns their sides', () => {
  const cell = (text: string, bold: boolean, alignment: string) => ({
    text: text === '' ? [] : [{ text: [text] }],
    bold,
    fontSize: 9,
    alignment,
  })
  expect(contentOf('| a | b |\n| --- | ---: |\n| 1 | 2 |\n|  | 3 |')).toEqual([
    {
      table: {
        headerRows: 1,
        body: [
          [cell('a', true, 'left'), cell('b', true, 'right')],
          [cell('1', false, 'left'), cell('2', false, 'right')],
          [cell('', false, 'left'), cell('3', false, 'right')],
        ],
      },
      layout: 'lightHorizontalLines',
      margin: [0, 2, 0, 10],
    },
  ])
})
