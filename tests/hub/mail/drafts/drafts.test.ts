import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, draftsOf, LEAD, setBrand } from '../../support/mail-help.ts'
import { standForAll } from '../../support/stand.ts'

let hub: TestHub
let api: ReturnType<typeof apiOf>
let lead_id = ''
beforeAll(async () => {
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await setBrand(api)
  await api.put('settings/mail', {
    // Nobody listens there: in these tests nothing is sent.
    smtp: { host: '127.0.0.1', port: 9, security: 'none' },
    daily_cap: 1000,
    ramp: null,
  })
  const data = { name: 'Jo Öz', email: 'jo@client.example', company: 'Client', ...LEAD }
  lead_id = (await api.ok('lead/quick_add', { slug: 'demir', data })).lead.id
})
afterAll(() => hub.close())

const { of, create, get } = draftsOf(() => ({ api, lead_id }))

describe('writing', () => {
  test('a draft by hand is readable at its address and listed with its evidence', async () => {
    await create()
    const response = await hub.call('POST', 'draft/create', {
      project: 'demir',
      audience: { kind: 'lead', lead_id },
      subject: ' By hand ',
      text: ' One.\n',
    })
    const path = response.headers.get('location')?.replace('/api/cockpit/', '') ?? ''
    const { draft } = (await api.get(path)).body
    expect(draft).toMatchObject({ subject: 'By hand', text: 'One.', state: 'draft' })
    expect(draft).toMatchObject({ agent: null, html: null })
    const listed = (await api.get('drafts/list?project=demir&state=draft&limit=1')).body
    expect(listed.drafts[0].id).toBe(draft.id)
    const next = (
      await api.get(`drafts/list?project=demir&state=draft&limit=1&cursor=${listed.next_cursor}`)
    ).body
    expect(next.drafts[0].id).not.toBe(draft.id)
  })

  test.each([
    [
      'an unknown lead',
      { audience: { kind: 'lead', lead_id: crypto.randomUUID() } },
      'audience.lead_id',
    ],
    ['an unknown field', { colour: 'red' }, 'colour'],
    ['no subject', { subject: ' ' }, 'subject'],
    [
      'a misspelt filter',
      { audience: { kind: 'list', filter: { stages: 'new' } } },
      'audience.filter.stages',
    ],
  ])('%s is 422', async (_, more, path) => {
    const refused = await api.post('draft/create', {
      project: 'demir',
      audience: { kind: 'lead', lead_id },
      subject: 's',
      text: 't',
      ...more,
    })
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0].path).toBe(path)
  })

  test('another project’s draft is 404 for every step', async () => {
    const id = await create()
    expect((await api.get(`drafts/get?id=${id}&project=elsewhere`)).status).toBe(404)
    expect((await api.get('drafts/get?id=nonsense&project=demir')).status).toBe(404)
    expect((await api.post('draft/approve', { id, project: 'elsewhere' })).status).toBe(404)
  })

  test('slots that do not fit the template are 422 and name the field', async () => {
    const id = await create()
    const refused = await api.post('draft/render', {
      ...of(id),
      template: 'offer',
      slots: { greeting: 'Hi' },
    })
    expect(refused.status).toBe(422)
    expect(refused.body.errors.map((one: { path: string }) => one.path)).toContain(
      'slots.paragraphs',
    )
    expect((await get(id)).draft.state).toBe('draft')
  })
})

describe('approval', () => {
  test('a sentence without evidence is refused with the sentence, until there is some', async () => {
    const sentence = 'You shipped 4,000 containers last year.'
    const id = await create({ subject: 'Hello', text: `Hello Jo,\n\n${sentence}` })
    await api.ok('draft/render', of(id))
    const refused = await api.post('draft/approve', of(id))
    expect(refused.status).toBe(422)
    expect(refused.body.errors).toHaveLength(1)
    const shown = (await api.get(`drafts/get?id=${id}&project=demir`)).body.sentences
    const at = shown.findIndex((one: { sentence: string }) => one.sentence === sentence)
    expect(refused.body.errors[0]).toMatchObject({
      path: `sentences.${at}`,
      code: 'no_evidence',
      message: expect.stringMatching(`“${sentence}” has no evidence`),
    })
    const source = 'https://client.example/report'
    await api.ok('evidence/add', { project: 'demir', lead_id, fact: sentence, source })
    // "You" in a note about a lead may be anybody.
    expect((await api.post('draft/approve', of(id))).status).toBe(422)
    const fact = 'Client GmbH shipped 4,000 containers last year.'
    await api.ok('lead/update', { lead_id, company: 'Client GmbH' })
    await api.ok('evidence/add', { project: 'demir', lead_id, fact, source })
    await api.ok('draft/render', of(id))
    const { draft, sentences, gates } = await get(id)
    expect(sentences).toContainEqual(
      expect.objectContaining({
        sentence,
        verdict: 'supported',
        evidence: [expect.objectContaining({ fact, source })],
      }),
    )
    expect(draft.evidence.map((row: { fact: string }) => row.fact)).toContain(fact)
    expect(gates.find((gate: { name: string }) => gate.name === 'evidence').ok).toBe(true)
    expect((await api.post('draft/approve', of(id))).status).toBe(200)
  })

  test('says what will happen, and what it is of: another hash is refused', async () => {
    const id = await create()
    await api.ok('draft/render', of(id))
    await standForAll(api, of(id))
    const { hash } = await get(id)
    const other = await api.post('draft/approve', { ...of(id), hash: 'of something else' })
    expect(other).toMatchObject({ status: 409, body: { code: 'audience_changed' } })
    const { plan } = await api.ok('draft/approve', { ...of(id), hash })
    expect(plan).toMatchObject({
      recipients: 1,
      via: 'smtp',
      cap_today: 1000,
      days: 1,
      skipped: [],
    })
  })

  test('an edit voids it, and shows what changed since', async () => {
    const id = await create()
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(id))
    expect((await get(id)).diff).toBeNull()
    await api.ok('draft/edit', { ...of(id), text: 'Hello Jo,\n\nwe carry freight to Mersin.' })
    const { draft, diff } = await get(id)
    expect(draft).toMatchObject({ state: 'draft', approved_at: null })
    expect(diff).toContain('-would you like to talk next week?')
    expect(diff).toContain('+we carry freight to Mersin.')
    expect(await hub.query('select from hub.recipients where draft_id = $1', [id])).toEqual([])
    expect((await api.post('draft/push', of(id))).status).toBe(409)
  })

  test.each(['push', 'send'])('a lead that changed before %s voids it', async (step) => {
    const data = { name: 'Can', email: `can-${step}@client.example`, ...LEAD }
    const { lead } = await api.ok('lead/quick_add', { slug: 'demir', data })
    const id = await create({ audience: { kind: 'lead', lead_id: lead.id } })
    for (const before of ['render', 'approve', ...(step === 'send' ? ['push'] : [])]) {
      await api.ok(`draft/${before}`, of(id))
    }
    await api.ok('lead/update', { lead_id: lead.id, email: `new-${step}@client.example` })
    const refused = await api.post(`draft/${step}`, of(id))
    expect(refused).toMatchObject({ status: 409, body: { code: 'audience_changed' } })
    expect((await get(id)).draft).toMatchObject({ state: 'rendered', approved_at: null })
    await api.ok('draft/approve', of(id))
  })

  test('a person more in the list voids it, and so does another sender', async () => {
    const tag = `t${Date.now()}`
    const add = (name: string) =>
      api.ok('lead/quick_add', {
        slug: 'demir',
        data: { name, email: `${name}@${tag}.example`, tags: [tag], ...LEAD },
      })
    await add('one')
    const id = await create({ audience: { kind: 'list', filter: { tag } } })
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(id))
    await add('two')
    const refused = await api.post('draft/push', of(id))
    expect(refused.body).toMatchObject({
      code: 'audience_changed',
      detail: expect.stringContaining('1 people were approved, but the audience now has 2'),
    })
    await api.ok('draft/approve', of(id))
    await setBrand(api, { sender_email: 'else@demir.example' })
    expect((await api.post('draft/push', of(id))).body.code).toBe('wrong_state')
    expect((await get(id)).draft).toMatchObject({
      state: 'rendered',
      state_reason: expect.stringContaining('approve it again'),
    })
    await setBrand(api)
  })

  test('nobody left to write to is 409 with the reasons', async () => {
    const { lead } = await api.ok('lead/quick_add', {
      slug: 'demir',
      data: { email: 'info@role.example', ...LEAD },
    })
    const id = await create({ audience: { kind: 'lead', lead_id: lead.id } })
    await api.ok('draft/render', of(id))
    await standForAll(api, of(id))
    const refused = await api.post('draft/approve', of(id))
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('role address') },
    })
  })
})

describe('gates', () => {
  /** What they say depends on whether this machine is online. */
  const DNS = ['spf', 'dkim', 'dmarc']
  const shut = (gates: { name: string; ok: boolean }[]) =>
    gates
      .filter(({ ok, name }) => !ok && name !== 'evidence' && !DNS.includes(name))
      .map(({ name }) => name)

  test('each says what is the matter and the way out, and push is refused', async () => {
    const id = await create()
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(id))
    expect(shut((await get(id)).gates)).toEqual([])
    await api.ok('settings/mail/pause')
    const { gates } = await get(id)
    expect(shut(gates)).toEqual(['paused'])
    for (const gate of gates) expect(gate.detail).not.toBe('')
    const refused = await api.post('draft/push', of(id))
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'conflict', errors: [{ path: 'gates.paused' }] },
    })
    await api.ok('settings/mail/confirm')
    await api.ok('draft/push', of(id))
  })

  test('without lawful basis or source a person is left out, with the reason', async () => {
    const tag = 'gates'
    for (const [name, more] of [
      ['right', LEAD],
      ['nobasis', { source: 'x' }],
      ['nosource', { lawful_basis: 'consent' }],
    ] as const) {
      const data = { name, email: `${name}@gates.example`, tags: [tag], ...more }
      await api.ok('lead/quick_add', { slug: 'demir', data })
      if (name === 'nosource')
        await hub.query(`update hub.leads set source = null where name = 'nosource'`)
    }
    const id = await create({ audience: { kind: 'list', filter: { tag } } })
    await api.ok('draft/render', of(id))
    const { gates, recipients } = await get(id)
    expect(shut(gates)).toEqual(['lawful_basis', 'source'])
    expect(recipients).toMatchObject({ total: 3, will_get_it: 1 })
    const { plan } = await api.ok('draft/approve', of(id))
    expect(plan).toMatchObject({ recipients: 1, skipped: [{ count: 1 }, { count: 1 }] })
    const rows = (await api.get(`drafts/recipients?id=${id}&project=demir&state=skipped`)).body
    expect(rows.recipients.map((row: { email: string }) => row.email)).toEqual([
      'nobasis@gates.example',
      'nosource@gates.example',
    ])
  })

  test('SMTP is blocked while there is no public https address', async () => {
    const { public_url } = hub.config
    hub.config.public_url = null
    const id = await create()
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(id))
    const refused = await api.post('draft/push', of(id))
    expect(refused).toMatchObject({
      status: 409,
      body: { errors: [{ path: 'gates.unsubscribe' }] },
    })
    expect(refused.body.detail).toContain('public_url')
    hub.config.public_url = public_url
  })

  test('no postal address: nothing goes out; a new one is in the mail by itself', async () => {
    await setBrand(api, { postal_address: null })
    const id = await create()
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(id))
    const shutOne = { status: 409, body: { errors: [{ path: 'gates.postal_address' }] } }
    expect(await api.post('draft/push', of(id))).toMatchObject(shutOne)
    await setBrand(api)
    for (const step of ['approve', 'push']) await api.ok(`draft/${step}`, of(id))
  })

  test.each([
    ['bounces', `bounce = 'hard', bounced_at = now()`],
    ['complaints', 'complained_at = now()'],
  ])('%s beyond the limit shut the gate, until they are confirmed', async (name, fate) => {
    const [waiting, sent] = [await create(), await create()]
    for (const step of ['render', 'approve']) await api.ok(`draft/${step}`, of(waiting))
    await hub.query(
      `insert into hub.recipients (draft_id, project_id, email, state, claimed_at)
       select id, project_id, n || '@alarm.example', 'sent', now()
       from hub.drafts, generate_series(1, 3) as n where id = $1`,
      [sent],
    )
    await hub.query(`update hub.recipients set ${fate} where draft_id = $1`, [sent])
    expect(await api.post('draft/push', of(waiting))).toMatchObject({
      status: 409,
      body: { errors: [{ path: `gates.${name}` }] },
    })
    await api.ok('settings/mail/confirm')
    await api.ok('draft/push', of(waiting))
  })

  test('no postal address, no sender, no server: each gate is shut', async () => {
    await api.put('settings/mail', { smtp: null })
    await setBrand(api, { sender_name: null, sender_email: null, postal_address: null })
    const id = await create()
    await api.ok('draft/render', of(id))
    expect(shut((await get(id)).gates)).toEqual(['transport', 'sender', 'postal_address'])
    await setBrand(api)
    await api.put('settings/mail', {
      smtp: { host: '127.0.0.1', port: 9, security: 'none' },
    })
  })
})

describe('the preview', () => {
  test('is in a sandbox, and a lead’s name stays text in it', async () => {
    const name = '<img src=x onerror=alert(1)>"\'{{ 1 }}'
    const { lead } = await api.ok('lead/quick_add', {
      slug: 'demir',
      data: { name, email: 'x@evil.example', ...LEAD },
    })
    const id = await create({
      audience: { kind: 'lead', lead_id: lead.id },
      subject: 'To {name}',
      text: 'Hello {name},\n\nyour name is {name}. <script>alert(2)</script>',
    })
    await api.ok('draft/render', of(id))
    const response = await hub.call('GET', `draft/preview/${id}`)
    expect(response.headers.get('content-security-policy')).toBe(
      "sandbox; style-src 'unsafe-inline'; img-src data:",
    )
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    const html = await response.text()
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(html).not.toMatch(/<script|<img src=x/)
    const plain = await create()
    expect((await hub.call('GET', `draft/preview/${plain}`)).status).toBe(404)
  })
})
