import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'
import { ALWAYS, passDays, STEPS, sequenceCalls } from './sequence-help.ts'

let hub: TestHub
let smtp: MailServer
let api: ReturnType<typeof apiOf>
beforeAll(async () => {
  smtp = await startMailServer()
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
})
afterAll(async () => {
  await hub.close()
  await smtp.close()
})
beforeEach(async () => {
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
  smtp.to().length = 0
  smtp.mails.length = 0
})
const { of, get, add, create, approve, run, people, standForAll } = sequenceCalls(
  () => hub,
  () => api,
)
/** The gates of a sequence by name. */
const gatesOf = async (id: string): Promise<Record<string, object>> => {
  const { gates } = await get(id)
  return Object.fromEntries(gates.map((gate: { name: string }) => [gate.name, gate]))
}
let count = 0
/** A tag of its own with so many leads. */
async function group(names: string[]): Promise<{ tag: string; ids: string[] }> {
  count += 1
  const tag = `group${count}`
  const ids = []
  for (const name of names) ids.push((await add(`${name}${count}`, { tags: [tag] })).id)
  return { tag, ids }
}

test('three steps go days apart in one thread, each once', async () => {
  const { tag } = await group(['jo'])
  const id = await create({ tag })
  const started = await approve(id)
  expect(started.sequence).toMatchObject({ state: 'running', people: { active: 1 } })
  await run()
  expect(smtp.mails.map(({ subject }) => subject)).toEqual(['A question for Öz'])
  await run()
  expect(smtp.mails).toHaveLength(1)
  await passDays(hub, 2)
  await run()
  expect(smtp.mails).toHaveLength(1)
  await passDays(hub, 1)
  await run()
  expect(smtp.mails.map(({ subject }) => subject)).toEqual([
    'A question for Öz',
    'Re: A question for Öz',
  ])
  await passDays(hub, 4)
  await run()
  const [first, second, third] = smtp.mails
  expect(third?.subject).toBe('One more question')
  expect(second?.inReplyTo).toBe(first?.messageId)
  expect(second?.references).toBe(first?.messageId)
  expect(third?.inReplyTo).toBe(second?.messageId)
  expect(third?.references).toEqual([first?.messageId, second?.messageId])
  await passDays(hub, 30)
  await run()
  expect(smtp.mails).toHaveLength(3)
  const { sequence } = await get(id)
  expect(sequence).toMatchObject({ state: 'done', people: { active: 0, done: 1, stopped: 0 } })
})

test('a late hub sends one mail, and the others days later', async () => {
  const { tag } = await group(['late'])
  const id = await create({ tag })
  await approve(id)
  await run()
  await passDays(hub, 20)
  await run()
  await run()
  expect(smtp.mails).toHaveLength(2)
  await api.ok('sequence/stop', of(id))
})

test('nothing goes outside of the window', async () => {
  const { tag } = await group(['night'])
  const tomorrow = new Date(Date.now() + 86_400_000)
  const day = ALWAYS.days[(tomorrow.getUTCDay() + 6) % 7]
  const id = await create({ tag }, { window: { ...ALWAYS, days: [day] } })
  await approve(id)
  await run()
  expect(smtp.to()).toEqual([])
  const { recipients } = (await api.get(`sequences/recipients?id=${id}&project=demir`)).body
  expect(recipients[0].next_at.slice(0, 10)).toBe(tomorrow.toISOString().slice(0, 10))
  await passDays(hub, 1)
  // Its hours have come by the moved clock, and the mailer sends in them alone.
  await run()
  expect(smtp.to()).toEqual([`night${count}@client.example`])
  await api.ok('sequence/stop', of(id))
})

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
    const steps = [STEPS[0], { wait_days: 2, text: 'Hello,\n\nyou have 42 trucks.' }]
    const id = await create({ tag }, { steps })
    const refused = await api.post('sequence/approve', of(id))
    expect(refused.status).toBe(422)
    expect(refused.body.errors).toMatchObject([
      { path: 'steps.1.sentences.1', code: 'no_evidence' },
    ])
    await standForAll(id)
    const { sequence } = await get(id)
    const stand = (sentence: string, more: object = {}) =>
      api.post('sequence/stand', { ...of(id), step_id: sequence.steps[1].id, sentence, ...more })
    const claim = 'you have 42 trucks.'
    expect((await stand(claim, { stands: false })).status).toBe(200)
    expect((await api.post('sequence/approve', of(id))).status).toBe(422)
    expect((await stand(claim, { step_id: id })).body.errors).toMatchObject([{ path: 'step_id' }])
    for (const sentence of ['Nobody says this.', 'Hello,']) {
      expect((await stand(sentence)).body.errors, sentence).toMatchObject([{ path: 'sentence' }])
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
    const removed = await api.post('sequence/edit', { ...of(id), steps: steps.slice(1) })
    expect(removed.status).toBe(422)
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
    expect(smtp.to()).toEqual([`sender${count}@client.example`])
    await api.ok('sequence/stop', of(id))
  })

  test('leaves out who is in another running sequence, without a basis or a role address', async () => {
    const { tag, ids } = await group(['in'])
    const first = await create({ tag })
    await approve(first)
    await add('nobasis', { tags: [tag], lawful_basis: null })
    await add('role', { tags: [tag], email: `info@c${count}.example` })
    await add('free', { tags: [tag], email: `free@c${count}.example` })
    const second = await create({ tag })
    const gates = await gatesOf(second)
    const busy = '1 is in another running sequence and left out.'
    expect(gates.recipients).toMatchObject({ ok: true, detail: expect.stringContaining(busy) })
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
    const empty = await create({ tag: `in${count}` })
    expect((await gatesOf(empty)).recipients).toMatchObject({ ok: false, blocks: true })
    await api.ok('sequence/delete', of(empty))
    const blocked = await create({ lead_ids: ids })
    expect((await gatesOf(blocked)).recipients).toMatchObject({
      ...{ ok: false, blocks: true, detail: expect.stringContaining('Nobody is left.') },
    })
    expect(found[`in${count}`]).toMatchObject({ state: 'stopped', stop_reason: 'left_out' })
    expect(found.nobasis).toMatchObject({ state: 'stopped', stop_reason: 'left_out' })
    expect(found.info).toMatchObject({ state: 'stopped', stop_reason: 'left_out' })
    expect(found.free).toMatchObject({ state: 'active' })
    await run()
    expect(smtp.to().sort()).toEqual([`free@c${count}.example`, `in${count}@client.example`])
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
    expect(smtp.to()).toEqual([`both${count}@client.example`])
    for (const id of ids) await api.post('sequence/stop', of(id))
  })

  test('of a sequence without SMTP is refused, also with listmonk', async () => {
    const { tag } = await group(['listmonk'])
    const id = await create({ tag })
    const listmonk = { url: 'http://127.0.0.1:9', user: 'u', token: 't' }
    await api.put('settings/mail', { smtp: null, listmonk })
    const refused = await api.post('sequence/approve', of(id))
    expect(refused.status).not.toBe(200)
    const gate = (await get(id)).gates.find(({ name }: { name: string }) => name === 'transport')
    expect(gate).toMatchObject({ ok: false, blocks: true, detail: expect.stringContaining('SMTP') })
    await api.put('settings/mail', { listmonk: null })
  })
})

test('pausing holds everything, and a recipient can be taken out', async () => {
  const { tag } = await group(['out', 'stays'])
  const id = await create({ tag })
  await approve(id)
  const other = await create({ tag: (await group(['goes'])).tag })
  await approve(other)
  await api.ok('sequence/pause', of(id))
  await run()
  expect(smtp.to()).toEqual([`goes${count}@client.example`])
  await api.ok('sequence/stop', of(other))
  count -= 1
  smtp.to().length = 0
  const nobody = await api.post('sequence/take_out', { ...of(id), email: 'x@client.example' })
  expect(nobody.status).toBe(404)
  await api.ok('sequence/take_out', { ...of(id), email: `out${count}@client.example` })
  await api.ok('sequence/resume', of(id))
  await run()
  expect(smtp.to()).toEqual([`stays${count}@client.example`])
  expect((await people(id))[`out${count}`]).toMatchObject({ stop_reason: 'taken_out' })
  expect((await api.post('sequence/delete', of(id))).status).toBe(409)
  await api.ok('sequence/stop', of(id))
  await passDays(hub, 9)
  await run()
  expect(smtp.to()).toHaveLength(1)
  count += 1
  const { body } = await api.post('sequence/delete', of(id))
  expect(body.detail).toContain('whose mails have gone is kept')
  const unsent = await create({ tag })
  await api.ok('sequence/delete', of(unsent))
  expect((await get(unsent)).status).toBe(404)
  expect((await get(id)).sequence.state).toBe('stopped')
})

test('a mail that may have gone waits for a decision, and one that failed ends it for its reader', async () => {
  const { tag } = await group(['may', 'no', 'plain'])
  const id = await create({ tag })
  await approve(id)
  await run()
  smtp.to().length = 0
  const become = (name: string, state: string) =>
    hub.query(
      `update hub.recipients set state = $2, sent_at = null where email = $1 and state = 'sent'`,
      [`${name}${count}@client.example`, state],
    )
  await become('may', 'unclear')
  await become('no', 'failed')
  await run()
  expect(smtp.to()).toEqual([])
  const { [`no${count}`]: failed, [`may${count}`]: unclear } = await people(id)
  expect(failed).toMatchObject({ state: 'stopped', stop_reason: 'failed' })
  expect([unclear.state, unclear.mails[0].state]).toEqual(['active', 'unclear'])
  expect((await gatesOf(id)).unclear).toMatchObject({
    ...{ ok: false, blocks: false, detail: expect.stringMatching(/^1 mails are unclear/) },
  })
  const decide = (outcome: string, name = 'may') =>
    api.post('sequence/clear', { ...of(id), outcome, email: `${name}${count}@client.example` })
  expect((await decide('sent', 'plain')).status).toBe(404)
  expect((await decide('not_sent')).status).toBe(200)
  await run()
  expect(smtp.to()).toEqual([`may${count}@client.example`])
  await become('may', 'unclear')
  expect((await decide('sent')).status).toBe(200)
  await passDays(hub, 3)
  await run()
  expect(smtp.to().sort()).toEqual(
    ['may', 'may', 'plain'].map((name) => `${name}${count}@client.example`),
  )
  await api.ok('sequence/stop', of(id))
})

test('the daily limit is shared by all mail, and the rest goes on the next day', async () => {
  const { tag } = await group(['x', 'y', 'z'])
  const id = await create({ tag })
  await passDays(hub, 40)
  await approve(id)
  await api.put('settings/mail', { daily_cap: 2 })
  await run()
  expect(smtp.to()).toHaveLength(2)
  await passDays(hub, 1)
  await run()
  expect(smtp.to()).toHaveLength(3)
  // The days between two mails are those since a recipient's own last one.
  await api.put('settings/mail', { daily_cap: 100 })
  await passDays(hub, 2)
  await run()
  expect(smtp.to()).toHaveLength(5)
  await passDays(hub, 1)
  await run()
  expect(smtp.to()).toHaveLength(6)
  await api.ok('sequence/stop', of(id))
})

test.each(['Time Zone', 'timezone', 'TIME_ZONE', 'Saat dilimi', ' zaman dilimi ', 'Zeitzone'])(
  'the column "%s" of a list says the time zone of a lead',
  async (column) => {
    const { tag, ids } = await group(['zone'])
    await hub.query(
      `insert into hub.evidence (project_id, lead_id, fact, source, import_column)
       select project_id, id, $2 || ': Asia/Tokyo', 'list.csv', $2 from hub.leads where id = $1`,
      [ids[0], column],
    )
    const id = await create({ tag })
    const { recipient } = (await api.get(`sequences/preview?id=${id}&project=demir`)).body
    expect(recipient).toMatchObject({ time_zones: ['Asia/Tokyo'], zone_source: 'lead' })
    await api.ok('sequence/delete', of(id))
  },
)

test('a step is no draft: the routes of drafts do not know it', async () => {
  const { tag } = await group(['step'])
  const id = await create({ tag })
  const { sequence } = await get(id)
  const step = sequence.steps[0].id
  expect((await api.get(`drafts/get?id=${step}&project=demir`)).status).toBe(404)
  expect((await api.post('draft/edit', { ...of(step), text: 'x' })).status).toBe(404)
  const { drafts } = (await api.get('drafts/list?project=demir')).body
  expect(drafts).toEqual([])
})

test('the preview shows each step as the recipient gets it, and when', async () => {
  const { tag } = await group(['pre'])
  const id = await create({ tag })
  const shown = (await api.get(`sequences/preview?id=${id}&project=demir`)).body
  expect(shown.mails.map(({ subject }: { subject: string }) => subject)).toEqual([
    'A question for Öz',
    'Re: A question for Öz',
    'One more question',
  ])
  expect(shown.mails[0].text).toContain(`Hello pre${count}`)
  const days = shown.mails.map(({ at }: { at: string }) => Date.parse(`${at.slice(0, 10)}T00:00Z`))
  expect(days.map((at: number) => (at - days[0]) / 86_400_000)).toEqual([0, 3, 7])
})
