import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ImapSettings, pollMailbox } from '../../../hub/mail/imap/imap.ts'
import { ImapFlow } from '../../../hub/node_modules/imapflow/dist/esm/imap-flow.js'

const OURS = '<0123456789abcdef@demir.example>'
const FOLDER = join(import.meta.dirname, 'reports')
const reports = readdirSync(FOLDER)
  .toSorted()
  .map((name) => readFileSync(join(FOLDER, name), 'utf8').replaceAll('@OURS@', OURS))

const head = (more: string) =>
  `From: Jo <jo@client.example>\nTo: ayse@demir.example\nSubject: Re: A question\nDate: Sat, 21 Nov 2026 10:00:00 +0300\nIn-Reply-To: ${OURS}\n${more}`
const part = (boundary: string, ...parts: string[]) =>
  `${parts.map((one) => `--${boundary}\n${one}\n`).join('')}--${boundary}--\n`
const PLAIN = 'Content-Type: text/plain; charset=utf-8'

/** Mails as people and programs write them. */
const MAILS = [
  ...reports,
  head(`${PLAIN}\nContent-Transfer-Encoding: 8bit\n\nOlur, salı günü görüşelim. 🚚\n`),
  head(
    'Content-Type: text/plain; charset=iso-8859-9\nContent-Transfer-Encoding: quoted-printable\n\n=DEu an de=F0il, =\nsonra.\n',
  ),
  head(`${PLAIN}\nContent-Transfer-Encoding: base64\n\nWWVzLCBwbGVhc2Uu\n`),
  head('Content-Type: text/html; charset=utf-8\n\n<p>Yes,<br>please</p><script>1</script>\n'),
  head(
    `MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x\n\n${part('x', `${PLAIN}\n\nPlain.\n`, 'Content-Type: text/html\n\n<b>Rich.</b>\n')}`,
  ),
  head(
    `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m\n\n${part(
      'm',
      `${PLAIN}\n\nSee the file.\n`,
      `Content-Type: application/pdf; name="=?utf-8?Q?teklif_=C5=9Fubat.pdf?="\nContent-Disposition: attachment;\n filename*0*=utf-8''teklif%20; filename*1*=%C5%9Fubat.pdf\nContent-Transfer-Encoding: base64\n\nJVBERg==\n`,
      'Content-Type: image/png; name="a \\"b\\".png"\nContent-Disposition: inline; filename="a \\"b\\".png"\nContent-Transfer-Encoding: base64\n\niVBORw==\n',
    )}`,
  ),
  head(
    `MIME-Version: 1.0\nContent-Type: multipart/signed; boundary=s; micalg=sha-256; protocol="application/pgp-signature"\n\n${part('s', `${PLAIN}\n\nSigned.\n`, 'Content-Type: application/pgp-signature; name=signature.asc\n\nx\n')}`,
  ),
  head(
    `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=f\n\n${part('f', `${PLAIN}\n\nForwarded.\n`, `Content-Type: message/rfc822\n\nFrom: other@x.example\nSubject: Inside\n${PLAIN}\n\nInner text.\n`)}`,
  ),
  'X-Nothing: 1\n\n',
  'From: jo@client.example\n\nNo subject, no date.\n',
  'From: =?utf-8?B?xZ5lYm5lbSDDh8SxxJ8=?= <Sebnem@Client.example>,\n Ali <ali@client.example>\nSender: list@client.example\nSubject: =?utf-8?Q?Re:_G=C3=BCnayd=C4=B1n?=\n =?utf-8?Q?_ve_te=C5=9Fekk=C3=BCr?=\nMessage-ID: <two@client.example>\nDate: 21 Nov 26 10:00 GMT\n\nTwo writers.\n',
  'From: Team: jo@client.example, ali@client.example;\nSubject: A group\nDate: yesterday\n\nA group.\n',
  `From: "Doe, Jo (Sales)" <jo@client.example>\nSubject: Out of office: A question\nAuto-Submitted: auto-replied\nPrecedence: bulk\nReferences: <a@x>\n\t<b@x> ${OURS}\nMessage-ID: <away@client.example>\nDate: Sat, 21 Nov 2026 10:00:00 +0300\n${PLAIN}\n\nBack on 2026-12-07.\n`,
  `From: news@client.example\nSubject: News\nList-Id: <news.client.example>\nList-Unsubscribe: <https://client.example/u>\nDate: Sat, 21 Nov 2026 10:00:00 +0300\n${PLAIN}\n\nNews.\n`,
  head(`${PLAIN}\n\n${'A long line without an end. '.repeat(5_000)}\n`),
].map((mail) => mail.replace(/\r?\n/g, '\r\n'))

/** What the hub reads of all mails that came since it looked first; numbers of mails differ by server. */
export async function readAll(settings: ImapSettings, deliver: (mail: string) => unknown) {
  const { cursor } = await pollMailbox(settings, null)
  for (const mail of MAILS) await deliver(mail)
  const { mails } = await pollMailbox(settings, cursor, { wants: async () => true })
  // What is long is told by its length.
  return JSON.parse(JSON.stringify(mails), (key, value) => {
    if (key === 'uid') return undefined
    return typeof value === 'string' && value.length > 2000 ? value.length : value
  })
}

/** Puts mails into a mailbox by IMAP itself. */
export async function appender({ host, port, user, password }: ImapSettings) {
  const auth = { user, pass: password }
  const client = new ImapFlow({ host, port, auth, secure: false, doSTARTTLS: false, logger: false })
  await client.connect()
  return {
    append: (mail: string) => client.append('INBOX', mail),
    close: () => client.logout(),
  }
}
