import { expect, test } from 'vitest'
import { groupsOf } from '../../../../hub/agents/recipients/groups.ts'
import { tokensOf } from '../../../../hub/agents/recipients/tokens.ts'

test.each([
  ['Write to everyone who did not answer', ['everyone who did not answer']],
  ['Mail all leads that have not replied', ['leads that have not replied']],
  ['Write to all new leads', ['new leads']],
  ['Cevap vermeyen herkese yaz', ['Cevap vermeyen', 'herkese']],
])('a wider group around a narrower one is none of its own: %s', (task, words) => {
  expect(groupsOf(tokensOf(task).tokens).map((group) => group.words)).toEqual(words)
})
