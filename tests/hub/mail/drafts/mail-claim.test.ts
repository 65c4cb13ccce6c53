import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHub } from '../../../../hub/hub.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  draftsOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'

let hub: TestHub
let api: ReturnType<typeof apiOf>
let smtp: MailServer
/** What happens while the server is being connected to: after the choice, before the claim. */
let meanwhile: (() => Promise<unknown>) | undefined
let connections = 0
beforeAll(async () => {
  smtp = await startMailServer({
    onConnect(_session, callback) {
      connections += 1
      const work = meanwhile
      meanwhile = undefined
      Promise.resolve(work?.()).then(() => callback(), callback)
    },
  })
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
})
afterAll(async () => {
  await hub.close()
  await smtp.close()
})
beforeEach(async () => {
  connections = 0
  meanwhile = undefined
  smtp.to().length = 0
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
  await api.ok('settings/mail/confirm')
  await addLead()
})

let count = 0
let lead_id = ''
let email = ''
async function addLead(data: object = {}): Promise<string> {
  count += 1
  email = `p${count}@claim.example`
  const lead = { name: 'Jo Öz', email, ...LEAD, ...data }
  lead_id = (await api.ok('lead/quick_add', { slug: 'demir', data: lead })).lead.id
  return lead_id
}

const { of, create, get } = draftsOf(() => ({ api, lead_id }))
const steps = async (id: string, ...names: string[]) => {
  for (const name of names) await api.ok(`draft/${name}`, of(id))
}
async function sendable(more: object = {}): Promise<string> {
  const id = await create(more)
  await steps(id, 'render', 'approve', 'push', 'send')
  return id
}
const recipientOf = async (id: string) =>
  (await api.get(`drafts/recipients?id=${id}&project=demir`)).body.recipients[0]

test('who answers again after a mail to them was written does not get it', async () => {
  const id = await sendable()
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, lead_id, email, state, replied_at, last_replied_at)
     select id, project_id, $1, 'a@claim.example', 'sent', now() - interval '9 days', now()
     from hub.drafts where id = $2`,
    [lead_id, id],
  )
  await hub.deps.mailer.run()
  expect(connections).toBe(0)
  const { recipients } = (await api.get(`drafts/recipients?id=${id}&project=demir`)).body
  expect(recipients.find((one: { email: string }) => one.email === email)).toMatchObject({
    state: 'skipped',
  })
})

describe('between the choice and the claim', () => {
  test('who unsubscribes gets nothing', async () => {
    const id = await sendable()
    meanwhile = () => api.ok('suppression/add', { emails: [email] })
    await hub.deps.mailer.run()
    expect(connections).toBe(1)
    expect(smtp.to()).toEqual([])
    expect(await recipientOf(id)).toMatchObject({ state: 'skipped' })
  })

  test('who is refused twice is left for the next round, and the server is not asked without end', async () => {
    const id = await sendable()
    await hub.query(`
      create function public.refuse() returns trigger language plpgsql as 'begin return null; end';
      create trigger refuse before update on hub.recipients for each row
      when (new.state = 'sending') execute function public.refuse()`)
    await hub.deps.mailer.run()
    expect(connections).toBe(1)
    await hub.query('drop trigger refuse on hub.recipients; drop function public.refuse')
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([email])
    expect(await recipientOf(id)).toMatchObject({ state: 'sent' })
  })

  test('a draft that is paused sends nothing until it goes on', async () => {
    const id = await sendable()
    meanwhile = () => api.ok('draft/pause', of(id))
    await hub.deps.mailer.run()
    expect(connections).toBe(1)
    expect(smtp.to()).toEqual([])
    await steps(id, 'resume')
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([email])
  })

  test('a hub that closes sends this mail and leaves the others for its next start', async () => {
    for (const _ of [1, 2]) await addLead({ tags: ['closing'] })
    await sendable({ audience: { kind: 'list', filter: { tag: 'closing' } } })
    const closing = await createHub(hub.config, { log: () => {}, restart: () => {} })
    // It waits for the round, and the round for the server.
    meanwhile = async () => void closing.close()
    await closing.deps.mailer.run()
    expect(smtp.to()).toHaveLength(1)
    await hub.deps.mailer.run()
    expect(new Set(smtp.to()).size).toBe(2)
  })

  test('all mail that is paused sends nothing until it is confirmed', async () => {
    await sendable()
    meanwhile = () => api.ok('settings/mail/pause')
    await hub.deps.mailer.run()
    expect(connections).toBe(1)
    expect(smtp.to()).toEqual([])
    await api.ok('settings/mail/confirm')
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([email])
  })

  test('a day whose cap was used up or lowered sends nothing', async () => {
    const id = await sendable()
    const [used] = await hub.query<{ n: number }>(
      `select count(*)::int as n from hub.recipients where claimed_at >= date_trunc('day', now(), 'UTC')`,
    )
    await hub.query(
      `insert into hub.recipients (draft_id, project_id, email, state, claimed_at)
       select id, project_id, 'earlier@claim.example', 'sent', now() from hub.drafts where id = $1`,
      [id],
    )
    meanwhile = () => api.put('settings/mail', { daily_cap: (used?.n ?? 0) + 1 })
    await hub.deps.mailer.run()
    expect(connections).toBe(1)
    expect(smtp.to()).toEqual([])
    await api.put('settings/mail', { daily_cap: (used?.n ?? 0) + 2 })
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([email])
  })

  test('what is approved anew is not sent as it was read before', async () => {
    const id = await sendable()
    const [approved] = await hub.query<{ approved_hash: string }>(
      'select approved_hash from hub.drafts where id = $1',
      [id],
    )
    const hashed = (hash?: string) =>
      hub.query('update hub.drafts set approved_hash = $2 where id = $1', [id, hash])
    meanwhile = () => hashed('of something else')
    await hub.deps.mailer.run()
    expect(connections).toBe(1)
    expect(smtp.to()).toEqual([])
    await hashed(approved?.approved_hash)
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([email])
  })

  test('what is no longer being sent is not', async () => {
    const id = await sendable()
    meanwhile = () => hub.query(`update hub.drafts set state = 'rejected' where id = $1`, [id])
    await hub.deps.mailer.run()
    expect(connections).toBe(1)
    expect(smtp.to()).toEqual([])
  })

  test('who gets it from another process does not get it twice', async () => {
    const id = await sendable()
    meanwhile = () =>
      hub.query(
        `update hub.recipients set state = 'sent', claimed_at = now(), sent_at = now()
         where draft_id = $1`,
        [id],
      )
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([])
  })
})

describe('a mail that is being sent does not go to', () => {
  test('the old address nor the new one of a lead that moved', async () => {
    const id = await sendable()
    await api.ok('lead/update', { lead_id, email: `moved${count}@claim.example` })
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([])
    expect(await recipientOf(id)).toMatchObject({ state: 'skipped' })
    expect((await get(id)).draft.state).toBe('failed')
  })

  test('somebody whose lawful basis was taken back', async () => {
    const id = await sendable()
    await api.ok('lead/update', { lead_id, lawful_basis: null })
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([])
    expect(await recipientOf(id)).toMatchObject({
      state: 'skipped',
      reason: expect.stringContaining('lawful basis'),
    })
  })

  test('somebody who was deleted', async () => {
    const tags = [`gone${count}`]
    const [gone, stays] = [await addLead({ tags }), await addLead({ tags })]
    const id = await sendable({ audience: { kind: 'list', filter: { tag: tags[0] } } })
    await hub.query('delete from hub.leads where id = $1', [gone])
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([email])
    expect((await get(id)).draft).toMatchObject({ state: 'sent', state_reason: '1 skipped' })
    expect(stays).toBe(lead_id)
  })

  test('anybody while all mail is paused, or the hub cannot be reached', async () => {
    await sendable()
    await api.ok('settings/mail/pause')
    await hub.deps.mailer.run()
    await api.ok('settings/mail/confirm')
    const { public_url } = hub.config
    hub.config.public_url = null
    await hub.deps.mailer.run()
    expect(connections).toBe(0)
    hub.config.public_url = public_url
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([email])
  })
})
