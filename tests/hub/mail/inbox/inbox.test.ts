import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { BRAND } from '../../support/mail-help.ts'
import { standForAll } from '../../support/stand.ts'
import {
  add,
  api,
  count,
  draftTo,
  hub,
  imap,
  kindsOf,
  leadOf,
  meanwhile,
  of,
  receive,
  sentTo,
  settings,
  smtp,
  steps,
  useInbox,
  writeTo,
} from './inbox-scene.ts'

useInbox()

describe('what came in', () => {
  test('a reply is in the inbox with its text, its quotes apart, and the names of its files', async () => {
    await writeTo(await add())
    const lead = await add()
    const id = await writeTo(lead)
    const mail = await receive(`"Jo Doe" <${lead.email}>`, {
      headers: `In-Reply-To: ${id}\nContent-Type: multipart/mixed; boundary="b"`,
      text: [
        '--b',
        'Content-Type: text/plain; charset=utf-8',
        '',
        'Yes, <b>Tuesday</b>.',
        '',
        'On Mon, 2 Mar 2026, Ayşe wrote:',
        '> would you like to talk',
        '--b',
        'Content-Type: application/pdf; name="../price list.pdf"',
        'Content-Disposition: attachment; filename="../price list.pdf"',
        'Content-Transfer-Encoding: base64',
        '',
        'JVBERi0xLjQ=',
        '--b--',
        '',
      ].join('\n'),
    })
    expect(mail).toMatchObject({
      kind: 'reply',
      matched_by: 'message_id',
      from_name: 'Jo Doe',
      lead: { id: lead.id },
      asks_whose: false,
      text: 'Yes, <b>Tuesday</b>.',
      attachments: [{ name: 'price list.pdf', type: 'application/pdf', bytes: expect.any(Number) }],
      seen_at: null,
      handled_at: null,
    })
    const { thread, answering } = (await api.get(`inbox/get?id=${mail.id}`)).body
    expect(thread).toMatchObject([
      {
        from: 'us',
        kind: 'draft',
        text: expect.stringContaining(`Hello ${lead.name}`),
        state: 'sent',
      },
      { from: 'them', kind: 'reply', quoted: expect.stringContaining('> would you like to talk') },
    ])
    expect(answering).toMatchObject({
      closed: null,
      to: lead.email,
      subject: 'Re: A short question',
    })
    await api.ok('inbox/mark', { id: mail.id, seen: true, handled: true })
    const open = (await api.get('inbox/list?project=demir')).body
    expect(open.mails.map((one: { id: string }) => one.id)).not.toContain(mail.id)
    await api.ok('inbox/mark', { id: mail.id, handled: false })
    const again = (await api.get(`inbox/list?lead_id=${lead.id}`)).body.mails
    expect(again).toMatchObject([{ id: mail.id, handled_at: null, seen_at: expect.any(String) }])
  })

  test.each([
    ['a new mail with another subject', {}, 'Our new price list', 'unrelated', 'We sell pallets.'],
    [
      'a newsletter',
      { headers: 'List-Unsubscribe: <https://x.example/u>' },
      'News',
      'unrelated',
      null,
    ],
    [
      'a receipt',
      { headers: 'Auto-Submitted: auto-replied' },
      'Re: A short question',
      'unrelated',
      'We sell pallets.',
    ],
    ['a bulk mail', { headers: 'Precedence: bulk' }, 'Offer', 'unrelated', null],
    ['an answer without its thread', {}, 'Ynt: A SHORT question', 'reply', 'We sell pallets.'],
  ])('%s', async (_, given, subject, kind, text) => {
    const lead = await add()
    await writeTo(lead)
    const mail = await receive(lead.email, { ...given, subject, text: 'We sell pallets.' })
    expect(mail).toMatchObject({ kind, text })
    expect((await leadOf(lead)).stage).toBe(kind === 'reply' ? 'replied' : 'contacted')
    const replied = (
      await hub.query<{ replied: boolean }>(
        'select replied_at is not null as replied from hub.recipients where lead_id = $1',
        [lead.id],
      )
    )[0]?.replied
    expect(replied).toBe(kind === 'reply')
  })

  test('a mail that is no reply may still ask for no more mail, and a person decides', async () => {
    const lead = await add()
    await writeTo(lead)
    const mail = await receive(lead.email, { subject: 'Hi', text: 'Please unsubscribe me.' })
    expect(mail).toMatchObject({ kind: 'unrelated', opt_out: 'open', opt_out_by: 'rules' })
    expect(await leadOf(lead)).toMatchObject({ may_refuse: true, stage: 'contacted' })
    const { mails, counts } = (await api.get('inbox/list?show=opt_outs')).body
    expect(mails).toMatchObject([{ id: mail.id }])
    expect(counts.opt_outs).toBe(1)
    await api.ok('inbox/opt_out', { id: mail.id, refuses: true })
    expect((await api.get('inbox/list?show=opt_outs')).body.mails).toEqual([])
    expect(await api.post('inbox/opt_out', { id: mail.id, refuses: false })).toMatchObject({
      status: 409,
    })
    const answer = { id: mail.id, answer_id: randomUUID(), text: 'One more thing.' }
    expect(await api.post('inbox/answer', answer)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('suppression list') },
    })
  })

  test('a person says that it is a reply, and takes it back', async () => {
    const lead = await add()
    await writeTo(lead)
    const mail = await receive(lead.email, { subject: 'By the way', text: 'We need 40 trucks.' })
    await api.ok('inbox/sort', { id: mail.id, is_reply: true })
    expect((await leadOf(lead)).stage).toBe('replied')
    expect(await api.post('inbox/sort', { id: mail.id, is_reply: true })).toMatchObject({
      status: 409,
    })
    await api.ok('inbox/sort', { id: mail.id, is_reply: false })
    expect((await leadOf(lead)).stage).toBe('contacted')
  })

  test('a reply from another address asks whose it is, and is no evidence until then', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const mail = await receive('"A Colleague" <colleague@client.example>', {
      headers: `In-Reply-To: ${id}`,
      text: 'We have 42 trucks in Izmir.',
    })
    expect(mail).toMatchObject({ kind: 'reply', asks_whose: true, our_email: lead.email })
    expect((await leadOf(lead)).stage).toBe('replied')
    expect((await leadOf(lead)).evidence).toEqual([])
    const { mail: assigned } = await api.ok('inbox/assign', { id: mail.id })
    expect(assigned).toMatchObject({
      asks_whose: false,
      lead: { email: 'colleague@client.example', name: 'A Colleague' },
    })
    const added = await leadOf({ ...lead, id: assigned.lead.id })
    expect(added.evidence).toMatchObject([{ fact: 'We have 42 trucks in Izmir.' }])
    expect(added).toMatchObject({ stage: 'replied', lawful_basis: null })
    const other = await api.post('inbox/assign', { id: mail.id, lead_id: randomUUID() })
    expect(other).toMatchObject({ status: 404 })
  })

  test('a reply without a readable sender is shown, and has no address to answer to', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const mail = await receive('undisclosed', { headers: `In-Reply-To: ${id}` })
    expect(mail).toMatchObject({ kind: 'reply', from_email: null, asks_whose: false })
    const { answering } = (await api.get(`inbox/get?id=${mail.id}`)).body
    expect(answering).toMatchObject({ to: null, closed: expect.stringContaining('no address') })
  })

  test('a bounce is in the inbox and cannot be answered', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    imap.deliver(
      `Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nMessage-ID: <b1@x>\nContent-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; ${lead.email}\nAction: failed\nStatus: 5.1.1\n\n--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: ${id}\n\n--b--\n`,
    )
    await hub.deps.poller.run(true)
    const [mail] = (await api.get('inbox/list?show=bounces')).body.mails
    expect(mail).toMatchObject({
      kind: 'bounce',
      bounce: 'hard',
      text: '5.1.1',
      subject: 'A short question',
    })
    const { answering } = (await api.get(`inbox/get?id=${mail.id}`)).body
    expect(answering.closed).toContain('program')
  })
})

describe('out of office', () => {
  test('waits until the day it names, says so, and is no reply', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const waiting = await draftTo(lead)
    await steps(waiting, 'render', 'approve', 'push')
    const until = new Date(Date.now() + 12 * 86_400_000).toISOString().slice(0, 10)
    const mail = await receive(lead.email, {
      headers: `In-Reply-To: ${id}\nAuto-Submitted: auto-replied`,
      subject: 'Automatic reply: A short question',
      text: `I am out of the office until ${until}.`,
    })
    expect(mail).toMatchObject({ kind: 'out_of_office', away_until: until })
    expect(await leadOf(lead)).toMatchObject({ stage: 'contacted' })
    expect(await kindsOf(lead)).toContain('away')
    await steps(waiting, 'send')
    await hub.deps.mailer.run()
    expect(sentTo(lead)).toBe(1)
    const recipients = async () =>
      (await api.get(`drafts/recipients?id=${waiting}&project=demir`)).body.recipients
    expect(await recipients()).toMatchObject([
      { state: 'pushed', reason: expect.stringContaining('The reader is away') },
    ])
    await hub.deps.mailer.run()
    expect(sentTo(lead)).toBe(1)
    await api.ok('inbox/back', { id: mail.id })
    await hub.deps.mailer.run()
    expect(sentTo(lead)).toBe(2)
    expect(await recipients()).toMatchObject([{ state: 'sent', reason: null }])
  })

  test('is read for the day it names also where only its address says whose it is', async () => {
    const lead = await add()
    await writeTo(lead)
    const until = new Date(Date.now() + 12 * 86_400_000).toISOString().slice(0, 10)
    const mail = await receive(lead.email, {
      headers: 'Auto-Submitted: auto-replied',
      subject: 'Absence',
      text: `I am out of the office until ${until}.`,
    })
    expect(mail).toMatchObject({ kind: 'out_of_office', away_until: until })
  })

  test('waits a set number of days where it names none', async () => {
    await api.put('settings/mail', { away_days: 3 })
    const lead = await add()
    await writeTo(lead)
    await receive(lead.email, {
      subject: 'Otomatik yanıt: A short question',
      text: 'Yıllık izindeyim.',
    })
    const [away] = (await api.get(`inbox/list?lead_id=${lead.id}&show=out_of_office`)).body.mails
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
    expect(away).toMatchObject({ kind: 'out_of_office', away_until: day })
  })
})

describe('an answer', () => {
  const replied = async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const headers = `In-Reply-To: ${id}\nReferences: ${id}`
    const mail = await receive(lead.email, { headers, text: 'Tell me more.\n\n> quoted' })
    return { lead, id, mail }
  }

  test('goes out once, in the thread, with signature and quote, and is told', async () => {
    const { lead, id, mail } = await replied()
    const given = {
      id: mail.id,
      answer_id: randomUUID(),
      text: 'Gladly: <40 trucks>.',
      with_quote: true,
    }
    const both = await Promise.all([api.ok('inbox/answer', given), api.ok('inbox/answer', given)])
    await api.ok('inbox/answer', given)
    expect(sentTo(lead)).toBe(2)
    const sent = smtp.mails.at(-1)
    expect(sent).toMatchObject({
      subject: 'Re: A short question',
      inReplyTo: `<in${count}@x>`,
      html: false,
    })
    expect(sent?.references).toEqual([id, `<in${count}@x>`])
    expect(sent?.text).toContain('Gladly: <40 trucks>.')
    expect(sent?.text).toContain(BRAND.sender_name)
    expect(sent?.text).toContain('> Tell me more.\n>\n>> quoted')
    expect(sent?.headers.has('list-unsubscribe')).toBe(false)
    expect(both.flatMap(({ thread }) => thread.at(-1).kind)).toContain('answer')
    expect(await kindsOf(lead)).toContain('answered')
    const { mail: now, thread } = (await api.get(`inbox/get?id=${mail.id}`)).body
    expect(now).toMatchObject({ answered: true, handled_at: expect.any(String) })
    expect(thread.at(-1)).toMatchObject({ kind: 'answer', state: 'sent', text: given.text })
    const other = await api.post('inbox/answer', { ...given, text: 'Another text.' })
    expect(other).toMatchObject({ status: 409 })

    // Their answer to our answer names its Message-ID alone.
    const next = await receive('somebody@else.example', {
      headers: `In-Reply-To: ${sent?.messageId}`,
      text: 'Good.',
    })
    expect(next).toMatchObject({ kind: 'reply', lead: { id: lead.id } })
  })

  test('does not go out when the reader opts out while the connection is made', async () => {
    const { lead, mail } = await replied()
    const token = /\/u\/([\w-]+)/.exec(smtp.mails.at(-1)?.text ?? '')?.[1]
    meanwhile.connect = async () => {
      const headers = { host: 'localhost' }
      await hub.app.request(`/api/cockpit/u/${token}`, { method: 'POST', headers })
    }
    const answer = { id: mail.id, answer_id: randomUUID(), text: 'Hello.' }
    const { thread } = await api.ok('inbox/answer', answer)
    expect(thread.at(-1)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('may not get mail any more'),
    })
    expect(sentTo(lead)).toBe(1)
    // From now on it is refused at once.
    const later = { ...answer, answer_id: randomUUID() }
    expect(await api.post('inbox/answer', later)).toMatchObject({ status: 409 })
  })

  test('needs an SMTP server, and says so', async () => {
    const { mail } = await replied()
    await api.put('settings/mail', { smtp: null })
    const answer = { id: mail.id, answer_id: randomUUID(), text: 'Hello.' }
    expect(await api.post('inbox/answer', answer)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('needs an SMTP server') },
    })
    await api.put('settings/mail', settings())
  })

  test('whose server breaks off is unclear, and is not sent again', async () => {
    const { mail, lead } = await replied()
    meanwhile.data = async () => {
      throw Object.assign(new Error('Mailbox gone'), { responseCode: 550 })
    }
    const failed = { id: mail.id, answer_id: randomUUID(), text: 'Hello.' }
    const { thread } = await api.ok('inbox/answer', failed)
    expect(thread.at(-1)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('Mailbox gone'),
    })
    expect((await api.get(`inbox/get?id=${mail.id}`)).body.mail).toMatchObject({
      answered: false,
      handled_at: null,
    })
    meanwhile.data = async () => {}
    await hub.query(
      "update hub.answers set state = 'sending', claimed_at = now() - interval '11 minutes' where id = $1",
      [failed.answer_id],
    )
    await hub.deps.poller.run(true)
    const left = (await api.get(`inbox/get?id=${mail.id}`)).body.thread.at(-1)
    expect(left).toMatchObject({
      state: 'unclear',
      reason: expect.stringContaining('Nobody knows'),
    })
    await api.ok('inbox/answer', failed)
    expect(sentTo(lead)).toBe(1)
  })
})

test('whoever replied is out of every mail that was written before, whatever its template', async () => {
  const lead = await add()
  const id = await writeTo(lead)
  const before = await draftTo(lead)
  await steps(before, 'render')
  await receive(lead.email, { headers: `In-Reply-To: ${id}`, text: 'Call me.' })
  await standForAll(api, of(before))
  const refused = await api.post('draft/approve', of(before))
  expect(refused).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('replied after this mail was written') },
  })
  await writeTo(lead)
  expect(sentTo(lead)).toBe(2)
})

test('a reply that is read between the choice and the claim stops the mail', async () => {
  const lead = await add()
  const id = await writeTo(lead)
  const late = await draftTo(lead)
  await steps(late, 'render', 'approve', 'push', 'send')
  // Written as the poller writes it, while the connection is made.
  meanwhile.connect = async () => {
    await hub.query('update hub.recipients set last_replied_at = now() where message_id = $1', [id])
  }
  await hub.deps.mailer.run()
  expect(sentTo(lead)).toBe(1)
})
