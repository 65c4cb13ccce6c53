import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { writeJson } from '../../../hub/files.ts'
import { LEAD, setBrand, smtpSettings, startMailServer } from '../support/mail-help.ts'
import { standForAll } from '../support/stand.ts'
import { api, hub, of, prospect, smtp, useQueue } from './queue-scene.ts'

useQueue()
const OWN = 'ayse@own.example'
beforeEach(async () => {
  await hub.query('delete from hub.drafts')
  await hub.query('delete from hub.leads')
  await setBrand(api)
  await api.put('settings/mail', {
    ...smtpSettings(smtp.port),
    test_email: OWN,
    daily_cap: 100,
    listmonk: null,
  })
})

const add = async (name: string, more: object = {}): Promise<string> => {
  const data = { name, email: `${name.toLowerCase()}@vip.example`, tags: ['vip'], ...LEAD, ...more }
  return (await api.ok('lead/quick_add', { slug: 'demir', data })).lead.id
}
const draft = async (audience: object, more: object = {}): Promise<string> => {
  const given = {
    project: 'demir',
    audience,
    subject: 'Freight',
    text: 'Hello {first_name},\n\nwould you like to talk?',
  }
  return (await api.ok('draft/create', { ...given, ...more })).draft.id
}
const rendered = async (audience: object, more: object = {}) => {
  const id = await draft(audience, more)
  await api.ok('draft/render', of(id))
  return id
}
const toVips = (more: object = {}) => rendered({ kind: 'list', filter: { tag: 'vip', ...more } })
const what = async (id: string) => (await prospect(id)).what
const had = (id: string, email: string, state: string, more = 'null') =>
  hub.query(
    `insert into hub.recipients (draft_id, project_id, email, state, claimed_at)
     select id, project_id, $2, $3, ${more} from hub.drafts where id = $1`,
    [id, email, state],
  )

describe('what sending would do', () => {
  test.each([
    ['its name', { name: 'Ada', company: 'Öz' }, 'Send to Ada, 1 today'],
    ['its company', { name: null, company: 'Öz' }, 'Send to Öz, 1 today'],
    ['its address', { name: null }, 'Send to ada@vip.example, 1 today'],
    ['nothing where it gets none', { lawful_basis: null }, 'Send to –, none today, 1 skipped'],
  ])('to one lead is said by %s', async (_, more, said) => {
    const lead_id = await add('Ada', more)
    expect(await what(await rendered({ kind: 'lead', lead_id }))).toBe(said)
  })

  test('to a list is said by its tag, or by the project', async () => {
    for (const name of ['Ada', 'Bo']) await add(name)
    expect(await what(await toVips())).toBe('Send to 2 people on list vip, 2 today')
    const all = await rendered({ kind: 'list', filter: {} })
    expect(await what(all)).toBe('Send to 2 people on list Demir, 2 today')
  })

  test('leaves out who had it, is skipped or is away', async () => {
    const [id, away] = [await toVips(), await add('Ada')]
    for (const name of ['Bo', 'Cy', 'Di', 'Ed']) await add(name)
    await add('Fay', { lawful_basis: null })
    expect(await what(id)).toBe('Send to 5 people on list vip, 5 today, 1 skipped')
    await had(id, 'bo@vip.example', 'sent')
    await had(id, 'cy@vip.example', 'unclear')
    await had(id, 'di@vip.example', 'failed')
    expect(await what(id)).toBe(
      'Send to 3 people on list vip, 3 today, 2 already had it, 1 skipped',
    )
    await hub.query(
      `insert into hub.inbox_mails (project_id, lead_id, our_email, kind, matched_by, away_until)
       select project_id, id, 'x@demir.example', 'out_of_office', 'subject', current_date + 3
       from hub.leads where id = $1`,
      [away],
    )
    expect(await prospect(id)).toMatchObject({
      what: 'Send to 3 people on list vip, 2 today, 1 waiting until they are back, 2 already had it, 1 skipped',
      recipients: 3,
      today: 2,
    })
  })

  test('takes as many days as the limit of a day makes of it', async () => {
    for (const name of ['Ada', 'Bo', 'Cy']) await add(name)
    const [id, other] = [await toVips(), await draft({ kind: 'list', filter: {} })]
    const limited = async (daily_cap: number) => {
      await api.put('settings/mail', { daily_cap })
      return what(id)
    }
    expect(await limited(3)).toBe('Send to 3 people on list vip, 3 today')
    expect(await limited(2)).toBe('Send to 3 people on list vip, 2 today, done in 2 days')
    expect(await limited(1)).toBe('Send to 3 people on list vip, 1 today, done in 3 days')
    await had(other, 'x@y.example', 'sent', 'now()')
    expect(await limited(1)).toBe('Send to 3 people on list vip, none today, done in 4 days')
    expect(await limited(2)).toBe('Send to 3 people on list vip, 1 today, done in 2 days')
  })

  test('as a campaign begins on a day that has room for all of it', async () => {
    for (const name of ['Ada', 'Bo']) await add(name)
    const id = await toVips()
    const listmonk = { url: 'http://127.0.0.1:9', user: 'hub', token: 'secret' }
    await api.put('settings/mail', { listmonk, daily_cap: 2 })
    expect(await what(id)).toBe('Send to 2 people on list vip, 2 today')
    await api.put('settings/mail', { daily_cap: 1 })
    expect(await what(id)).toBe('Send to 2 people on list vip, none today, done in 2 days')
  })

  test('has a hash to approve once it is rendered, and names the checks that keep it', async () => {
    const audience = { kind: 'lead', lead_id: await add('Ada') }
    expect(await prospect(await draft(audience))).toMatchObject({ hash: null, can_send: false })
    const id = await rendered(audience)
    await standForAll(api, of(id))
    const open = await prospect(id)
    expect(open).toMatchObject({
      can_send: true,
      closed: [],
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    await api.put('settings/mail', { smtp: null })
    const closed = await prospect(id)
    expect(closed).toMatchObject({ can_send: false, closed: [{ name: 'transport' }] })
  })
})

describe('approving at once', () => {
  const approve = async (id: string, send: boolean, hash?: string) => {
    const drafts = [{ id, hash: hash ?? (await prospect(id)).hash }]
    const { outcomes } = await api.ok('queue/approve', { project: 'demir', drafts, send })
    return outcomes[0]
  }

  test('refuses what is not there, or is not what was shown, in the words of the refusal', async () => {
    const id = await rendered({ kind: 'lead', lead_id: await add('Ada') })
    const other = 'a'.repeat(64)
    for (const send of [true, false]) {
      expect(await approve(crypto.randomUUID(), send, other)).toMatchObject({
        outcome: 'refused',
        detail: 'There is no such draft.',
      })
      const refused = await approve(id, send, other)
      expect(refused).toMatchObject({ outcome: 'refused', detail: expect.stringMatching(/\w/) })
    }
  })

  test('keeps the approval where only the way to the readers fails, and says so', async () => {
    const id = await toVips()
    await add('Ada')
    await standForAll(api, of(id))
    const listmonk = { url: 'http://127.0.0.1:9', user: 'hub', token: 'secret' }
    await api.put('settings/mail', { listmonk })
    await api.ok('draft/render', of(id))
    expect(await approve(id, true)).toEqual({
      id,
      outcome: 'approved',
      detail: expect.stringMatching(/^It is approved, but not sent: \w/),
    })
  })
})

describe('a test mail', () => {
  const sendTest = (id: string) => api.post('draft/test', of(id))
  const sentAt = (minutes: number[]) =>
    writeJson(join(hub.paths.config_dir, 'mail-tests.json'), {
      at: minutes.map((ago) => new Date(Date.now() - ago * 60_000).toISOString()),
    })
  beforeEach(() => sentAt([]))

  test('is what the first reader gets who gets any', async () => {
    await add('Ada', { lawful_basis: null })
    await add('Bo')
    await setBrand(api, { reply_to: 'team@demir.example' })
    expect((await sendTest(await toVips())).status).toBe(200)
    const mail = smtp.mails.at(-1)
    expect(mail).toMatchObject({
      subject: '[Test] Freight',
      text: expect.stringContaining('Hello Bo'),
      html: expect.stringContaining('Hello Bo'),
      from: { value: [{ name: 'Ayşe Demir', address: 'ayse@demir.example' }] },
      replyTo: { value: [{ address: 'team@demir.example' }] },
    })
    await setBrand(api, { reply_to: null })
    await hub.query('delete from hub.leads')
    expect((await sendTest(await toVips())).status).toBe(200)
    expect(smtp.mails.at(-1)?.replyTo).toBeUndefined()
    expect(smtp.mails.at(-1)?.text).toMatch(/^Hello,\n/)
  })

  test.each([
    ['an address of one’s own', { test_email: null }, /^Enter an address of your own/],
    ['an SMTP server', { smtp: null }, /^A test needs an SMTP server/],
  ])('needs %s', async (_, settings, detail) => {
    const id = await rendered({ kind: 'lead', lead_id: await add('Ada') })
    await api.put('settings/mail', settings)
    expect(await sendTest(id)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringMatching(detail) },
    })
  })

  test('needs a sender and a draft that is rendered', async () => {
    const id = await draft({ kind: 'lead', lead_id: await add('Ada') })
    const refused = (detail: RegExp) => ({
      status: 409,
      body: { code: 'conflict', detail: expect.stringMatching(detail) },
    })
    expect(await sendTest(id)).toMatchObject(refused(/^Render the draft first/))
    await setBrand(api, { sender_name: null, sender_email: null })
    expect(await sendTest(id)).toMatchObject(refused(/^The project has no sender/))
  })

  test('goes to nobody who was written to before', async () => {
    const id = await rendered({ kind: 'lead', lead_id: await add('Ada') })
    await had(id, OWN, 'sent')
    expect(await sendTest(id)).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/^This address belongs to a lead or was written to/) },
    })
  })

  test('that the server does not take says why', async () => {
    const id = await rendered({ kind: 'lead', lead_id: await add('Ada') })
    const closed = await startMailServer({
      onRcptTo: (_, __, done) =>
        done(Object.assign(new Error('no such box'), { responseCode: 550 })),
    })
    await api.put('settings/mail', smtpSettings(closed.port))
    expect(await sendTest(id)).toMatchObject({
      status: 409,
      body: {
        code: 'conflict',
        detail: expect.stringMatching(/^The test was not sent: .*no such box/),
      },
    })
    await closed.close()
  })

  test('whose server hangs up instead of answering may arrive, and it is said so', async () => {
    const silent = createServer((socket) => {
      socket.on('error', () => {})
      socket.write('220 silent\r\n')
      let said = ''
      socket.on('data', (data) => {
        said += data.toString('latin1')
        if (said.endsWith('\r\n.\r\n')) return void socket.destroy()
        if (/^(EHLO|MAIL|RCPT)/.test(data.toString())) socket.write('250 yes\r\n')
        if (data.toString().startsWith('DATA')) socket.write('354 go on\r\n')
      })
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo // safe: it listens on TCP
    const id = await rendered({ kind: 'lead', lead_id: await add('Ada') })
    await api.put('settings/mail', smtpSettings(port))
    expect(await sendTest(id)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringMatching(/was not clear.*It may arrive/) },
    })
    silent.close()
  })

  test('is one of ten in the last hour, and says when the next may go', async () => {
    const id = await rendered({ kind: 'lead', lead_id: await add('Ada') })
    const nine = [40, 8, 7, 6, 5, 4, 3, 2, 1]
    await sentAt([61, ...nine])
    expect((await sendTest(id)).status).toBe(200)
    await sentAt([59, 45.5, ...nine].slice(1))
    const answer = await hub.call('POST', 'draft/test', of(id))
    const seconds = Number(answer.headers.get('retry-after'))
    expect([answer.status, seconds > 840 && seconds <= 870]).toEqual([429, true])
    expect((await answer.json()).detail).toMatch(/Try again in 15 minutes\.$/)
  })
})
