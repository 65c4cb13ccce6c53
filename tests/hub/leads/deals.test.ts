import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { importCalls } from '../support/import-calls.ts'
import { leadCalls } from '../support/lead-calls.ts'

let hub: TestHub
const { get, post, add } = leadCalls(() => hub)
const { bring, leadsOf } = importCalls(() => hub)
const put = async (path: string, body: object) => {
  const answer = await hub.call('PUT', path, body)
  return { status: answer.status, body: await answer.json() }
}
beforeAll(async () => {
  hub = await startHub({ start: true })
  expect((await post('projects/create', { slug: 'demir', name: 'Demir' })).status).toBe(201)
})
afterAll(() => hub.close())

describe('a deal', () => {
  test('needs the currency of its amount, one that is in use, and no reason while it is open', async () => {
    const refused = async (data: object) => {
      const { status, body } = await post('lead/quick_add', { slug: 'demir', data })
      expect(status).toBe(422)
      return body.errors.map(({ path, code }: Record<string, string>) => `${path} ${code}`)
    }
    expect(await refused({ name: 'A', amount: 10 })).toEqual(['currency required'])
    const old = { name: 'A', amount: 10, currency: 'DEM' }
    expect(await refused(old)).toEqual(['data.currency custom'])
    const less = { name: 'A', amount: -1, currency: 'EUR' }
    expect(await refused(less)).toEqual(['data.amount too_small'])
    for (const stage of ['new', 'proposal']) {
      const open = { name: 'A', stage, outcome_reason: 'Price', outcome_note: 'Too dear' }
      expect(await refused(open)).toEqual(['outcome_reason not_closed', 'outcome_note not_closed'])
    }
  })

  test('is summed by stage and by currency, weighted where the stage has a probability', async () => {
    const deals = [
      ['proposal', 1000.1, 'EUR'],
      ['proposal', 2000.2, 'eur'],
      ['proposal', 50_000, 'TRY'],
      ['proposal', null, null],
      ['proposal', null, null],
      ['meeting', 700, 'USD'],
    ] as const
    for (const [at, [stage, amount, currency]] of deals.entries()) {
      await add({ name: `Sum ${at}`, stage, amount, currency, tags: ['sum'] })
    }
    const set = await put('deals/settings', {
      project: 'demir',
      probabilities: { proposal: 40 },
      lost_reasons: ['Price', 'No need'],
    })
    expect(set.body.settings).toEqual({
      probabilities: { proposal: 40 },
      won_reasons: [],
      lost_reasons: ['Price', 'No need'],
    })
    const { stages } = (await get('deals/sums?project=demir')).body
    const at = (stage: string) => stages.find((one: { stage: string }) => one.stage === stage)
    expect(at('proposal')).toEqual({
      stage: 'proposal',
      leads: 5,
      without_amount: 2,
      sums: [
        { currency: 'TRY', amount: 50_000, weighted: 20_000 },
        { currency: 'EUR', amount: 3000.3, weighted: 1200.12 },
      ],
    })
    expect(at('meeting').sums).toEqual([{ currency: 'USD', amount: 700, weighted: null }])
    expect(at('won')).toEqual({ stage: 'won', leads: 0, without_amount: 0, sums: [] })
  })

  test('is lost with a reason, and reopening clears it and keeps it in the timeline', async () => {
    const { id } = await add({ name: 'Closing', stage: 'proposal', amount: 5, currency: 'EUR' })
    const update = async (change: object) =>
      (await post('lead/update', { lead_id: id, ...change })).body.lead
    const lost = await update({ stage: 'lost', outcome_reason: 'Price', outcome_note: 'Too dear' })
    expect(lost).toMatchObject({ stage: 'lost', outcome_reason: 'Price', outcome_note: 'Too dear' })
    expect(lost.closed_at).toMatch(/Z$/)
    await post('leads/bulk', { project: 'demir', ids: [id], stage: 'won' })
    const won = (await get(`lead/get?lead_id=${id}`)).body.lead
    expect(won).toMatchObject({ stage: 'won', outcome_reason: null, outcome_note: null })
    expect(won.closed_at).not.toBeNull()
    await update({ outcome_reason: 'Price', outcome_note: 'Too dear' })
    const again = { stage: 'lost', outcome_reason: 'Price', outcome_note: 'Too dear' }
    expect(await update(again)).toMatchObject(again)
    const open = await update({ stage: 'meeting' })
    expect(open).toMatchObject({ stage: 'meeting', closed_at: null, amount: 5 })
    const { activities } = (await get(`lead/timeline?lead_id=${id}`)).body
    expect(activities.at(-2).details).toEqual({ from: 'proposal', to: 'lost', reason: 'Price' })
  })

  test('that is open with a reason, as old imports left some, can be edited in all else', async () => {
    const { id } = await add({ name: 'Old import', stage: 'proposal' })
    await hub.query("update hub.leads set outcome_reason = 'Price' where id = $1", [id])
    const update = (change: object) => post('lead/update', { lead_id: id, ...change })
    expect(await update({ title: 'Head' })).toMatchObject({ status: 200 })
    expect(
      (await post('leads/bulk', { project: 'demir', ids: [id], add_tags: ['a'] })).status,
    ).toBe(200)
    expect(await update({ outcome_reason: 'Size' })).toMatchObject({ status: 422 })
    const { body } = await update({ outcome_reason: null })
    expect(body.lead).toMatchObject({ title: 'Head', tags: ['a'], outcome_reason: null })
  })

  test('comes from a list without a reason while it is open, so that it can be edited', async () => {
    const csv = [
      'Name,Email,Stage,Lost reason',
      'Open,open@list.example,Proposal,Price',
      'None,none@list.example,,Price',
      'Lost,lost@list.example,lost,Price',
      'Again,again@list.example,lost,Price',
      'Again,again@list.example,meeting,',
    ]
    const done = await bring(csv.join('\n'), { project: 'demir', duplicates: 'update' })
    expect(done).toMatchObject({ created: 2, merged: 1, refused: 2 })
    const message = 'A reason belongs to a lead whose stage is won or lost.'
    expect(done.mistakes).toEqual([
      { row: 2, column: 'Lost reason', message },
      { row: 3, column: 'Lost reason', message },
    ])
    const listed = await leadsOf('demir', '&q=list.example')
    expect(listed).toMatchObject([
      { name: 'Lost', stage: 'lost', outcome_reason: 'Price' },
      { name: 'Again', stage: 'meeting', outcome_reason: null },
    ])
    for (const { id } of listed) {
      expect((await post('lead/update', { lead_id: id, title: 'Head' })).status).toBe(200)
    }
  })
})

describe('fields of a project’s own', () => {
  const FIELDS = [
    { key: 'fleet', label: 'Fleet size', kind: 'number', choices: [] },
    { key: 'tier', label: 'Tier', kind: 'choice', choices: ['Gold', 'Silver'] },
    { key: 'since', label: 'Customer since', kind: 'date', choices: [] },
    { key: 'vip', label: 'VIP', kind: 'yes_no', choices: [] },
  ]
  test('take values of their kind, which filter, export, import and facts have', async () => {
    expect((await put('leads/fields', { project: 'demir', fields: FIELDS })).body.fields).toEqual(
      FIELDS,
    )
    const wrong = await post('lead/quick_add', {
      slug: 'demir',
      data: { name: 'X', custom: { fleet: 'many', tier: 'Tin', since: '1.1.2020', no: 1 } },
    })
    expect(wrong.status).toBe(422)
    expect(wrong.body.errors).toMatchObject(
      ['fleet', 'tier', 'since', 'no'].map((key) => ({ path: `custom.${key}`, code: 'invalid' })),
    )
    const { id } = await add({ name: 'Own', tags: ['own'], custom: { fleet: 40, vip: true } })
    await post('lead/update', { lead_id: id, custom: { tier: 'Gold', vip: null } })
    const { lead } = (await get(`lead/get?lead_id=${id}`)).body
    expect(lead.custom).toEqual({ fleet: 40, tier: 'Gold' })
    expect(lead.evidence.map(({ fact }: { fact: string }) => fact).toSorted()).toEqual([
      'Fleet size: 40',
      'Tier: Gold',
    ])
    const found = async (query: string) =>
      (await get(`leads/list?project=demir&${query}`)).body.leads.map(
        ({ name }: { name: string }) => name,
      )
    expect(await found('field=tier&value=gold')).toEqual(['Own'])
    expect(await found('field=tier&value=silver')).toEqual([])
    const csv = await (await hub.call('GET', 'leads/export?project=demir&tag=own')).text()
    expect(csv).toContain('"created_at","Fleet size","Tier","Customer since","VIP"')
    await bring(
      'Name,Fleet size,Tier,Customer since,VIP,Amount,Currency\nImported,"1.200",silver,01.03.2026,evet,"1.250,50",€',
      { project: 'demir' },
    )
    const [imported] = await leadsOf('demir', '&q=Imported')
    expect(imported).toMatchObject({
      custom: { fleet: 1200, tier: 'Silver', since: '2026-03-01', vip: true },
      amount: 1250.5,
      currency: 'EUR',
    })
    const failed = await bring('Name,Tier,Amount\nBad,Tin,\nWorse,,12', { project: 'demir' })
    expect(failed.mistakes.map(({ column }: { column: string }) => column)).toEqual([
      'Tier',
      'Amount',
    ])
  })

  test.each([
    ['update', 'gold', { merged: 0, skipped: 1 }, 'Gold'],
    ['merge', 'silver', { merged: 0, skipped: 1 }, 'Gold'],
    ['update', 'silver', { merged: 1, skipped: 0 }, 'Silver'],
    ['update', '', { merged: 0, skipped: 1 }, 'Silver'],
  ])(
    'of a lead that is known, by a list that may %s: %s',
    async (duplicates, cell, counts, tier) => {
      const [known] = await leadsOf('demir', '&q=same@own.example')
      if (!known) await add({ name: 'Same', email: 'same@own.example', custom: { tier: 'Gold' } })
      const csv = `Name,Email,Tier\nSame,same@own.example,${cell}`
      expect(await bring(csv, { project: 'demir', duplicates })).toMatchObject(counts)
      const [lead] = await leadsOf('demir', '&q=same@own.example')
      expect(lead.custom).toEqual({ tier })
    },
  )

  test('keep their values: neither a short list nor another kind takes them away', async () => {
    const without = await put('leads/fields', { project: 'demir', fields: FIELDS.slice(1) })
    expect([without.status, without.body.detail]).toEqual([409, expect.stringContaining('Fleet')])
    const other = FIELDS.map((one) => (one.key === 'fleet' ? { ...one, kind: 'text' } : one))
    expect((await put('leads/fields', { project: 'demir', fields: other })).status).toBe(409)
    const fewer = FIELDS.map((one) => (one.key === 'tier' ? { ...one, choices: ['Tin'] } : one))
    expect((await put('leads/fields', { project: 'demir', fields: fewer })).status).toBe(409)
    const renamed = FIELDS.map((one) => (one.key === 'fleet' ? { ...one, label: 'Trucks' } : one))
    expect((await put('leads/fields', { project: 'demir', fields: renamed })).status).toBe(200)
    const facts = await hub.query("select fact from hub.evidence where fact like 'Trucks: %'")
    expect(facts).toHaveLength(2)
    const remove = (label: string) =>
      post('leads/fields/remove', { project: 'demir', key: 'fleet', label })
    const unlike = await remove('Fleet')
    expect(unlike.status).toBe(422)
    expect(unlike.body.errors).toMatchObject([{ path: 'label', code: 'mismatch' }])
    expect((await remove('Trucks')).body.values).toBe(2)
    expect(await hub.query("select from hub.leads where custom ? 'fleet'")).toEqual([])
    expect(await hub.query("select from hub.evidence where field_key = 'fleet'")).toEqual([])
    const none = await remove('Trucks')
    expect([none.status, none.body.detail]).toEqual([404, 'There is no such field.'])
  })

  test('are listed in their order, of the active project where none is named', async () => {
    const [tier, since, vip] = FIELDS.slice(1)
    const fields = [vip, tier, { ...since, choices: ['Of another kind'] }]
    const stored = [vip, tier, since]
    const set = await put('leads/fields', { project: 'demir', fields })
    expect(set.body.fields).toEqual(stored)
    for (const path of ['leads/fields', 'leads/fields?project=demir']) {
      expect((await get(path)).body).toEqual({ fields: stored })
    }
    expect((await get('leads/fields?project=nobody')).status).toBe(404)
  })

  test.each([
    [[{ key: 'first_name' }], '0.key', '“first_name” already has a meaning'],
    [[{ key: 'unsubscribe_url' }], '0.key', '“unsubscribe_url” already has a meaning'],
    [[{ key: 'a' }, { key: 'a', label: 'B' }], '1.key', '“a” is in the list twice'],
    [[{ label: 'Işık' }, { key: 'b', label: 'IŞIK' }], '1.label', '“IŞIK” is in the list twice'],
    [[{ kind: 'choice' }], '0.choices', 'at least one value'],
  ])('%j are refused at %s: %s', async (given, path, message) => {
    const fields = given.map((one) => ({ key: 'a', label: 'A', kind: 'text', choices: [], ...one }))
    const { status, body } = await put('leads/fields', { project: 'demir', fields })
    expect(status).toBe(422)
    expect(body.errors).toEqual([
      { path: `fields.${path}`, code: 'unusable', message: expect.stringContaining(message) },
    ])
  })
})

describe('the lawful basis of many leads', () => {
  test('needs a note for a legitimate interest, and overwrites another one only when told to', async () => {
    const one = await add({ name: 'B1', tags: ['basis'] })
    const two = await add({ name: 'B2', tags: ['basis'], lawful_basis: 'consent' })
    const set = (more: object) =>
      post('leads/lawful_basis', {
        project: 'demir',
        filter: { tag: 'basis' },
        lawful_basis: 'legitimate_interest',
        ...more,
      })
    const without = await set({})
    expect(without.status).toBe(422)
    expect(without.body.errors).toMatchObject([{ path: 'note', code: 'required' }])
    const given = { note: 'We sell what they buy', source: 'fair 2026', on: '2026-03-01' }
    const first = await set(given)
    expect(first.body, JSON.stringify(hub.lines.at(-1))).toEqual({
      changed: 1,
      unchanged: 0,
      kept: 1,
      missing: [],
    })
    const read = async ({ id }: { id: string }) => (await get(`lead/get?lead_id=${id}`)).body.lead
    expect(await read(one)).toMatchObject({
      lawful_basis: 'legitimate_interest',
      basis_note: given.note,
      basis_source: given.source,
      basis_on: given.on,
    })
    expect(await read(two)).toMatchObject({ lawful_basis: 'consent', basis_note: null })
    expect((await set({ ...given, overwrite: true })).body).toMatchObject({
      changed: 1,
      unchanged: 1,
    })
    expect(await read(two)).toMatchObject({ lawful_basis: 'legitimate_interest' })
    const { activities } = (await get(`lead/timeline?lead_id=${two.id}`)).body
    expect(activities[0].details).toEqual({
      fields: ['lawful_basis'],
      basis: { from: 'consent', to: 'legitimate_interest' },
    })
    expect((await set({ ...given, ids: [one.id] })).status).toBe(422)
  })

  test('of chosen leads: any other needs no note, and what is not given is cleared', async () => {
    const lead = await add({ name: 'B3' })
    const stranger = crypto.randomUUID()
    const ids = [lead.id, stranger]
    const set = (more: object) =>
      post('leads/lawful_basis', { project: 'demir', lawful_basis: 'consent', ...more })
    const none = { changed: 0, unchanged: 0, kept: 0, missing: [stranger] }
    const given = { note: 'Signed', source: 'fair', on: '2026-03-01' }
    expect((await set({ ids, ...given })).body).toEqual({ ...none, changed: 1 })
    expect((await set({ ids, ...given })).body).toEqual({ ...none, unchanged: 1 })
    const cleared = await set({ ids, overwrite: true, note: '', source: '' })
    expect(cleared.body).toEqual({ ...none, changed: 1 })
    expect((await get(`lead/get?lead_id=${lead.id}`)).body.lead).toMatchObject({
      lawful_basis: 'consent',
      basis_note: null,
      basis_source: null,
      basis_on: null,
    })
    for (const wrong of [{}, { ids, filter: {} }, { ids: [] }]) {
      const { status, body } = await set(wrong)
      expect([status, body.errors[0].path]).toEqual([422, 'ids'])
    }
    expect((await set({ ids, lawful_basis: 'legitimate_interest', note: ' ' })).status).toBe(422)
  })

  test('gives the same basis another note, and names leads that are not there once', async () => {
    const had = { lawful_basis: 'contract', basis_note: 'Signed in May' }
    const [same, other] = [
      await add({ name: 'C1', ...had }),
      await add({ name: 'C2', lawful_basis: 'consent' }),
    ]
    const gone = '00000000-0000-4000-8000-000000000000'
    const set = async (note: string) => {
      const ids = [same.id, gone, other.id, gone]
      const given = { project: 'demir', ids, lawful_basis: 'contract', note }
      return (await post('leads/lawful_basis', given)).body
    }
    const kept = { kept: 1, missing: [gone] }
    expect(await set('Signed in May')).toEqual({ changed: 0, unchanged: 1, ...kept })
    expect(await set('Signed in June')).toEqual({ changed: 1, unchanged: 0, ...kept })
    const { lead } = (await get(`lead/get?lead_id=${same.id}`)).body
    expect(lead).toMatchObject({ lawful_basis: 'contract', basis_note: 'Signed in June' })
  })

  test('keeps what is on record of the same basis, unless it is overwritten', async () => {
    const record = { basis_note: 'Form 7', basis_source: 'site', basis_on: '2026-02-03' }
    const { id } = await add({ name: 'D1', lawful_basis: 'consent', ...record })
    const set = async (more: object) => {
      const given = { project: 'demir', ids: [id], lawful_basis: 'consent', ...more }
      const { body } = await post('leads/lawful_basis', given)
      return [body, (await get(`lead/get?lead_id=${id}`)).body.lead]
    }
    const none = { changed: 0, unchanged: 0, kept: 0, missing: [] }
    expect(await set({})).toMatchObject([{ ...none, unchanged: 1 }, record])
    const fair = { basis_source: 'fair' }
    expect(await set({ source: 'fair' })).toMatchObject([
      { ...none, changed: 1 },
      { ...record, ...fair },
    ])
    const empty = { basis_note: null, basis_source: 'fair', basis_on: null }
    expect(await set({ source: 'fair', overwrite: true })).toMatchObject([
      { ...none, changed: 1 },
      empty,
    ])
  })
})
