import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { MAX_GIVEN } from '../../../hub/agents/evidence/given.ts'
import { MAX_LEADS } from '../../../hub/agents/mails/choose.ts'
import { MAX_PARTS, PART } from '../../../hub/agents/run/summary.ts'
import { MAX_TASK } from '../../../hub/agents/run/thread.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())

test.each([
  ['assumed', false],
  ['ollama', true],
] as const)(
  'what a mission can take is told before it is written; context: %s',
  async (source, known) => {
    const now = await hub.deps.model.state()
    const state = vi
      .spyOn(hub.deps.model, 'state')
      .mockResolvedValue({ ...now, context_size: 12_345, context_source: source })
    const { limits } = await (await hub.call('GET', 'missions/limits')).json()
    state.mockRestore()
    expect(limits).toEqual({
      task_characters: MAX_TASK,
      whole_text_characters: MAX_GIVEN,
      part_characters: PART,
      parts: MAX_PARTS,
      mails: MAX_LEADS,
      context_tokens: 12_345,
      context_is_known: known,
    })
  },
)
