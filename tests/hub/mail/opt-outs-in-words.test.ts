import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  apiOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../support/mail-help.ts'
import { type ImapStandIn, startImap } from './imap-stand-in.ts'

let hub: TestHub
let smtp: MailServer
let imap: ImapStandIn
let api: ReturnType<typeof apiOf>
beforeAll(async () => {
  smtp = await startMailServer()
  imap = await startImap()
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await setBrand(api)
  await api.put('settings/mail', {
    ...smtpSettings(smtp.port),
    imap: { host: '127.0.0.1', port: imap.port, security: 'none', user: 'ayse', password: 'right' },
  })
  await hub.deps.poller.run(true)
})
afterAll(async () => {
  await hub.close()
  await imap.close()
  await smtp.close()
})

type Person = { id: string; email: string }
const add = async (name: string): Promise<Person> => {
  const email = `${name}@client.example`
  const data = { name, email, ...LEAD }
  return (await api.ok('lead/quick_add', { slug: 'demir', data })).lead
}
const draftTo = async ({ id }: Person) =>
  (
    await api.ok('draft/create', {
      project: 'demir',
      audience: { kind: 'lead', lead_id: id },
      subject: 'A short question',
      text: 'Hello,\n\nwould you like to talk next week?',
    })
  ).draft.id
async function step(id: string, ...steps: string[]): Promise<void> {
  for (const name of steps) await api.ok(`draft/${name}`, { id, project: 'demir' })
}
/** Sends the lead a mail; answers its Message-ID and its text. */
async function writeTo(person: Person): Promise<{ id: string; text: string; draft: string }> {
  const draft = await draftTo(person)
  await step(draft, 'render', 'approve', 'push', 'send')
  await hub.deps.mailer.run()
  const mail = smtp.mails.at(-1)
  expect(mail?.messageId).toBeTruthy()
  return { id: mail?.messageId ?? '', text: mail?.text ?? '', draft }
}

let replies = 0
async function reply(from: string, text: string, to?: string): Promise<void> {
  replies += 1
  const named = to ? `In-Reply-To: ${to}\n` : ''
  imap.deliver(
    `From: ${from}\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nSubject: Re: A short question\nMessage-ID: <r${replies}@x>\n${named}Content-Type: text/plain; charset=utf-8\n\n${text}\n`,
  )
  await hub.deps.poller.run(true)
}
const reasonOf = async (email: string) =>
  (await api.get(`suppression?email=${email}`)).body.suppression[0]?.reason
const leadOf = async ({ id }: Person) => (await api.get(`lead/get?lead_id=${id}`)).body.lead
const timelineOf = async ({ id }: Person) =>
  (await api.get(`lead/timeline?lead_id=${id}`)).body.activities as {
    kind: string
    details: Record<string, unknown>
  }[]
const actionsOn = async ({ id }: Person) =>
  (await api.get('today_summary?project=demir')).body.next_actions
    .filter(({ lead_id }: { lead_id: string }) => lead_id === id)
    .map(({ kind }: { kind: string }) => kind)

test('a reply to our mail that only asks for no more mail suppresses both addresses for good', async () => {
  const lead = await add('ali')
  const { id } = await writeTo(lead)
  await reply('ali.yilmaz@home.example', 'Merhaba,\n\nLütfen beni listenizden çıkarın.\n\nAli', id)
  expect(await reasonOf(lead.email)).toBe('unsubscribed')
  expect(await reasonOf('ali.yilmaz@home.example')).toBe('unsubscribed')
  expect(await leadOf(lead)).toMatchObject({ may_refuse: false })
  expect((await timelineOf(lead)).map(({ kind, details }) => [kind, details.opt_out])).toEqual(
    expect.arrayContaining([
      ['replied', 'asked'],
      ['unsubscribed', undefined],
    ]),
  )
  // What asks for silence is neither answered nor evidence.
  expect(await actionsOn(lead)).toEqual([])
  expect((await leadOf(lead)).evidence).toEqual([])
  expect(await api.post('suppression/release', { email: lead.email })).toMatchObject({
    status: 409,
  })
})

test('words of an unknown sender stop mail until a person decides', async () => {
  const lead = await add('berk')
  await writeTo(lead)
  const waiting = await draftTo(lead)
  await reply(lead.email, 'Please remove me from your list.')
  expect(await reasonOf(lead.email)).toBeUndefined()
  expect(await leadOf(lead)).toMatchObject({ may_refuse: true })
  expect(await actionsOn(lead)).toEqual(expect.arrayContaining(['decide_opt_out']))
  expect(await actionsOn(lead)).not.toContain('answer_reply')
  await api.ok('draft/render', { id: waiting, project: 'demir' })
  const refused = await api.post('draft/approve', {
    ...(await hashOf(waiting)),
    project: 'demir',
  })
  expect(refused.status).toBe(409)
  expect(JSON.stringify(refused.body)).toContain('may have asked for no more mail')

  await api.ok('lead/opt_out', { lead_id: lead.id, refuses: false })
  expect(await leadOf(lead)).toMatchObject({ may_refuse: false })
  expect(await timelineOf(lead)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: 'replied',
        details: expect.objectContaining({ opt_out: 'denied', decided_at: expect.any(String) }),
      }),
    ]),
  )
  await writeTo(lead)
  const again = await api.post('lead/opt_out', { lead_id: lead.id, refuses: true })
  expect(again).toMatchObject({ status: 409 })
  expect(await reasonOf(lead.email)).toBeUndefined()
})

const hashOf = async (id: string) => {
  const { body } = await api.get(`drafts/get?id=${id}&project=demir`)
  return { id, hash: body.draft.content_hash ?? body.draft.hash }
}

test('a person decides that a reply with conditions asks for no more mail', async () => {
  const lead = await add('can')
  const { id } = await writeTo(lead)
  await reply(lead.email, 'Unless you have trucks, please remove me from your list.', id)
  expect(await leadOf(lead)).toMatchObject({ may_refuse: true })
  await api.ok('lead/opt_out', { lead_id: lead.id, refuses: true })
  expect(await reasonOf(lead.email)).toBe('unsubscribed')
  expect(await leadOf(lead)).toMatchObject({ may_refuse: false })
})

test('a lead that is added again keeps the open question of its address', async () => {
  const lead = await add('deniz')
  const { id } = await writeTo(lead)
  await reply(lead.email, 'Do not write to me, call me instead about unsubscribing others.', id)
  await api.ok('lead/delete', { lead_id: lead.id })
  const again = await add('deniz')
  expect(await leadOf(again)).toMatchObject({ may_refuse: true })
  expect(await actionsOn(again)).toContain('decide_opt_out')
  await api.ok('lead/opt_out', { lead_id: again.id, refuses: true })
  expect(await reasonOf(lead.email)).toBe('unsubscribed')
})

test('a reply that repeats our mail and its footer asks for nothing', async () => {
  const lead = await add('ece')
  const { id, text } = await writeTo(lead)
  expect(text).toMatch(/unsubscribe/i)
  await reply(lead.email, `Yes, Tuesday at ten.\n\n${text}`, id)
  expect(await reasonOf(lead.email)).toBeUndefined()
  expect(await leadOf(lead)).toMatchObject({ may_refuse: false })
  const [replied] = (await timelineOf(lead)).filter(({ kind }) => kind === 'replied')
  expect(replied?.details.text).toBe('Yes, Tuesday at ten.')
})

test('a second reply stops a mail that was approved since the first', async () => {
  const lead = await add('figen')
  const { id } = await writeTo(lead)
  await reply(lead.email, 'Tell me more.', id)
  const answer = await draftTo(lead)
  await step(answer, 'render', 'approve', 'push', 'send')
  await reply(lead.email, 'I have found another carrier, thank you.', id)
  const before = smtp.mails.length
  await hub.deps.mailer.run()
  expect(smtp.mails.length).toBe(before)
  const { recipients } = (await api.get(`drafts/recipients?id=${answer}&project=demir`)).body
  expect(recipients).toMatchObject([
    { email: lead.email, state: 'skipped', reason: expect.stringContaining('replied') },
  ])
})

test('taking a forged reply back ends its question', async () => {
  const lead = await add('gul')
  await writeTo(lead)
  await reply(lead.email, 'Unsubscribe')
  expect(await leadOf(lead)).toMatchObject({ may_refuse: true })
  await api.ok('lead/not_replied', { lead_id: lead.id })
  expect(await leadOf(lead)).toMatchObject({ may_refuse: false, stage: 'contacted' })
  const moves = await hub.query(
    `select details from hub.activities where lead_id = $1 and kind = 'stage'`,
    [lead.id],
  )
  expect(moves.map(({ details }) => details)).toContainEqual({ from: 'replied', to: 'contacted' })
  expect(await reasonOf(lead.email)).toBeUndefined()
})
