/** Questions about records of alerts, and what the tests of them change in the world before they ask. */
import { afterAll, beforeAll } from 'vitest'
import { type Case, createQuestions } from '../questions.ts'

export const alert = (set: string, name = 'private') =>
  `update watchpost.alerts set ${set} where zone_name = '${name}';`
export const idOf = (name: string) =>
  `(select id from watchpost.alerts where zone_name = '${name}')`
export const delivery = (set: string, name = 'private') =>
  `update watchpost.deliveries set ${set} where last_error = '${name}';`
export const deliveryOf = (name: string) =>
  `(select id from watchpost.deliveries where last_error = '${name}')`
export const record = (set: string, name = 'private') =>
  `update watchpost.evidence set ${set} where alert_id = ${idOf(name)};`
export const due = (set: string, name = 'private') =>
  `update watchpost.evidence_due set ${set} where alert_id = ${idOf(name)};`
export const drill = alert('drill_id = (select id from watchpost.drills limit 1)')
/** The message of one alert goes out in a digest about another one. */
export const carried = `${delivery(`digest_id = ${deliveryOf('foreign')}`)}${delivery("type = 'alert.digest'", 'foreign')}`

export let questions: Awaited<ReturnType<typeof createQuestions>>

/** Has the tests of this file ask in a world of their own. */
export function useQuestions(): void {
  beforeAll(async () => {
    questions = await createQuestions()
  })
  afterAll(() => questions?.close())
}

/** Compares what cases answer with golden/<name>.txt. */
export const agree = (name: string, cases: Case[]) => questions.agree(name, cases)
