import type { z } from 'zod'
import type { Erased, Exported, Found } from '../../../hub/api/leads/people.ts'
import type { TestHub } from '../support/hub.ts'

type Answers = {
  find: z.infer<typeof Found>
  export: z.infer<typeof Exported>
  erase: z.infer<typeof Erased>
}

/** Asks about a person. */
export async function ask<What extends keyof Answers>(hub: TestHub, what: What, given: unknown) {
  const answer = await hub.call('POST', `people/${what}`, given)
  if (answer.status >= 500) throw new Error(JSON.stringify(hub.lines.at(-1)))
  const body = (await answer.json()) as Answers[What] // safe: the hub checks it by this schema
  return { status: answer.status, body }
}
