import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, draftsOf, LEAD, setBrand } from '../../support/mail-help.ts'

// Nobody listens there: in these tests nothing is sent.
const SMTP = { host: '127.0.0.1', port: 9, security: 'none' }
const LISTMONK = { url: 'http://127.0.0.1:9', user: 'hub', token: 'secret' }

let hub: TestHub
let api: ReturnType<typeof apiOf>
let lead_id = ''
beforeAll(async () => {
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
})
afterAll(() => hub.close())
beforeEach(async () => {
  const mail = { smtp: SMTP, listmonk: null }
  await setBrand(api)
  await api.put('settings/mail', { ...mail, daily_cap: 1000, ramp: null })
  lead_id = (await addLead({ name: 'Jo Öz', company: 'Client' })).id
})

let count = 0
async function addLead(data: object): Promise<{ id: string; email: string }> {
  count += 1
  const lead = { email: `p${count}@client.example`, ...LEAD, ...data }
  return (await api.ok('lead/quick_add', { slug: 'demir', data: lead })).lead
}

const { of, create, get } = draftsOf(() => ({ api, lead_id }))
const steps = async (id: string, ...names: string[]) => {
  for (const name of names) await api.ok(`draft/${name}`, of(id))
}
const NO_CHANGE = {
  name: null,
  logo: null,
  color: '#1f5f99',
  reply_to: null,
  reason_en: null,
  unsubscribe_en: null,
}
const lead = (change: object) => api.ok('lead/update', { lead_id, ...change })

describe('an approval is void when there is changed', () => {
  const CHANGES: [what: string, change: () => Promise<unknown>][] = [
    ['the way it goes out', () => api.put('settings/mail', { smtp: null, listmonk: LISTMONK })],
    ['the lead’s name', () => lead({ name: 'Jo Oz' })],
    ['the lead’s company', () => lead({ company: 'Another' })],
    ['the lead’s address', () => lead({ email: `new${count}@client.example` })],
  ]
  const CASES = CHANGES.flatMap(([what, change]) => [
    { what, change, step: 'push', before: ['render', 'approve'] },
    { what, change, step: 'send', before: ['render', 'approve', 'push'] },
  ])

  test.each(CASES)('$what before $step', async ({ change, step, before }) => {
    const id = await create()
    await steps(id, ...before)
    await change()
    const refused = await api.post(`draft/${step}`, of(id))
    expect(refused).toMatchObject({ status: 409, body: { code: 'audience_changed' } })
    const { draft } = await get(id)
    expect(draft).toMatchObject({ state: 'rendered', approved_at: null, progress: { total: 0 } })
    // Only a new look at it lets it go on.
    expect((await api.post('draft/push', of(id))).body.code).toBe('wrong_state')
  })

  // A brand takes its drafts back at once, before anybody tries to send them.
  const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)])
  const LOGO = `data:image/png;base64,${PNG.toString('base64')}`
  const BRANDS: [what: string, change: object][] = [
    ['the sender’s name', { sender_name: 'Mehmet Demir' }],
    ['the sender’s address', { sender_email: 'else@demir.example' }],
    ['where answers go', { reply_to: 'sales@demir.example' }],
    ['the signature', { signature: 'Mehmet' }],
    ['the postal address', { postal_address: 'Elsewhere 1, İzmir' }],
    ['the logo', { logo: LOGO }],
    ['the colour', { color: '#112233' }],
    ['the name above it', { name: 'Another' }],
    ['why it is sent', { reason_en: 'You asked us at the fair.' }],
    ['the words of the link', { unsubscribe_en: 'No more mail' }],
  ]
  test.each(BRANDS)('%s', async (_, change) => {
    const [approved, pushed] = [await create(), await create()]
    await steps(approved, 'render', 'approve')
    await steps(pushed, 'render', 'approve', 'push')
    const before = (await get(approved)).draft.html
    const answer = await api.put('projects/brand', { slug: 'demir', ...change })
    expect(answer.body.drafts).toBeGreaterThanOrEqual(2)
    // Those beyond the first ten are rendered in the background.
    await hub.deps.mailer.run()
    for (const id of [approved, pushed]) {
      const { draft } = await get(id)
      expect(draft).toMatchObject({
        state: 'rendered',
        approved_at: null,
        state_reason: expect.stringContaining('Read it and approve it again.'),
        progress: { total: 0 },
      })
      expect((await api.post('draft/push', of(id))).body.code).toBe('wrong_state')
    }
    // A plain mail has no head, and the sender is not in its text.
    const [field = ''] = Object.keys(change)
    if (!['sender_name', 'sender_email', 'reply_to', 'logo', 'name'].includes(field))
      expect((await get(approved)).draft.html).not.toBe(before)
    // It was rendered again by itself, so a look at it is all that it takes.
    await steps(approved, 'approve', 'push')
    expect((await get(approved)).draft.state_reason).toBeNull()
    await setBrand(api, NO_CHANGE)
  })

  test('the listmonk that sends it', async () => {
    await api.put('settings/mail', { smtp: null, listmonk: LISTMONK })
    const id = await create()
    await steps(id, 'render', 'approve')
    await api.put('settings/mail', { listmonk: { ...LISTMONK, url: 'http://127.0.0.1:10' } })
    expect((await api.post('draft/push', of(id))).body.code).toBe('audience_changed')
  })

  test('who has an address: one entered later was not approved', async () => {
    const tags = [`later${count}`]
    await addLead({ tags })
    const late = await api.ok('lead/quick_add', {
      slug: 'demir',
      data: { name: 'Without', company: 'Address', tags, ...LEAD },
    })
    const id = await create({ audience: { kind: 'list', filter: { tag: tags[0] } } })
    await steps(id, 'render', 'approve')
    await api.ok('lead/update', { lead_id: late.lead.id, email: `late${count}@client.example` })
    const refused = await api.post('draft/push', of(id))
    expect(refused.body).toMatchObject({
      code: 'audience_changed',
      detail: expect.stringContaining('1 people were approved, but the audience now has 2'),
    })
  })

  test('and what was seen of one list approves no other one', async () => {
    const [one, other] = await Promise.all(
      ['one', 'other'].map(async (name) => {
        const tag = `${name}${count}`
        await addLead({ tags: [tag] })
        const text = 'Hello,\n\nwould you like to talk next week?'
        const id = await create({ text, audience: { kind: 'list', filter: { tag } } })
        await steps(id, 'render')
        return { id, hash: (await get(id)).hash }
      }),
    )
    const refused = await api.post('draft/approve', { ...of(one?.id ?? ''), hash: other?.hash })
    expect(refused).toMatchObject({ status: 409, body: { code: 'audience_changed' } })
    await api.ok('draft/approve', { ...of(one?.id ?? ''), hash: one?.hash })
  })

  test('and stays when nothing is, in whatever order people are read', async () => {
    const tags = [`same${count}`]
    const people = [await addLead({ tags }), await addLead({ tags }), await addLead({ tags })]
    const id = await create({ audience: { kind: 'list', filter: { tag: tags[0] } } })
    await steps(id, 'render', 'approve')
    await hub.query('update hub.leads set updated_at = now() where id = $1', [people[1]?.id])
    await steps(id, 'push', 'send')
  })
})

describe('when a part has gone out, an approval', () => {
  async function halfSent() {
    const tags = [`half${count}`]
    const [first, rest] = [
      await addLead({ tags, name: 'First' }),
      await addLead({ tags, name: 'Rest', company: 'Client' }),
    ]
    const id = await create({ audience: { kind: 'list', filter: { tag: tags[0] } } })
    await steps(id, 'render', 'approve', 'push')
    await hub.query(
      `update hub.recipients set state = 'sent', claimed_at = now(), sent_at = now()
       where draft_id = $1 and email = $2`,
      [id, first.email],
    )
    return { id, first, rest }
  }

  test.each([
    ['name', { name: 'Other' }],
    ['company', { company: null }],
    ['address', { email: 'moved@client.example' }],
  ])('is void when somebody who waits has another %s', async (_, change) => {
    const { id, rest } = await halfSent()
    await api.ok('lead/update', { lead_id: rest.id, ...change })
    const refused = await api.post('draft/send', of(id))
    expect(refused).toMatchObject({ status: 409, body: { code: 'audience_changed' } })
    const { plan } = await api.ok('draft/approve', of(id))
    expect(plan).toMatchObject({ recipients: 1, already_sent: 1 })
  })

  test('is not for a change of who had it already', async () => {
    const { id, first } = await halfSent()
    await api.ok('lead/update', { lead_id: first.id, name: 'Another' })
    await steps(id, 'send')
  })
})

test('a draft says who approved it and who started its sending, and a new approval forgets the last', async () => {
  const id = await create()
  await steps(id, 'render', 'approve')
  /** What an update by somebody leaves, undone again but for its result. */
  const by = async (name: string, change: string) => {
    await hub.query(
      `begin; select set_config('hub.actor', '{"id": null, "name": "${name}", "role": "seller"}', true);
      update hub.drafts set ${change} where id = '${id}'; commit`,
    )
    const [row] = await hub.query<{ approved: string | null; sent: string | null }>(
      `select approved_by ->> 'name' as approved, sent_by ->> 'name' as sent from hub.drafts where id = $1`,
      [id],
    )
    return row
  }
  expect(await by('Ece', 'approved_at = now()')).toEqual({ approved: 'Ece', sent: null })
  expect(await by('Mert', `state = 'sending'`)).toEqual({ approved: 'Ece', sent: 'Mert' })
  expect(await by('Can', `state = 'sending'`)).toEqual({ approved: 'Ece', sent: 'Mert' })
  expect(await by('Can', `state = 'sent'`)).toEqual({ approved: 'Ece', sent: 'Mert' })
  expect(await by('Can', 'approved_at = approved_at')).toEqual({ approved: 'Ece', sent: 'Mert' })
  expect(await by('Can', 'approved_at = null')).toEqual({ approved: null, sent: null })
})
