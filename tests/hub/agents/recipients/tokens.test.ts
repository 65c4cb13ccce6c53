import { describe, expect, test } from 'vitest'
import { tokensOf, writtenIn } from '../../../../hub/agents/recipients/tokens.ts'

const tokens = (task: string) => tokensOf(task).tokens
const names = (task: string) => tokens(task).flatMap(({ text, isName }) => (isName ? [text] : []))

describe('the words of a task', () => {
  test.each([
    [
      "Ali'ye yaz",
      [
        ['ali', 'ye', "Ali'ye"],
        ['yaz', '', 'yaz'],
      ],
    ],
    ['Ali’s', [['ali', 's', 'Ali’s']]],
    [
      'Aliʼs, `Veli´ye',
      [
        ['ali', 's', 'Ali’s'],
        ['veli', 'ye', 'Veli´ye'],
      ],
    ],
    [
      "Ali' s",
      [
        ['ali', '', 'Ali'],
        ['s', '', 's'],
      ],
    ],
    [
      'Çelik2 & Söhne',
      [
        ['celik2', '', 'Çelik2'],
        ['sohne', '', 'Söhne'],
      ],
    ],
    ['Ays\u0327e', [['ayse', '', 'Ay\u015fe']]],
    [
      'An Hans’ boss',
      [
        ['an', '', 'An'],
        ['hans', 's', 'Hans'],
        ['boss', '', 'boss'],
      ],
    ],
    [
      "AN HANS' BOSS",
      [
        ['an', '', 'AN'],
        ['hans', 's', 'HANS'],
        ['boss', '', 'BOSS'],
      ],
    ],
    [
      'An ‘Hans’ now',
      [
        ['an', '', 'An'],
        ['hans', '', 'Hans'],
        ['now', '', 'now'],
      ],
    ],
    [
      'An Hans’',
      [
        ['an', '', 'An'],
        ['hans', '', 'Hans'],
      ],
    ],
    [
      'An Tom’ boss',
      [
        ['an', '', 'An'],
        ['tom', '', 'Tom'],
        ['boss', '', 'boss'],
      ],
    ],
    [
      'Hans’ boss',
      [
        ['hans', '', 'Hans'],
        ['boss', '', 'boss'],
      ],
    ],
    [
      'An hans’ boss',
      [
        ['an', '', 'An'],
        ['hans', '', 'hans'],
        ['boss', '', 'boss'],
      ],
    ],
    ['', []],
  ])('%s', (task, wanted) =>
    expect(tokens(task).map(({ word, suffix, text }) => [word, suffix, text])).toEqual(wanted),
  )

  test.each([
    ['write to Ali and Veli', ['Ali', 'Veli']],
    ['Ali and Veli', ['Veli']],
    ['Thank you. Ali waits', []],
    ['Thank you! “Ali” waits; Veli: Can? Ege\nMert • Oya', []],
    ['Thank you, Ali (Veli) - Can', ['Ali', 'Veli', 'Can']],
    ['ali’ye yaz', ['ali’ye']],
    ['Write A Mail To Ali', []],
    ['Write Ali About It', []],
    ['Write Ali Kaya Now', ['Ali', 'Kaya', 'Now']],
    ['Write Ali Kaya Mail Now', []],
    ['Write Ali Kaya Mail now', ['Ali', 'Kaya', 'Mail']],
    ['xAli and eBay', []],
  ])('written as names in: %s', (task, wanted) => expect(names(task)).toEqual(wanted))

  test('know what parts them from the word before', () => {
    const read = tokens('Ali Kaya, Veli-Can  Ege .Mert')
    expect(read.map(({ isNext }) => isNext)).toEqual([false, true, false, false, true, false])
    expect(read.map(({ isJoined }) => isJoined)).toEqual([false, false, false, true, false, false])
    expect(read.map(({ isFirst }) => isFirst)).toEqual([true, false, false, false, false, true])
  })

  test('are none where they belong to an address, which is found once', () => {
    const { tokens: read, addresses } = tokensOf(
      'To ALI@Kaya.example, ali@kaya.example and b@c.example',
    )
    expect(addresses).toEqual(['ali@kaya.example', 'b@c.example'])
    expect(read.map(({ word }) => word)).toEqual(['to', 'and'])
    expect(tokens('a@b.example c').map(({ isNext }) => isNext)).toEqual([false])
  })

  test('are repeated as they were written', () => {
    expect(writtenIn(tokens('Write to Ali’s, team'), 1, 4)).toBe('to Ali’s team')
    expect(writtenIn(tokens('Write to Ali'), -1, 1)).toBe('Write')
  })
})
