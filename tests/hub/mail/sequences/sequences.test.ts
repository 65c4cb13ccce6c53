import { beforeEach, describe, expect, test } from 'vitest'
import { setBrand, smtpSettings } from '../../support/mail-help.ts'
import { ALWAYS, api, hub, passDays, smtp, useSequences } from './sequence-help.ts'

beforeEach(async () => {
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
  smtp.to().length = 0
  smtp.mails.length = 0
})
const { counter, of, get, create, approve, run, people, group, gatesOf, add } = useSequences()

test('a sequence without a language has that of its recipients', async () => {
  await add('ayla', { tags: ['turks'], country: 'Türkiye' })
  await add('bora', { tags: ['turks', 'both'], language: 'tr' })
  await add('carl', { tags: ['both'], country: 'Germany' })
  const languageOf = async (tag: string, more: object = {}) =>
    (await get(await create({ tag }, more))).sequence.language
  expect(await languageOf('turks')).toBe('tr')
  expect(await languageOf('both')).toBe('en')
  expect(await languageOf('turks', { language: 'en' })).toBe('en')
})

describe('the steps of a sequence', () => {
  const FIRST = { wait_days: 0, subject: 'Freight', text: 'Hello' }
  const NEXT = { wait_days: 1, text: 'Hello again' }
  const send = (steps: object[], more: object = {}) =>
    api.post('sequence/create', { project: 'demir', name: 'Steps', filter: {}, steps, ...more })

  test.each<[string, object[], string, string]>([
    ['a first without a subject', [{ ...FIRST, subject: null }], 'steps.0.subject', 'required'],
    ['a first of spaces', [{ ...FIRST, subject: ' ' }], 'steps.0.subject', 'required'],
    ['days before the first', [{ ...FIRST, wait_days: 1 }], 'steps.0.wait_days', 'invalid'],
    ['two on one day', [FIRST, NEXT, { ...NEXT, wait_days: 0 }], 'steps.2.wait_days', 'invalid'],
    ['an unknown one', [FIRST, { ...NEXT, id: crypto.randomUUID() }], 'steps.1.id', 'not_found'],
    ['none', [], 'steps', 'too_small'],
    ['nine', [FIRST, ...Array<object>(8).fill(NEXT)], 'steps', 'too_big'],
    ['91 days between them', [FIRST, { ...NEXT, wait_days: 91 }], 'steps.1.wait_days', 'too_big'],
    ['one without words', [FIRST, { ...NEXT, text: ' ' }], 'steps.1.text', 'too_small'],
    ['a long one', [{ ...FIRST, text: 'x'.repeat(20_001) }], 'steps.0.text', 'too_big'],
    ['a long subject', [{ ...FIRST, subject: 'x'.repeat(151) }], 'steps.0.subject', 'too_big'],
  ])('are not %s', async (_, steps, path, code) => {
    const { status, body } = await send(steps)
    expect([status, body.errors]).toMatchObject([422, [{ path, code }]])
  })

  test('are eight at most, ninety days apart, and name what an existing one is', async () => {
    const many = Array.from({ length: 7 }, () => ({ ...NEXT, wait_days: 90 }))
    const name = 'x'.repeat(120)
    const { status, body } = await send([{ ...FIRST, text: 'x'.repeat(20_000) }, ...many], { name })
    expect([status, body.sequence]).toMatchObject([201, { name, steps: Array(8).fill({}) }])
    expect((await send([FIRST], { name: `${name}x` })).body.errors).toMatchObject([
      { path: 'name', code: 'too_big' },
    ])
    const [first, second] = body.sequence.steps
    const again = { ...NEXT, id: second.id }
    const twice = await api.post('sequence/edit', {
      ...of(body.sequence.id),
      steps: [{ ...FIRST, id: first.id }, again, again],
    })
    expect(twice.body.errors).toMatchObject([{ path: 'steps.2.id', code: 'not_found' }])
    const unnamed = await api.post('sequence/edit', { ...of(body.sequence.id), steps: [NEXT] })
    expect(unnamed.body.errors).toMatchObject([
      { path: 'steps.0.subject', code: 'required' },
      { path: 'steps.0.wait_days', code: 'invalid' },
    ])
    await api.ok('sequence/delete', of(body.sequence.id))
  })
})

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

test('with little left of the day, who has had a mail gets the next before others get their first', async () => {
  const begun = await create({ tag: (await group(['begun'])).tag })
  await approve(begun)
  await run()
  await passDays(hub, 3)
  const fresh = await create({ tag: (await group(['fresh'])).tag })
  await approve(fresh)
  // Whatever was touched last.
  for (const step of ['pause', 'resume']) await api.ok(`sequence/${step}`, of(begun))
  await api.put('settings/mail', { daily_cap: 1 })
  await run()
  expect(smtp.to()).toEqual(
    ['begun', 'begun'].map((who) => `${who}${counter.n - 1}@client.example`),
  )
  for (const id of [begun, fresh]) await api.ok('sequence/stop', of(id))
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
  expect(smtp.to()).toEqual([`night${counter.n}@client.example`])
  await api.ok('sequence/stop', of(id))
})

test('pausing holds everything, and a recipient can be taken out', async () => {
  const { tag } = await group(['out', 'stays'])
  const id = await create({ tag })
  await approve(id)
  const other = await create({ tag: (await group(['goes'])).tag })
  await approve(other)
  await api.ok('sequence/pause', of(id))
  await run()
  expect(smtp.to()).toEqual([`goes${counter.n}@client.example`])
  await api.ok('sequence/stop', of(other))
  counter.n -= 1
  smtp.to().length = 0
  const nobody = await api.post('sequence/take_out', { ...of(id), email: 'x@client.example' })
  expect(nobody.status).toBe(404)
  await api.ok('sequence/take_out', { ...of(id), email: `out${counter.n}@client.example` })
  await api.ok('sequence/resume', of(id))
  await run()
  expect(smtp.to()).toEqual([`stays${counter.n}@client.example`])
  expect((await people(id))[`out${counter.n}`]).toMatchObject({ stop_reason: 'taken_out' })
  expect((await api.post('sequence/delete', of(id))).status).toBe(409)
  await api.ok('sequence/stop', of(id))
  await passDays(hub, 9)
  await run()
  expect(smtp.to()).toHaveLength(1)
  counter.n += 1
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
      [`${name}${counter.n}@client.example`, state],
    )
  await become('may', 'unclear')
  await become('no', 'failed')
  await run()
  expect(smtp.to()).toEqual([])
  const { [`no${counter.n}`]: failed, [`may${counter.n}`]: unclear } = await people(id)
  expect(failed).toMatchObject({ state: 'stopped', stop_reason: 'failed' })
  expect([unclear.state, unclear.mails[0].state]).toEqual(['active', 'unclear'])
  expect((await gatesOf(id)).unclear).toMatchObject({
    ...{ ok: false, blocks: false, detail: expect.stringMatching(/^1 mails are unclear/) },
  })
  const decide = (outcome: string, name = 'may') =>
    api.post('sequence/clear', { ...of(id), outcome, email: `${name}${counter.n}@client.example` })
  expect((await decide('sent', 'plain')).status).toBe(404)
  expect((await decide('not_sent')).status).toBe(200)
  await run()
  expect(smtp.to()).toEqual([`may${counter.n}@client.example`])
  await become('may', 'unclear')
  expect((await decide('sent')).status).toBe(200)
  await passDays(hub, 3)
  await run()
  expect(smtp.to().sort()).toEqual(
    ['may', 'may', 'plain'].map((name) => `${name}${counter.n}@client.example`),
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
  expect(shown.mails[0].text).toContain(`Hello pre${counter.n}`)
  const questions = ['would you like to talk?', 'shall I call you?', 'is there anybody else?']
  for (const [at, { step_id }] of shown.mails.entries()) {
    const page = await hub.call('GET', `sequence/preview/${step_id}`)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('content-security-policy')).toContain('sandbox')
    const html = await page.text()
    expect(questions.filter((question) => html.includes(question))).toEqual([questions[at]])
    expect(html).toContain(`Hello pre${counter.n}`)
  }
  const none = await api.get(`sequence/preview/${id}`)
  expect([none.status, none.body.detail]).toEqual([404, 'There is no such step.'])
  const days = shown.mails.map(({ at }: { at: string }) => Date.parse(`${at.slice(0, 10)}T00:00Z`))
  expect(days.map((at: number) => (at - days[0]) / 86_400_000)).toEqual([0, 3, 7])
})

test('when people first change what an agent wrote is kept, and nothing else counts as that', async () => {
  const { tag } = await group(['edited'])
  const [own, id] = [await create({ tag }), await create({ tag })]
  await hub.query("update hub.sequences set agent = 'marketing' where id = $1", [id])
  const editedAt = async (one: string) =>
    (
      await hub.query<{ at: string | null }>(
        'select edited_at::text as at from hub.sequences where id = $1',
        [one],
      )
    )[0]?.at
  const steps = async (one: string) =>
    (await get(one)).sequence.steps.map(
      ({ id, wait_days, is_reply, subject, text }: Record<string, unknown>) => ({
        id,
        wait_days,
        subject: is_reply ? null : subject,
        text,
      }),
    )
  // A name, and the same mails with other days between them.
  const [first, ...others] = await steps(id)
  await api.ok('sequence/edit', { ...of(id), name: 'Renamed' })
  const later = others.map((one: object) => ({ ...one, wait_days: 9 }))
  await api.ok('sequence/edit', { ...of(id), steps: [first, ...later] })
  expect(await editedAt(id)).toBeNull()
  await api.ok('sequence/edit', { ...of(id), steps: [first] })
  const at = await editedAt(id)
  expect(at).toEqual(expect.any(String))
  await api.ok('sequence/edit', { ...of(id), steps: [{ ...first, text: 'Another text.' }] })
  expect(await editedAt(id)).toBe(at)
  await api.ok('sequence/edit', { ...of(own), steps: (await steps(own)).slice(0, 1) })
  expect(await editedAt(own)).toBeNull()
})

test('the timetable comes page by page, by address, and tells of each once', async () => {
  const { tag } = await group(['zoe', 'ada', 'mia', 'bob', 'eve'])
  const id = await create({ tag })
  await approve(id)
  const { sequence } = await get(id)
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ ...of(id), limit: '2', ...(cursor ? { cursor } : {}) })
    const answer = await hub.call('GET', `sequences/timetable?${query}`)
    expect(answer.status).toBe(200)
    const page = await answer.json()
    expect(page.recipients.length).toBeLessThanOrEqual(2)
    seen.push(...page.recipients.map(({ email }: { email: string }) => email))
    cursor = page.next_cursor
  }
  expect(seen).toHaveLength(sequence.people.active)
  expect(seen).toEqual([...new Set(seen)].sort())
  await api.ok('sequence/stop', of(id))
})
