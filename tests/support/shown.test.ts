import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { differences } from './shown.ts'

describe('a page that shows', () => {
  const [one, two] = [randomUUID(), randomUUID()]
  const sent = { id: one, other: two, at: '2026-11-22T10:00:00.000Z', name: 'A', list: [1, 2, 3] }
  const shown = { id: two, other: one, at: '2026-01-01T00:00:00.000Z', name: 'A', list: [1, 2, 3] }
  test.each<[string, object, string[]]>([
    ['what is sent', shown, []],
    ['the beginning of a list', { ...shown, list: [1, '…'] }, []],
    ['the end of a list', { ...shown, list: ['…', 3] }, []],
    ['less of a list', { ...shown, list: [1, 2] }, ['.list is shown with 2 and has 3']],
    ['all of a list and more', { ...shown, list: [1, 2, 3, '…'] }, ['.list is shown with 3']],
    ['less, and says so', { id: two, '…': '…' }, []],
    ['all, and says it is less', { ...shown, '…': '…' }, ['it has nothing for its …']],
    ['less', { ...shown, list: undefined }, ['.list is sent and not shown']],
    ['more', { ...shown, more: 1 }, ['.more is shown and not sent']],
    ['another value', { ...shown, name: 'B' }, ['.name is shown as "B" and is "A"']],
    ['another number', { ...shown, list: [1, 2, 4] }, ['.list.2 is shown as 4 and is 3']],
    ['another kind', { ...shown, list: {} }, ['.list is shown as an object']],
    ['one id for two things', { ...shown, other: two }, ['.other is shown as']],
    ['no time', { ...shown, at: 'soon' }, ['.at is shown as "soon"']],
  ])('%s', (_, page, expected) => {
    const told = differences(JSON.parse(JSON.stringify(page)), sent, new Map())
    expect(told).toEqual(expected.map((start) => expect.stringContaining(start)))
  })
})
