import { describe, expect, test } from 'vitest'
import { AGENT_NAMES } from '../../../hub/agents/names.ts'
import { LANGUAGES } from '../../../hub/i18n/words.ts'
import { runAlone } from './run-alone.ts'
import { LEADS } from './scenes/leads.ts'
import { MACHINE } from './scenes/machine.ts'
import { MAILS } from './scenes/mails.ts'
import { PAPERS } from './scenes/papers.ts'
import { SEQUENCES } from './scenes/sequences.ts'

const SCENES = { ...PAPERS, ...LEADS, ...MAILS, ...SEQUENCES, ...MACHINE }

test('there is a scene of every agent', () => {
  const agents = new Set(Object.values(SCENES).map(({ agent }) => agent))
  expect([...agents].sort()).toEqual([...AGENT_NAMES].sort())
})

describe.each(LANGUAGES)('in %s', (language) => {
  test.each(Object.entries(SCENES))(
    '%s asks, stores, writes and answers as it was agreed',
    async (name, scene) => {
      const done = await runAlone(scene, language)
      await expect(done).toMatchFileSnapshot(`golden/${name}.${language}.txt`)
    },
  )
})
