/** A hub with a project and a mail server, for what waits in the queue. */
import { afterAll, beforeAll } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { apiOf, type MailServer, setBrand, startMailServer } from '../support/mail-help.ts'

export let hub: TestHub
export let smtp: MailServer
export let api: ReturnType<typeof apiOf>

/** Has the tests of this file run on a hub and a mail server of their own. */
export function useQueue(): void {
  beforeAll(async () => {
    smtp = await startMailServer()
    hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
    api = apiOf(hub)
    await api.ok('projects/create', { slug: 'demir', name: 'Demir' })
    await setBrand(api)
  })
  afterAll(async () => {
    await hub.close()
    await smtp.close()
  })
}

export const of = (id: string) => ({ id, project: 'demir' })
export const prospect = async (id: string) =>
  (await api.get(`queue/prospect?id=${id}&project=demir`)).body
