import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

const add = async (name: string): Promise<{ id: string; email: string }> => {
  const email = `${name}@client.example`
  const data = { name, email, ...LEAD }
  return (await api.ok('lead/quick_add', { slug: 'demir', data })).lead
}

/** Sends the lead a mail; answers its Message-ID, which only its readers know. */
async function writeTo({ id }: { id: string }): Promise<string> {
  const { draft } = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'lead', lead_id: id },
    subject: 'A short question',
    text: 'Hello,\n\nwould you like to talk next week?',
  })
  const of = { id: draft.id, project: 'demir' }
  for (const step of ['render', 'approve', 'push', 'send']) await api.ok(`draft/${step}`, of)
  await hub.deps.mailer.run()
  return smtp.mails.at(-1)?.messageId ?? ''
}

const FOLDER = join(import.meta.dirname, 'reports')
const sample = (name: string, email: string, id: string) =>
  readFileSync(join(FOLDER, `${name}.eml`), 'utf8')
    .replaceAll('dead@client.example', email)
    .replaceAll('@OURS@', id)

async function receive(raw: string): Promise<void> {
  imap.deliver(raw)
  await hub.deps.poller.run(true)
  // One bounce of a few mails pauses mail, as it should.
  await hub.deps.mailer.run()
  await api.ok('settings/mail/confirm')
}
const reasonOf = async (email: string) =>
  (await api.get(`suppression?email=${email}`)).body.suppression[0]?.reason
const stageOf = async (id: string) => (await api.get(`lead/get?lead_id=${id}`)).body.lead.stage

const STRANGERS_ID = '<0123456789abcdef0123456789abcdef01234567@demir.example>'
const PLAIN =
  'From: MAILER-DAEMON@client.example\nSubject: failed\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nMessage-ID: <f@x>\n'

describe('a forged bounce or complaint', () => {
  /** What a stranger can write who knows the address and our own, and has no mail of ours. */
  const forgeries: [string, (email: string, ofAnother: string) => string][] = [
    [
      'X-Failed-Recipients and nothing else',
      (email) => `X-Failed-Recipients: ${email}\n${PLAIN}\nIt came back.\n`,
    ],
    [
      'X-Failed-Recipients without a return path',
      (email) => `Return-Path: <>\nX-Failed-Recipients: ${email}\n${PLAIN}\nIt came back.\n`,
    ],
    ['a whole report with an id of its own', (email) => sample('postfix', email, STRANGERS_ID)],
    [
      'a whole report about another’s mail',
      (email, ofAnother) => sample('postfix', email, ofAnother),
    ],
    [
      'a report that names two of which one got the mail',
      (email, ofAnother) =>
        sample('postfix', 'other@client.example', ofAnother).replace(
          '\nFinal-Recipient: rfc822;',
          `\nFinal-Recipient: rfc822; ${email}\nAction: failed\nStatus: 5.1.1\n\nFinal-Recipient: rfc822;`,
        ),
    ],
    [
      'fields of a report in a text part',
      (email) =>
        sample('postfix', email, STRANGERS_ID).replace('message/delivery-status', 'text/plain'),
    ],
    ['a complaint with an id of its own', (email) => sample('complaint', email, STRANGERS_ID)],
  ]
  test.each(forgeries)('%s changes nothing, and is said', async (_, forge) => {
    const name = `victim${Math.random().toString(36).slice(2, 10)}`
    const victim = await add(name)
    await writeTo(victim)
    const ofAnother = await writeTo(await add(`other-${name}`))
    const before = hub.lines.length
    await receive(forge(victim.email, ofAnother))
    expect(await reasonOf(victim.email)).toBeUndefined()
    expect(await stageOf(victim.id)).toBe('contacted')
    const told = hub.lines.slice(before).map(({ msg }) => msg)
    const isSaid = told.includes('report not believed')
    expect(isSaid || (await reasonOf('other@client.example')) !== undefined).toBe(true)
  })

  test('with a return path, or that says not-spam, changes nothing even with the right id', async () => {
    const victim = await add('reader')
    const id = await writeTo(victim)
    const bounce = sample('postfix', victim.email, id)
    await receive(bounce.replace('Return-Path: <>', 'Return-Path: <mallory@evil.example>'))
    // Its own null path stands below the one of the server that took it.
    await receive(`Return-Path: <mallory@evil.example>\n${bounce}`)
    await receive(bounce.replace('Return-Path: <>\n', ''))
    const complaint = sample('complaint', victim.email, id)
    await receive(complaint.replace('Feedback-Type: abuse', 'Feedback-Type: not-spam'))
    await receive(complaint.replace('Feedback-Type: abuse', 'Feedback-Type: auth-failure'))
    expect(await reasonOf(victim.email)).toBeUndefined()
  })
})

describe('a true one', () => {
  test.each(['postfix', 'exim', 'dovecot', 'headers-only'])(
    'of %s ends the address until somebody takes it back',
    async (name) => {
      const gone = await add(`gone-${name}`)
      const id = await writeTo(gone)
      const written = sample(name, gone.email, id)
      const status = Buffer.from(
        `Reporting-MTA: dns;client.example\r\n\r\nFinal-Recipient: RFC822;${gone.email}\r\nAction: failed\r\nStatus: 5.1.10\r\n`,
      ).toString('base64')
      await receive(written.replace(/UmVwb3J0[\s\S]*?\n\n/, `${status}\n\n`))
      expect(await reasonOf(gone.email)).toBe('bounced')
      await api.ok('suppression/release', { email: gone.email })
      expect(await reasonOf(gone.email)).toBeUndefined()
      await writeTo(gone)
      expect(smtp.to().filter((to) => to === gone.email)).toHaveLength(2)
    },
  )

  test('of a mail that is only late ends no address', async () => {
    const late = await add('late')
    const report = sample('postfix', late.email, await writeTo(late))
    await receive(report.replace('Action: failed', 'Action: delayed').replace(/5\.1\.1/g, '4.4.1'))
    const [mail] = (await api.get(`inbox/list?lead_id=${late.id}&show=bounces&state=all`)).body
      .mails
    expect(mail).toMatchObject({ kind: 'bounce', bounce: 'soft', text: '4.4.1' })
    expect(await reasonOf(late.email)).toBeUndefined()
    expect(await stageOf(late.id)).toBe('contacted')
  })

  test('complaint stays: nobody takes back what its reader said', async () => {
    const reader = await add('complainer')
    const id = await writeTo(reader)
    await receive(sample('postfix', reader.email, id))
    expect(await reasonOf(reader.email)).toBe('bounced')
    await receive(sample('complaint', reader.email, id))
    expect(await reasonOf(reader.email)).toBe('complained')
    const refused = await api.post('suppression/release', { email: reader.email })
    expect(refused).toMatchObject({ status: 409 })
    expect(await reasonOf(reader.email)).toBe('complained')
    expect(await api.post('suppression/release', { email: 'nobody@client.example' })).toMatchObject(
      {
        status: 404,
      },
    )
  })
})

test('an answer that only comes from the address is marked, and can be taken back', async () => {
  const lead = await add('jo')
  await writeTo(lead)
  await receive(
    `From: ${lead.email}\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nSubject: Re: A short question\nMessage-ID: <r@x>\n\nNo.\n`,
  )
  expect(await stageOf(lead.id)).toBe('replied')
  const { activities } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
  const replied = activities.find(({ kind }: { kind: string }) => kind === 'replied')
  expect(replied.details).toMatchObject({ only_address: true })
  await api.ok('lead/not_replied', { lead_id: lead.id })
  expect(await stageOf(lead.id)).toBe('contacted')
  await writeTo(lead)
  expect(smtp.to().filter((to) => to === lead.email)).toHaveLength(2)
})
