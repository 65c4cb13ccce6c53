import { expect, test } from 'vitest'
import {
  add,
  api,
  draftTo,
  hub,
  imap,
  kindsOf,
  receive,
  sentTo,
  steps,
  useInbox,
  writeTo,
} from './inbox-scene.ts'

useInbox()

test('a reply with an endless Message-ID is kept, once, and holds up none after it', async () => {
  const [odd, even] = [await add(), await add()]
  const [to_odd, to_even] = [await writeTo(odd), await writeTo(even)]
  // More than an index can hold, and without a pattern that would shorten it.
  const id = Array.from({ length: 990 }, (_, n) =>
    String.fromCodePoint(0x4e00 + ((n * 7919 + n * n * 31) % 20_000)),
  ).join('')
  imap.deliver(
    `From: ${odd.email}\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nSubject: Re: A short question\nMessage-ID: <${id}>\nIn-Reply-To: ${to_odd}\nContent-Type: text/plain; charset=utf-8\n\nYes.\n`,
  )
  await receive(even.email, { headers: `In-Reply-To: ${to_even}` })
  expect(await kindsOf(even)).toContain('replied')
  expect((await api.get('settings/mail')).body.state.polls.imap).toMatchObject({ error: null })
  expect(await kindsOf(odd)).toContain('replied')
  imap.renumber()
  await hub.deps.poller.run(true)
  const kept = await hub.query('select 1 from hub.inbox_mails where from_email = $1', [odd.email])
  expect(kept).toHaveLength(1)
})

test('a mail that the database refuses holds up none after it', async () => {
  const [odd, even] = [await add(), await add()]
  const [to_odd, to_even] = [await writeTo(odd), await writeTo(even)]
  await hub.query(
    `alter table hub.inbox_mails add constraint odd check (from_email <> '${odd.email}') not valid`,
  )
  await receive(odd.email, { headers: `In-Reply-To: ${to_odd}` })
  await receive(even.email, { headers: `In-Reply-To: ${to_even}` })
  expect(await kindsOf(even)).toContain('replied')
  expect((await api.get('settings/mail')).body.state.polls.imap).toMatchObject({ error: null })
  await hub.query('alter table hub.inbox_mails drop constraint odd')
})

test('what is no notice of absence after all lets mail go that waited for it', async () => {
  const lead = await add()
  const headers = `In-Reply-To: ${await writeTo(lead)}\nAuto-Submitted: auto-replied`
  const subject = 'Automatic reply: A short question'
  const first = await receive(lead.email, { headers, subject, text: 'I am out of office.' })
  const second = await receive(lead.email, { headers, subject, text: 'Still out of office.' })
  const waiting = await draftTo(lead)
  await steps(waiting, 'render', 'approve', 'push', 'send')
  const sentThen = async (id: string) => {
    await api.ok('inbox/sort', { id, is_reply: false })
    await hub.deps.mailer.run()
    return sentTo(lead)
  }
  await hub.deps.mailer.run()
  expect(await sentThen(first.id)).toBe(1)
  expect(await sentThen(second.id)).toBe(2)
})
