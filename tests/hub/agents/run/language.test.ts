import { expect, test } from 'vitest'
import { languageOfTask } from '../../../../hub/agents/run/facts.ts'

test.each([
  ['/gelistir', 'tr', 'tr'],
  ['/gelistir', 'en', 'en'],
  ['/gelistir', undefined, 'en'],
  ['/pm', 'tr', 'tr'],
  // What stands behind the command counts more than who asks.
  ['/pm what went wrong', 'tr', 'en'],
  ['/pm neden başarısız oldu', 'en', 'tr'],
  ['/pm in Turkish', 'en', 'tr'],
  // Words of which none shows a language.
  ['leads', 'tr', 'tr'],
  ['rakip analizi', 'tr', 'tr'],
  ['rakip analizi', 'en', 'en'],
] as const)('%s, asked in %s, is answered in %s', (task, asker, language) => {
  expect(languageOfTask(task, asker)).toBe(language)
})
