/** Alerts that were delivered and the evidence of them, for the tests of what is frozen and kept. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { z } from 'zod'
import {
  EVIDENCE_KEYS_PATH,
  EvidenceFile,
  EvidenceKeys,
} from '../../../shared/evidence/evidence.ts'
import {
  createDeliveryService,
  type DeliveryService,
  type TriedDelivery,
} from '../../support/delivery-service.ts'
import { type Person, parsed, sendResult } from '../../support/service.ts'

export let fixture: DeliveryService

/** Has the tests of this file run on a service that delivers. */
export function useFixture(): void {
  beforeAll(async () => {
    fixture = await createDeliveryService()
  })
  afterAll(() => fixture?.close())
  beforeEach(() => fixture.reset())
}

export type Raised = TriedDelivery & { alert: string }
export async function raised(answer = () => sendResult(200, 'ok')): Promise<Raised> {
  const tried = await fixture.deliverOnce(answer)
  const [row] = await fixture.query('select alert_id from watchpost.deliveries where id = $1', [
    tried.delivery,
  ])
  return { ...tried, alert: z.uuid().parse(row?.alert_id) }
}

export const get = (who: Pick<Person, 'key'>, alert: string, query = '') =>
  fixture.service.request('GET', `/api/v1/alerts/${alert}/evidence${query}`, { key: who.key })

export const patch = async ({ person, alert }: Pick<Raised, 'person' | 'alert'>, body: object) =>
  parsed(
    await fixture.service.request('PATCH', `/api/v1/alerts/${alert}`, { key: person.key, body }),
    200,
    z.object({}),
  )

export const freeze = () => fixture.jobs.drain()

export const evidenceOf = async ({ person, alert }: Raised, query = '') => {
  const answer = await get(person, alert, query)
  return { ...parsed(answer, 200, EvidenceFile), text: answer.text, headers: answer.headers }
}

export const keys = async () =>
  parsed(await fixture.service.request('GET', EVIDENCE_KEYS_PATH), 200, EvidenceKeys).keys
