import { expect, test } from 'vitest'
import { historyOf } from '../../../hub/model/history.ts'

test('a chat ends with the empty answer that is to be generated', () => {
  expect(
    historyOf([
      { role: 'system', content: 'You sell.' },
      { role: 'user', content: 'Write.' },
      { role: 'assistant', content: '{}' },
      { role: 'user', content: 'Again.' },
    ]),
  ).toEqual([
    { type: 'system', text: 'You sell.' },
    { type: 'user', text: 'Write.' },
    { type: 'model', response: ['{}'] },
    { type: 'user', text: 'Again.' },
    { type: 'model', response: [] },
  ])
})
