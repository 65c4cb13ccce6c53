import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, draftsOf, LEAD, setBrand } from '../../support/mail-help.ts'
import { standForAll } from '../../support/stand.ts'
import { type StubModel, startStubModel, useStub } from '../../support/stub-model.ts'

const SMTP = { host: '127.0.0.1', port: 9, security: 'none' }
let hub: TestHub
let stub: StubModel
let api: ReturnType<typeof apiOf>
let lead_id = ''
beforeAll(async () => {
  stub = await startStubModel()
  hub = await startHub({ start: true, config: { public_url: 'https://hub.rota.example' } })
  await useStub(hub, stub)
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Rota' })
  const mail = { smtp: SMTP, daily_cap: 1000, ramp: null }
  await setBrand(api)
  await api.put('settings/mail', mail)
  await api.ok('evidence/add', { project: 'demir', fact: FUEL, source: 'CONTEXT.md' })
})
afterAll(async () => {
  await hub.close()
  await stub.close()
})

const FUEL = 'Rota lowers fuel costs by 12 % on average.'
let count = 0
const addLead = async (more: object = {}): Promise<string> => {
  count += 1
  const data = { name: 'Jo Öz', company: `Client ${count}`, email: `p${count}@judged.example` }
  const lead = { ...LEAD, ...data, ...more }
  return (await api.ok('lead/quick_add', { slug: 'demir', data: lead })).lead.id
}
const know = (fact: string, about: string | null) =>
  api.ok('evidence/add', { project: 'demir', lead_id: about, fact, source: 'https://x.example' })
beforeEach(async () => {
  lead_id = await addLead({ company: 'Client' })
  await know('Client runs 40 trucks.', lead_id)
})

const { of, create, get } = draftsOf(() => ({ api, lead_id }))
const mail = (text: string, more: object = {}) => create({ subject: 'Hello', text, ...more })
type Judged = { sentence: string; verdict: string; stand: { by: string } | null; fails: number }
const find = async (id: string, sentence: string): Promise<Judged | undefined> =>
  (await get(id)).sentences.find((one: Judged) => one.sentence === sentence)
const verdictsOf = async (id: string) =>
  (await get(id)).sentences.map(({ sentence, verdict }: Judged) => `${verdict}: ${sentence}`)
const stand = (id: string, sentence: string, more: object = {}) =>
  api.post('draft/stand', { ...of(id), sentence, ...more })
const approve = async (id: string) => {
  await api.ok('draft/render', of(id))
  return api.post('draft/approve', of(id))
}

describe('every sentence is judged after every edit', () => {
  test('one word changed takes the support away: the three false sentences stay', async () => {
    const text = `Hello Jo,\n\nyou run 40 trucks. We lower fuel costs by 12 % on average.`
    const id = await mail(text)
    expect(await approve(id)).toMatchObject({ status: 200 })
    const lies = [
      'You run 400 trucks.',
      'We never lower fuel costs by 12 % on average.',
      'Your trucks are certified by the EU and used by DHL.',
    ]
    await api.ok('draft/edit', { ...of(id), text: `Hello Jo,\n\n${lies.join(' ')}` })
    const refused = await approve(id)
    expect(refused.status).toBe(422)
    const codes = refused.body.errors.map(({ code }: { code: string }) => code)
    expect(codes).toEqual(['contradicted', 'contradicted', 'no_evidence'])
    expect(JSON.stringify(refused.body.errors)).toContain('used by DHL')
    const messages = refused.body.errors.map(({ message }: { message: string }) => message)
    expect(messages).toEqual([
      expect.stringMatching(/: the evidence says otherwise/),
      expect.stringMatching(/: the evidence says otherwise/),
      expect.stringMatching(/has no evidence/),
    ])
  })

  test('in the subject, the preheader, a headline and a button as well', async () => {
    const slots = {
      subject: 'We won.',
      preheader: 'You lost 12 trucks.',
      greeting: 'Hello {first_name}',
      paragraphs: ['You run 40 trucks.'],
      offer: { title: 'The best offer', points: ['Used by DHL'] },
      button: { label: 'Join 300 winners', url: 'https://rota.example' },
      closing: 'Kind regards',
    }
    const id = await create({ template: 'offer', slots, subject: 'We won.' })
    expect((await verdictsOf(id)).sort()).toEqual([
      'harmless: Hello {first_name}',
      'harmless: Kind regards',
      'supported: You run 40 trucks.',
      'unsure: Join 300 winners',
      'unsure: The best offer',
      'unsure: Used by DHL',
      'unsure: We won.',
      'unsure: You lost 12 trucks.',
    ])
  })
})

describe('whose evidence counts', () => {
  test('about the reader and about us, not about another lead', async () => {
    const other = await addLead()
    await know('Client exports to 12 countries.', other)
    const id = await mail('You run 40 trucks. You export to 12 countries.')
    expect(await verdictsOf(id)).toContain('supported: You run 40 trucks.')
    expect(await verdictsOf(id)).toContain('unsure: You export to 12 countries.')
    await know('Client exports to 12 countries.', lead_id)
    expect(await verdictsOf(id)).toContain('supported: You export to 12 countries.')
  })

  test('of a list only about us; a placeholder is judged for each reader', async () => {
    const tag = `list${count}`
    const [one, two] = [await addLead({ tags: [tag] }), await addLead({ tags: [tag] })]
    await know(`Client ${count - 1} runs 40 trucks.`, one)
    const id = await create({
      subject: 'Hello',
      audience: { kind: 'list', filter: { tag } },
      text: `Hello {first_name},\n\nyou run 40 trucks. {company} runs 40 trucks. ${FUEL}`,
    })
    expect(await verdictsOf(id)).toEqual([
      'harmless: Hello',
      'harmless: Hello {first_name},',
      'unsure: you run 40 trucks.',
      'unsure: {company} runs 40 trucks.',
      `supported: ${FUEL}`,
    ])
    expect(await find(id, '{company} runs 40 trucks.')).toMatchObject({
      fails: 1,
      fails_for: [{ lead_id: two, name: 'Jo Öz' }],
    })
    await know(`Client ${count} runs 40 trucks.`, two)
    expect(await find(id, '{company} runs 40 trucks.')).toMatchObject({
      verdict: 'supported',
      fails: 0,
    })
  })

  test('a fact that is deleted supports nothing, and voids what was approved', async () => {
    const { evidence } = await know('Client owns 9 depots.', lead_id)
    const id = await mail('You own 9 depots.')
    expect(await approve(id)).toMatchObject({ status: 200 })
    await api.ok('evidence/delete', { project: 'demir', id: evidence.id })
    expect(await api.post('draft/push', of(id))).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('The evidence of a sentence') },
    })
    expect((await get(id)).draft).toMatchObject({ state: 'rendered', approved_at: null })
    expect((await api.post('evidence/delete', { project: 'demir', id: evidence.id })).status).toBe(
      404,
    )
  })

  test('a fact about a lead of another project, or about nobody, is not added', async () => {
    await api.ok('projects/create', { slug: 'other', name: 'Other' }).catch(() => {})
    const given = { project: 'demir', fact: 'It is so.', source: 'x' }
    const wrong = await api.post('evidence/add', { ...given, lead_id: crypto.randomUUID() })
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ path: 'lead_id' }] } })
  })
})

describe('a person who stands for a sentence', () => {
  const CLAIM = 'You save two hours a day.'

  test('opens the gate for it alone; it is recorded, approved and shown', async () => {
    const id = await mail(`Hello Jo,\n\n${CLAIM} You sleep better.`)
    expect((await stand(id, CLAIM)).status).toBe(200)
    expect(await find(id, CLAIM)).toMatchObject({
      verdict: 'unsure',
      stand: { by: 'token', at: expect.stringMatching(/^20/) },
    })
    const refused = await approve(id)
    expect(refused).toMatchObject({ status: 422 })
    expect(refused.body.errors).toHaveLength(1)
    await stand(id, 'You sleep better.')
    expect(await approve(id)).toMatchObject({ status: 200 })
    const [{ approved } = { approved: null }] = await hub.query<{ approved: unknown }>(
      'select approved from hub.drafts where id = $1',
      [id],
    )
    expect(approved).toMatchObject({
      sentences: expect.arrayContaining([
        expect.objectContaining({
          sentence: CLAIM,
          stand: expect.objectContaining({ by: 'token' }),
        }),
      ]),
    })
    expect(await find(id, CLAIM)).toMatchObject({ stand: { by: 'token' } })
  })

  test('stands no longer when the sentence was changed, even back again', async () => {
    const id = await mail(`Hello Jo,\n\n${CLAIM}`)
    await stand(id, CLAIM)
    await api.ok('draft/edit', { ...of(id), text: 'Hello Jo,\n\nYou save 3 hours a day.' })
    expect(await find(id, 'You save 3 hours a day.')).toMatchObject({ stand: null })
    await api.ok('draft/edit', { ...of(id), text: `Hello Jo,\n\n${CLAIM}` })
    expect(await find(id, CLAIM)).toMatchObject({ stand: null })
  })

  test('nor for another reader, nor when the evidence says otherwise', async () => {
    const id = await mail('You own 7 depots.')
    await stand(id, 'You own 7 depots.')
    const other = await addLead()
    const before = (await get(id)).draft.audience
    await api.ok('draft/edit', { ...of(id), audience: { kind: 'lead', lead_id: other } })
    expect(await find(id, 'You own 7 depots.')).toMatchObject({ stand: null })
    await api.ok('draft/edit', { ...of(id), audience: before })
    await stand(id, 'You own 7 depots.')
    await know('Client owns 5 depots.', lead_id)
    expect(await find(id, 'You own 7 depots.')).toMatchObject({
      verdict: 'contradicted',
      stand: null,
    })
    await stand(id, 'You own 7 depots.')
    expect(await approve(id)).toMatchObject({ status: 200 })
  })

  test('can take it back, before the approval only', async () => {
    const id = await mail(`Hello Jo,\n\n${CLAIM}`)
    await stand(id, CLAIM)
    await stand(id, CLAIM, { stands: false })
    expect(await find(id, CLAIM)).toMatchObject({ stand: null })
    await stand(id, CLAIM)
    await approve(id)
    expect(await stand(id, CLAIM, { stands: false })).toMatchObject({
      status: 409,
      body: { code: 'wrong_state' },
    })
  })

  test('is needed for no sentence that is not there, or is proven', async () => {
    const id = await mail('Hello Jo,\n\nYou run 40 trucks.')
    for (const sentence of ['You run 41 trucks.', 'You run 40 trucks.', 'Hello Jo,']) {
      expect(await stand(id, sentence), sentence).toMatchObject({
        status: 422,
        body: { errors: [{ path: 'sentence', code: 'not_found' }] },
      })
    }
  })

  test('is part of what the admin has seen: another hash is refused', async () => {
    const id = await mail(`Hello Jo,\n\n${CLAIM}`)
    await api.ok('draft/render', of(id))
    const { hash } = await get(id)
    await standForAll(api, of(id))
    expect(await api.post('draft/approve', { ...of(id), hash })).toMatchObject({
      status: 409,
      body: { code: 'audience_changed' },
    })
  })
})

test('a model that was not measured gives a hint, once, and opens nothing', async () => {
  const sentence = 'Your fleet counts 40 trucks.'
  stub.script(() => ({ verdict: 'supported', evidence: 'E1', quote: '40 trucks' }))
  const id = await mail(`Hello Jo,\n\n${sentence}`)
  const asked = stub.asked.length
  const answer = await api.ok('draft/judge', of(id))
  expect(stub.asked.length).toBe(asked + 1)
  expect(answer.sentences.find((one: Judged) => one.sentence === sentence)).toMatchObject({
    verdict: 'unsure',
    hint: { verdict: 'supported', quote: '40 trucks' },
  })
  expect(await approve(id)).toMatchObject({ status: 422 })
  await api.ok('draft/edit', { ...of(id), text: `Hello Jo,\n\n${sentence} You sleep well.` })
  await api.ok('draft/judge', of(id))
  // Only the new sentence.
  expect(stub.asked.length).toBe(asked + 2)
  expect(stub.asked.at(-1)?.task).toContain('You sleep well.')
})
