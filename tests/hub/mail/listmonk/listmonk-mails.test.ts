import { simpleParser } from 'mailparser'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { personalOf } from '../../../../hub/mail/drafts/audience.ts'
import { type ListmonkSettings, listmonk } from '../../../../hub/mail/listmonk/listmonk.ts'
import { readLists } from '../../../../hub/mail/listmonk/lists.ts'
import { personalise } from '../../../../hub/mail/render/render.ts'
import { draftCalls } from '../../support/draft-calls.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, setBrand } from '../../support/mail-help.ts'
import { startSink } from './listmonk-dialogue.ts'
import { type ListmonkStandIn, startListmonk } from './listmonk-stand-in.ts'

/** With LISTMONK_TEST_URL, _USER and _TOKEN a real listmonk must send the same mails. */
const { LISTMONK_TEST_URL: url, LISTMONK_TEST_USER = '', LISTMONK_TEST_TOKEN = '' } = process.env
const sides = url ? ['the stand-in', 'a real listmonk'] : ['the stand-in']
const run = Date.now().toString(36)

const ODD = `A "B" & Co’s <b>x</b> \\ {{ .Subscriber.Email }} https://d.example/@TrackLink`
const READERS = [
  { name: "Seán O'Neil", company: `Müller & Söhne's`, custom: { fleet: 1200, nick: 'A & <B>' } },
  { name: 'Şebnem Çığ Öz', company: ODD, custom: { fleet: 7, nick: `"n" 'q' {{ 1 }} \\` } },
  { name: null, company: 'Boğaz Lojistik A.Ş. 🚚', custom: { fleet: 1 } },
  { name: 'Jo {company} Doe', company: '{name|x}  of {nick}', custom: { fleet: 2 } },
  { name: 'Jo Doe, Dr.', company: null, custom: { fleet: 2 } },
  { name: 'Dr. Al', company: 'x'.repeat(200), custom: { fleet: 3, nick: 'y'.repeat(200) } },
]
const SUBJECT = 'For {name|you} of {company|your firm}, {nick|friend}: {fleet}?'
const TEXT = `Hello {first_name|there},

would {name|you} of {company|your firm}, our {nick|friend}, show us the {fleet} trucks of {company}?

It's 5 < 6 & "7" > 3, {{ 1 }}, https://demir.example/a?b=1&c='2'.

Kind regards`

/**
 * What a reader gets must be what the hub shows: the same subject and text, character by character,
 * and the same HTML but for how its characters are escaped.
 */
describe.each(sides)('sent by %s', (side) => {
  let hub: TestHub
  let sink: Awaited<ReturnType<typeof startSink>>
  let standIn: ListmonkStandIn | undefined
  let api: ReturnType<typeof apiOf>
  let settings: ListmonkSettings
  beforeAll(async () => {
    const isReal = side !== 'the stand-in'
    sink = await startSink(isReal ? Number(process.env.LISTMONK_TEST_SMTP_PORT ?? 2525) : 0)
    const smtp = { host: '127.0.0.1', port: sink.port }
    if (!isReal) standIn = await startListmonk({ smtp })
    const real = { url: url ?? '', user: LISTMONK_TEST_USER, token: LISTMONK_TEST_TOKEN }
    const { url: at, user, token } = standIn ?? real
    hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
    api = apiOf(hub)
    await api.ok('projects/create', { slug: 'demir', name: `Demir ${run}` })
    const fields = [
      { key: 'fleet', label: 'Trucks', kind: 'number', choices: [] },
      { key: 'nick', label: 'Nickname', kind: 'text', choices: [] },
    ]
    await api.put('leads/fields', { project: 'demir', fields })
    await setBrand(api, { sender_name: 'Demir, Şti: "Satış"', reply_to: 'cevap@demir.example' })
    settings = { url: at, user, token }
    await api.put('settings/mail', {
      listmonk: settings,
      smtp: null,
      daily_cap: 10_000,
      ramp: null,
    })
    await api.ok('settings/mail/confirm')
  })
  afterAll(async () => {
    await hub.close()
    await standIn?.close()
    await sink.close()
  })
  beforeEach(() => {
    sink.raw.clear()
  })
  const { addLead, create, get, steps } = draftCalls(() => hub)

  test.each([
    ['a campaign', 'en'],
    ['a campaign', 'tr'],
    ['a mail to one lead', 'en'],
  ])('%s arrives as it was shown, in %s', async (kind, language) => {
    const isCampaign = kind === 'a campaign'
    const tag = `${run}-${isCampaign ? '' : 'one-'}${language}`
    const readers = isCampaign ? READERS : READERS.slice(1, 2)
    const emails = readers.map((_, at) => `reader-${at}@${tag}.example`)
    const ids: string[] = []
    for (const [at, one] of readers.entries()) {
      const { id } = await addLead({ ...one, email: emails[at], tags: [tag] })
      ids.push(id)
    }
    const to = isCampaign ? { kind: 'list', filter: { tag } } : { kind: 'lead', lead_id: ids[0] }
    const id = await create(to, { subject: SUBJECT, text: TEXT, language })
    await steps(id, 'render', 'approve', 'push', 'send')
    // listmonk answers for a single mail before its server has it: nothing says that it left.
    const end = isCampaign ? 'sent' : 'unclear'
    await expect.poll(() => looked(id), { timeout: 40_000 }).toBe(end)
    await expect.poll(() => sink.raw.size).toBe(readers.length)

    const [draft] = await hub.query<Record<'subject' | 'html' | 'text', string>>(
      `select rendered_subject as subject, html, rendered_text as text from hub.drafts where id = $1`,
      [id],
    )
    if (!draft) throw new Error('The draft is gone')
    const kept = await hub.query<Reader>(
      'select email, name, company, own from hub.recipients where draft_id = $1 order by email',
      [id],
    )
    expect(kept.map(({ email }) => email)).toEqual(emails)
    for (const reader of kept) {
      const mail = await simpleParser(sink.raw.get(reader.email) ?? '', { skipHtmlToText: true })
      const unsubscribe_url = /<(https?:\/\/[^>]*\/(?:subscription|u)\/[^>]*)>/.exec(
        mail.text ?? '',
      )?.[1]
      if (!unsubscribe_url) throw new Error(`No unsubscribe link in:\n${mail.text}`)
      const personal = { ...personalOf(reader), unsubscribe_url }
      const shown = personalise({ ...draft, bytes: 0 }, personal)
      expect(mail.subject).toBe(shown.subject)
      expect(linesOf(mail.text)).toEqual(linesOf(shown.text))
      expect(linesOf(unescaped(mail.html || ''))).toEqual(linesOf(unescaped(shown.html)))
      expect(mail.from?.value).toEqual([
        { name: 'Demir, Şti: "Satış"', address: 'ayse@demir.example' },
      ])
      expect(mail.replyTo?.value).toMatchObject([{ address: 'cevap@demir.example' }])
      expect(mail.headers.get('list')).toMatchObject({ unsubscribe: { url: unsubscribe_url } })
    }
  })

  test('has nobody left who was erased', async () => {
    const email = `erased@${run}.example`
    const name = 'Erased Öz'
    await addLead({ name, company: 'Erased AŞ', email, tags: ['erased'], custom: { fleet: 4 } })
    const to = { kind: 'list', filter: { tag: 'erased' } }
    const id = await create(to, { subject: SUBJECT, text: TEXT })
    await steps(id, 'render', 'approve', 'push')
    const client = listmonk(settings)
    expect((await client.findSubscriber(email))?.attribs).toMatchObject({
      [`watchpost_${id.slice(0, 8)}_company`]: 'Erased AŞ',
    })
    await api.ok('people/erase', { email, confirm: email, names: [name], replace_in_texts: true })
    expect(await client.findSubscriber(email)).toBeNull()
    const { list_id } = (await readLists(hub.paths)).demir ?? { list_id: 0 }
    const left = JSON.stringify(await client.listMembers(list_id))
    expect(left).toContain('Boğaz Lojistik')
    expect(left).not.toMatch(/erased/i)
  })

  async function looked(id: string): Promise<string> {
    await hub.query('update hub.drafts set retry_at = null where id = $1', [id])
    await hub.deps.mailer.run()
    return (await get(id)).state
  }
})

type Reader = {
  email: string
  name: string | null
  company: string | null
  own: Record<string, string>
}

const linesOf = (text = '') => text.replaceAll('\r\n', '\n').trimEnd().split('\n')

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }
const unescaped = (html: string) =>
  html.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot));/gi, (all, decimal, hex, name) => {
    if (decimal) return String.fromCodePoint(Number(decimal))
    return hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : (NAMED[name] ?? all)
  })
