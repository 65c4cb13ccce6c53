import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { PROOF } from '../../../support/proof.ts'
import { draftCalls } from '../../support/draft-calls.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, type MailServer, setBrand, startMailServer } from '../../support/mail-help.ts'
import { type ListmonkStandIn, startListmonk } from '../listmonk/listmonk-stand-in.ts'

let hub: TestHub
let smtp: MailServer
let standIn: ListmonkStandIn
let api: ReturnType<typeof apiOf>
beforeAll(async () => {
  smtp = await startMailServer()
  standIn = await startListmonk({ smtp: { host: '127.0.0.1', port: smtp.port } })
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  const { url, user, token } = standIn
  await setBrand(api)
  await api.put('settings/mail', {
    listmonk: { url, user, token },
    daily_cap: 10_000,
    ramp: null,
  })
})
afterAll(async () => {
  await hub.close()
  await standIn.close()
  await smtp.close()
})
beforeEach(() => {
  smtp.mails.length = 0
  smtp.to().length = 0
})

const { addLead: add, addTagged, get, of, steps, ...drafts } = draftCalls(() => hub)
const create = (audience: object, more: object = {}) =>
  drafts.create(audience, { subject: 'A short question', ...more })

/** Lets the hub look until the draft is no longer being sent. */
async function untilOver(id: string) {
  for (let tries = 0; tries < 1500; tries += 1) {
    await hub.query('update hub.drafts set retry_at = null where id = $1', [id])
    await hub.deps.mailer.run()
    const draft = await get(id)
    if (draft.state !== 'sending') return draft
    await new Promise((wait) => setTimeout(wait, 20))
  }
  throw new Error('It is still being sent')
}

const campaignsOf = (id: string) =>
  [...standIn.state.campaigns.values()].filter(({ name }) => name.includes(id))

/** How many leads the CSV file has: 500 in the long form. */
const MANY = PROOF ? 500 : 100

describe('a campaign', () => {
  test('of the leads of a CSV file: drafted, rendered, approved, pushed, sent, once each', async () => {
    const rows = Array.from(
      { length: MANY },
      (_, n) => `Kişi ${n},kisi${n}@csv.example,Şirket ${n}`,
    )
    const csv = `Name,E-mail,Company\n${rows.join('\n')}\n`
    const query =
      'project=demir&file_name=fair.csv&tags=csv&lawful_basis=legitimate_interest&basis_note=fair'
    const taken = await hub.call('POST', `leads/import?${query}`, csv, {
      'content-type': 'text/csv',
    })
    expect(taken.status).toBe(202)
    hub.deps.imports.wake()
    const isIn = async () =>
      (await hub.query(`select from hub.leads where 'csv' = any(tags)`)).length === MANY
    for (let tries = 0; !(await isIn()); tries += 1) {
      if (tries > 300) throw new Error('The leads did not come in')
      await new Promise((wait) => setTimeout(wait, 50))
    }
    await api.ok('suppression/add', { emails: ['KISI7@csv.example'] })

    const id = await create({ kind: 'list', filter: { tag: 'csv' } })
    await steps(id, 'render')
    const { plan } = await api.ok('draft/approve', of(id))
    expect(plan).toMatchObject({ recipients: MANY - 1, via: 'campaign', skipped: [{ count: 1 }] })
    await steps(id, 'push')
    const [campaign] = campaignsOf(id)
    expect(campaign).toMatchObject({
      status: 'draft',
      from_email: '=?UTF-8?Q?Ay=C5=9Fe_Demir?= <ayse@demir.example>',
    })
    const { list } = await api.ok('projects/listmonk_list', { slug: 'demir' })
    const mapping = await readFile(
      join(hub.paths.data_dir, 'projects/_listmonk_lists.json'),
      'utf8',
    )
    expect(JSON.parse(mapping)).toEqual({ demir: list })
    // The campaign has a list of its own; all of them are on the project's list as well.
    expect(campaign?.list_ids).not.toContain(list.list_id)
    expect(smtp.to()).toEqual([])

    await api.ok('suppression/add', { emails: ['kisi8@csv.example'] })
    await steps(id, 'send')
    expect(await untilOver(id)).toMatchObject({
      state: 'sent',
      progress: { sent: MANY - 2, skipped: 2 },
    })
    expect(smtp.to()).toHaveLength(MANY - 2)
    expect(new Set(smtp.to()).size).toBe(MANY - 2)
    expect(smtp.to()).not.toContain('kisi7@csv.example')
    expect(smtp.to()).not.toContain('kisi8@csv.example')
    const mail = smtp.mails.find(({ text }) => text?.includes('Hello Kişi'))
    expect(mail?.html).toContain('Liman Cad. 1')
    expect(mail?.text).toMatch(/Unsubscribe <http/)
    expect(mail?.headerLines.map(({ key }) => key)).toContain('list-unsubscribe')
  }, 180_000)

  test('braces in names and texts are sent as text, not executed', async () => {
    const name = '{{ .Secret }}{{ 1 }} @TrackLink'
    const lead = await add({
      name,
      email: 'go@braces.example',
      company: '{{ printf "%d" 7 }}',
      tags: ['go'],
    })
    const id = await create(
      { kind: 'list', filter: { tag: 'go' } },
      {
        subject: 'About {{ 2 }}',
        text: 'Hello there,\n\nwe say {{ .Campaign.UUID }} and <b>{{ 3 }}</b>.',
      },
    )
    await steps(id, 'render', 'approve', 'push', 'send')
    await untilOver(id)
    expect(smtp.mails[0]?.subject).toBe('About {{ 2 }}')
    expect(smtp.mails[0]?.text).toContain('we say {{ .Campaign.UUID }} and <b>{{ 3 }}</b>.')
    // The same lead as a mail, its own name in the text, by listmonk's transactional API.
    smtp.mails.length = 0
    const mail = await create(
      { kind: 'lead', lead_id: lead.id },
      { subject: 'For {name}', text: 'Hello {name},\n\nof {company}.' },
    )
    await steps(mail, 'render', 'approve', 'push', 'send')
    // listmonk does not tell whether its mail server took it.
    expect(await untilOver(mail)).toMatchObject({ state: 'unclear', via: 'tx' })
    expect(smtp.mails[0]?.subject).toBe(`For ${name}`)
    expect(smtp.mails[0]?.text).toContain('of {{ printf "%d" 7 }}.')
    const list = smtp.mails[0]?.headerLines.find(({ key }) => key === 'list-unsubscribe')?.line
    expect(list).toContain('https://hub.demir.example/api/cockpit/u/')
  })

  test('goes in portions that a day’s cap allows, each with a list of its own', async () => {
    await addTagged('portions', 5)
    await hub.query(`update hub.recipients set claimed_at = claimed_at - interval '2 days'`)
    await api.put('settings/mail', { daily_cap: 2 })
    const id = await create({ kind: 'list', filter: { tag: 'portions' } })
    await steps(id, 'render')
    const { plan } = await api.ok('draft/approve', of(id))
    expect(plan).toMatchObject({ recipients: 5, cap_today: 2, days: 3 })
    await steps(id, 'push', 'send')
    expect(campaignsOf(id).flatMap(({ list_ids }) => list_ids)).toHaveLength(3)
    const nextDay = () =>
      hub.query(`update hub.recipients set claimed_at = claimed_at - interval '1 day'`)
    for (const sum of [2, 4, 5]) {
      await vi.waitUntil(
        async () => {
          await hub.deps.mailer.run()
          return (await get(id)).progress.sent >= sum
        },
        { timeout: 30_000, interval: 20 },
      )
      // What is left waits for the next day, however often the hub looks.
      for (let looks = 0; looks < 3; looks += 1) await hub.deps.mailer.run()
      expect(smtp.to()).toHaveLength(sum)
      await nextDay()
    }
    expect(await get(id)).toMatchObject({ state: 'sent', progress: { sent: 5 } })
    expect(new Set(smtp.to()).size).toBe(5)
    expect(
      await hub.query('select distinct sender from hub.recipients where draft_id = $1', [id]),
    ).toEqual([{ sender: 'ayse@demir.example' }])
    await api.put('settings/mail', { daily_cap: 10_000 })
  })

  test('is not run on a list that somebody else was put on', async () => {
    await addTagged('strange', 2)
    const id = await create({ kind: 'list', filter: { tag: 'strange' } })
    await steps(id, 'render', 'approve', 'push')
    const list_id = campaignsOf(id)[0]?.list_ids[0] ?? 0
    const { url, user, token } = standIn
    await fetch(`${url}/api/subscribers`, {
      method: 'POST',
      headers: { authorization: `token ${user}:${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        email: 'x@stranger.example',
        name: 'X',
        status: 'enabled',
        lists: [list_id],
      }),
    })
    await steps(id, 'send')
    const draft = await untilOver(id)
    expect(draft).toMatchObject({ state: 'failed', progress: { failed: 2 } })
    expect(smtp.to()).toEqual([])
    const { recipients } = (await api.get(`drafts/recipients?id=${id}&project=demir`)).body
    expect(recipients[0].reason).toContain('1 people who were not approved')
  })

  test('that is edited after the push is taken away in listmonk', async () => {
    await addTagged('void', 2)
    const id = await create({ kind: 'list', filter: { tag: 'void' } })
    await steps(id, 'render', 'approve', 'push')
    expect(campaignsOf(id)).toHaveLength(1)
    await api.ok('draft/edit', { ...of(id), text: 'Hello {first_name},\n\nsomething else.' })
    await hub.deps.poller.run(true)
    expect(campaignsOf(id)).toEqual([])
    await steps(id, 'render', 'approve', 'push', 'send')
    await untilOver(id)
    expect(smtp.to()).toHaveLength(2)
    expect(smtp.mails[0]?.text).toContain('something else')
  })
})

describe('calls without a clear answer', () => {
  test.each(['drop_before', 'drop_after', 'error'] as const)(
    'starting a campaign, %s: it runs once',
    async (fault) => {
      const tag = `start-${fault.replace('_', '-')}`
      await addTagged(tag, 2)
      const id = await create({ kind: 'list', filter: { tag } })
      await steps(id, 'render', 'approve', 'push')
      standIn.failNext('PUT', `/campaigns/${campaignsOf(id)[0]?.id}/status`, fault)
      await steps(id, 'send')
      expect(await untilOver(id)).toMatchObject({ state: 'sent', progress: { sent: 2 } })
      expect(smtp.to()).toHaveLength(2)
    },
  )

  test.each(['/lists', '/subscribers', '/campaigns'])(
    'a push that loses the answer of POST %s can be repeated',
    async (path) => {
      const tag = `push${path.replace('/', '-')}`
      await addTagged(tag, 2)
      const id = await create({ kind: 'list', filter: { tag } })
      await steps(id, 'render', 'approve')
      standIn.failNext('POST', path, 'drop_after')
      expect(await api.post('draft/push', of(id))).toMatchObject({ status: 503 })
      expect((await get(id)).state).toBe('approved')
      await steps(id, 'push', 'send')
      await untilOver(id)
      expect(campaignsOf(id)).toHaveLength(1)
      expect(smtp.to()).toHaveLength(2)
    },
  )

  test.each([
    ['drop_after', 'unclear'],
    ['error', 'unclear'],
  ] as const)('a mail, %s: %s, and not sent again', async (fault, state) => {
    const lead = await add({ name: 'Una', email: `una-${fault.replace('_', '-')}@tx.example` })
    const id = await create({ kind: 'lead', lead_id: lead.id })
    await steps(id, 'render', 'approve', 'push')
    standIn.failNext('POST', '/tx', fault)
    await steps(id, 'send')
    expect((await untilOver(id)).state).toBe(state)
    const { length } = smtp.to()
    await hub.deps.mailer.run()
    expect(smtp.to()).toHaveLength(length)
    await api.ok('draft/clear', { ...of(id), outcome: 'sent' })
    expect((await get(id)).state).toBe('sent')
  })

  test('the hub ended between its note and the start: the campaign runs once', async () => {
    await addTagged('noted', 2)
    const id = await create({ kind: 'list', filter: { tag: 'noted' } })
    await steps(id, 'render', 'approve', 'push', 'send')
    await hub.query(`update hub.campaigns set state = 'started' where draft_id = $1`, [id])
    await hub.query(
      `update hub.recipients set state = 'sending', claimed_at = now() where draft_id = $1`,
      [id],
    )
    expect(await untilOver(id)).toMatchObject({ state: 'sent', progress: { sent: 2 } })
    expect(smtp.to()).toHaveLength(2)
  })

  test('a campaign that somebody cancels there is unclear; not sent goes to a new one', async () => {
    await addTagged('cancel', 2)
    const id = await create({ kind: 'list', filter: { tag: 'cancel' } })
    await steps(id, 'render', 'approve', 'push', 'send')
    const [campaign] = campaignsOf(id)
    if (campaign) campaign.status = 'cancelled'
    await hub.query(`update hub.campaigns set state = 'started' where draft_id = $1`, [id])
    await hub.query(
      `update hub.recipients set state = 'sending', claimed_at = now() where draft_id = $1`,
      [id],
    )
    expect(await untilOver(id)).toMatchObject({ state: 'unclear' })
    const { draft } = await api.ok('draft/clear', { ...of(id), outcome: 'not_sent' })
    expect(draft).toMatchObject({ state: 'approved', sent_at: null })
    await steps(id, 'push', 'send')
    expect(await untilOver(id)).toMatchObject({ state: 'sent', progress: { sent: 2 } })
    expect(smtp.to()).toHaveLength(2)
  })
})

describe('what comes back', () => {
  test('openings, bounces, complaints and unsubscriptions are read, and suppress', async () => {
    await addTagged('back', 4)
    const id = await create({ kind: 'list', filter: { tag: 'back' } })
    await steps(id, 'render', 'approve', 'push', 'send')
    await untilOver(id)
    const [campaign] = campaignsOf(id)
    if (!campaign) throw new Error('There is no campaign')
    campaign.views = 3
    campaign.clicks = 1
    standIn.bounce('p0@back.example', 'hard', campaign.id)
    standIn.bounce('p1@back.example', 'complaint', campaign.id)
    const gone = [...standIn.state.subscribers.values()].find(
      ({ email }) => email === 'p2@back.example',
    )
    gone?.subscriptions.set(campaign.list_ids[0] ?? 0, 'unsubscribed')
    await hub.deps.poller.run(true)
    const { recipients } = (await api.get(`drafts/recipients?id=${id}&project=demir`)).body
    expect(recipients).toMatchObject([
      { bounced_at: expect.any(String) },
      {},
      { unsubscribed_at: expect.any(String) },
      { bounced_at: null, unsubscribed_at: null },
    ])
    for (const [n, reason] of ['bounced', 'complained', 'unsubscribed'].entries()) {
      const found = (await api.get(`suppression?email=p${n}@back.example`)).body.suppression
      expect(found.length, reason).toBe(1)
    }
    const [totals] = await hub.query('select t.* from hub.projects p, private.mail_totals(p.id) t')
    expect(totals).toMatchObject({ opened: 3, clicked: 1, bounced: 1, unsubscribed: 1 })
    // One complaint among so few stops all mail until somebody has looked.
    const { state } = (await api.get('settings/mail')).body
    expect(state).toMatchObject({ complaints: 1, polls: { listmonk: { error: null } } })
    await api.ok('settings/mail/confirm')
  })

  test('a listmonk that is away is said in the settings, and asked less and less often', async () => {
    const { url } = standIn
    await api.put('settings/mail', {
      listmonk: { url: 'http://127.0.0.1:9', user: 'hub', token: 'x' },
    })
    await hub.deps.poller.run(true)
    await hub.deps.poller.run(true)
    const { polls } = (await api.get('settings/mail')).body.state
    expect(polls.listmonk).toMatchObject({
      failures: 2,
      error: expect.stringContaining('no connection'),
    })
    const turkish = await apiOf(hub, { 'Accept-Language': 'tr' }).get('settings/mail')
    expect(turkish.body.state.polls.listmonk.error).toMatch(/: listmonk/)
    expect(turkish.body.state.polls.listmonk.error).not.toBe(polls.listmonk.error)
    expect(Date.parse(polls.listmonk.next_at)).toBeGreaterThan(Date.now() + 100_000)
    await api.put('settings/mail', { listmonk: { url, user: standIn.user, token: standIn.token } })
  })
})
