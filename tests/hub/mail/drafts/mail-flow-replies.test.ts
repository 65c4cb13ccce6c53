import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBackup, startRestore } from '../../../../hub/backup/backup.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'
import { standForAll } from '../../support/stand.ts'
import { type ImapStandIn, startImap } from '../imap-stand-in.ts'

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
  // The first look only notes where the mailbox ends.
  await hub.deps.poller.run(true)
})
afterAll(async () => {
  await hub.close()
  await imap.close()
  await smtp.close()
})

const of = (id: string) => ({ id, project: 'demir' })
const leadOf = async (id: string) => (await api.get(`lead/get?lead_id=${id}`)).body.lead
const add = async (name: string) =>
  (
    await api.ok('lead/quick_add', {
      slug: 'demir',
      data: { name, email: `${name}@client.example`, ...LEAD },
    })
  ).lead

async function write(lead_id: string, more: object = {}): Promise<string> {
  const { draft } = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'lead', lead_id },
    subject: 'Freight',
    text: 'Hello {first_name},\n\nwe carry freight.',
    ...more,
  })
  await api.ok('draft/render', of(draft.id))
  return draft.id
}

async function sendTo(lead_id: string): Promise<{ id: string; message_id: string }> {
  const id = await write(lead_id)
  for (const step of ['approve', 'push', 'send']) await api.ok(`draft/${step}`, of(id))
  await hub.deps.mailer.run()
  return { id, message_id: smtp.mails.at(-1)?.messageId ?? '' }
}

const mailFrom = (from: string, headers: string, text = 'Text') =>
  imap.deliver(
    `From: ${from}\r\nDate: Sat, 21 Nov 2026 10:00:00 +0300\r\n${headers}\r\n\r\n${text}\r\n`,
  )

test('an answer makes the lead replied and stops what was to follow', async () => {
  const lead = await add('jo')
  const { message_id } = await sendTo(lead.id)
  const follow = await write(lead.id)
  for (const step of ['approve', 'push']) await api.ok(`draft/${step}`, of(follow))
  mailFrom(
    'jo.private@elsewhere.example',
    `Subject: Re\r\nMessage-ID: <r1@x>\r\nIn-Reply-To: ${message_id}`,
  )
  await hub.deps.poller.run(true)
  expect((await leadOf(lead.id)).stage).toBe('replied')
  const taken = smtp.to().length
  expect(await api.post('draft/send', of(follow))).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('replied after this mail was written') },
  })
  await hub.deps.mailer.run()
  expect(smtp.to()).toHaveLength(taken)
  const slots = {
    subject: 'Again',
    preheader: 'Again',
    greeting: 'Hello',
    paragraphs: ['One more time.'],
    question: 'Shall we talk?',
    closing: 'Regards',
  }
  const later = await write(lead.id)
  await api.ok('draft/render', { ...of(later), template: 'follow_up', slots })
  await standForAll(api, of(later))
  const refused = await api.post('draft/approve', of(later))
  expect(refused).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('already replied') },
  })
})

test('what a lead answers is kept: in its timeline, and as evidence where it is certainly theirs', async () => {
  const lead = await add('say')
  const { message_id } = await sendTo(lead.id)
  const said = async () => {
    const { activities } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
    return activities
      .filter(({ kind }: { kind: string }) => kind === 'replied')
      .map(({ details }: { details: { text?: string } }) => details.text)
  }
  const known = async () =>
    (await leadOf(lead.id)).evidence.map(({ fact, source }: Record<string, string>) => [
      fact,
      source,
    ])
  const answer = (id: string, text: string, more = `In-Reply-To: ${message_id}`) =>
    mailFrom('say@client.example', `Subject: Re: Freight\r\nMessage-ID: <${id}@x>\r\n${more}`, text)
  answer('s1', 'We have 42 trucks.\r\n\r\nOn Mon, 2 Mar 2026, Us wrote:\r\n> we carry freight.')
  await hub.deps.poller.run(true)
  expect(await said()).toEqual(['We have 42 trucks.'])
  expect(await known()).toEqual([['We have 42 trucks.', expect.stringMatching(/^reply \d{4}-/)]])
  // A second one counts too, and one that names no mail of ours may be anybody's.
  answer('s2', 'We deliver frozen food.')
  answer('s3', 'We owe you money.', 'X-None: x')
  await hub.deps.poller.run(true)
  expect(await said()).toEqual([
    'We owe you money.',
    'We deliver frozen food.',
    'We have 42 trucks.',
  ])
  expect((await known()).map(([fact]: string[]) => fact).sort()).toEqual([
    'We deliver frozen food.',
    'We have 42 trucks.',
  ])
  // A mailbox that was renumbered is read again, and nothing is told twice.
  imap.renumber()
  await hub.deps.poller.run(true)
  expect(await said()).toHaveLength(3)
  expect(await known()).toHaveLength(2)
})

test('the body of other mail is never read', async () => {
  imap.commands.length = 0
  mailFrom('stranger@elsewhere.example', 'Subject: Private\r\nMessage-ID: <p1@x>', 'Secret')
  await hub.deps.poller.run(true)
  expect(imap.commands.filter((command) => command.includes('BODY.PEEK[]'))).toEqual([])
})

/** A report of the mail server that our mail could not be delivered. */
function reportOf(email: string, status: string, message_id: string) {
  imap.deliver(
    [
      'Return-Path: <>',
      'From: MAILER-DAEMON@mx.demir.example',
      'Date: Sat, 21 Nov 2026 10:00:00 +0300',
      `Message-ID: <of-${email}>`,
      'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      `Final-Recipient: rfc822; ${email}`,
      'Action: failed',
      `Status: ${status}`,
      '',
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      `Message-ID: ${message_id}`,
      '',
      '--b--',
      '',
    ].join('\r\n'),
  )
}

test.each([
  ['5.0.0', 'bounced'],
  ['5.4.4', 'bounced'],
  ['5.1.8', undefined],
  ['5.2.2', undefined],
  ['5.3.4', undefined],
  ['5.4.7', undefined],
  ['5.7.1', undefined],
])(
  'a report with the status %s suppresses only an address that is dead',
  async (status, reason) => {
    const name = `s${status.replaceAll('.', '')}`
    const { message_id } = await sendTo((await add(name)).id)
    const email = `${name}@client.example`
    reportOf(email, status, message_id)
    await hub.deps.poller.run(true)
    const found = (await api.get(`suppression?email=${email}`)).body.suppression
    expect(found).toMatchObject(reason ? [{ reason }] : [])
    const [mail] = await hub.query(
      'select kind, text, bounce from hub.inbox_mails where our_email = $1',
      [email],
    )
    expect(mail).toEqual({ kind: 'bounce', text: status, bounce: reason ? 'hard' : 'soft' })
    // Too many of them would pause all mail.
    await api.ok('settings/mail/confirm')
  },
)

test('an absence notice stops nothing; a bounce ends the address', async () => {
  const [away, dead] = [await add('away'), await add('dead')]
  const { message_id } = await sendTo(away.id)
  const bounced = await sendTo(dead.id)
  mailFrom(
    'away@client.example',
    `Subject: Out\r\nMessage-ID: <a1@x>\r\nAuto-Submitted: auto-replied\r\nIn-Reply-To: ${message_id}`,
  )
  reportOf('dead@client.example', '5.1.1', bounced.message_id)
  await hub.deps.poller.run(true)
  expect((await leadOf(away.id)).stage).toBe('contacted')
  const found = (await api.get('suppression?email=dead@client.example')).body.suppression
  expect(found).toMatchObject([{ reason: 'bounced' }])
  expect((await api.get('settings/mail')).body.state.polls.imap).toMatchObject({ error: null })
})

test('after a restore nothing goes out: what was on its way is unclear, and its approval is void', async () => {
  const [old, fresh] = [await add('old'), await add('fresh')]
  const before = await write(old.id)
  for (const step of ['approve', 'push']) await api.ok(`draft/${step}`, of(before))
  const name = await (await startBackup(hub.config, 'manual')).done
  const taken = smtp.to().length
  await (await startRestore(hub.config, name, { secret: {} })).done
  const after = await write(fresh.id)
  await api.ok('draft/approve', of(after))
  await api.ok('settings/mail/confirm')
  const stateOf = async (id: string) =>
    (await api.get(`drafts/get?id=${id}&project=demir`)).body.draft.state
  expect(await stateOf(before)).toBe('unclear')
  expect(await stateOf(after)).toBe('approved')
  await hub.deps.mailer.run()
  expect(smtp.to()).toHaveLength(taken)
  await api.ok('draft/clear', { ...of(before), outcome: 'not_sent' })
  const refused = await api.post('draft/send', of(before))
  expect(refused).toMatchObject({ status: 409, body: { code: 'audience_changed' } })
  expect(refused.body.detail).toContain('before a backup was restored')
  expect(await stateOf(before)).toBe('rendered')
})
