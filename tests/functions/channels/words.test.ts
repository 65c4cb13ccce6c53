import { expect, test } from 'vitest'
import { LINK_WORDS } from '../../../functions/channels/message/link-words.ts'
import { drillTitle, WORDS } from '../../../functions/channels/message/words.ts'
import { eventWords } from '../../../shared/words/event-words.ts'
import { LANGUAGES } from '../../../shared/words/texts.ts'

/** Arguments that show where they stand in a sentence; those of a plural are one and several. */
const NAMED = (is: boolean) =>
  new Proxy({}, { get: (_, name) => (/^is/.test(String(name)) ? is : `{${String(name)}}`) })
const GIVEN: unknown[][] = [
  ['{a}', '{b}', '{c}'],
  [1, 1, 1],
  [0, 0, 0],
  [5, 2, 3],
  [['{a}'], 0],
  [['{a}', '{b}'], 3],
  [NAMED(true)],
  [NAMED(false)],
  [{ code: 'silent', seconds: 7300, at: '{at}' }, (at: string) => `<${at}>`],
  [{ code: 'http_status', said: '{said}' }, (at: string) => `<${at}>`],
  [{ code: 'no code' }, (at: string) => `<${at}>`],
]

/** All words of a table, a line each; a sentence with what it is given. */
function wordsIn(table: unknown, path = ''): string[] {
  if (typeof table === 'string') return [`${path}: ${table}`]
  if (typeof table === 'function') {
    const said = GIVEN.flatMap((given) => {
      try {
        const text: unknown = table(...given)
        return typeof text === 'string' ? [text] : []
      } catch {
        return []
      }
    })
    const fitting = said.filter((text) => !/undefined|\[object|=>/.test(text))
    return [...new Set(fitting)].map((text) => `${path}(): ${text}`)
  }
  return Object.entries(table ?? {}).flatMap(([key, value]) =>
    wordsIn(value, path ? `${path}.${key}` : key),
  )
}

test.each(LANGUAGES)(
  'the words of messages, pages and events in %s are as agreed',
  async (language) => {
    const words = {
      message: WORDS[language],
      link: LINK_WORDS[language],
      event: eventWords[language],
      drill: drillTitle('earthquake', language),
    }
    await expect(`${wordsIn(words).join('\n')}\n`).toMatchFileSnapshot(
      `golden/words.${language}.txt`,
    )
  },
)
