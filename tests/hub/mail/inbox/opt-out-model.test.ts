import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'
import { type StubModel, startStubModel, useStub } from '../../support/stub-model.ts'
import { type ImapStandIn, startImap } from '../imap-stand-in.ts'

let hub: TestHub
let smtp: MailServer
let imap: ImapStandIn
let stub: StubModel
let api: ReturnType<typeof apiOf>
beforeAll(async () => {
  smtp = await startMailServer()
  imap = await startImap()
  stub = await startStubModel()
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await useStub(hub, stub)
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
  await stub.close()
  await imap.close()
  await smtp.close()
})

let count = 0
/** A lead that was written to and answered; what the model is to say of the answer. */
async function answered(given: {
  text: string
  verdict: string
  quote: string
  named?: false
  from?: string
}) {
  count += 1
  const email = `reader${count}@client.example`
  const data = { name: 'Jo', email, ...LEAD }
  const { lead } = await api.ok('lead/quick_add', { slug: 'demir', data })
  const { draft } = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'lead', lead_id: lead.id },
    subject: 'A short question',
    text: 'Would you like to talk next week?',
  })
  for (const step of ['render', 'approve', 'push', 'send']) {
    await api.ok(`draft/${step}`, { id: draft.id, project: 'demir' })
  }
  await hub.deps.mailer.run()
  stub.script(() => ({ verdict: given.verdict, quote: given.quote }))
  const named = given.named === false ? '' : `In-Reply-To: ${smtp.mails.at(-1)?.messageId}\n`
  imap.deliver(
    `From: ${given.from ?? email}\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nSubject: Re: A short question\nMessage-ID: <m${count}@x>\n${named}Content-Type: text/plain; charset=utf-8\n\n${given.text}\n`,
  )
  await hub.deps.poller.run(true)
  const [mail] = (await api.get(`inbox/list?lead_id=${lead.id}&show=all&state=all`)).body.mails
  const [entry] = (await api.get(`suppression?email=${email}`)).body.suppression
  return { mail, reason: entry?.reason, lead_id: lead.id }
}
const ASKS = 'asks for no more mail'

test('where the rules doubt and the model reads a request that stands there, it is an opt-out', async () => {
  const { mail, reason } = await answered({
    text: 'We have our carriers. Kindly unsubscribe us and all colleagues in Ankara.',
    verdict: ASKS,
    quote: 'unsubscribe us and all colleagues',
  })
  expect(mail).toMatchObject({ opt_out: 'asked', opt_out_by: 'model', model_said: 'asks' })
  expect(reason).toBe('unsubscribed')
})

test('its no opens nothing: a person decides', async () => {
  const { mail, reason, lead_id } = await answered({
    text: 'Did others unsubscribe after such a mail? We like it.',
    verdict: 'does not ask for that',
    quote: '',
  })
  expect(mail).toMatchObject({ opt_out: 'open', opt_out_by: 'rules', model_said: 'does_not_ask' })
  expect(reason).toBeUndefined()
  const { lead } = (await api.get(`lead/get?lead_id=${lead_id}`)).body
  expect(lead.may_refuse).toBe(true)
})

test('its yes alone holds mail and suppresses nobody', async () => {
  const { mail, reason, lead_id } = await answered({
    text: 'Bitte streichen Sie uns, wir möchten nichts mehr von Ihnen hören.',
    verdict: ASKS,
    quote: 'wir möchten nichts mehr von Ihnen hören',
  })
  expect(mail).toMatchObject({ opt_out: 'open', opt_out_by: 'model', model_said: 'asks' })
  expect(reason).toBeUndefined()
  const { lead } = (await api.get(`lead/get?lead_id=${lead_id}`)).body
  expect(lead.may_refuse).toBe(true)
})

test('a quote that does not stand there, or a mail that is only known by its address, suppresses nobody', async () => {
  const invented = await answered({
    text: 'If prices rise we will unsubscribe, else not.',
    verdict: ASKS,
    quote: 'never write to us again',
  })
  expect(invented).toMatchObject({
    reason: undefined,
    mail: { opt_out: 'open', model_said: 'unsure' },
  })
  const forged = await answered({
    text: 'We have our carriers. Kindly unsubscribe us and all colleagues.',
    verdict: ASKS,
    quote: 'unsubscribe us and all colleagues',
    named: false,
  })
  expect(forged).toMatchObject({
    reason: undefined,
    mail: { opt_out: 'open', opt_out_by: 'rules', model_said: 'asks' },
  })
})

test('a colleague who asks for it in our thread suppresses nobody: a person decides for whom', async () => {
  const { mail, reason } = await answered({
    text: 'We have our carriers. Kindly unsubscribe us and all colleagues.',
    verdict: ASKS,
    quote: 'unsubscribe us and all colleagues',
    from: 'colleague@client.example',
  })
  expect(mail).toMatchObject({ opt_out: 'open', model_said: 'asks' })
  expect(reason).toBeUndefined()
})

test('of more mails than one round asks about, those in doubt come first', async () => {
  const { mail } = await answered({
    text: 'Please unsubscribe, or call.',
    verdict: 'unsure',
    quote: '',
  })
  expect(mail.opt_out).toBe('open')
  await hub.query(
    `insert into hub.inbox_mails
    select copy.* from hub.inbox_mails as mail, generate_series(1, 5) as n,
      jsonb_populate_record(mail, jsonb_build_object('id', gen_random_uuid(), 'message_id', '<c' || n || '@x>',
        'opt_out', null, 'opt_out_by', null, 'judged_at', null,
        'received_at', mail.received_at - interval '1 hour')) as copy
    where mail.id = $1`,
    [mail.id],
  )
  await hub.query('update hub.inbox_mails set judged_at = null where id = $1', [mail.id])
  await hub.deps.poller.run(true)
  const left = () =>
    hub.query<{ id: string }>('select id from hub.inbox_mails where judged_at is null')
  const [waiting, ...others] = await left()
  expect(others).toEqual([])
  expect(waiting?.id).not.toBe(mail.id)
  await hub.deps.poller.run(true)
  expect(await left()).toEqual([])
})

test('a model that is away is asked again later, and the doubt stays with people', async () => {
  stub.hold(true)
  await hub.deps.model.configure({ kind: 'none' })
  const { mail } = await answered({
    text: 'Please unsubscribe, or call.',
    verdict: ASKS,
    quote: 'x',
  })
  expect(mail).toMatchObject({ opt_out: 'open', model_said: null })
  stub.hold(false)
  await useStub(hub, stub)
  stub.script(() => ({ verdict: 'unsure', quote: '' }))
  await hub.deps.poller.run(true)
  const [again] = (await api.get(`inbox/list?show=opt_outs`)).body.mails
  expect(again).toMatchObject({ id: mail.id, opt_out: 'open', model_said: 'unsure' })
})

test('what a person decides while the model reads stays so', async () => {
  const { mail } = await answered({
    text: 'Kindly unsubscribe us and all colleagues in Ankara.',
    verdict: 'unsure',
    quote: '',
  })
  await hub.query('update hub.inbox_mails set judged_at = null where id = $1', [mail.id])
  stub.script(() => ({ verdict: ASKS, quote: 'unsubscribe us and all colleagues' }))
  stub.hold(true)
  const before = stub.asked.length
  const round = hub.deps.poller.run(true)
  try {
    await vi.waitFor(() => expect(stub.asked.length).toBe(before + 1), { timeout: 10_000 })
    await api.ok('inbox/opt_out', { id: mail.id, refuses: false })
  } finally {
    stub.hold(false)
    await round
  }
  const { suppression } = (await api.get(`suppression?email=${mail.from_email}`)).body
  expect(suppression).toEqual([])
  const [reader] = await hub.query('select opt_out from hub.recipients where email = $1', [
    mail.from_email,
  ])
  expect(reader).toEqual({ opt_out: 'denied' })
})

test('the model is asked once about a mail, and only about a new reply in which nobody asks', async () => {
  const { mail } = await answered({ text: 'Call us in May.', verdict: 'unsure', quote: '' })
  /** How often a round asks about the mail after a change to it. */
  const asked = async (change: string) => {
    await hub.query(`update hub.inbox_mails set ${change} where id = $1`, [mail.id])
    const before = stub.asked.length
    await hub.deps.poller.run(true)
    return stub.asked.length - before
  }
  expect(await asked('judged_at = null')).toBe(1)
  for (const change of [
    'judged_at = now()',
    `judged_at = null, received_at = now() - interval '8 days'`,
    `received_at = now(), opt_out = 'asked', opt_out_by = 'rules'`,
    `opt_out = null, opt_out_by = null, kind = 'out_of_office'`,
  ]) {
    expect(await asked(change), change).toBe(0)
  }
  expect(await asked(`kind = 'reply'`)).toBe(1)
})

test('a mail at which the model fails holds up none after it, and is for people', async () => {
  const first = await answered({
    text: 'Please unsubscribe, or write a poem.',
    verdict: 'a poem',
    quote: '',
  })
  expect(first.mail).toMatchObject({ opt_out: 'open', model_said: 'unsure' })
  const second = await answered({
    text: 'We have our carriers. Kindly unsubscribe us and all colleagues in Ankara.',
    verdict: ASKS,
    quote: 'unsubscribe us and all colleagues',
  })
  expect(second.reason).toBe('unsubscribed')
  expect(stub.asked).toHaveLength(1)
})
