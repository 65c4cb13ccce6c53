import { expect } from 'vitest'
import type { Lead } from '../../../hub/leads/lead.ts'
import type { TestHub } from './hub.ts'

/** leadCalls makes the calls of tests about leads, on the hub that a file starts before them. */
export function leadCalls(hub: () => TestHub) {
  const send = async (...call: Parameters<TestHub['call']>) => {
    const answer = await hub().call(...call)
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  const get = (path: string) => send('GET', path)
  const post = (path: string, body: object, headers?: Record<string, string>) =>
    send('POST', path, body, headers)
  const add = async (data: object, slug = 'demir'): Promise<Lead> => {
    const made = await post('lead/quick_add', { slug, data })
    expect(made.status).toBe(201)
    return made.body.lead
  }
  return { get, post, add }
}
