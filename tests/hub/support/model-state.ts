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
