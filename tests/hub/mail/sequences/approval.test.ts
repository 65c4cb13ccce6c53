import { beforeEach, describe, expect, test } from 'vitest'
import { setBrand, smtpSettings } from '../../support/mail-help.ts'
import { ALWAYS, api, hub, passDays, STEPS, smtp, useSequences } from './sequence-help.ts'

beforeEach(async () => {
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
  smtp.to().length = 0
  smtp.mails.length = 0
})
const { counter, of, get, add, create, approve, run, people, standForAll, group, gatesOf } =
  useSequences()

/** Other words for the steps that a sequence has. */
const inPlace = (sequence: { steps: { id: string }[] }, steps: object[]) =>
  steps.map((step, at) => ({ ...step, id: sequence.steps[at]?.id }))

describe('the approval', () => {
  test('covers what was shown and nothing else', async () => {
    const { tag, ids } = await group(['a', 'b'])
    const id = await create({ tag })
    await approve(id)
    await api.ok('sequence/edit', { ...of(id), name: 'Renamed' })
    const { hash, sequence } = await get(id)
    expect(sequence).toMatchObject({ state: 'draft' })
    await api.ok('lead/update', { lead_id: ids[0], company: 'Another' })
    const refused = await api.post('sequence/approve', { ...of(id), hash })
    expect(refused).toMatchObject({ status: 409, body: { code: 'audience_changed' } })
    const steps = STEPS.map((step, at) => ({ ...step, wait_days: at * 5 }))
    const changes: [string, () => Promise<unknown>][] = [
      ['a time zone', () => api.ok('lead/update', { lead_id: ids[0], country: 'Japan' })],
      ['hours', () => api.ok('sequence/edit', { ...of(id), window: { ...ALWAYS, to: '23:00' } })],
      [
        'days between',
        () => api.ok('sequence/edit', { ...of(id), steps: inPlace(sequence, steps) }),
      ],
      ['where answers go', () => setBrand(api, { reply_to: 'sales@demir.example' })],
    ]
    for (const [what, change] of changes) {
      const seen = (await get(id)).hash
      await change()
      const { status } = await api.post('sequence/approve', { ...of(id), hash: seen })
      expect(status, what).toBe(409)
    }
    await setBrand(api, { reply_to: null })
    const again = (await get(id)).hash
    expect((await api.post('sequence/approve', { ...of(id), hash: again })).status).toBe(200)
    await api.ok('sequence/stop', of(id))
  })

  test('waits for every sentence of every step', async () => {
    const { tag } = await group(['gate'])
    const steps = [
      STEPS[0],
      { wait_days: 2, text: 'Hello,\n\nyou have 42 trucks.\n\nyou have 3 depots.' },
    ]
    const id = await create({ tag }, { steps })
    const refused = await api.post('sequence/approve', of(id))
    expect(refused.status).toBe(422)
    expect(refused.body.errors).toMatchObject([
      { path: 'steps.1.sentences.1', code: 'no_evidence' },
      { path: 'steps.1.sentences.2', code: 'no_evidence' },
    ])
    await standForAll(id)
    const { sequence } = await get(id)
    const stand = (sentence: string, more: object = {}) =>
      api.post('sequence/stand', { ...of(id), step_id: sequence.steps[1].id, sentence, ...more })
    const claim = 'you have 42 trucks.'
    expect((await stand(claim, { stands: false })).status).toBe(200)
    const taken_back = await api.post('sequence/approve', of(id))
    expect(taken_back.body.errors).toMatchObject([{ path: 'steps.1.sentences.1' }])
    const unknown = (path: string) => [{ path, code: 'not_found' }]
    const elsewhere = await stand(claim, { step_id: id })
    expect(elsewhere.body.errors).toMatchObject(unknown('step_id'))
    for (const sentence of ['Nobody says this.', 'Hello,']) {
      expect((await stand(sentence)).body.errors, sentence).toMatchObject(unknown('sentence'))
    }
    await approve(id)
    expect((await stand(claim)).status).toBe(409)
    await api.ok('sequence/stop', of(id))
  })

  test('is void after an edit of any step, and nobody gets a mail twice', async () => {
    const { tag, ids } = await group(['once'])
    const id = await create({ tag })
    await approve(id)
    await run()
    const { sequence } = await get(id)
    const steps = sequence.steps.map(
      ({ id, wait_days, subject, text }: (typeof STEPS)[number] & { id: string }) => ({
        id,
        wait_days,
        subject,
        text,
      }),
    )
    steps[1].text = 'Hello {first_name},\n\nmay I call you?'
    const edited = await api.ok('sequence/edit', { ...of(id), steps })
    expect(edited.sequence).toMatchObject({ state: 'draft', approved_at: null })
    // Who is in it stays in it, whatever its filter finds now.
    await api.ok('lead/update', { lead_id: ids[0], tags: [] })
    await passDays(hub, 3)
    await run()
    expect(smtp.mails).toHaveLength(1)
    await approve(id)
    await run()
    expect(smtp.mails).toHaveLength(2)
    expect(smtp.mails[1]?.text).toContain('may I call you?')
    // What somebody has had stays, in its place.
    const [first, second, third] = steps
    const asFirst = { ...second, subject: 'Another', wait_days: 0 }
    for (const [kept, path] of [
      [[asFirst, third], 'steps.0'],
      [[first], 'steps.1'],
      [[first, third], 'steps.1'],
    ] as const) {
      const { body } = await api.post('sequence/edit', { ...of(id), steps: kept })
      expect(body.errors).toMatchObject([{ path, code: 'was_sent' }])
    }
    await api.ok('sequence/stop', of(id))
  })

  test('is void when the sender changes', async () => {
    const { tag } = await group(['sender'])
    const id = await create({ tag })
    for (const change of [
      { reply_to: 'sales@demir.example' },
      { sender_name: 'Can' },
      { sender_name: 'Can', sender_email: 'can@demir.example' },
    ]) {
      await approve(id)
      await setBrand(api, change)
      await run()
      expect(smtp.to()).toEqual([])
      expect((await get(id)).sequence).toMatchObject({ state: 'draft' })
    }
    await approve(id)
    await run()
    expect(smtp.to()).toEqual([`sender${counter.n}@client.example`])
    await api.ok('sequence/stop', of(id))
  })

  test('leaves out who is in another running sequence, without a basis or a role address', async () => {
    const { tag, ids } = await group(['in'])
    const first = await create({ tag })
    await approve(first)
    await add('nobasis', { tags: [tag], lawful_basis: null })
    await add('role', { tags: [tag], email: `info@c${counter.n}.example` })
    await add('free', { tags: [tag], email: `free@c${counter.n}.example` })
    const second = await create({ tag })
    const gates = await gatesOf(second)
    expect(gates.recipients).toMatchObject({
      ok: true,
      detail: `1 of 4 people will get it. In the running sequence “Three questions” and left out: in${counter.n} Öz.`,
    })
    const { recipients: counted } = await get(second)
    expect(counted).toMatchObject({ total: 4, will_get_it: 1 })
    expect(counted.left_out).toContainEqual({
      reason: 'is in the running sequence “Three questions”',
      count: 1,
    })
    expect(gates.unclear).toMatchObject({ ok: true, detail: 'No mail is unclear.' })
    expect(gates.replies_read).toMatchObject({ ok: false, blocks: false })
    await approve(second)
    const found = await people(second)
    const page = async (more: string) =>
      (await api.get(`sequences/recipients?id=${second}&project=demir&limit=2${more}`)).body
    const started = await page('&state=active')
    expect(started.recipients.map(({ name }: { name: string }) => name)).toEqual(['free Öz'])
    expect(started.next_cursor).toBeNull()
    const { recipients, next_cursor } = await page('')
    const rest = await page(`&cursor=${next_cursor}`)
    const emails = [...recipients, ...rest.recipients].map(({ email }: { email: string }) => email)
    expect(emails).toEqual(Object.values(found).map(({ email }) => email))
    expect(emails).toHaveLength(4)
    const empty = await create({ tag: `in${counter.n}` })
    expect((await gatesOf(empty)).recipients).toMatchObject({ ok: false, blocks: true })
    await api.ok('sequence/delete', of(empty))
    const blocked = await create({ lead_ids: ids })
    expect((await gatesOf(blocked)).recipients).toMatchObject({
      ...{ ok: false, blocks: true, detail: expect.stringContaining('Nobody is left.') },
    })
    expect(found[`in${counter.n}`]).toMatchObject({ state: 'stopped', stop_reason: 'left_out' })
    expect(found.nobasis).toMatchObject({ state: 'stopped', stop_reason: 'left_out' })
    expect(found.info).toMatchObject({ state: 'stopped', stop_reason: 'left_out' })
    expect(found.free).toMatchObject({ state: 'active' })
    await run()
    expect(smtp.to().sort()).toEqual([
      `free@c${counter.n}.example`,
      `in${counter.n}@client.example`,
    ])
    await api.ok('sequence/take_out', { ...of(second), email: `free@c${counter.n}.example` })
    expect((await gatesOf(second)).recipients).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^0 of 4 .* In this sequence before and left out: free Öz\./),
    })
    await api.ok('sequence/stop', of(first))
    await api.ok('sequence/stop', of(second))
  })

  test('takes somebody into one of two sequences that are approved at once', async () => {
    const { tag } = await group(['both'])
    const ids = [await create({ tag }), await create({ tag })]
    for (const id of ids) await standForAll(id)
    const answers = await Promise.all(ids.map((id) => api.post('sequence/approve', of(id))))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    await run()
    expect(smtp.to()).toEqual([`both${counter.n}@client.example`])
    // Who is in no running sequence any more is free for the next.
    const other = ids[answers.findIndex(({ status }) => status === 409)] ?? ''
    for (const id of ids) if (id !== other) await api.ok('sequence/stop', of(id))
    await api.ok('sequence/approve', of(other))
    await api.ok('sequence/stop', of(other))
  })

  test('of a sequence without SMTP is refused, also with listmonk; that of a running one is void', async () => {
    const running = await create({ tag: (await group(['runs'])).tag })
    await approve(running)
    const { tag } = await group(['listmonk'])
    const id = await create({ tag })
    const listmonk = { url: 'http://127.0.0.1:9', user: 'u', token: 't' }
    await api.put('settings/mail', { smtp: null, listmonk })
    await run()
    expect((await get(running)).sequence).toMatchObject({ state: 'draft', approved_at: null })
    const refused = await api.post('sequence/approve', of(id))
    expect(refused.status).not.toBe(200)
    const gate = (await get(id)).gates.find(({ name }: { name: string }) => name === 'transport')
    expect(gate).toMatchObject({ ok: false, blocks: true, detail: expect.stringContaining('SMTP') })
    await api.put('settings/mail', { listmonk: null })
  })
})
