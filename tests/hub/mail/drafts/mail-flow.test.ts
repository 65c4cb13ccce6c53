import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHub } from '../../../../hub/hub.ts'
import { draftCalls } from '../../support/draft-calls.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'

let hub: TestHub
let smtp: MailServer
let api: ReturnType<typeof apiOf>
/** What the server says to a recipient; null takes it. */
let refuse: (address: string) => { responseCode: number; message: string } | null = () => null
beforeAll(async () => {
  smtp = await startMailServer({
    onRcptTo({ address }, _session, callback) {
      const refusal = refuse(address)
      callback(refusal ? Object.assign(new Error(refusal.message), refusal) : null)
    },
  })
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
})
afterAll(async () => {
  await hub.close()
  await smtp.close()
})
beforeEach(async () => {
  smtp.mails.length = 0
  smtp.to().length = 0
  refuse = () => null
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
  await api.ok('settings/mail/confirm')
})

const { addLead, addTagged, create, get, of, recipientsOf, sendAll, steps } = draftCalls(() => hub)

describe('a mail to one lead by SMTP', () => {
  test('arrives with both parts, one-click headers and the name filled in', async () => {
    const lead = await addLead({ name: 'Jo Öz', email: 'Jo@client.example', company: 'Client' })
    const sent = await sendAll(await create({ kind: 'lead', lead_id: lead.id }))
    expect(sent).toMatchObject({ state: 'sent', via: 'smtp', progress: { total: 1, sent: 1 } })
    const [mail] = smtp.mails
    expect(mail?.subject).toBe('A question for Client')
    expect(mail?.from?.text).toBe('"Ayşe Demir" <ayse@demir.example>')
    expect(mail?.text).toContain('Hello Jo,')
    expect(mail?.text).toContain('Liman Cad. 1')
    expect(mail?.html).toContain('Hello Jo,')
    const list = mail?.headerLines.find(({ key }) => key === 'list-unsubscribe')?.line
    const url = /<(https:\/\/hub\.demir\.example\/api\/cockpit\/u\/[\w-]+)>/.exec(list ?? '')?.[1]
    expect(mail?.headerLines.find(({ key }) => key === 'list-unsubscribe-post')?.line).toBe(
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    )
    expect(mail?.text).toContain(url)
    expect(mail?.html).toContain(`href="${url}"`)
    const { activities: entries } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
    const kinds = entries.map((entry: { kind: string }) => entry.kind)
    expect(kinds).toEqual(expect.arrayContaining(['draft', 'approved', 'sent', 'stage']))
    expect((await api.get(`lead/get?lead_id=${lead.id}`)).body.lead.stage).toBe('contacted')
  })

  test('from a name made of HTML and braces it says just that name', async () => {
    const name = '<b onclick=x>{{ .Secret }} & "Co"</b>'
    const lead = await addLead({
      name,
      email: 'html@client.example',
      company: '<script>1</script>',
    })
    const text = 'Hello {name},\n\nhow is {company}?'
    await sendAll(await create({ kind: 'lead', lead_id: lead.id }, { text }))
    const [mail] = smtp.mails
    expect(mail?.subject).toBe('A question for <script>1</script>')
    expect(mail?.text).toContain(`Hello ${name},`)
    expect(mail?.html).toContain('&lt;b onclick=x&gt;')
    expect(mail?.html).not.toMatch(/<b onclick|<script>1/)
  })
})

describe('at most once', () => {
  test('two sends at once and two processes: everybody gets one', async () => {
    await addTagged('twice', 12)
    const id = await create({ kind: 'list', filter: { tag: 'twice' } })
    await steps(id, 'render', 'approve', 'push')
    const other = await createHub(hub.config, { log: () => {}, restart: () => {} })
    const answers = await Promise.all([
      api.post('draft/send', of(id)),
      api.post('draft/send', of(id)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409])
    await Promise.all([hub.deps.mailer.run(), other.deps.mailer.run(), hub.deps.mailer.run()])
    await hub.deps.mailer.run()
    await other.close()
    expect(smtp.to()).toHaveLength(12)
    expect(new Set(smtp.to()).size).toBe(12)
    expect((await get(id)).state).toBe('sent')
  })

  test('of two simultaneous pushes one succeeds', async () => {
    await addTagged('pushes', 2)
    const id = await create({ kind: 'list', filter: { tag: 'pushes' } })
    await steps(id, 'render', 'approve')
    const answers = await Promise.all([
      api.post('draft/push', of(id)),
      api.post('draft/push', of(id)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('an edit after a part went out never writes to that part again', async () => {
    await addTagged('part', 3)
    const id = await create({ kind: 'list', filter: { tag: 'part' } })
    await steps(id, 'render', 'approve', 'push')
    await hub.query(
      `update hub.recipients set state = 'sent', claimed_at = now(), sent_at = now()
       where draft_id = $1 and email = 'p0@part.example'`,
      [id],
    )
    await api.ok('draft/edit', { ...of(id), text: 'Another text.' })
    await steps(id, 'render')
    const { plan } = await api.ok('draft/approve', of(id))
    expect(plan).toMatchObject({ recipients: 2, already_sent: 1 })
    await steps(id, 'push', 'send')
    await hub.deps.mailer.run()
    expect(smtp.to().sort()).toEqual(['p1@part.example', 'p2@part.example'])
  })

  /** A server that hangs up instead of answering after the last byte of a mail. */
  async function startSilent() {
    const silent = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      logger: false,
      onData(stream, session) {
        stream.resume()
        stream.on('end', () => Reflect.get(session, 'connection')?._socket?.destroy())
      },
      onClose: () => {},
    })
    silent.on('error', () => {})
    silent.server.on('connection', (socket) => {
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        if (text.includes('\r\n.\r\n')) socket.destroy()
      })
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.server.address() as { port: number } // safe: it listens on TCP
    return { silent, port }
  }

  test('an answer that does not come stops the mails to others, for half a minute', async () => {
    const { silent, port } = await startSilent()
    await api.put('settings/mail', smtpSettings(port))
    await addTagged('silent', 2)
    const id = await create({ kind: 'list', filter: { tag: 'silent' } })
    expect(await sendAll(id)).toMatchObject({
      state: 'sending',
      progress: { waiting: 1, unclear: 1 },
    })
    const [{ wait } = { wait: 0 }] = await hub.query<{ wait: number }>(
      'select round(extract(epoch from retry_at - now()))::int as wait from hub.drafts where id = $1',
      [id],
    )
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(30)
    await hub.query('delete from hub.drafts where id = $1', [id])
    await api.put('settings/mail', smtpSettings(smtp.port))
    silent.close()
  })

  test('a mail without an answer is unclear; only the admin’s word lets it go again', async () => {
    const { silent, port } = await startSilent()
    await api.put('settings/mail', smtpSettings(port))
    const lead = await addLead({ name: 'Una', email: 'una@client.example' })
    const id = await create({ kind: 'lead', lead_id: lead.id })
    expect(await sendAll(id)).toMatchObject({ state: 'unclear', state_reason: '1 unclear' })
    const turkish = apiOf(hub, { 'Accept-Language': 'tr' })
    const path = `drafts/recipients?id=${id}&project=demir`
    expect((await turkish.get(path)).body.recipients[0].reason).toMatch(
      /^E-posta sunucuya iletildi, ama yanıtı net değil \(/,
    )
    expect((await recipientsOf(id))[0].reason).toMatch(
      /^The mail was handed over, but the server’s answer was not clear/,
    )
    silent.close()
    await api.put('settings/mail', smtpSettings(smtp.port))
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([])
    expect(
      (await api.post('draft/clear', { ...of(id), outcome: 'sent', email: 'x@y.example' })).status,
    ).toBe(404)
    const { draft } = await api.ok('draft/clear', { ...of(id), outcome: 'not_sent' })
    expect(draft.state).toBe('pushed')
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([])
    await steps(id, 'send')
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual(['una@client.example'])
  })
})

describe('what the server refuses', () => {
  test('a dead address fails, is suppressed and noted; the others get theirs', async () => {
    await addTagged('dead', 3)
    refuse = (address) =>
      address.startsWith('p1@') ? { responseCode: 550, message: '5.1.1 no such user' } : null
    const id = await create({ kind: 'list', filter: { tag: 'dead' } })
    expect(await sendAll(id)).toMatchObject({ state: 'sent', state_reason: '1 failed' })
    expect(smtp.to()).toHaveLength(2)
    const [, dead] = await recipientsOf(id)
    expect(dead).toMatchObject({ state: 'failed', bounced_at: expect.any(String) })
    const found = (await api.get('suppression?email=p1@dead.example')).body
    expect(found.suppression).toMatchObject([{ reason: 'bounced' }])
  })

  test('a temporary refusal is tried again later, and the draft goes on', async () => {
    await addTagged('grey', 2)
    refuse = (address) =>
      address.startsWith('p0@') ? { responseCode: 451, message: '4.7.1 greylisted' } : null
    const id = await create({ kind: 'list', filter: { tag: 'grey' } })
    expect(await sendAll(id)).toMatchObject({ state: 'sending', progress: { sent: 1, waiting: 1 } })
    refuse = () => null
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual(['p1@grey.example'])
    await hub.query('update hub.recipients set retry_at = now() where draft_id = $1', [id])
    await hub.deps.mailer.run()
    expect((await get(id)).state).toBe('sent')
    expect(smtp.to()).toEqual(['p1@grey.example', 'p0@grey.example'])
  })

  test('an unreachable server loses no mail: the draft says so and goes on', async () => {
    await addTagged('away', 2)
    await api.put('settings/mail', smtpSettings(9))
    const id = await create({ kind: 'list', filter: { tag: 'away' } })
    const waiting = await sendAll(id)
    expect(waiting).toMatchObject({ state: 'sending', progress: { waiting: 2 } })
    expect(waiting.state_reason).toContain('is not accepting mail')
    await api.put('settings/mail', smtpSettings(smtp.port))
    await hub.query('update hub.drafts set retry_at = now() where id = $1', [id])
    await hub.deps.mailer.run()
    expect(await get(id)).toMatchObject({ state: 'sent', state_reason: null })
  })

  test('more than 2 % dead addresses pause all mail until it is confirmed', async () => {
    await addTagged('bad', 5)
    refuse = () => ({ responseCode: 550, message: '5.1.1 no such user' })
    const id = await create({ kind: 'list', filter: { tag: 'bad' } })
    await sendAll(id)
    await hub.deps.mailer.run()
    const { state } = (await api.get('settings/mail')).body
    expect(state.paused).toMatchObject({
      reason: 'bounces',
      detail: expect.stringContaining('bounced'),
    })
    const turkish = await apiOf(hub, { 'Accept-Language': 'tr' }).get('settings/mail')
    expect(turkish.body.state.paused.detail).toMatch(
      /^\d+ e-postadan 3 tanesi \(%\d+,\d\) kalıcı olarak geri döndü\.$/,
    )
    expect((await get(id)).progress).toMatchObject({ failed: 3, waiting: 2 })
    await api.ok('settings/mail/confirm')
    refuse = () => null
    await hub.deps.mailer.run()
    expect(await get(id)).toMatchObject({ state: 'sent', progress: { sent: 2, failed: 3 } })
  })
})

describe('the daily cap', () => {
  test('spreads a draft over days, with a ramp; pause and resume hold it', async () => {
    await addTagged('cap', 5)
    await hub.query(
      `update hub.recipients set claimed_at = now() - interval '2 days' where claimed_at is not null`,
    )
    await api.put('settings/mail', { daily_cap: 4, ramp: { start: 1, step: 1 } })
    const id = await create({ kind: 'list', filter: { tag: 'cap' } })
    await steps(id, 'render')
    const { plan } = await api.ok('draft/approve', of(id))
    // One day of sending lies behind, so it is 1 + 1 today.
    expect(plan).toMatchObject({ recipients: 5, cap_today: 2, left_today: 2, days: 3 })
    await steps(id, 'push', 'send', 'pause')
    await hub.deps.mailer.run()
    expect(smtp.to()).toEqual([])
    await steps(id, 'resume')
    await hub.deps.mailer.run()
    await hub.deps.mailer.run()
    expect(smtp.to()).toHaveLength(2)
    expect(await get(id)).toMatchObject({
      state: 'sending',
      progress: { sent: 2, waiting: 3 },
    })
    await hub.query(
      `update hub.recipients set claimed_at = claimed_at - interval '1 day' where claimed_at is not null`,
    )
    await hub.deps.mailer.run()
    expect(await get(id)).toMatchObject({ state: 'sent', progress: { sent: 5 } })
    expect(new Set(smtp.to()).size).toBe(5)
  })

  test('counts the ramp of each sender by itself, in whichever projects it writes', async () => {
    await hub.query('delete from hub.recipients')
    await api.put('settings/mail', { daily_cap: 9, ramp: { start: 2, step: 3 } })
    await addTagged('ramp', 7)
    const filter = { kind: 'list', filter: { tag: 'ramp' } }
    const first = await create(filter)
    await steps(first, 'render', 'approve', 'push', 'send')
    await hub.deps.mailer.run()
    expect(smtp.to()).toHaveLength(2)
    const senders = async () => (await api.get('settings/mail')).body.state.senders
    const ayse = { email: 'ayse@demir.example', projects: ['demir'] }
    expect(await senders()).toEqual([
      { ...ayse, day: 1, cap_today: 2, used_today: 2, left_today: 0 },
    ])
    await hub.query(`update hub.recipients set claimed_at = claimed_at - interval '1 day'`)
    await hub.deps.mailer.run()
    expect(smtp.to()).toHaveLength(7)

    // Another project writes as the same sender: it goes on with the same ramp.
    const nord = `(select id from hub.projects where slug = 'nord')`
    await hub.query(`insert into hub.projects (slug, name) values ('nord', 'Nord')`)
    await hub.query(
      `insert into hub.brands (project_id, sender_name, sender_email)
       values (${nord}, 'Ayşe', 'Ayse@Demir.example')`,
    )
    await setBrand(api, { sender_email: 'bo@demir.example' })
    expect(await senders()).toEqual([
      { ...ayse, projects: ['nord'], day: 2, cap_today: 5, used_today: 5, left_today: 0 },
      // And the new sender begins, with the rest of the daily limit.
      {
        email: 'bo@demir.example',
        projects: ['demir'],
        day: 1,
        cap_today: 2,
        used_today: 0,
        left_today: 2,
      },
    ])
    const second = await create(filter)
    await steps(second, 'render')
    const { plan } = await api.ok('draft/approve', of(second))
    expect(plan).toMatchObject({ recipients: 7, cap_today: 2, left_today: 2, days: 4 })
    await steps(second, 'push', 'send')
    await hub.deps.mailer.run()
    expect(await get(second)).toMatchObject({ progress: { sent: 2, waiting: 5 } })
    const detail = (await api.get(`drafts/get?id=${second}&project=demir`)).body
    expect(detail).toMatchObject({ cap_today: 2, left_today: 0 })
    expect(detail.gates.find(({ name }: { name: string }) => name === 'daily_cap').detail).toBe(
      'bo@demir.example has sent the 2 mails that it may send on its day 1.',
    )
    await hub.query(`delete from hub.projects where slug = 'nord'`)
  })
})
