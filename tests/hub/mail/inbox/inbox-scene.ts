import { afterAll, beforeAll, beforeEach } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'
import { type ImapStandIn, startImap } from '../imap-stand-in.ts'

export let hub: TestHub
export let smtp: MailServer
export let imap: ImapStandIn
export let api: ReturnType<typeof apiOf>
/** What is done before the server takes a mail, and while a connection to it is made. */
export const meanwhile = { data: async () => {}, connect: async () => {} }
/** How many mails came in. */
export let count = 0

/** Has the tests of this file run on a hub with a project, an SMTP server and a mailbox. */
export function useInbox(): void {
  beforeAll(async () => {
    smtp = await startMailServer({
      onConnect: (_, callback) => void meanwhile.connect().then(() => callback(), callback),
      onMailFrom: (_, __, callback) => void meanwhile.data().then(() => callback(), callback),
    })
    imap = await startImap()
    hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
    api = apiOf(hub)
    await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
    await setBrand(api)
    await api.put('settings/mail', settings())
    await hub.deps.poller.run(true)
  })
  beforeEach(() => {
    Object.assign(meanwhile, { data: async () => {}, connect: async () => {} })
  })
  afterAll(async () => {
    await hub.close()
    await imap.close()
    await smtp.close()
  })
}

/** The mail settings of the hub. */
export const settings = () => ({
  ...smtpSettings(smtp.port),
  imap: { host: '127.0.0.1', port: imap.port, security: 'none', user: 'ayse', password: 'right' },
})

export type Person = { id: string; email: string; name: string }
let people = 0
/** Adds a lead with an address of its own. */
export const add = async (): Promise<Person> => {
  people += 1
  const name = `Reader${people}`
  const data = { name, email: `${name.toLowerCase()}@client.example`, ...LEAD }
  return (await api.ok('lead/quick_add', { slug: 'demir', data })).lead
}
export const of = (id: string) => ({ id, project: 'demir' })
/** Drafts a mail to a lead. */
export async function draftTo({ id }: Person, more: object = {}): Promise<string> {
  const { draft } = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'lead', lead_id: id },
    subject: 'A short question',
    text: 'Hello {first_name},\n\nwould you like to talk next week?',
    ...more,
  })
  return draft.id
}
export async function steps(id: string, ...names: string[]): Promise<void> {
  for (const name of names) await api.ok(`draft/${name}`, of(id))
}
/** Sends a mail to a lead; answers its Message-ID. */
export async function writeTo(person: Person): Promise<string> {
  await steps(await draftTo(person), 'render', 'approve', 'push', 'send')
  await hub.deps.mailer.run()
  return smtp.mails.at(-1)?.messageId ?? ''
}
/** Delivers a mail and lets the hub read it; answers what the inbox has of it. */
export async function receive(
  from: string,
  given: { headers?: string; subject?: string; text?: string },
) {
  count += 1
  const { headers = '', subject = 'Re: A short question', text = 'Yes.' } = given
  const head = headers === '' ? '' : `${headers}\n`
  imap.deliver(
    `From: ${from}\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nSubject: ${subject}\nMessage-ID: <in${count}@x>\n${head}${/content-type/i.test(head) ? '' : 'Content-Type: text/plain; charset=utf-8\n'}\n${text}\n`,
  )
  await hub.deps.poller.run(true)
  const { mails } = (await api.get('inbox/list?show=all&state=all&limit=1')).body
  return mails[0]?.subject === subject ? mails[0] : undefined
}
export const leadOf = async ({ id }: Person) => (await api.get(`lead/get?lead_id=${id}`)).body.lead
export const kindsOf = async ({ id }: Person) =>
  (await api.get(`lead/timeline?lead_id=${id}`)).body.activities.map(
    ({ kind }: { kind: string }) => kind,
  )
export const sentTo = ({ email }: Person) => smtp.to().filter((to) => to === email).length
