import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerBody, answerSubject } from '../../../../hub/mail/inbox/answers.ts'
import { keepOptOut } from '../../../../hub/mail/opt-outs.ts'
import { confirmMail, pauseMail } from '../../../../hub/mail/settings.ts'
import { emailHashes, readSalt } from '../../../../hub/mail/suppression.ts'
import { setBrand } from '../../support/mail-help.ts'
import {
  add,
  api,
  hub,
  imap,
  kindsOf,
  leadOf,
  meanwhile,
  type Person,
  receive,
  sentTo,
  smtp,
  useInbox,
  writeTo,
} from './inbox-scene.ts'

useInbox()
beforeEach(() => confirmMail(hub.paths))

/** A lead that answered from its own address or another one. */
async function replied(from?: string) {
  const lead = await add()
  const id = await writeTo(lead)
  const mail = await receive(from ?? lead.email, { headers: `In-Reply-To: ${id}` })
  return { lead, mail }
}
const answer = (mail: { id: string }, more: object = {}) => ({
  id: mail.id,
  answer_id: randomUUID(),
  text: 'Hello.',
  ...more,
})
const closedOf = async ({ id }: { id: string }) =>
  (await api.get(`inbox/get?id=${id}`)).body.answering.closed
const stateOf = async (id: string) =>
  (
    await hub.query<{ state: string; is_sent: boolean }>(
      'select state, sent_at is not null as is_sent from hub.answers where id = $1',
      [id],
    )
  )[0]

test.each([
  ['A question', 'Re: A question'],
  ['Re: A question', 'Re: A question'],
  ['RE: re:Aw: Ynt: Yanıt : A question', 'Re: A question'],
  ['Antw: SV: A question', 'Re: A question'],
  ['Reply to you', 'Re: Reply to you'],
  ['A question re: trucks', 'Re: A question re: trucks'],
  ['x'.repeat(400), `Re: ${'x'.repeat(296)}`],
  ['', 'Re:'],
])('the subject %j is answered as %j', (given, subject) => {
  expect(answerSubject(given)).toBe(subject)
})

describe('the body of an answer', () => {
  const given = {
    text: '\n Gladly. \n',
    with_quote: true,
    signature: ['Ayşe', 'Demir'],
    language: 'en' as const,
    whole: 'One\n\n> Two',
    from_name: 'Jo',
    from_email: 'jo@client.example',
    received_at: '2026-11-21T10:00:00Z',
  }
  test('has the signature below its mark, and no quote unless it is asked for', () => {
    const plain = 'Gladly.\n\n-- \nAyşe\nDemir\n'
    expect(answerBody({ ...given, with_quote: false })).toBe(plain)
    expect(answerBody({ ...given, whole: null })).toBe(plain)
  })
  test('has the signature above the quote, whose empty lines have no space behind the mark', () => {
    expect(answerBody(given)).toBe(
      'Gladly.\n\nAyşe\nDemir\n\nOn 21 November 2026, Jo wrote:\n> One\n>\n>> Two\n',
    )
  })
  test('names the address of a writer without a name', () => {
    const body = answerBody({ ...given, from_name: null, language: 'tr' })
    expect(body).toContain('jo@client.example, 21 Kasım 2026 tarihinde yazdı:')
  })
})

describe('cannot be written', () => {
  test('while mail is paused', async () => {
    const { mail } = await replied()
    await pauseMail(hub.paths, 'admin', null)
    expect(await closedOf(mail)).toContain('paused')
    expect(await api.post('inbox/answer', answer(mail))).toMatchObject({ status: 409 })
    await confirmMail(hub.paths)
    expect(await closedOf(mail)).toBeNull()
  })

  test('while a person has not decided whether the lead asks for no more mail, in another mail either', async () => {
    const { lead, mail } = await replied()
    await receive(lead.email, { subject: 'Hi', text: 'Please unsubscribe me.' })
    expect(await closedOf(mail)).toContain('no more mail')
    const { mail: other } = await replied()
    expect(await closedOf(other)).toBeNull()
  })

  test.each([
    ['to the former address of the lead', `email = 'former.' || email`],
    ['to a lead that was deleted since', 'lead_id = null'],
  ])('while that is undecided of another mail %s', async (_, change) => {
    const { lead, mail } = await replied()
    await hub.query(`update hub.recipients set opt_out = 'open', ${change} where lead_id = $1`, [
      lead.id,
    ])
    expect(await closedOf(mail)).toContain('no more mail')
  })

  test('to an address whose mail of ours was refused, although another one answered', async () => {
    const { lead, mail } = await replied('a.colleague@client.example')
    expect(await closedOf(mail)).toBeNull()
    await api.ok('suppression/add', { emails: [lead.email], note: 'Asked by phone' })
    expect(await closedOf(mail)).toContain('suppression list')
  })

  test('before the project has a sender', async () => {
    const { mail } = await replied()
    await hub.query('update hub.brands set sender_name = null, sender_email = null')
    expect(await closedOf(mail)).toContain('no sender')
    await setBrand(api)
  })
})

describe('what happens while the connection is made keeps it from going out', () => {
  const refusing: [string, (lead: Person) => Promise<unknown>, from?: string][] = [
    [
      'the address unsubscribes while the database does not answer',
      async ({ email }) => {
        const [hash = ''] = emailHashes(await readSalt(hub.paths), email)
        await keepOptOut(hub.paths, hash, 'a token')
      },
    ],
    [
      'another process gave it up',
      () =>
        hub.query(
          `update hub.answers set state = 'failed', reason = '{"en": "Late", "tr": "Geç"}' where state = 'waiting'`,
        ),
    ],
    [
      'our mail, which a colleague answered, asks for no more of a lead that is deleted by now',
      ({ id }) =>
        hub.query(`update hub.recipients set opt_out = 'open', lead_id = null where lead_id = $1`, [
          id,
        ]),
      'a.buyer@client.example',
    ],
    ['mail is paused', () => pauseMail(hub.paths, 'admin', null)],
    [
      'the address is suppressed',
      ({ email }) => api.ok('suppression/add', { emails: [email], note: 'Asked by phone' }),
    ],
    [
      'another mail of the lead, to its former address, asks for no more',
      ({ id }) =>
        hub.query(
          `update hub.recipients set opt_out = 'open', email = 'former.' || email where lead_id = $1`,
          [id],
        ),
    ],
  ]
  test.each(refusing)('%s', async (_, happens, from) => {
    const { lead, mail } = await replied(from)
    meanwhile.connect = async () => void (await happens(lead))
    const given = answer(mail)
    const { thread } = await api.ok('inbox/answer', given)
    expect(thread.at(-1)).toMatchObject({ kind: 'answer', state: 'failed' })
    expect(await stateOf(given.answer_id)).toEqual({ state: 'failed', is_sent: false })
    expect(sentTo(lead)).toBe(1)
    expect((await api.get(`inbox/get?id=${mail.id}`)).body.mail.handled_at).toBeNull()
  })
})

test('an answer to another address than ours is told with that address, and moves a new lead on', async () => {
  const { lead, mail } = await replied('purchasing@client.example')
  await hub.query(`update hub.leads set stage = 'new' where id = $1`, [lead.id])
  await api.ok('inbox/answer', answer(mail))
  expect(smtp.to()).toContain('purchasing@client.example')
  const { activities } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
  const told = activities.find(({ kind }: { kind: string }) => kind === 'answered')
  expect(told.details).toMatchObject({ to: 'purchasing@client.example', text: 'Hello.' })
  expect((await leadOf(lead)).stage).toBe('contacted')
  const { mail: now } = (await api.get(`inbox/get?id=${mail.id}`)).body
  expect(now).toMatchObject({ seen_at: expect.any(String), handled_at: expect.any(String) })
})

test('a fault while it is sent is told as one, and it is not called withdrawn', async () => {
  const { lead, mail } = await replied()
  await hub.query(
    `create function hub.fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$;
     create trigger fail before update on hub.answers for each row
       when (new.state = 'sending') execute function hub.fail()`,
  )
  const given = answer(mail)
  expect((await api.post('inbox/answer', given)).status).toBe(500)
  await hub.query('drop function hub.fail cascade')
  expect(await stateOf(given.answer_id)).toEqual({ state: 'waiting', is_sent: false })
  expect(sentTo(lead)).toBe(1)
})

test('who was taken off the suppression list is answered, and what another project asks is not heard', async () => {
  const { lead, mail } = await replied()
  await api.ok('suppression/add', { emails: [lead.email], note: 'A slip' })
  await hub.query("update hub.suppression set released_at = now() where reason = 'manual'")
  await hub.query(
    `with other as (insert into hub.projects (slug, name) values ('other', 'Other') returning id),
     draft as (
       insert into hub.drafts (project_id, audience, state)
       select id, '{"kind": "list", "filter": {}}', 'sent' from other returning id, project_id
     )
     insert into hub.recipients (draft_id, project_id, email, state, opt_out)
     select id, project_id, $1, 'sent', 'open' from draft`,
    [lead.email],
  )
  expect(await closedOf(mail)).toBeNull()
  const given = answer(mail)
  await api.ok('inbox/answer', given)
  expect((await stateOf(given.answer_id))?.state).toBe('sent')
  await hub.query("delete from hub.projects where slug = 'other'")
})

test('a mail that was handled before it is answered keeps that time', async () => {
  const { mail } = await replied()
  const times = async () =>
    hub.query('select handled_at, seen_at from hub.inbox_mails where id = $1', [mail.id])
  await hub.query(
    `update hub.inbox_mails set handled_at = '2026-01-01', seen_at = '2026-01-01' where id = $1`,
    [mail.id],
  )
  const before = await times()
  await api.ok('inbox/answer', answer(mail))
  expect(await times()).toEqual(before)
})

test('an answer leaves a lead that is further on where it is', async () => {
  const { lead, mail } = await replied()
  const given = answer(mail)
  await api.ok('inbox/answer', given)
  expect((await leadOf(lead)).stage).toBe('replied')
  expect(await stateOf(given.answer_id)).toEqual({ state: 'sent', is_sent: true })
  expect((await kindsOf(lead)).filter((kind: string) => kind === 'answered')).toHaveLength(1)
})

test('replies to an answer go where the brand says', async () => {
  await setBrand(api, { reply_to: 'sales@demir.example' })
  const { mail } = await replied()
  await api.ok('inbox/answer', answer(mail))
  expect(smtp.mails.at(-1)?.replyTo?.text).toBe('sales@demir.example')
  await setBrand(api, { reply_to: null })
})

test('the id of an answer is that of one mail and one text', async () => {
  const [first, second] = [await replied(), await replied()]
  const given = answer(first.mail)
  await api.ok('inbox/answer', given)
  const again = await api.post('inbox/answer', { ...given, id: second.mail.id })
  expect(again).toMatchObject({ status: 409, body: { detail: expect.stringContaining('new id') } })
  expect(sentTo(second.lead)).toBe(1)
})

test.each([
  ['sending', 9, 'sending'],
  ['sending', 11, 'unclear'],
  ['waiting', 9, 'waiting'],
  ['waiting', 11, 'failed'],
])('one that is %s for %i minutes is %s', async (state, minutes, after) => {
  const { mail } = await replied()
  const given = answer(mail)
  await api.ok('inbox/answer', given)
  await hub.query(
    `update hub.answers set state = $2, claimed_at = now() - make_interval(mins => $3),
      created_at = now() - make_interval(mins => $3) where id = $1`,
    [given.answer_id, state, minutes],
  )
  await hub.deps.poller.run(true)
  expect((await stateOf(given.answer_id))?.state).toBe(after)
})

test('one whose server hangs up at once has failed, and can be written anew', async () => {
  const { lead, mail } = await replied()
  meanwhile.connect = async () => {
    throw Object.assign(new Error('Too busy'), { responseCode: 554 })
  }
  const given = answer(mail)
  const { thread } = await api.ok('inbox/answer', given)
  expect(thread.at(-1)).toMatchObject({ state: 'failed', reason: expect.stringContaining('busy') })
  meanwhile.connect = async () => {}
  await api.ok('inbox/answer', answer(mail))
  expect(sentTo(lead)).toBe(2)
})

test.each([
  ['has no brackets', 'odd-1@client.example', undefined],
  ['is too long', `<${'x'.repeat(600)}@client.example>`, undefined],
  ['is as it should be', '<odd-3@client.example>', '<odd-3@client.example>'],
])('a mail whose Message-ID %s is answered in its thread', async (_, written, named) => {
  const lead = await add()
  const ours = await writeTo(lead)
  imap.deliver(
    `From: ${lead.email}\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nSubject: Re: A short question\nMessage-ID: ${written}\nIn-Reply-To: ${ours}\nReferences: ${ours}\nContent-Type: text/plain; charset=utf-8\n\nYes.\n`,
  )
  await hub.deps.poller.run(true)
  const [mail] = (await api.get('inbox/list?show=all&state=all&limit=1')).body.mails
  const given = answer(mail)
  await api.ok('inbox/answer', given)
  expect(await stateOf(given.answer_id)).toEqual({ state: 'sent', is_sent: true })
  const sent = smtp.mails.at(-1)
  expect(sent?.inReplyTo).toBe(named)
  expect([sent?.references].flat()).toEqual(named ? [ours, named] : [ours])
})

test.each([
  ['5.1.1', 'failed'],
  ['4.4.1', 'sent'],
])('an answer that comes back with %s is %s', async (status, state) => {
  const { lead, mail } = await replied()
  const given = answer(mail)
  await api.ok('inbox/answer', given)
  const id = smtp.mails.at(-1)?.messageId
  imap.deliver(
    `Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nMessage-ID: <of-${status}@x>\nContent-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; ${lead.email}\nAction: failed\nStatus: ${status}\n\n--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: ${id}\n\n--b--\n`,
  )
  await hub.deps.poller.run(true)
  expect(await stateOf(given.answer_id)).toEqual({ state, is_sent: state === 'sent' })
  const [kept] = await hub.query<{ open: boolean }>(
    'select handled_at is null as open from hub.inbox_mails where id = $1',
    [mail.id],
  )
  expect(kept).toEqual({ open: state === 'failed' })
})
