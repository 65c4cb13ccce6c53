import { verbatim } from '../../../hub/i18n/words.ts'
import type { ModelState } from '../../../hub/model/model.ts'

/** A local model that is in the state which `now` tells at the time. */
export const modelIn = (now: () => ModelState['state']) => ({
  state: async (): Promise<ModelState> => ({
    kind: 'local',
    name: 'x',
    state: now(),
    detail: verbatim('it ran out of memory'),
    memory_bytes: null,
    context_size: 4096,
    context_source: 'process',
  }),
})

/** What the process of a model that is ready says of itself. */
export const HEALTH = {
  state: 'ready',
  model: 'tiny',
  detail: null,
  memory_bytes: 1,
  context_size: 1024,
  sequences: 2,
  threads: 1,
  busy: 0,
  waiting: 0,
}
