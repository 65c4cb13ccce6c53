import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { DraftRow } from '../../../../hub/mail/drafts/drafts.ts'
import { draftCalls } from '../../support/draft-calls.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, setBrand } from '../../support/mail-help.ts'
import { type ListmonkStandIn, startListmonk } from '../listmonk/listmonk-stand-in.ts'

/** A hub that sends by listmonk; each test has a tag of its own and two leads with it. */
export let hub: TestHub
export let standIn: ListmonkStandIn
export let api: ReturnType<typeof apiOf>
export let tag = ''
let count = 0

export function useListmonk(): void {
  beforeAll(async () => {
    standIn = await startListmonk()
    hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
    api = apiOf(hub)
    await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  })
  afterAll(async () => {
    await hub.close()
    await standIn.close()
  })
  beforeEach(async () => {
    count += 1
    tag = `t${count}`
    const { url, user, token } = standIn
    await setBrand(api)
    await api.put('settings/mail', {
      listmonk: { url, user, token },
      daily_cap: 10_000,
      ramp: null,
    })
    await api.ok('settings/mail/confirm')
    await add({ name: 'Jo Öz', company: 'Client', email: `jo@${tag}.example` })
    await add({ name: null, company: null, email: `nobody@${tag}.example` })
  })
}

export const { addLead, get, of, recipientsOf: recipients, steps } = draftCalls(() => hub)
export const add = (data: object) => addLead({ tags: [tag], ...data })
/** A campaign to the two leads of this test, that far on its way. */
export async function campaign(...names: string[]): Promise<string> {
  const { draft } = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'list', filter: { tag } },
    subject: 'A short question',
    text: 'Hello {first_name},\n\nwould you like to talk next week?\n\nKind regards',
  })
  await steps(draft.id, ...names)
  return draft.id
}
export const rowOf = async (id: string) =>
  (await hub.query<DraftRow>('select * from hub.drafts where id = $1', [id]))[0] as DraftRow
export const campaigns = (id: string) =>
  [...standIn.state.campaigns.values()].filter(({ name }) => name.includes(id))
export const the = (id: string) => {
  const [one, ...others] = campaigns(id)
  if (!one || others.length > 0) throw new Error('There is not one campaign')
  return one
}
export const subscriber = (email: string) => {
  const found = standIn.state.byEmail(email)
  if (!found) throw new Error(`${email} is no subscriber`)
  return found
}
export const sentTo = (id: string) =>
  standIn.state.messages.filter(({ campaign_id }) => campaign_id === the(id).id).map(({ to }) => to)
/** The hub's look at what it sends, until what listmonk does by itself is done. */
export async function look(times = 1) {
  for (let n = 0; n < times; n += 1) {
    await hub.deps.mailer.run()
    await new Promise((wait) => setTimeout(wait, 20))
  }
}
