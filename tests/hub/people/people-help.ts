import type { TestHub } from '../support/hub.ts'

/** Asks about a person; the answer's shape is checked by each test. */
export async function ask(hub: TestHub, what: string, body: unknown) {
  const answer = await hub.call('POST', `people/${what}`, body)
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at what is inside
  if (answer.status >= 500) throw new Error(JSON.stringify(hub.lines.at(-1)))
  return { status: answer.status, body: (await answer.json()) as any }
}
