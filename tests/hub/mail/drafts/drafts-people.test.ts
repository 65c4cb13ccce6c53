import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  draftsOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'

let hub: TestHub
let api: ReturnType<typeof apiOf>
let smtp: MailServer
let lead_id = ''
beforeAll(async () => {
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  smtp = await startMailServer()
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
  const data = { name: 'Jo Öz', email: 'jo@client.example', company: 'Client', ...LEAD }
  lead_id = (await api.ok('lead/quick_add', { slug: 'demir', data })).lead.id
})
afterAll(async () => {
  await hub.close()
  await smtp.close()
})

const { of, create, get } = draftsOf(() => ({ api, lead_id }))

describe('another audience', () => {
  const add = async (name: string, tags: string[], more: object = LEAD) => {
    const data = { name, email: `${name}@audience.example`, tags, country: 'Türkiye', ...more }
    return (await api.ok('lead/quick_add', { slug: 'demir', data })).lead.id as string
  }
  const ask = async (id: string, query: string) =>
    (await api.get(`drafts/audience?id=${id}&project=demir&${query}`)).body

  test('is counted before it is taken, and then voids the approval', async () => {
    const chosen = [await add('one', ['first']), await add('two', ['first', 'second'])]
    await add('three', ['second'])
    await add('four', ['second'], { source: 'x' })
    const filter = { lead_ids: chosen }
    const id = await create({ audience: { kind: 'list', filter } })
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(id))
    const { recipients, choices, language, language_note } = await ask(id, 'tag=second')
    expect(recipients).toMatchObject({ total: 3, will_get_it: 2, without_email: 0 })
    expect(language).toBe('tr')
    expect(language_note).toContain('all 3 recipients are written to in Turkish')
    await add('five', ['mixed'], { ...LEAD, language: 'en' })
    await add('six', ['mixed'])
    expect((await ask(id, 'tag=mixed')).language).toBeNull()
    expect(choices.tags).toEqual(expect.arrayContaining(['first', 'second']))
    expect(choices.countries).toContain('Türkiye')
    expect((await ask(id, 'tag=second&is_chosen=true')).recipients.total).toBe(1)
    expect((await ask(id, `lead_id=${chosen[0]}`)).recipients.total).toBe(1)
    await hub.query("update hub.leads set stage = 'replied' where id = $1", [chosen[0]])
    expect((await ask(id, 'tag=first&answered=true')).recipients.total).toBe(1)
    expect((await ask(id, 'tag=first&answered=false')).recipients.total).toBe(0)
    expect((await get(id)).draft).toMatchObject({ state: 'approved', audience: { filter } })

    const audience = { kind: 'list', filter: { tag: 'second' } }
    const { draft } = await api.ok('draft/edit', { ...of(id), audience })
    expect(draft).toMatchObject({ state: 'draft', approved_at: null, progress: { total: 0 } })
    expect((await get(id)).recipients).toMatchObject({ total: 3, will_get_it: 2 })
  })

  test('of a mail is another lead of the project, and no other', async () => {
    const [first, other] = [await add('ada', []), await add('bora', [])]
    const id = await create({ audience: { kind: 'lead', lead_id: first } })
    await api.ok('draft/edit', { ...of(id), audience: { kind: 'lead', lead_id: other } })
    expect((await get(id)).recipients.sample).toMatchObject([{ email: 'bora@audience.example' }])
    const audience = { kind: 'lead', lead_id: crypto.randomUUID() }
    expect(await api.post('draft/edit', { ...of(id), audience })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'audience.lead_id', code: 'not_found' }] },
    })
  })
})

test('what an agent wrote is kept when a person first changes it, and nothing else is', async () => {
  const [own, id] = [await create(), await create()]
  await hub.query("update hub.drafts set agent = 'marketing' where id = $1", [id])
  const kept = async (one: string) => {
    const [row] = await hub.query<{ first: string | null; at: string | null }>(
      'select first_text as first, edited_at::text as at from hub.drafts where id = $1',
      [one],
    )
    return row
  }
  const edit = (one: string, text: string) => api.ok('draft/edit', { ...of(one), text })
  const { text } = (await get(id)).draft
  await edit(id, text)
  expect(await kept(id)).toEqual({ first: null, at: null })
  await edit(id, 'Hello Jo,\n\nshall I call you?')
  const first = await kept(id)
  expect(first).toEqual({ first: expect.stringContaining('next week'), at: expect.any(String) })
  await edit(id, 'Hello Jo,\n\nmay I write again?')
  expect(await kept(id)).toEqual(first)
  await edit(own, 'Hello Jo,\n\nshall I call you?')
  expect(await kept(own)).toEqual({ first: null, at: null })
})

describe('what the hub says', () => {
  const turkish = () => apiOf(hub, { 'Accept-Language': 'tr' })

  test('of gates and refusals is in the language that is asked for', async () => {
    const id = await create()
    const early = await turkish().post('draft/push', of(id))
    expect(early.body.detail).toBe(
      'Aktarılamaz: taslak henüz yalnızca metin. Önce e-postayı oluşturun ya da yeniden tasarlayın.',
    )
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(id))
    await api.ok('settings/mail/pause')
    const { gates } = (await turkish().get(`drafts/get?id=${id}&project=demir`)).body
    expect(gates.find(({ name }: { name: string }) => name === 'paused')).toMatchObject({
      detail: 'Gönderim duraklatıldı.',
      way_out: 'Nedenini bulun, sonra Ayarlar > E-posta bölümünde onaylayın.',
    })
    const refused = await turkish().post('draft/push', of(id))
    expect(refused.body.detail).toMatch(
      /^Bu taslak henüz gönderilemez: Gönderim duraklatıldı\. Nedenini bulun/,
    )
    expect(refused.body.errors[0].message).toMatch(/^Gönderim duraklatıldı\./)
    await api.ok('settings/mail/confirm')
  })

  test('of those left out and of a void approval is kept in both languages', async () => {
    const tag = 'both'
    const add = (email: string) =>
      api.ok('lead/quick_add', { slug: 'demir', data: { email, tags: [tag], ...LEAD } })
    await add('info@both.example')
    await add('ali@both.example')
    const id = await create({ audience: { kind: 'list', filter: { tag } } })
    await api.ok('draft/render', of(id))
    const { plan } = await turkish().ok('draft/approve', of(id))
    expect(plan.skipped).toEqual([
      { reason: 'info@ gibi ortak bir adres: kişinin kendi adresini isteyin', count: 1 },
    ])
    const left_out = `drafts/recipients?id=${id}&project=demir&state=skipped`
    expect((await api.get(left_out)).body.recipients).toMatchObject([
      { reason: 'a role address such as info@: ask for a person’s own' },
    ])
    await add('veli@both.example')
    const refused = await turkish().post('draft/push', of(id))
    expect(refused.body.detail).toBe(
      '2 kişi onaylanmıştı, kitlede şimdi 3 kişi var. Onay geçersiz oldu. Taslağı okuyup yeniden onaylayın.',
    )
    expect((await get(id)).draft.state_reason).toBe(
      '2 people were approved, but the audience now has 3.',
    )
  })

  test('of an unsupported sentence is said in the language of the reader', async () => {
    const id = await create({ text: 'Hello,\n\nYou own 42 trucks.' })
    await api.ok('draft/render', of(id))
    const refused = await turkish().post('draft/approve', of(id))
    expect(refused).toMatchObject({ status: 422 })
    expect(JSON.stringify(refused.body.errors)).toContain('cümlesinin kanıtı yok')
    expect(JSON.stringify((await api.post('draft/approve', of(id))).body)).toContain(
      'has no evidence',
    )
  })

  test('of what does not fit a template names it, and a reason of the admin’s stays as it is', async () => {
    const id = await create()
    const slots = { subject: 'x'.repeat(200) }
    const refused = await turkish().post('draft/render', { ...of(id), template: 'letter', slots })
    expect(refused.body.errors).toContainEqual({
      path: 'slots.subject',
      code: 'invalid_slots',
      message: 'En çok 150 karakter olabilir.',
    })
    await turkish().ok('draft/reject', { ...of(id), reason: 'Çok uzun' })
    expect((await get(id)).draft).toMatchObject({ state: 'rejected', state_reason: 'Çok uzun' })
  })
})

describe('an edit', () => {
  test('of text or subject makes a mail of them: no slots keep saying the old', async () => {
    const slots = { paragraphs: ['Old words.'], offer: { title: 'Old', points: ['One'] } }
    const id = await create({ template: 'offer', slots })
    await api.ok('draft/edit', { ...of(id), language: 'tr' })
    expect((await get(id)).draft).toMatchObject({ template: 'offer', slots })
    await api.ok('draft/edit', { ...of(id), text: 'New words.' })
    expect((await get(id)).draft).toMatchObject({ template: 'letter', slots: {} })
    await api.ok('draft/render', of(id))
    expect((await get(id)).draft.html).not.toContain('Old')
  })

  test('waits for a push that runs, and not for one that was killed', async () => {
    const id = await create()
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(id))
    const pushing = (until: string) =>
      hub.query('update hub.drafts set pushing_until = now() + $2::interval where id = $1', [
        id,
        until,
      ])
    await pushing('1 minute')
    for (const step of ['edit', 'render', 'reject', 'push']) {
      expect(await api.post(`draft/${step}`, of(id)), step).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      })
    }
    await pushing('-1 second')
    await api.ok('draft/edit', { ...of(id), text: 'New words.' })
  })

  test('keeps on record whose mail came back, so that nobody there is written to again', async () => {
    const tags = ['back']
    for (const at of [0, 1]) {
      const data = { email: `p${at}@back.example`, tags, ...LEAD }
      await api.ok('lead/quick_add', { slug: 'demir', data })
    }
    const id = await create({ audience: { kind: 'list', filter: { tag: 'back' } } })
    for (const step of ['render', 'approve', 'push']) await api.ok(`draft/${step}`, of(id))
    await hub.query(
      `update hub.recipients set state = 'failed', bounced_at = now(), bounce = 'hard'
       where draft_id = $1 and email = 'p0@back.example'`,
      [id],
    )
    await api.ok('draft/edit', { ...of(id), text: 'Again.' })
    await api.ok('draft/render', of(id))
    expect((await api.ok('draft/approve', of(id))).plan).toMatchObject({ recipients: 1 })
  })
})

test('each unclear mail is settled by itself; only who did not get it is written to', async () => {
  const tags = ['each']
  for (const at of [0, 1, 2]) {
    const data = { email: `p${at}@each.example`, tags, ...LEAD }
    await api.ok('lead/quick_add', { slug: 'demir', data })
  }
  const id = await create({ audience: { kind: 'list', filter: { tag: 'each' } } })
  for (const step of ['render', 'approve', 'push', 'send']) await api.ok(`draft/${step}`, of(id))
  await hub.query(
    `update hub.recipients set state = 'unclear', claimed_at = now(), attempts = 1
     where draft_id = $1`,
    [id],
  )
  await hub.query(`update hub.drafts set state = 'unclear' where id = $1`, [id])
  const settle = (at: number, outcome: string) =>
    api.post('draft/clear', { ...of(id), outcome, email: `p${at}@each.example` })
  expect((await settle(0, 'sent')).body.draft).toMatchObject({
    state: 'unclear',
    progress: { unclear: 2, sent: 1 },
  })
  const twice = await Promise.all([settle(1, 'not_sent'), settle(1, 'sent')])
  expect(twice.map(({ status }) => status).sort()).toEqual([200, 404])
  const isAgain = twice[0]?.status === 200
  expect((await settle(2, 'sent')).body.draft.state).toBe(isAgain ? 'pushed' : 'sent')
  expect((await settle(2, 'not_sent')).status).toBe(409)
  await hub.deps.mailer.run()
  expect(smtp.to()).toEqual([])
  if (isAgain) await api.ok('draft/send', of(id))
  await hub.deps.mailer.run()
  expect(smtp.to()).toEqual(isAgain ? ['p1@each.example'] : [])
  expect((await get(id)).draft).toMatchObject({ state: 'sent', progress: { sent: 3, unclear: 0 } })
})
