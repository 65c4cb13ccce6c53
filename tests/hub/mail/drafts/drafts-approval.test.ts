import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, draftsOf, FOOTER, LEAD, SENDER } from '../../support/mail-help.ts'

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
  const mail = { sender: SENDER, footer: FOOTER, smtp: SMTP, listmonk: null }
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
const sender = (change: object) => api.put('settings/mail', { sender: { ...SENDER, ...change } })
const lead = (change: object) => api.ok('lead/update', { lead_id, ...change })

describe('an approval is void when there is changed', () => {
  const CHANGES: [what: string, change: () => Promise<unknown>][] = [
    ['the sender’s name', () => sender({ name: 'Mehmet Demir' })],
    ['the sender’s address', () => sender({ email: 'else@demir.example' })],
    ['where answers go', () => sender({ reply_to: 'sales@demir.example' })],
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

describe('evidence', () => {
  const sentence = 'You run 40 trucks.'
  async function evidence(of_lead: string | null): Promise<string> {
    const [row] = await hub.query<{ id: string }>(
      `insert into hub.evidence (project_id, lead_id, fact, source)
       select id, $1, '40 trucks', 'https://client.example' from hub.projects where slug = 'demir'
       returning id`,
      [of_lead],
    )
    return row?.id ?? ''
  }
  async function claiming(evidence_ids: string[], more: object = {}): Promise<string> {
    const claims = [{ sentence, evidence_ids }]
    const id = await create({ text: `Hello,\n\n${sentence}`, claims, ...more })
    await steps(id, 'render')
    return id
  }

  test('about another lead supports nothing in a letter to this one', async () => {
    const other = await addLead({})
    const id = await claiming([await evidence(other.id)])
    expect((await get(id)).draft.claims).toMatchObject([{ sentence, supported: false }])
    expect(await api.post('draft/approve', of(id))).toMatchObject({
      status: 422,
      body: { errors: [{ code: 'no_evidence' }] },
    })
  })

  test('that is gone supports nothing either, and shuts the gate of what was approved', async () => {
    const known = await evidence(lead_id)
    const id = await claiming([known])
    await steps(id, 'approve')
    await hub.query('delete from hub.evidence where id = $1', [known])
    expect(await api.post('draft/push', of(id))).toMatchObject({
      status: 409,
      body: { errors: [{ path: 'gates.evidence' }] },
    })
  })

  test('of the lead or of the whole project does, beside others that do not', async () => {
    const other = await addLead({})
    await steps(await claiming([await evidence(lead_id)]), 'approve')
    await steps(await claiming([await evidence(null)]), 'approve')
    await steps(await claiming([await evidence(other.id), await evidence(lead_id)]), 'approve')
  })

  test('of any of its leads supports a campaign', async () => {
    const tag = `claims${count}`
    const one = await addLead({ tags: [tag] })
    const audience = { kind: 'list', filter: { tag } }
    await steps(await claiming([await evidence(one.id)], { audience }), 'approve')
  })

  test('is asked for a sentence as long as it is in the text, and no longer', async () => {
    const id = await claiming([])
    await api.ok('draft/edit', { ...of(id), text: `Hello,\n\n${sentence} Truly.` })
    expect((await get(id)).draft.claims).toMatchObject([{ sentence }])
    await api.ok('draft/edit', { ...of(id), text: 'Hello,\n\nwe carry freight.' })
    expect((await get(id)).draft.claims).toEqual([])
    await steps(id, 'render', 'approve')
  })
})
